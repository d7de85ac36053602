import { counted } from '../common/counted.ts';
import { formatUsd } from './figures.ts';
import type { Comparison, Estimate } from './training.ts';

/* What held-out tasks say of a training, in words for people. */

/** How it ended: what was seen, and what it cost. */
export function comparisonVerdict(comparison: Comparison): string {
  const after = `after ${paidFor(comparison)}`;
  switch (comparison.says) {
    case 'better': return `Better on held-out tasks, ${after}. Adopt it if you like.`;
    case 'not-better': return `No better on held-out tasks by 10 points or more, ${after}, so it is not offered.`;
    case 'not-known': return `Whether it is better on held-out tasks is not known ${after}, so it is not offered.`;
  }
}

/** What more would cost, such as `At this rate, about 40 more pairs, for $0.80, would tell.` */
export function moreWords({ more }: Pick<Comparison, 'more'>): string {
  return more ? `At this rate, about ${counted(more.pairs, 'more pair')}, for ${formatUsd(more.usd)}, would tell.` : 'At this rate, more pairs would not tell soon.';
}

/** What was seen on the way. @param steps that the looks were taken after */
export function onTheWay(comparison: Comparison, steps: { readonly from: number; readonly to: number }): string {
  const when = steps.from === steps.to ? `after step ${steps.to}` : `after steps ${steps.from} to ${steps.to}`;
  return `On held-out tasks ${when}: ${paidFor(comparison)}, verified ${pointsOf(comparison.difference)} more often than before.`;
}

/** A training that ends because what was seen on the way promises nothing. */
export const NO_BETTER_ON_THE_WAY = 'Held-out tasks on the way show no gain of 10 points or more, so the training has ended and nothing is offered.';

const paidFor = ({ pairs, costUsd }: Comparison): string => `${counted(pairs, 'pair')} of tries for ${formatUsd(costUsd)}`;

const figure = (share: number): string => `${share < 0 ? '−' : '+'}${(100 * Math.abs(share)).toFixed(0)}`;
const pointsOf = ({ mean, low, high }: Estimate): string => `${figure(mean)} points (${figure(low)} to ${figure(high)})`;
