import type { OutcomeCount } from './outcomes-file.ts';

/** With fewer, a worker's share of accepted suggestions is mostly chance: its standard error is above a twentieth. */
export const ENOUGH_SHOWN = 60;
/**
 * What is known before anything is: Copilot's users accepted 27 of 100 that were shown (Ziegler et al. 2022, "Productivity Assessment of Neural
 * Code Completion"), and that weighs like this many suggestions.
 */
const EXPECTED = 0.27;
const WEIGHT = 40;

/**
 * The worker whose suggestions were accepted most often in a language of a project, if that is known well enough to overrule the plan.
 * Shares are shrunk towards what is known of all workers there, so that luck at the beginning decides nothing. Nobody is tried out: of a
 * worker that was never asked nothing is known, and the plan stands.
 * @param planned the id of the worker that the Conductor chose
 * @returns the id of a candidate, or undefined where the plan stands
 */
export function acceptedMost(counts: readonly OutcomeCount[], { planned, candidates }: { planned: string; candidates: readonly string[] }): string | undefined {
  const sum = (field: 'shown' | 'accepted'): number => counts.reduce((total, count) => total + count[field], 0);
  const expected = (sum('accepted') + EXPECTED * WEIGHT) / (sum('shown') + WEIGHT);
  const shareOf = (worker: string): number => {
    const { shown, accepted } = counts.find((count) => count.worker === worker) ?? { shown: 0, accepted: 0 };
    return (accepted + expected * WEIGHT) / (shown + WEIGHT);
  };
  const known = candidates.filter((worker) => counts.some((count) => count.worker === worker && count.shown >= ENOUGH_SHOWN));
  const [best] = known.toSorted((a, b) => shareOf(b) - shareOf(a));
  return best !== undefined && best !== planned && shareOf(best) > shareOf(planned) ? best : undefined;
}
