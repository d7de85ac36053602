import { costPlot, PLOT_HEIGHT, PLOT_WIDTH } from '../../../protocol/cost-plot.ts';
import type { ResultRow } from '../../../protocol/evaluations.ts';
import { percent } from '../../../protocol/figures.ts';
import { html, Markup } from '../../../protocol/markup.ts';

/* The plot of score against cost as a file of its own, for a document: with its own style, and with a legend in place of the table. */

const TITLE_HEIGHT = 34;
const LEGEND_TOP = TITLE_HEIGHT + PLOT_HEIGHT + 14;
const LEGEND_LINE = 19;
const LEGEND_COLUMNS = 3;
const COLUMN_WIDTH = (PLOT_WIDTH - 20) / LEGEND_COLUMNS;
const MOST_CHARACTERS = 36;

/** Readable on light and dark pages, as what shows it prefers. */
const STYLE = new Markup(`
svg{--ink:#1f2328;--faint:#59636e;--paper:#fff;--line:#d1d9e0;--blue:#0b5cad;font:12px system-ui,sans-serif}
@media (prefers-color-scheme:dark){svg{--ink:#e6edf3;--faint:#9da7b1;--paper:#0d1117;--line:#3d444d;--blue:#6cb6ff}}
.paper{fill:var(--paper)}text{fill:var(--faint)}.title{fill:var(--ink);font-size:14px;font-weight:600}
.label{fill:var(--ink);stroke:var(--paper);stroke-width:3;paint-order:stroke}.best{font-weight:600}.legend.best{fill:var(--ink)}
.grid,.axis,.tick{stroke:var(--line);fill:none}.interval{stroke:var(--faint);fill:none;opacity:.55}
.point{fill:var(--faint);stroke:var(--paper)}.point.best{fill:var(--blue)}.frontier{stroke:var(--blue);stroke-width:1.5;fill:none}`);

export interface PlottedResults {
  readonly contestants: readonly ResultRow[];
  readonly simulated: boolean;
  readonly tasks: number;
  readonly seeds: number;
}

export function costPlotFile({ contestants, simulated, tasks, seeds }: PlottedResults): string {
  const lines = Math.ceil(contestants.length / LEGEND_COLUMNS);
  const height = LEGEND_TOP + lines * LEGEND_LINE + 6;
  const of = `${tasks} tasks${seeds === 1 ? '' : `, ${seeds} seeds`}, with 95 % intervals.`;
  const title = simulated ? `Simulated workers, which show nothing about real models: ${of}` : `Right answers against cost: ${of}`;
  return `${html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${PLOT_WIDTH} ${height}" width="${PLOT_WIDTH}" height="${height}">
<style>${STYLE}</style>
<rect class="paper" width="${PLOT_WIDTH}" height="${height}"/>
<text class="title" x="14" y="24">${title}</text>
<g transform="translate(0 ${TITLE_HEIGHT})">
${costPlot(contestants)}
</g>
${contestants.map((row, index) => legendLine(row, index, lines))}
</svg>`.source}\n`;
}

/** Down the columns. */
function legendLine({ name, right, isOnFrontier }: ResultRow, index: number, lines: number): Markup {
  const shown = name.length > MOST_CHARACTERS ? `${name.slice(0, MOST_CHARACTERS - 1)}…` : name;
  return html`<text class="${isOnFrontier ? 'legend best' : 'legend'}" x="${14 + Math.floor(index / lines) * COLUMN_WIDTH}" y="${LEGEND_TOP + ((index % lines) + 0.7) * LEGEND_LINE}">${index + 1} ${shown}, ${percent(right.mean)}</text>
`;
}
