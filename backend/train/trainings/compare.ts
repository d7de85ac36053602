import { seededUniforms } from '../../lm/checkpoint/seeded-uniforms.ts';
import type { Comparison, Estimate } from '../../protocol/training.ts';
import { draw } from '../statistics/draws.ts';
import type { SampledCompletion, SampleRequest } from '../engines/engine.ts';
import type { Gatherer } from '../grpo/grpo-trainer.ts';
import type { RolloutOutcome } from '../grpo/reward.ts';
import { estimate, mean } from '../statistics/statistics.ts';

export interface ComparedParts<Task> {
  readonly tasks: readonly Task[];
  readonly gatherer: Gatherer<Task>;
  /** Sample from the two Conductors. */
  readonly before: (request: SampleRequest) => Promise<readonly SampledCompletion[]>;
  readonly after: (request: SampleRequest) => Promise<readonly SampledCompletion[]>;
  readonly onTask?: ((done: number, of: number) => void) | undefined;
}

export interface ComparedOptions {
  /** Plans per task and Conductor. */
  readonly samples: number;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly seed: number;
}

/** The steps under which the rollouts of the two Conductors are kept. */
const PLACES = { before: 0, after: 1 } as const;

/**
 * Runs plans of two Conductors on the same tasks with the same pool and seeds. Rollouts with an unknown outcome are left out.
 * @throws what the Conductors and the rollouts throw, the signal's reason
 */
export async function compareConductors<Task>(
  { tasks, gatherer, before, after, onTask }: ComparedParts<Task>, { samples, maxTokens, temperature, seed }: ComparedOptions, signal: AbortSignal,
): Promise<Comparison> {
  const judged: { before: readonly RolloutOutcome[]; after: readonly RolloutOutcome[] }[] = [];
  for (const [place, task] of tasks.entries()) {
    const outcomesOf = async (who: 'before' | 'after'): Promise<readonly RolloutOutcome[]> => {
      const seeds = Array.from({ length: samples }, (_, sample) => draw(seed, 'evaluation', place, sample));
      const at = { step: PLACES[who], place };
      const request = { ...gatherer.prompt(task, at), maxTokens, temperature, seeds, signal };
      const completions = await (who === 'before' ? before(request) : after(request));
      return await gatherer.outcomes(task, completions.map((completion, sample) => ({ sample, completion })), at, signal);
    };
    judged.push({ before: await outcomesOf('before'), after: await outcomesOf('after') });
    onTask?.(judged.length, tasks.length);
  }
  const overTasks = (values: readonly number[]): Estimate => estimate([values], { seed: draw(seed, 'bootstrap'), resamples: DRAWS });
  const ofAll = (who: 'before' | 'after'): Comparison['before'] => {
    const outcomes = judged.flatMap((task) => task[who]);
    return {
      verified: overTasks(judged.flatMap((task) => verifiedShare(task[who]) ?? [])),
      formatRate: mean(outcomes.map(({ kind }) => Number(kind !== 'unparseable'))),
      costUsd: mean(outcomes.flatMap((outcome) => (outcome.kind === 'judged' ? [outcome.costUsd] : []))),
    };
  };
  const differences = judged.flatMap((task) => {
    const [old, now] = [verifiedShare(task.before), verifiedShare(task.after)];
    return old === undefined || now === undefined ? [] : [now - old];
  });
  return {
    tasks: tasks.length, samples, before: ofAll('before'), after: ofAll('after'),
    difference: overTasks(differences), pValue: signFlipTest(differences, seed),
  };
}

function verifiedShare(outcomes: readonly RolloutOutcome[]): number | undefined {
  const known = outcomes.filter(({ kind }) => kind !== 'infrastructure');
  return known.length === 0 ? undefined : mean(known.map((outcome) => Number(outcome.kind === 'judged' && outcome.verified)));
}

const DRAWS = 2_000;

/** Two-sided p-value of Fisher's randomisation test for pairs: how often random signs give a mean at least as far from 0. */
export function signFlipTest(differences: readonly number[], seed: number): number {
  const found = Math.abs(mean(differences));
  const uniform = seededUniforms(draw(seed, 'signs'));
  let asFar = 0;
  for (let round = 0; round < DRAWS; round += 1) {
    if (Math.abs(mean(differences.map((difference) => (uniform() < 0.5 ? difference : -difference)))) >= found - 1e-12) asFar += 1;
  }
  // The observed mean counts as one of the draws, so the p-value is never 0.
  return (asFar + 1) / (DRAWS + 1);
}
