import type { Estimate } from '../../protocol/training.ts';

/*
 * What is known of a mean while figures of it still come in. Somebody bets on each figure that the mean is above (or below) a value, without
 * an edge if it is not. By Ville's inequality such a person ever owns 40 times their stake in at most one case of 40, so one may look after
 * every figure, stop when it is enough, and go on later. I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by
 * betting", JRSS B 86 (2024), with a fixed mixture of bets in place of bets that follow the figures.
 *
 * Several figures may have means of their own, as tries of different tasks do, where each look has one try of all tasks or of tasks drawn
 * without replacement. By Maclaurin's inequality, wealth then grows no more than if each figure had the mean of all tasks. What is told is told
 * of these tasks.
 */

/** Shares of what is owned that are bet, at most all that can be lost. A tenth of the stake is on each. */
const BETS = Array.from({ length: 10 }, (_, index) => (index + 0.5) / 10);

/** Of a stake of 1: a one-sided error of 2.5 %, and 95 % for an interval. */
const ENOUGH = 40;

export interface Bounds {
  readonly from: number;
  readonly to: number;
}

/** Of a difference of two shares. */
export const DIFFERENCE: Bounds = { from: -1, to: 1 };
export const SHARE: Bounds = { from: 0, to: 1 };

type Side = 'above' | 'below';

/** What somebody owns, as a logarithm, who has bet that the mean is above or below the value. */
export const wealth = (figures: readonly number[], value: number, side: Side, bounds: Bounds): number => logMeanOf(wealthOfBets(figures, value, side, bounds));

function wealthOfBets(figures: readonly number[], value: number, side: Side, bounds: Bounds): readonly number[] {
  const growths = grown(figures, value, side, bounds);
  return BETS.map((bet) => growths.reduce((sum, growth) => sum + Math.log1p(bet * growth), 0));
}

/** How far each figure lies on the side of the value, relative to the most that it can lie on the other. */
function grown(figures: readonly number[], value: number, side: Side, { from, to }: Bounds): readonly number[] {
  return side === 'above' ? figures.map((figure) => (figure - value) / (value - from)) : figures.map((figure) => (value - figure) / (to - value));
}

function logMeanOf(logarithms: readonly number[]): number {
  const most = Math.max(...logarithms);
  return most + Math.log(logarithms.reduce((sum, one) => sum + Math.exp(one - most), 0) / logarithms.length);
}

/** Whether the mean is shown to be on that side of the value. */
export const isShown = (figures: readonly number[], value: number, side: Side, bounds: Bounds): boolean => wealth(figures, value, side, bounds) >= Math.log(ENOUGH);

/** The mean with the values that it is not shown to be above or below: 95 %, however often one looks. */
export function meanSoFar(figures: readonly number[], bounds: Bounds): Estimate {
  const { from, to } = bounds;
  const mean = figures.length === 0 ? (from + to) / 2 : figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
  return { mean, low: boundary((value) => isShown(figures, value, 'above', bounds), from, mean), high: boundary((value) => isShown(figures, value, 'below', bounds), to, mean) };
}

/** Where what holds at `yes` ends on the way to `no`. */
function boundary(holds: (value: number) => boolean, yes: number, no: number): number {
  let [inside, outside] = [yes, no];
  for (let halving = 0; halving < 30; halving += 1) {
    const middle = (inside + outside) / 2;
    if (holds(middle)) inside = middle;
    else outside = middle;
  }
  return inside;
}

/** Nobody waits for more than so many times what there is. */
const SOON = 20;

/** How many more figures like these show that the mean is on that side of the value; undefined where they would not soon. */
export function moreToShow(figures: readonly number[], value: number, side: Side, bounds: Bounds): number | undefined {
  const now = wealthOfBets(figures, value, side, bounds);
  const isEnough = (more: number): boolean => logMeanOf(now.map((one) => one * (1 + more / figures.length))) >= Math.log(ENOUGH);
  const most = SOON * figures.length;
  return isEnough(most) ? Math.max(1, Math.ceil(boundary(isEnough, most, 0))) : undefined;
}
