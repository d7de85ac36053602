import { draw, shuffled, tasksOfStep } from '../statistics/draws.ts';
import type { Prompt, SampledCompletion, TrainEngine } from '../engines/engine.ts';
import type { Critic, TaskGroup } from './critic.ts';
import { drawWithOdds } from './draw-with-odds.ts';
import type { Gatherer, GroupPlace, SampledPlan } from './gatherer.ts';
import type { JudgedCompletion } from './grpo-step.ts';
import type { RolloutOutcome } from './reward.ts';

export interface GatherOptions {
  readonly tasksPerStep: number;
  /** Plans sampled for a task. */
  readonly groupSize: number;
  /** Plans of a step that are carried out. What is expected of the others stands in for their outcomes. Absent: all. */
  readonly carriedOut?: number | undefined;
  /** 2: half of each group are revisions, one for each plan of the other half, made after these ran (the paper's recursion). Then all are carried out. */
  readonly rounds: 1 | 2;
  /** Maximum length of a completion. */
  readonly maxTokens: number;
  readonly temperature: number;
  readonly seed: number;
}

export interface GatherParts<Task> {
  readonly engine: Pick<TrainEngine, 'sample' | 'hasRoom'>;
  readonly tasks: readonly Task[];
  readonly gatherer: Gatherer<Task>;
  /** Needed where only some plans are carried out. */
  readonly critic?: Critic<Task> | undefined;
  /** Called when another group of the step is judged; `groups` is their number. */
  readonly onGroup?: ((step: number, groups: number) => void) | undefined;
}

/** The groups of one step. @throws the signal's reason, and what the engine and the gatherer throw */
export function gatherStep<Task>(parts: GatherParts<Task>, options: GatherOptions, step: number, signal: AbortSignal): Promise<readonly TaskGroup<Task>[]> {
  const { critic } = parts;
  const { carriedOut } = options;
  return critic && carriedOut !== undefined ? gatherSome({ ...parts, critic }, { ...options, carriedOut }, step, signal) : gatherAll(parts, options, step, signal);
}

/** One group's plans run while the next group is sampled: the model is idle while workers and sandbox are busy. */
async function gatherAll<Task>(
  { engine, tasks, gatherer, onGroup }: GatherParts<Task>, options: GatherOptions, step: number, signal: AbortSignal,
): Promise<readonly TaskGroup<Task>[]> {
  const { groupSize, rounds } = options;
  const together = new Together<readonly TaskGroup<Task>[]>(signal);
  const sampleFor = sampler(engine, options, together.signal);

  const revise = async (task: Task, at: GroupPlace, first: readonly JudgedCompletion[]): Promise<readonly JudgedCompletion[]> => {
    const plans: SampledPlan[] = [];
    for (const [sample, { completion: before }] of first.entries()) {
      const prompt = gatherer.revisionPrompt?.(task, at, { sample });
      // Workers' answers decide how long the prompt of a revision is.
      if (!prompt || !(await engine.hasRoom(prompt, 1))) continue;
      const [completion] = await sampleFor(prompt, ['revision', step, at.place, sample]);
      if (completion) plans.push({ sample, completion, revises: [before] });
    }
    gatherer.sampled?.(task, plans, at);
    const outcomes = await gatherer.outcomes(task, plans, at, together.signal);
    for (const [index, { sample }] of plans.entries()) first[sample]!.revised = outcomes[index];
    return plans.map(({ completion }, index) => ({ completion, outcome: outcomes[index] as RolloutOutcome }));
  };

  const gather = async (task: Task, at: GroupPlace, completions: readonly SampledCompletion[]): Promise<readonly TaskGroup<Task>[]> => {
    const plans = plansOf(completions);
    gatherer.sampled?.(task, plans, at);
    const outcomes = await gatherer.outcomes(task, plans, at, together.signal);
    const first = completions.map((completion, sample): JudgedCompletion => ({ completion, outcome: outcomes[sample] as RolloutOutcome }));
    return [{ task, at, group: first }, ...(rounds === 1 ? [] : [{ task, at, group: await revise(task, at, first) }])];
  };

  let done = 0;
  try {
    for (const { task, at } of placesOf(tasks, options, step)) {
      const completions = await sampleFor(gatherer.prompt(task, at), ...planPurposes(at, Math.ceil(groupSize / rounds)));
      together.start(async () => {
        const groups = await gather(task, at, completions);
        onGroup?.(step, done += 1);
        return groups;
      });
    }
  } catch (error) {
    together.fail(error);
  }
  return (await together.ended()).flat();
}

/** The odds of a plan grow with the standard deviation of its outcome, as far as that is known, beginning with these: every plan may be carried out. */
const LEAST_ODDS = 0.25;

/** Plans of all tasks are sampled before it is decided which of them are carried out. */
async function gatherSome<Task>(
  { engine, tasks, gatherer, critic, onGroup }: GatherParts<Task> & { readonly critic: Critic<Task> },
  options: GatherOptions & { readonly carriedOut: number }, step: number, signal: AbortSignal,
): Promise<readonly TaskGroup<Task>[]> {
  const { seed, groupSize, carriedOut } = options;
  const together = new Together<TaskGroup<Task>>(signal);
  const sampleFor = sampler(engine, options, signal);
  const sampled = [];
  for (const { task, at } of placesOf(tasks, options, step)) {
    const completions = await sampleFor(gatherer.prompt(task, at), ...planPurposes(at, groupSize));
    gatherer.sampled?.(task, plansOf(completions), at);
    const chances = critic.chances(task, completions, at);
    sampled.push({ task, at, plans: completions.map((completion, sample) => ({ completion, sample, chance: chances[sample] })) });
  }
  const valid = shuffled(sampled.flatMap(({ plans }) => plans.filter(({ chance }) => chance !== undefined)), seed, 'carried out', step);
  const sizes = valid.map(({ chance = 0 }) => LEAST_ODDS + Math.sqrt(chance * (1 - chance)));
  const drawn = new Map(drawWithOdds(sizes, carriedOut, draw(seed, 'carried out from', step) / 2 ** 48).map((one, index) => [valid[index], one]));

  let done = 0;
  for (const { task, at, plans } of sampled) {
    together.start(async () => {
      const chosen = plans.filter((plan) => drawn.get(plan)?.isDrawn);
      const outcomes = await gatherer.outcomes(task, chosen, at, together.signal);
      onGroup?.(step, done += 1);
      return {
        task, at,
        group: plans.map((plan): JudgedCompletion => {
          const { completion, chance } = plan;
          const expected = expectedCompletion(completion, chance);
          return chance === undefined ? expected : { ...expected, outcome: outcomes[chosen.indexOf(plan)], expected: { chance, odds: drawn.get(plan)?.odds ?? 1 } };
        }),
      };
    });
  }
  return await together.ended();
}

/**
 * The groups of an update for which nothing is paid: what is expected of each plan stands in for its outcome. Tasks and seeds are drawn apart from those of steps.
 * @param update counted over the whole training
 */
export async function gatherUnpaid<Task>(
  { engine, tasks, gatherer, critic }: Omit<GatherParts<Task>, 'onGroup'> & { readonly critic: Critic<Task> }, options: GatherOptions, update: number, signal: AbortSignal,
): Promise<readonly TaskGroup<Task>[]> {
  const apart = { ...options, seed: draw(options.seed, 'unpaid') };
  const sampleFor = sampler(engine, apart, signal);
  const groups: TaskGroup<Task>[] = [];
  for (const { task, at } of placesOf(tasks, apart, update)) {
    const completions = await sampleFor(gatherer.prompt(task, at), ...planPurposes(at, options.groupSize));
    const chances = critic.chances(task, completions, at);
    groups.push({ task, at, group: completions.map((completion, sample) => expectedCompletion(completion, chances[sample])) });
  }
  return groups;
}

/** A text that is no plan needs no verdict. */
const expectedCompletion = (completion: SampledCompletion, chance: number | undefined): JudgedCompletion =>
  (chance === undefined ? { completion, outcome: { kind: 'unparseable' } } : { completion, outcome: undefined, expected: { chance, odds: 1 } });

type Purpose = readonly (string | number)[];

function sampler(engine: Pick<TrainEngine, 'sample'>, { seed, maxTokens, temperature }: GatherOptions, signal: AbortSignal): (prompt: Prompt, ...purposes: readonly Purpose[]) => Promise<readonly SampledCompletion[]> {
  return (prompt, ...purposes) => engine.sample({ ...prompt, maxTokens, temperature, seeds: purposes.map((purpose) => draw(seed, ...purpose)), signal });
}

const plansOf = (completions: readonly SampledCompletion[]): SampledPlan[] => completions.map((completion, sample) => ({ sample, completion }));
const planPurposes = ({ step, place }: GroupPlace, count: number): Purpose[] => Array.from({ length: count }, (_, sample) => ['plan', step, place, sample]);

function placesOf<Task>(tasks: readonly Task[], { seed, tasksPerStep }: GatherOptions, step: number): { readonly task: Task; readonly at: GroupPlace }[] {
  return tasksOfStep(tasks, { seed, step, count: tasksPerStep }).map((task, place) => ({ task, at: { step, place } }));
}

/** Work that goes on together: the first that fails ends the others. */
class Together<T> {
  readonly signal: AbortSignal;
  readonly #failed = new AbortController();
  readonly #begun: Promise<T | undefined>[] = [];

  constructor(signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.#failed.signal]);
  }

  start(work: () => Promise<T>): void {
    this.#begun.push(work().catch((error: unknown) => {
      this.fail(error);
      return undefined;
    }));
  }

  fail(error: unknown): void {
    this.#failed.abort(error);
  }

  /** @throws what failed first, when all have ended */
  async ended(): Promise<T[]> {
    const results = await Promise.all(this.#begun);
    if (this.#failed.signal.aborted) throw this.#failed.signal.reason;
    return results as T[];
  }
}
