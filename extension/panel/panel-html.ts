import { escapeHtml } from '../common/escape-html.ts';

/** Where the page stands: the side bar, or a tab among the editors. */
export type Place = 'side' | 'editor';

export interface PanelPage {
  /** Source expression of the webview's own resources. */
  readonly cspSource: string;
  /** Fresh for every page. */
  readonly nonce: string;
  readonly scriptUri: string;
  readonly styleUris: readonly string[];
  readonly title: string;
  /** BCP 47 tag of the window's language. */
  readonly language: string;
  /** The texts of that language by the English ones; undefined in English. */
  readonly texts: Readonly<Record<string, string>> | undefined;
  readonly place?: Place;
}

/**
 * The page that loads the panel. Nothing is reachable but the extension's own files, so that no text of a model can load a
 * picture, run a script or send something away. The toolkit's components use adopted style sheets, which the policy does not
 * concern, and one style element to see what the browser can do, for which they look up the nonce by the name `csp-nonce`.
 */
export function panelHtml({ cspSource, nonce, scriptUri, styleUris, title, language, texts = {}, place = 'side' }: PanelPage): string {
  const policy = [
    "default-src 'none'",
    `img-src ${cspSource}`,
    `font-src ${cspSource}`,
    `style-src ${cspSource} 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const styles = styleUris.map((uri) => `<link rel="stylesheet" nonce="${nonce}" href="${escapeHtml(uri)}">`).join('\n  ');
  return `<!DOCTYPE html>
<html lang="${escapeHtml(language)}" data-place="${place}">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta property="csp-nonce" content="${nonce}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${escapeHtml(title)}</title>
  ${styles}
</head>
<body>
  <div id="root" data-texts="${escapeHtml(JSON.stringify(texts))}"></div>
  <script nonce="${nonce}" src="${escapeHtml(scriptUri)}"></script>
</body>
</html>
`;
}
