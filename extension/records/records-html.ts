import { kindWord, percent, roleWord, tallyCells, whoEarnsTheirPrice } from '../../backend/protocol/records-words.ts';
import type { Records, Tally } from '../../backend/protocol/records.ts';
import { escapeHtml } from '../common/escape-html.ts';

/** The page's own texts, in the window's language. */
export interface RecordsWords {
  readonly title: string;
  readonly introduction: string;
  readonly looking: string;
  readonly where: string;
  readonly allProjects: string;
  readonly details: string;
  readonly use: string;
  readonly forget: string;
  /** Stands where tests have judged nothing. */
  readonly none: string;
  readonly notInPool: string;
  readonly columns: {
    readonly worker: string; readonly expected: string; readonly verified: string; readonly interval: string;
    readonly usdPerVerified: string; readonly usdPerAnswer: string; readonly time: string;
  };
  readonly notes: readonly string[];
}

export interface RecordsPageParts {
  /** Generated anew for every page. */
  readonly nonce: string;
  /** BCP 47 tag of the window's language. */
  readonly language: string;
  readonly words: RecordsWords;
  /** The projects to choose from, by their paths. */
  readonly projects: readonly { readonly name: string; readonly path: string }[];
}

/** The page of records. It loads no resources. Its only script reports what was pressed, and inserts the table that the extension sends. */
export function recordsHtml({ nonce, language, words, projects }: RecordsPageParts): string {
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  const options = projects.map(({ name, path }) => `<option value="${escapeHtml(path)}">${escapeHtml(name)}</option>`).join('');
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
    <div class="choices">
      <label>${escapeHtml(words.where)} <select id="project"><option value="">${escapeHtml(words.allProjects)}</option>${options}</select></label>
      <label><input type="checkbox" id="details"> ${escapeHtml(words.details)}</label>
    </div>
    <div id="said" role="status"><p>${escapeHtml(words.looking)}</p></div>
    <div id="table" class="short" role="region" tabindex="0" aria-label="${escapeHtml(words.title)}"></div>
    <ul class="notes">${words.notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('')}</ul>
    <div class="choices">
      <label><input type="checkbox" id="use" disabled> ${escapeHtml(words.use)}</label>
      <button type="button" id="forget">${escapeHtml(words.forget)}</button>
    </div>
  </main>
  <script nonce="${nonce}">${SCRIPT}</script>
</body>
</html>
`;
}

/** What the table says in sentences, or that there is none. */
export function saidHtml(records: Records, { none }: Pick<RecordsWords, 'none'>): string {
  const sentences = records.workers.length === 0 ? [none] : whoEarnsTheirPrice(records);
  return sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`).join('');
}

export function tableHtml({ workers }: Records, { columns, notInPool }: Pick<RecordsWords, 'columns' | 'notInPool'>): string {
  if (workers.length === 0) return '';
  const head = Object.values(columns).map((text) => `<th scope="col">${escapeHtml(text)}</th>`).join('');
  const bodies = workers.map(({ worker, model, isInPool, expected, total, parts }) => `<tbody${isInPool ? '' : ' class="gone"'}>
  <tr><th scope="row">${escapeHtml(worker)} <span class="model">${escapeHtml(model)}</span>${isInPool ? '' : ` <span class="model">(${escapeHtml(notInPool)})</span>`}</th><td>${escapeHtml(percent(expected))}</td>${cellsHtml(total)}</tr>
  ${parts.map((part) => `<tr class="part"><th scope="row">${escapeHtml(`${roleWord(part.role)}, ${kindWord(part.kind)}`)}</th><td></td>${cellsHtml(part)}</tr>`).join('\n  ')}
</tbody>`);
  return `<table><thead><tr>${head}</tr></thead>${bodies.join('\n')}</table>`;
}

function cellsHtml(tally: Tally): string {
  const { verified, interval, usdPerVerified, usdPerAnswer, time } = tallyCells(tally);
  return [verified, interval, usdPerVerified, usdPerAnswer, time].map((text) => `<td>${escapeHtml(text)}</td>`).join('');
}

const SCRIPT = `
const host = acquireVsCodeApi();
const at = (id) => document.getElementById(id);
at('project').addEventListener('change', ({ target }) => host.postMessage({ act: 'show', subject: target.value }));
at('details').addEventListener('change', ({ target }) => { at('table').className = target.checked ? '' : 'short'; });
at('use').addEventListener('change', ({ target }) => host.postMessage({ act: target.checked ? 'use' : 'useNot', subject: '' }));
at('forget').addEventListener('click', () => host.postMessage({ act: 'forget', subject: '' }));
addEventListener('message', ({ data }) => {
  at('said').innerHTML = data.said;
  at('table').innerHTML = data.table;
  at('use').checked = data.used;
  at('use').disabled = !data.known;
  at('forget').hidden = data.table === '';
});
host.postMessage({ act: 'show', subject: '' });
`;

const STYLE = `
body { padding: 0 24px 32px; background: var(--vscode-editor-background); color: var(--vscode-foreground); font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); line-height: 1.5; }
main { max-width: 72em; margin: 0 auto; }
h1 { font-size: 1.8em; font-weight: 400; margin: 24px 0 8px; }
p { margin: 4px 0; overflow-wrap: anywhere; }
#said { margin: 12px 0; font-weight: 600; }
#table { overflow-x: auto; margin: 12px 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 6px 10px; text-align: right; font-weight: inherit; white-space: nowrap; }
th:first-child { min-width: 11em; text-align: left; padding-left: 0; white-space: normal; overflow-wrap: anywhere; }
thead th { min-width: 5em; vertical-align: bottom; white-space: normal; font-weight: 600; }
tbody tr:first-child { border-top: 1px solid var(--vscode-contrastBorder, var(--vscode-widget-border, rgba(128, 128, 128, .35))); }
tbody tr:first-child th { font-weight: 600; }
.model { font-weight: 400; color: var(--vscode-descriptionForeground); }
.part th:first-child { padding-left: 20px; font-weight: 400; }
.part { color: var(--vscode-descriptionForeground); }
.short .part { display: none; }
.notes { margin: 12px 0; padding-left: 20px; color: var(--vscode-descriptionForeground); }
.choices { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 20px; margin: 12px 0; }
select { padding: 3px 6px; border: 1px solid var(--vscode-dropdown-border, transparent); color: var(--vscode-dropdown-foreground); background: var(--vscode-dropdown-background); font: inherit; }
button { padding: 4px 12px; border: 1px solid var(--vscode-contrastBorder, var(--vscode-button-border, transparent)); border-radius: 2px;
  color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground); font: inherit; cursor: pointer; }
button:hover { background: var(--vscode-button-secondaryHoverBackground); }
:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 2px; }
`;
