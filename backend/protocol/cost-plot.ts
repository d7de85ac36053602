import * as l10n from '@vscode/l10n';
import type { ResultRow } from './evaluations.ts';
import { percent } from './figures.ts';
import { html, type Markup } from './markup.ts';

/* Score against cost: a point with its interval for each contestant, and the frontier. Points have the numbers of the table's rows. */

export const PLOT_WIDTH = 880;
export const PLOT_HEIGHT = 440;
const AREA = { left: 62, right: 856, top: 16, bottom: 384 };
/** Free contestants stand in a column of their own: a logarithmic axis has no 0. */
const FREE_COLUMN = 56;
const CHARACTER_WIDTH = 6.6;
const LINE_HEIGHT = 14;
const RADIUS = 4.5;

interface Point {
  readonly row: ResultRow;
  readonly number: number;
  readonly x: number;
  readonly y: number;
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

type Rows = readonly Pick<ResultRow, 'name' | 'right' | 'costUsd' | 'isOnFrontier'>[];

/** An SVG, styled by the page. The table beside it says the same in words. */
export function costPlot(rows: Rows): Markup {
  const costs = rows.map(({ costUsd }) => 1_000 * costUsd).filter((cost) => cost > 0);
  const hasFree = costs.length < rows.length;
  const start = AREA.left + (hasFree ? FREE_COLUMN : 0);
  const [least, most] = costs.length === 0 ? [1, 10] : [Math.min(...costs) / 1.25, Math.max(...costs) * 1.25];
  const xOf = (cost: number): number =>
    (cost <= 0 ? AREA.left + FREE_COLUMN / 2 : start + ((AREA.right - start) * Math.log(cost / least)) / Math.log(most / least));
  const low = Math.floor(Math.min(...rows.map(({ right }) => right.low)) * 10) / 10;
  const high = Math.min(1, Math.max(low + 0.1, Math.ceil(Math.max(...rows.map(({ right }) => right.high)) * 10) / 10));
  const yOf = (share: number): number => AREA.bottom - ((AREA.bottom - AREA.top) * (share - low)) / Math.max(0.1, high - low);
  const points = rows.map((row, index): Point => ({ row: row as ResultRow, number: index + 1, x: xOf(1_000 * row.costUsd), y: yOf(row.right.mean) }));
  return html`<svg viewBox="0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}" width="${PLOT_WIDTH}" height="${PLOT_HEIGHT}" role="img" aria-label="${l10n.t('Share of right answers against dollars for 1,000 tasks, of {0} contestants. The table has the figures.', rows.length)}">
${shareAxis(low, high, yOf)}${costAxis(costs.length === 0 ? [] : ticks(least, most), hasFree, xOf)}
${frontier(points)}
${points.map(({ row, x }) => html`<path class="interval" d="M${round(x)} ${round(yOf(row.right.low))}V${round(yOf(row.right.high))}M${round(x - 3)} ${round(yOf(row.right.low))}h6M${round(x - 3)} ${round(yOf(row.right.high))}h6"/>`)}
${points.map(({ row, number, x, y }) => html`<circle class="${row.isOnFrontier ? 'point best' : 'point'}" cx="${round(x)}" cy="${round(y)}" r="${RADIUS}"><title>${number} ${l10n.t('{0}: {1}, {2} for 1,000 tasks', row.name, percent(row.right.mean), `$${(1_000 * row.costUsd).toFixed(2)}`)}</title></circle>`)}
${labels(points)}
</svg>`;
}

function shareAxis(low: number, high: number, yOf: (share: number) => number): Markup[] {
  const step = high - low > 0.55 ? 0.2 : high - low > 0.25 ? 0.1 : 0.05;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, index) => (first + index) * step).map((share) =>
    html`<path class="grid" d="M${AREA.left} ${round(yOf(share))}H${AREA.right}"/><text x="${AREA.left - 8}" y="${round(yOf(share) + 4)}" text-anchor="end">${Math.round(100 * share)} %</text>`);
}

function costAxis(values: readonly number[], hasFree: boolean, xOf: (cost: number) => number): Markup {
  const tick = (x: number, text: string): Markup =>
    html`<path class="tick" d="M${round(x)} ${AREA.bottom}v5"/><text x="${round(x)}" y="${AREA.bottom + 20}" text-anchor="middle">${text}</text>`;
  return html`<path class="axis" d="M${AREA.left} ${AREA.bottom}H${AREA.right}"/>${hasFree ? tick(xOf(0), '$0') : undefined}${values.map((cost) => tick(xOf(cost), `$${cost >= 1 ? cost : Number(cost.toPrecision(1))}`))}
<text x="${(AREA.left + AREA.right) / 2}" y="${PLOT_HEIGHT - 10}" text-anchor="middle">${l10n.t('dollars for 1,000 tasks, logarithmic')}</text>`;
}

/** 1, 2, 5, 10, 20 and so on; powers of ten alone over many of them. */
function ticks(least: number, most: number): number[] {
  const decades = Math.log10(most / least);
  const factors = decades > 4 ? [1] : [1, 2, 5];
  const first = Math.floor(Math.log10(least));
  return Array.from({ length: Math.ceil(decades) + 2 }, (_, index) => first + index)
    .flatMap((power) => factors.map((factor) => factor * 10 ** power))
    .filter((cost) => cost >= least && cost <= most);
}

/** A staircase: between the prices of two contestants, nothing is better than the cheaper one. */
function frontier(points: readonly Point[]): Markup {
  const [first, ...rest] = points.filter(({ row }) => row.isOnFrontier).sort((a, b) => a.x - b.x || b.y - a.y);
  if (!first) return html``;
  return html`<path class="frontier" d="M${round(first.x)} ${round(first.y)}${rest.map(({ x, y }) => `H${round(x)}V${round(y)}`).join('')}H${AREA.right}"/>`;
}

/** Numbers beside all points, with names on the frontier: each where it covers the least of points and of other labels. */
function labels(points: readonly Point[]): Markup[] {
  const taken: Box[] = points.map(({ x, y }) => boxAround(x, y, RADIUS + 1, RADIUS + 1));
  const inOrder = [...points.filter(({ row }) => row.isOnFrontier), ...points.filter(({ row }) => !row.isOnFrontier)];
  return inOrder.map(({ row, number, x, y }) => {
    const text = row.isOnFrontier ? `${number} ${row.name}` : String(number);
    const half = (text.length * CHARACTER_WIDTH) / 2;
    const gap = RADIUS + 4;
    const places = [[x + gap + half, y - 8], [x - gap - half, y - 8], [x + gap + half, y + 10], [x - gap - half, y + 10], [x, y - 16], [x, y + 18]] as const;
    const boxes = places.map(([atX, atY]) => boxAround(atX, atY, half, LINE_HEIGHT / 2));
    const costs = boxes.map((box) => outside(box) + taken.reduce((sum, other) => sum + overlap(box, other), 0));
    const best = boxes[costs.indexOf(Math.min(...costs))] ?? boxAround(x, y, half, LINE_HEIGHT / 2);
    taken.push(best);
    return html`<text class="${row.isOnFrontier ? 'label best' : 'label'}" x="${round((best.left + best.right) / 2)}" y="${round(best.bottom - 3)}" text-anchor="middle">${text}</text>`;
  });
}

const boxAround = (x: number, y: number, halfWidth: number, halfHeight: number): Box => ({ left: x - halfWidth, right: x + halfWidth, top: y - halfHeight, bottom: y + halfHeight });

const overlap = (one: Box, other: Box): number =>
  Math.max(0, Math.min(one.right, other.right) - Math.max(one.left, other.left)) * Math.max(0, Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top));

/** Much more than an overlap: a label that is cut off is worse than one that covers another. */
const outside = ({ left, right, top, bottom }: Box): number =>
  1_000 * (Math.max(0, AREA.left - left) + Math.max(0, right - PLOT_WIDTH) + Math.max(0, -top) + Math.max(0, bottom - AREA.bottom));

const round = (value: number): number => Math.round(10 * value) / 10;
