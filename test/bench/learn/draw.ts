import type { Curve } from './report.ts';

/*
 * A picture of what is learned from so many plans: for each pool the verified share with its interval over seeds, and below it the cents of a plan.
 */

/** Okabe and Ito's palette, and two greys. */
const COLOURS = ['#999999', '#cc79a7', '#56b4e9', '#0072b2', '#f0e442', '#d55e00', '#000000', '#e69f00', '#009e73', '#8b949e', '#bbbbbb', '#bbbbbb'] as const;
const FONT = 'font-family="system-ui, sans-serif"';
const INK = '#1f2328';
const FAINT = '#8b949e';
const GRID = '#e6e8eb';
const PANEL = { width: 330, height: 240, left: 50, gap: 60, top: 50, low: 130 } as const;

interface Place {
  readonly x: (budget: number) => number;
  readonly y: (value: number) => number;
}

export function drawLearningFromLittle(pools: readonly string[], curves: readonly Curve[]): string {
  const contestants = [...new Set(curves.map(({ contestant }) => contestant))];
  const colourOf = (contestant: string): string => COLOURS[contestants.indexOf(contestant) % COLOURS.length] ?? INK;
  const budgets = [...new Set(curves.flatMap(({ points }) => points.map(({ budget }) => budget)))].sort((a, b) => a - b);
  const [least, most] = [Math.log(budgets[0] ?? 1), Math.log(budgets.at(-1) ?? 2)];
  const width = pools.length * (PANEL.width + PANEL.gap) + PANEL.left;
  const legendTop = PANEL.top + PANEL.height + PANEL.low + 90;
  const height = legendTop + 22 * Math.ceil(contestants.length / 4) + 20;
  const panels = pools.map((pool, index) => {
    const left = PANEL.left + index * (PANEL.width + PANEL.gap);
    const own = curves.filter((curve) => curve.pool === pool);
    const x = (budget: number): number => left + (PANEL.width * (Math.log(budget) - least)) / Math.max(1e-9, most - least);
    const dearest = Math.max(0.001, ...own.flatMap(({ points }) => points.map(({ usd }) => usd)));
    const shares: Place = { x, y: (share) => PANEL.top + PANEL.height * (1 - share) };
    const costs: Place = { x, y: (usd) => PANEL.top + PANEL.height + 50 + PANEL.low * (1 - usd / dearest) };
    return [
      text(left, PANEL.top - 24, pool, { size: 15, weight: 600 }),
      ...[0, 0.25, 0.5, 0.75, 1].map((share) => grid(left, shares.y(share), `${100 * share} %`)),
      ...[0, dearest].map((usd) => grid(left, costs.y(usd), `${(100 * usd).toFixed(1)} ¢`)),
      ...budgets.map((budget) => text(x(budget), costs.y(0) + 18, String(budget), { size: 11, fill: FAINT, anchor: 'middle' })),
      ...own.map((curve) => curveIn(curve, shares, colourOf(curve.contestant), true)),
      ...own.map((curve) => curveIn(curve, costs, colourOf(curve.contestant), false)),
    ].join('');
  });
  const legend = contestants.map((contestant, index) => {
    const [x, y] = [PANEL.left + (index % 4) * 330, legendTop + 22 * Math.floor(index / 4)];
    return `<rect x="${x}" y="${y - 10}" width="12" height="12" fill="${colourOf(contestant)}"/>${text(x + 18, y, contestant, { size: 12 })}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#ffffff"/>` +
    `${panels.join('')}${legend.join('')}` +
    `${text(width - 20, height - 8, 'Simulated workers on mined tasks. Verified share and cents of a plan for held-out tasks, over paid plans.', { size: 11, fill: FAINT, anchor: 'end' })}</svg>\n`;
}

function curveIn({ contestant, points, seeds }: Curve, { x, y }: Place, colour: string, isShare: boolean): string {
  const of = ({ verified, usd }: Curve['points'][number]): number => (isShare ? verified.mean : usd);
  const dashed = contestant.startsWith('possible') ? ' stroke-dasharray="5 4"' : '';
  const line = `<path d="M${points.map((point) => `${round(x(point.budget))} ${round(y(of(point)))}`).join('L')}" fill="none" stroke="${colour}" stroke-width="2"${dashed}/>`;
  const bars = isShare && seeds > 1 ? points.map(({ budget, verified: { low, high } }) => `<path d="M${round(x(budget))} ${round(y(low))}V${round(y(high))}" stroke="${colour}" stroke-opacity="0.5"/>`) : [];
  return line + bars.join('');
}

const grid = (left: number, y: number, label: string): string =>
  `<path d="M${left} ${round(y)}h${PANEL.width}" stroke="${GRID}"/>${text(left - 6, y + 4, label, { size: 11, fill: FAINT, anchor: 'end' })}`;

function text(x: number, y: number, words: string, { size, fill = INK, weight = 400, anchor = 'start' }: { readonly size: number; readonly fill?: string; readonly weight?: number; readonly anchor?: 'start' | 'middle' | 'end' }): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" ${FONT} font-size="${size}" font-weight="${weight}" fill="${fill}">${words}</text>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;
