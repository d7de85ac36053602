import { SerialQueue } from '../../common/serial-queue.ts';
import { seededUniforms } from '../../lm/checkpoint/seeded-uniforms.ts';
import type { Comparison, HeldOutLook, HeldOutTry } from '../../protocol/training.ts';
import type { Prompt, SampledCompletion, SampleRequest } from '../engines/engine.ts';
import type { Gatherer, SampledPlan } from '../grpo/gatherer.ts';
import type { RolloutOutcome } from '../grpo/reward.ts';
import { DIFFERENCE, isShown, meanSoFar, moreToShow, SHARE } from '../statistics/betting.ts';
import { draw, shuffled } from '../statistics/draws.ts';
import { mean } from '../statistics/statistics.ts';

export interface LookParts<Task> {
  readonly tasks: readonly Task[];
  readonly gatherer: Gatherer<Task>;
  /** Sample from the two Conductors. */
  readonly before: (request: SampleRequest) => Promise<readonly SampledCompletion[]>;
  readonly after: (request: SampleRequest) => Promise<readonly SampledCompletion[]>;
  /** What a person's question would get; one plan by default. */
  readonly triesOf?: ((task: Task) => Tries) | undefined;
  readonly onPair?: (() => void) | undefined;
}

export interface LookOptions {
  readonly maxTokens: number;
  readonly temperature: number;
  readonly seed: number;
}

/** What one try of a task may take, as when a person asks. */
export interface Tries {
  /** Plans in turn, each of which revises the one before. */
  readonly rounds: number;
  /** Independent plans. With more than one, none revises another. */
  readonly attempts: number;
}

/** The rollouts of the two Conductors are kept under two steps for each look. */
const WHO = ['before', 'after'] as const;

/** The look of a step under which rollouts are kept. */
export const lookOf = (step: number): number => Math.floor(step / WHO.length);

/** At most so many pairs are paid for before the next decision. */
const TASKS_OF_LOOK = 8;
export const pairsOfLook = (tasks: number): number => Math.min(TASKS_OF_LOOK, tasks);

/** Attempts of a try have numbers of their own, and no two looks share the answers of workers. */
const MOST_ATTEMPTS = 5;

/** One try of a task: what became of it, and of each text that was sampled for it. */
interface Try {
  readonly outcome: RolloutOutcome;
  readonly all: readonly RolloutOutcome[];
}

/**
 * One try of each held-out task, or of some that are drawn, by each of two Conductors, with the same pool and seeds. A pair with an unknown
 * outcome is left out. A look that was interrupted is repeated with the same plans, and what was paid for counts.
 * @param index of the look among all of its training
 * @throws what the Conductors and the rollouts throw, the signal's reason
 */
export async function lookAtHeldOut<Task>(
  { tasks, gatherer, before, after, triesOf = () => ({ rounds: 1, attempts: 1 }), onPair }: LookParts<Task>, index: number, options: LookOptions, signal: AbortSignal,
): Promise<HeldOutLook['pairs']> {
  const { maxTokens, temperature, seed } = options;
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  // The model writes one at a time; workers and tests go on meanwhile.
  const writing = new SerialQueue();
  const chosen = shuffled([...tasks.keys()], seed, 'held out', index).slice(0, pairsOfLook(tasks.length));
  const tryBy = async (who: typeof WHO[number], place: number): Promise<Try> => {
    const task = tasks[place] as Task;
    const at = { step: WHO.length * index + WHO.indexOf(who), place };
    return await tryTask({
      first: gatherer.prompt(task, at),
      again: (plan) => gatherer.revisionPrompt?.(task, at, plan),
      write: async (prompt, ...purpose) => {
        const seeds = [draw(seed, 'evaluation', place, index, ...purpose)];
        const [completion] = await writing.run(() => (who === 'before' ? before : after)({ ...prompt, maxTokens, temperature, seeds, signal: either }), either);
        return completion as SampledCompletion;
      },
      outcome: async (plan) => (await gatherer.outcomes(task, [plan], at, either))[0] as RolloutOutcome,
    }, triesOf(task), index * MOST_ATTEMPTS);
  };
  const pairs = await Promise.all(chosen.map(async (place) => {
    try {
      const pair = await Promise.all(WHO.map((who) => tryBy(who, place)));
      onPair?.();
      return pair;
    } catch (error) {
      // The first pair that cannot go on ends the others.
      failed.abort(error);
      return [];
    }
  }));
  signal.throwIfAborted();
  failed.signal.throwIfAborted();
  return pairs.flatMap(([old, now]) => {
    const [before, after] = [old && triedOf(old), now && triedOf(now)];
    return before && after ? [{ before, after }] : [];
  });
}

/** Tries a task once. Tests end it as they end a run of Solve: no further plan is written or carried out once one has passed. */
async function tryTask(
  { first, again, write, outcome }: {
    readonly first: Prompt;
    readonly again: (plan: SampledPlan) => Prompt | undefined;
    readonly write: (prompt: Prompt, ...purpose: readonly (string | number)[]) => Promise<SampledCompletion>;
    readonly outcome: (plan: SampledPlan) => Promise<RolloutOutcome>;
  },
  { rounds, attempts }: Tries, sample: number,
): Promise<Try> {
  let plan: SampledPlan = { sample, completion: await write(first) };
  const all = [await outcome(plan)];
  const best = (): RolloutOutcome => all.reduce((one, other) => (rankOf(other) >= rankOf(one) ? other : one));
  for (let attempt = 1; attempt < attempts && !isDecided(best()); attempt += 1) {
    all.push(await outcome({ sample: sample + attempt, completion: await write(first, 'attempt', attempt) }));
  }
  for (let round = 1; attempts === 1 && round < rounds && !isDecided(best()); round += 1) {
    const prompt = all.at(-1)?.kind === 'judged' ? again(plan) : undefined;
    if (!prompt) break;
    plan = { sample, completion: await write(prompt, 'round', round), revises: [...plan.revises ?? [], plan.completion] };
    all.push(await outcome(plan));
  }
  return { outcome: best(), all };
}

/** Whether no other answer could be better, or the machine is at fault. */
const isDecided = (outcome: RolloutOutcome): boolean => outcome.kind === 'infrastructure' || (outcome.kind === 'judged' && (outcome.verified || outcome.passes === true));

const rankOf = (outcome: RolloutOutcome): number => (outcome.kind !== 'judged' ? -1 : outcome.verified ? 3 : outcome.passes ? 2 : outcome.score);

function triedOf({ outcome, all }: Try): HeldOutTry | undefined {
  if (outcome.kind === 'infrastructure') return undefined;
  const judged = all.filter((one) => one.kind === 'judged');
  return {
    verified: outcome.kind === 'judged' && outcome.verified,
    plans: all.length,
    valid: all.filter(({ kind }) => kind !== 'unparseable').length,
    usd: judged.reduce((sum, one) => sum + one.costUsd, 0),
    ...(judged.every(({ tokens }) => tokens !== undefined) && { tokens: judged.reduce((sum, { tokens = 0 }) => sum + tokens, 0) }),
  };
}

/** A change for the better by less is not worth an adoption, nor plans to find it. */
export const WORTH_IT = 0.1;

/** What pairs of tries tell, and what more would cost where they do not. */
export function comparisonOf(looks: readonly HeldOutLook[], tasks: number): Comparison {
  const pairs = looks.flatMap((look) => look.pairs);
  const differences = pairs.map(({ before, after }) => Number(after.verified) - Number(before.verified));
  const costUsd = pairs.reduce((sum, { before, after }) => sum + before.usd + after.usd, 0);
  const says = isShown(differences, 0, 'above', DIFFERENCE) ? 'better' : isShown(differences, WORTH_IT, 'below', DIFFERENCE) ? 'not-better' : 'not-known';
  const more = says === 'not-known' && pairs.length > 0 ? fewest(moreToShow(differences, 0, 'above', DIFFERENCE), moreToShow(differences, WORTH_IT, 'below', DIFFERENCE)) : undefined;
  const told = (who: typeof WHO[number]): Comparison['before'] => {
    const tries = pairs.map((pair) => pair[who]);
    const plans = tries.reduce((sum, one) => sum + one.plans, 0);
    return {
      verified: meanSoFar(tries.map(({ verified }) => Number(verified)), SHARE),
      formatRate: plans === 0 ? 0 : tries.reduce((sum, { valid }) => sum + valid, 0) / plans,
      costUsd: mean(tries.map(({ usd }) => usd)),
      ...(tries.length > 0 && tries.every(({ tokens }) => tokens !== undefined) && { tokens: mean(tries.map(({ tokens = 0 }) => tokens)) }),
    };
  };
  return {
    tasks, pairs: pairs.length, costUsd, before: told('before'), after: told('after'), difference: meanSoFar(differences, DIFFERENCE), says,
    ...(more !== undefined && { more: { pairs: more, usd: more * costUsd / pairs.length } }),
  };
}

function fewest(...counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
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
