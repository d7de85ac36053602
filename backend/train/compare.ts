import type { Comparison, Estimate } from '../protocol/training.ts';
import { draw } from './draws.ts';
import type { SampledCompletion, SampleRequest } from './engine.ts';
import type { Gatherer } from './grpo-trainer.ts';
import type { RolloutOutcome } from './reward.ts';

export interface ComparedParts<Task> {
  readonly tasks: readonly Task[];
  readonly gatherer: Gatherer<Task>;
  /** Of the two Conductors. */
  readonly before: (request: SampleRequest) => Promise<readonly SampledCompletion[]>;
  readonly after: (request: SampleRequest) => Promise<readonly SampledCompletion[]>;
  readonly onTask?: ((done: number, of: number) => void) | undefined;
}

export interface ComparedOptions {
  /** Plans a task, of each Conductor. */
  readonly samples: number;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly seed: number;
}

/** `Rollouts` are told of the two by these steps. */
const PLACES = { before: 0, after: 1 } as const;

/**
 * Runs plans of two Conductors on the same tasks with the same pool and seeds. Rollouts of which nothing is known count for neither.
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
  const ofAll = (who: 'before' | 'after'): Comparison['before'] => {
    const outcomes = judged.flatMap((task) => task[who]);
    return {
      verified: estimate(judged.flatMap((task) => verifiedShare(task[who]) ?? []), seed),
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
    difference: estimate(differences, seed), pValue: signFlipTest(differences, seed),
  };
}

function verifiedShare(outcomes: readonly RolloutOutcome[]): number | undefined {
  const known = outcomes.filter(({ kind }) => kind !== 'infrastructure');
  return known.length === 0 ? undefined : mean(known.map((outcome) => Number(outcome.kind === 'judged' && outcome.verified)));
}

const DRAWS = 2_000;

/** The mean, and the 95 % interval of it by drawing the values anew (percentile bootstrap, Efron 1979). */
export function estimate(values: readonly number[], seed: number): Estimate {
  const means = Array.from({ length: values.length === 0 ? 0 : DRAWS }, (_, round) => {
    const random = generator(seed, 'bootstrap', round);
    return mean(values.map(() => values[Math.floor(random() * values.length)] as number));
  }).sort((a, b) => a - b);
  const at = (share: number): number => means[Math.min(means.length - 1, Math.floor(share * means.length))] ?? 0;
  return { mean: mean(values), low: at(0.025), high: at(0.975) };
}

/** How often the sum is as far from 0 when each value's sign is drawn (Fisher's randomisation test for pairs), two-sided. */
export function signFlipTest(differences: readonly number[], seed: number): number {
  const found = Math.abs(mean(differences));
  let asFar = 0;
  for (let round = 0; round < DRAWS; round += 1) {
    const random = generator(seed, 'signs', round);
    if (Math.abs(mean(differences.map((difference) => (random() < 0.5 ? difference : -difference)))) >= found - 1e-12) asFar += 1;
  }
  // With the one that was found among those that were drawn, so that it is never 0.
  return (asFar + 1) / (DRAWS + 1);
}

/** mulberry32, from a seed of its own for each purpose. */
function generator(seed: number, ...purpose: readonly (string | number)[]): () => number {
  let state = draw(seed, ...purpose) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const mean = (values: readonly number[]): number => (values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length);
