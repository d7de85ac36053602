import { seededUniforms } from '../../lm/checkpoint/seeded-uniforms.ts';
import type { Comparison, Estimate } from '../../protocol/training.ts';
import { draw } from '../statistics/draws.ts';
import type { Prompt, SampledCompletion, SampleRequest } from '../engines/engine.ts';
import type { Gatherer, SampledPlan } from '../grpo/grpo-trainer.ts';
import type { RolloutOutcome } from '../grpo/reward.ts';
import { estimate, mean } from '../statistics/statistics.ts';

export interface ComparedParts<Task> {
  readonly tasks: readonly Task[];
  readonly gatherer: Gatherer<Task>;
  /** Sample from the two Conductors. */
  readonly before: (request: SampleRequest) => Promise<readonly SampledCompletion[]>;
  readonly after: (request: SampleRequest) => Promise<readonly SampledCompletion[]>;
  /** What a person's question would get; one plan by default. */
  readonly triesOf?: ((task: Task) => Tries) | undefined;
  readonly onTask?: ((done: number, of: number) => void) | undefined;
}

export interface ComparedOptions {
  /** Tries per task and Conductor. */
  readonly samples: number;
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

/** The steps under which the rollouts of the two Conductors are kept. */
const PLACES = { before: 0, after: 1 } as const;

/** One try of a task: what became of it, and of each text that was sampled for it. */
interface Try {
  outcome: RolloutOutcome;
  readonly all: RolloutOutcome[];
  /** The plan that a further round revises. */
  plan: SampledPlan;
}

/**
 * Runs plans of two Conductors on the same tasks with the same pool and seeds. Tries with an unknown outcome are left out.
 * @throws what the Conductors and the rollouts throw, the signal's reason
 */
export async function compareConductors<Task>(
  { tasks, gatherer, before, after, triesOf = () => ({ rounds: 1, attempts: 1 }), onTask }: ComparedParts<Task>, options: ComparedOptions, signal: AbortSignal,
): Promise<Comparison> {
  const { samples, maxTokens, temperature, seed } = options;
  const judged: { before: readonly Try[]; after: readonly Try[] }[] = [];
  for (const [place, task] of tasks.entries()) {
    const triesBy = async (who: 'before' | 'after'): Promise<readonly Try[]> => {
      const at = { step: PLACES[who], place };
      const write = (prompt: Prompt, seeds: readonly number[]): Promise<readonly SampledCompletion[]> =>
        (who === 'before' ? before : after)({ ...prompt, maxTokens, temperature, seeds, signal });
      const outcomes = (plans: readonly SampledPlan[]): Promise<readonly RolloutOutcome[]> => gatherer.outcomes(task, plans, at, signal);
      return await tryTask({ write, outcomes, first: gatherer.prompt(task, at), again: (plan) => gatherer.revisionPrompt?.(task, at, plan) }, triesOf(task), {
        samples, seedOf: (...purpose) => draw(seed, 'evaluation', place, ...purpose),
      });
    };
    judged.push({ before: await triesBy('before'), after: await triesBy('after') });
    onTask?.(judged.length, tasks.length);
  }
  const overTasks = (values: readonly number[]): Estimate => estimate([values], { seed: draw(seed, 'bootstrap'), resamples: DRAWS });
  const ofAll = (who: 'before' | 'after'): Comparison['before'] => {
    const tries = judged.flatMap((task) => task[who]);
    return {
      verified: overTasks(judged.flatMap((task) => verifiedShare(task[who]) ?? [])),
      formatRate: mean(tries.flatMap(({ all }) => all).map(({ kind }) => Number(kind !== 'unparseable'))),
      costUsd: mean(tries.filter(({ outcome }) => outcome.kind === 'judged').map(({ all }) => all.reduce((sum, outcome) => sum + (outcome.kind === 'judged' ? outcome.costUsd : 0), 0))),
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

/** Tries a task so many times. Tests end a try as they end a run of Solve: no further plan is written or carried out once one has passed. */
async function tryTask(
  { write, outcomes, first, again }: {
    readonly write: (prompt: Prompt, seeds: readonly number[]) => Promise<readonly SampledCompletion[]>;
    readonly outcomes: (plans: readonly SampledPlan[]) => Promise<readonly RolloutOutcome[]>;
    readonly first: Prompt;
    readonly again: (plan: SampledPlan) => Prompt | undefined;
  },
  { rounds, attempts }: Tries,
  { samples, seedOf }: { readonly samples: number; readonly seedOf: (...purpose: readonly (string | number)[]) => number },
): Promise<readonly Try[]> {
  const numbers = Array.from({ length: samples }, (_, sample) => sample);
  const completions = await write(first, numbers.map((sample) => seedOf(sample)));
  const plans = completions.map((completion, sample): SampledPlan => ({ sample, completion }));
  const tries = (await outcomes(plans)).map((outcome, sample): Try => ({ outcome, all: [outcome], plan: plans[sample] as SampledPlan }));
  const open = (): Try[] => tries.filter(({ outcome }) => !isDecided(outcome));
  const goOn = async (going: readonly Try[], next: readonly SampledPlan[]): Promise<void> => {
    for (const [index, outcome] of (await outcomes(next)).entries()) {
      const one = going[index] as Try;
      one.all.push(outcome);
      one.plan = next[index] as SampledPlan;
      if (rankOf(outcome) >= rankOf(one.outcome)) one.outcome = outcome;
    }
  };
  // The run of each attempt has a number of its own.
  for (let attempt = 1; attempt < attempts && open().length > 0; attempt += 1) {
    const going = open();
    const written = await write(first, going.map(({ plan: { sample } }) => seedOf(sample % samples, 'attempt', attempt)));
    await goOn(going, written.map((completion, index) => ({ sample: ((going[index] as Try).plan.sample % samples) + attempt * samples, completion })));
  }
  for (let round = 1; attempts === 1 && round < rounds; round += 1) {
    const going: Try[] = [];
    const next: SampledPlan[] = [];
    for (const one of open()) {
      const { plan } = one;
      const prompt = one.all.at(-1)?.kind === 'judged' ? again(plan) : undefined;
      if (!prompt) continue;
      const [completion] = await write(prompt, [seedOf(plan.sample, 'round', round)]);
      if (!completion) continue;
      going.push(one);
      next.push({ sample: plan.sample, completion, revises: [...plan.revises ?? [], plan.completion] });
    }
    await goOn(going, next);
  }
  return tries;
}

/** Whether no other answer could be better, or the machine is at fault. */
const isDecided = (outcome: RolloutOutcome): boolean => outcome.kind === 'infrastructure' || (outcome.kind === 'judged' && (outcome.verified || outcome.passes === true));

const rankOf = (outcome: RolloutOutcome): number => (outcome.kind !== 'judged' ? -1 : outcome.verified ? 3 : outcome.passes ? 2 : outcome.score);

function verifiedShare(tries: readonly Try[]): number | undefined {
  const known = tries.map(({ outcome }) => outcome).filter(({ kind }) => kind !== 'infrastructure');
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
