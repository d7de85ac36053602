import { seededUniforms } from '../../lm/checkpoint/seeded-uniforms.ts';
import type { LoggedComparison } from '../../protocol/learning.ts';
import { draw } from '../statistics/draws.ts';
import { mean } from '../statistics/statistics.ts';

/*
 * Decides whether what was learned from the journal is an improvement. No plan is carried out, so nobody knows how many of the new Conductor's
 * plans would be verified. What can be measured is how much more likely each plan of the newest questions has become, and whether the verified
 * plans gained more than the others.
 */

/** A plan of the newest questions, and the log-probability of its decision, in nats. */
export interface ScoredOutcome {
  readonly verified: boolean;
  readonly before: number;
  readonly after: number;
  /** Whether the plan that the Conductor writes for the question is valid, before and after learning. */
  readonly valid: { readonly before: boolean; readonly after: boolean };
}

/** With fewer plans of one kind, a difference may be chance. */
export const FEWEST_EACH = 5;
/** The largest accepted loss in the share of valid plans. A Conductor that loses more has unlearned how to plan. */
const MOST_LOST = 0.1;
const DRAWS = 2_000;
/** The usual level of significance. */
const LEVEL = 0.05;

export function judgeLogged(scored: readonly ScoredOutcome[], seed: number): LoggedComparison {
  const gains = (isVerified: boolean): number[] => scored.filter(({ verified }) => verified === isVerified).map(({ before, after }) => after - before);
  const [verified, other] = [gains(true), gains(false)];
  const share = (who: 'before' | 'after'): number => mean(scored.map(({ valid }) => Number(valid[who])));
  const formatRate = { before: share('before'), after: share('after') };
  const shared = { verified: verified.length, other: other.length, gain: { verified: mean(verified), other: mean(other) }, formatRate };
  if (scored.length > 0 && formatRate.after < formatRate.before - MOST_LOST) return { ...shared, says: 'not-better' };
  if (Math.min(verified.length, other.length) < FEWEST_EACH) return { ...shared, says: 'not-known' };
  const difference = { mean: mean(verified) - mean(other), ...interval(verified, other, seed) };
  const pValue = permutationTest(verified, other, seed);
  const isSure = pValue <= LEVEL;
  const isBetter = isSure && difference.low > 0 && shared.gain.verified > 0;
  return { ...shared, difference, pValue, says: isBetter ? 'better' : isSure && difference.high < 0 ? 'not-better' : 'not-known' };
}

/** The 95 % interval of the difference of means: a percentile bootstrap that draws plans of each kind with replacement. */
function interval(one: readonly number[], other: readonly number[], seed: number): { readonly low: number; readonly high: number } {
  const uniform = seededUniforms(draw(seed, 'bootstrap'));
  const again = (values: readonly number[]): number[] => values.map(() => values[Math.floor(uniform() * values.length)] as number);
  const differences = Array.from({ length: DRAWS }, () => mean(again(one)) - mean(again(other))).sort((a, b) => a - b);
  const at = (share: number): number => differences[Math.min(DRAWS - 1, Math.floor(share * DRAWS))] as number;
  return { low: at(0.025), high: at(0.975) };
}

/** Two-sided p-value of Fisher's randomisation test: how often a random split into two groups gives means at least as far apart. */
function permutationTest(one: readonly number[], other: readonly number[], seed: number): number {
  const found = Math.abs(mean(one) - mean(other));
  const uniform = seededUniforms(draw(seed, 'permutations'));
  const all = [...one, ...other];
  let asFar = 0;
  for (let round = 0; round < DRAWS; round += 1) {
    for (let index = all.length - 1; index > 0; index -= 1) {
      const at = Math.floor(uniform() * (index + 1));
      [all[index], all[at]] = [all[at] as number, all[index] as number];
    }
    if (Math.abs(mean(all.slice(0, one.length)) - mean(all.slice(one.length))) >= found - 1e-12) asFar += 1;
  }
  // What was found counts as one of the draws, so the p-value is never 0.
  return (asFar + 1) / (DRAWS + 1);
}
