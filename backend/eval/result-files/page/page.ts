import { createHash } from 'node:crypto';
import { clip } from '../../../common/clip.ts';
import { counted } from '../../../common/counted.ts';
import { costPlot } from '../../../protocol/cost-plot.ts';
import type { ResultRow, Sample } from '../../../protocol/evaluations.ts';
import { formatUsd, percent } from '../../../protocol/figures.ts';
import { html, Markup, type Part } from '../../../protocol/markup.ts';
import { totalTokens } from '../../../protocol/token-counts.ts';
import type { StepTrace } from '../../run-plan.ts';
import type { Finished } from '../finished.ts';
import { pageStyle } from './page-style.ts';

/** The longest text that a page shows whole, and all texts of a page together: beyond that, each has its share. `samples.jsonl` has all. */
const TEXT_CHARACTERS = 20_000;
const PAGE_CHARACTERS = 48_000_000;
const LEAST_CHARACTERS = 400;

/**
 * The results as one page: no server, no script, no network. What models wrote is shown as text; the policy allows nothing but the page's own
 * style, so nothing in these texts could run or load even if an escape were missing.
 */
export function resultsPage({ results, samples, tasks }: Finished): string {
  const { contestants: rows } = results;
  const style = pageStyle(rows.length);
  const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; base-uri 'none'; form-action 'none'`;
  const title = `${results.sources.map(({ name }) => name).join(', ')}: ${counted(rows.length, 'contestant')}`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<p class="faint">${counted(results.tasks, 'task')}, ${counted(results.seeds, 'seed')}; ${results.at.slice(0, 10)}, Conductor ${results.conductor}. The best worker (${results.best.why}): ${results.best.worker}. ${formatUsd(results.spent.usd)} paid in all.</p>
${results.simulated ? html`<p class="simulated"><strong>Simulation.</strong> The workers have made-up skills and prices. This shows nothing about real models.</p>` : undefined}
</header>
<main>
<h2>Score against cost</h2>
<p class="faint">Bars are 95 % intervals. The line is the frontier: for the money, no contestant on or below it is better. Numbers are those of the table.</p>
${costPlot(rows)}
<h2>Contestants</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Table of contestants">${table(rows)}</div>
<p class="faint">95 % intervals by the bootstrap over tasks and seeds. p: Fisher's randomisation test for pairs, against the best single worker. Dollars and tokens count all calls of a contestant, as if it were alone.${results.spent.unpricedTokens > 0 ? ' The dollars do not include calls without a known price.' : ''}</p>
<h2>Samples</h2>
${taskList(rows, samples, tasks)}
</main>
</body>
</html>
`;
  return page.source;
}

function table(rows: readonly ResultRow[]): Markup {
  const hasPlans = rows.some(({ formatRate }) => formatRate !== undefined);
  const heads = ['', 'contestant', 'right', '95 % interval', 'against the best alone', 'p', '$ per 1,000 tasks', 'tokens in', 'from cache', 'out', 'reasoning', 'seconds', 'frontier', ...(hasPlans ? ['valid plans'] : [])];
  const cells = ({ name, right, versusBest, costUsd, usage, seconds, isOnFrontier, formatRate }: ResultRow, index: number): Part[] => [
    index + 1, name, percent(right.mean), `${percent(right.low)} to ${percent(right.high)}`,
    versusBest && `${versusBest.difference.mean >= 0 ? '+' : '−'}${percent(Math.abs(versusBest.difference.mean))}`, versusBest?.pValue.toFixed(3),
    (1_000 * costUsd).toFixed(2), Math.round(usage.uncachedInput + usage.cacheWrite), Math.round(usage.cacheRead), Math.round(usage.output), Math.round(usage.reasoning),
    seconds.toFixed(1), isOnFrontier ? '●' : '', ...(hasPlans ? [formatRate === undefined ? '' : percent(formatRate)] : []),
  ];
  return html`<table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows.map((row, index) => html`<tr${row.isOnFrontier ? new Markup(' class="best"') : undefined}>${cells(row, index).map((cell) => html`<td>${cell}</td>`)}</tr>
`)}</tbody>
</table>`;
}

function taskList(rows: readonly ResultRow[], samples: readonly Sample[], tasks: Finished['tasks']): Markup {
  const numbers = new Map(rows.map(({ name }, index) => [name, index]));
  const texts = samples.reduce((sum, { traces }) => sum + 3 + 2 * traces.flat().length, 0);
  const most = Math.max(LEAST_CHARACTERS, Math.min(TEXT_CHARACTERS, Math.floor(PAGE_CHARACTERS / Math.max(1, texts))));
  const block = (text: string): Markup => html`<pre tabindex="0">${clip(text, most)}</pre>`;
  const byTask = Map.groupBy(samples, ({ task }) => task);
  return html`<div class="filters">
<label>Contestant <select id="of" autocomplete="off"><option value="all">all</option>${rows.map(({ name }, index) => html`<option value="c${index}">${name}</option>`)}</select></label>
<label>Answers <select id="only" autocomplete="off"><option value="all">all</option><option value="wrong">wrong ones only</option></select></label>
</div>
${[...byTask].map(([id, of]) => {
    const right = of.filter(({ verified }) => verified).length;
    const tried = new Set(of.map(({ contestant }) => `t${numbers.get(contestant)}`));
    const wrong = new Set(of.filter(({ verified }) => !verified).map(({ contestant }) => `w${numbers.get(contestant)}`));
    return html`<details class="${['task', ...(right === of.length ? ['right'] : []), ...tried, ...wrong].join(' ')}"><summary>${id} <span class="faint">${right} of ${of.length} right</span></summary>
${question(tasks.get(id)?.question, block)}
${of.map((sample) => sampleDetails(sample, numbers.get(sample.contestant) ?? 0, block))}
</details>
`;
  })}`;
}

type Block = (text: string) => Markup;

const question = (text: string | undefined, block: Block): Markup | undefined => (text === undefined ? undefined : html`<h3>Question</h3>${block(text)}`);

function sampleDetails({ contestant, seed, verified, reason, answer, costUsd, usage, seconds, isPlan, traces }: Sample, number: number, block: Block): Markup {
  const last = traces.at(-1)?.at(-1)?.output;
  return html`<details class="sample c${number} ${verified ? 'right' : 'wrong'}"><summary><span class="mark">${verified ? '✓ right' : '✗ wrong'}</span>${contestant}${seed > 0 ? `, seed ${seed}` : ''} <span class="faint">${formatUsd(costUsd)}, ${counted(totalTokens(usage), 'token')}, ${seconds.toFixed(1)} s</span></summary>
<p>${reason}${isPlan === false ? ' Its text was not a valid plan.' : ''}</p>
${traces.map((steps, index) => html`${traces.length > 1 ? html`<h3>Plan ${index + 1} of ${traces.length}</h3>` : undefined}${steps.map((step, position) => stepSection(step, position, block))}`)}
${answer === last ? undefined : html`<h4>Answer</h4>${block(answer)}`}
</details>
`;
}

function stepSection({ worker, subtask, reads, output, served }: StepTrace, position: number, block: Block): Markup {
  const read = reads.length === 0 ? 'reads the question' : `reads the question and ${reads.map((other) => other + 1).join(', ')}`;
  return html`<div class="step"><h4>Step ${position + 1}: ${worker} <span class="faint">${read}${served ? '; asked before, paid once' : ''}</span></h4>${block(subtask)}${block(output)}</div>`;
}
