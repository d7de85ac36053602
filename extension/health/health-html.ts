import { escapeHtml } from '../common/escape-html.ts';
import type { HealthRow } from './health-rows.ts';

/** The page's own texts, in the window's language. */
export interface HealthWords {
  readonly title: string;
  readonly introduction: string;
  readonly lookAgain: string;
  readonly looking: string;
  /** The row's state as a word, shown before its text. */
  readonly states: Readonly<Record<HealthRow['state'], string>>;
}

export interface HealthPageParts {
  /** Generated anew for every page. */
  readonly nonce: string;
  /** BCP 47 tag of the window's language. */
  readonly language: string;
  readonly words: HealthWords;
}

/**
 * The health page. It loads no resources. Its only script reports which button was pressed and inserts the rows that the extension sends,
 * keeping the focus.
 */
export function healthHtml({ nonce, language, words }: HealthPageParts): string {
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="${escapeHtml(language)}">
<head>
  <meta charset="utf-8">
  <meta http-equiv="Content-Security-Policy" content="${policy}">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${escapeHtml(words.title)}</title>
  <style nonce="${nonce}">${STYLE}</style>
</head>
<body>
  <main>
    <h1>${escapeHtml(words.title)}</h1>
    <p>${escapeHtml(words.introduction)}</p>
    <p id="summary" role="status">${escapeHtml(words.looking)}</p>
    <ul id="rows"></ul>
    <button type="button" id="look-again" data-act="lookAgain">${escapeHtml(words.lookAgain)}</button>
  </main>
  <script nonce="${nonce}">${SCRIPT}</script>
</body>
</html>
`;
}

/** The rows as HTML. */
export function rowsHtml(rows: readonly HealthRow[], { states }: Pick<HealthWords, 'states'>): string {
  return rows.map(({ id, state, title, text, mends }) => `<li class="row ${state}">
  <h2 id="${escapeHtml(id)}"><span class="sign" aria-hidden="true">${SIGNS[state]}</span> ${escapeHtml(title)}</h2>
  <p><strong>${escapeHtml(states[state])}</strong> ${escapeHtml(text)}</p>
  ${mends.length === 0 ? '' : `<div class="mends">${mends.map(({ id: act, label, subject = '' }) =>
    `<button type="button" id="${escapeHtml(`${id}-${act}`)}" data-act="${act}" data-subject="${escapeHtml(subject)}" aria-describedby="${escapeHtml(id)}">${escapeHtml(label)}</button>`).join('\n')}</div>`}
</li>`).join('\n');
}

/** Decorative: the word beside it says the same. */
const SIGNS: Readonly<Record<HealthRow['state'], string>> = { works: '✓', missing: '○', broken: '✕', note: 'i' };


const SCRIPT = `
const host = acquireVsCodeApi();
addEventListener('click', ({ target }) => {
  const button = target.closest('button[data-act]');
  if (button) host.postMessage({ act: button.dataset.act, subject: button.dataset.subject ?? '' });
});
addEventListener('message', ({ data }) => {
  const focused = document.activeElement?.id;
  const rows = document.getElementById('rows');
  if (rows.innerHTML !== data.rows) rows.innerHTML = data.rows;
  document.getElementById('summary').textContent = data.summary;
  if (focused && document.activeElement?.id !== focused) (document.getElementById(focused) ?? document.getElementById('look-again')).focus();
});
host.postMessage({ act: 'ready', subject: '' });
`;

const STYLE = `
body { padding: 0 24px 32px; background: var(--vscode-editor-background); color: var(--vscode-foreground); font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); line-height: 1.5; }
main { max-width: 44em; margin: 0 auto; }
h1 { font-size: 1.8em; font-weight: 400; margin: 24px 0 8px; }
h2 { font-size: 1.1em; font-weight: 600; margin: 0; }
p { margin: 4px 0; overflow-wrap: anywhere; }
#summary { margin: 12px 0; font-weight: 600; }
ul { list-style: none; margin: 0 0 20px; padding: 0; }
.row { padding: 12px 0; border-top: 1px solid var(--vscode-contrastBorder, var(--vscode-widget-border, rgba(128, 128, 128, .35))); }
.row p { margin-left: 24px; }
.sign { display: inline-block; width: 20px; text-align: center; font-weight: 700; }
.works .sign { color: var(--vscode-testing-iconPassed); }
.broken .sign { color: var(--vscode-errorForeground); }
.missing .sign { color: var(--vscode-editorWarning-foreground); }
.mends { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0 0 24px; }
button { padding: 4px 12px; border: 1px solid var(--vscode-contrastBorder, var(--vscode-button-border, transparent)); border-radius: 2px;
  color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground); font: inherit; cursor: pointer; }
button:hover { background: var(--vscode-button-secondaryHoverBackground); }
.missing .mends button:first-child, .broken .mends button:first-child { color: var(--vscode-button-foreground); background: var(--vscode-button-background); }
.missing .mends button:first-child:hover, .broken .mends button:first-child:hover { background: var(--vscode-button-hoverBackground); }
button:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 2px; }
`;
