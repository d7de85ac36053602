import { escapeHtml } from './escape-html.ts';

/** Location of the page: the side bar, or an editor tab. */
export type Place = 'side' | 'editor';

export interface PanelPage {
  /** CSP source of the webview's own resources. */
  readonly cspSource: string;
  /** Generated anew for every page. */
  readonly nonce: string;
  readonly scriptUri: string;
  readonly styleUris: readonly string[];
  readonly title: string;
  /** BCP 47 tag of the window's language. */
  readonly language: string;
  /** Translations by English text; undefined in English. */
  readonly texts: Readonly<Record<string, string>> | undefined;
  readonly place?: Place;
}

/**
 * The page that loads the panel. Its policy allows only the extension's own files, so that a model's text cannot load an image, run a
 * script or send data. The toolkit uses adopted style sheets, which the policy does not cover, and one style element for feature detection;
 * it finds the nonce by the name `csp-nonce`.
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
