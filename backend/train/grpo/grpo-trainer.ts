import { draw, tasksOfStep } from '../statistics/draws.ts';
import type { Prompt, SampledCompletion, TrainEngine } from '../engines/engine.ts';
import { grpoStep, type GrpoOptions, type JudgedCompletion, type StepMetrics } from './grpo-step.ts';
import { learningRate, type LearningRateOptions } from './learning-rate.ts';
import type { RolloutOutcome } from './reward.ts';
import type { TrainingCheckpoint, CheckpointStore } from './checkpoint-store.ts';

/** Where in a training a group of rollouts stands: what is drawn for the group follows from it. */
export interface GroupPlace {
  readonly step: number;
  /** Among the tasks of the step. */
  readonly place: number;
}

/** A plan to run for a task. */
export interface SampledPlan {
  /** Which of its group: the same answers of workers belong to the same sample. */
  readonly sample: number;
  readonly completion: SampledCompletion;
  /** The plan of the round before, of the same sample, which this one revises. */
  readonly revises?: SampledCompletion | undefined;
}

/** What plans are sampled for, and what becomes of them. */
export interface Gatherer<Task> {
  /** What the Conductor is asked. */
  prompt(task: Task, at: GroupPlace): Prompt;
  /** What it is asked after its plan ran, to revise it; undefined where no answer came of that plan. */
  revisionPrompt?(task: Task, at: GroupPlace, sample: number): Prompt | undefined;
  /** Runs sampled plans and judges their answers. Whatever goes wrong with one is its outcome. @throws where the training cannot go on */
  outcomes(task: Task, plans: readonly SampledPlan[], at: GroupPlace, signal: AbortSignal): Promise<readonly RolloutOutcome[]>;
}

export interface GrpoTrainerOptions extends GrpoOptions {
  readonly steps: number;
  readonly tasksPerStep: number;
  readonly groupSize: number;
  /** 2: one half of a group revises the other half's plans after they ran, each its own (the paper's recursion). */
  readonly rounds: 1 | 2;
  /** Of a completion. */
  readonly maxTokens: number;
  readonly seed: number;
  readonly learningRate: LearningRateOptions;
}

export interface GrpoTrainerParts<Task> {
  readonly engine: TrainEngine;
  readonly store: CheckpointStore;
  readonly tasks: readonly Task[];
  readonly gatherer: Gatherer<Task>;
  /** Told after each step, when it is on disk. */
  readonly onStep?: ((step: number, metrics: StepMetrics) => void) | undefined;
  /** Told of each group whose rollouts have been judged: so many of the step's. */
  readonly onGroup?: ((step: number, groups: number) => void) | undefined;
}

/**
 * Trains to the last step, from where the checkpoint left off. Each step is on disk before the next begins, so that one that is interrupted
 * is done again with the same tasks and seeds. Throws the signal's reason, and what the engine and the rollouts throw.
 */
export async function trainWithGrpo<Task>(
  { engine, store, tasks, gatherer, onStep, onGroup }: GrpoTrainerParts<Task>, options: GrpoTrainerOptions,
  { from, signal }: { readonly from: TrainingCheckpoint | undefined; readonly signal: AbortSignal },
): Promise<readonly StepMetrics[]> {
  const metrics = [...(from?.metrics ?? [])];
  for (let step = from?.step ?? 0; step < options.steps; step += 1) {
    signal.throwIfAborted();
    const groups = await gatherStep({ engine, tasks, gatherer, onGroup }, options, step, signal);
    const rate = learningRate(step, options.steps, options.learningRate);
    metrics.push(await grpoStep(engine, groups, options, { learningRate: rate, signal }));
    await engine.saveForSampler(store.versionName(step + 1));
    await store.save(step + 1, metrics, (folder) => engine.saveState(folder));
    onStep?.(step + 1, metrics.at(-1) as StepMetrics);
  }
  return metrics;
}

type StepParts<Task> = Pick<GrpoTrainerParts<Task>, 'engine' | 'tasks' | 'gatherer' | 'onGroup'>;

/** The groups of one step. A group's plans run while the next group's are sampled: workers and sandbox have other limits than the model. */
async function gatherStep<Task>(
  { engine, tasks, gatherer, onGroup }: StepParts<Task>, options: GrpoTrainerOptions, step: number, signal: AbortSignal,
): Promise<readonly (readonly JudgedCompletion[])[]> {
  const { seed, groupSize, rounds, maxTokens, loss: { temperature } } = options;
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const sampleFor = (prompt: Prompt, ...purposes: readonly (readonly (string | number)[])[]): Promise<readonly SampledCompletion[]> =>
    engine.sample({ ...prompt, maxTokens, temperature, seeds: purposes.map((purpose) => draw(seed, ...purpose)), signal: either });

  const revise = async (task: Task, at: GroupPlace, first: readonly JudgedCompletion[]): Promise<readonly JudgedCompletion[]> => {
    const plans: SampledPlan[] = [];
    for (const [sample, { completion: revises }] of first.entries()) {
      const prompt = gatherer.revisionPrompt?.(task, at, sample);
      // Workers' answers decide how long the prompt of a revision is.
      if (!prompt || !(await engine.hasRoom(prompt, 1))) continue;
      const [completion] = await sampleFor(prompt, ['revision', step, at.place, sample]);
      if (completion) plans.push({ sample, completion, revises });
    }
    const outcomes = await gatherer.outcomes(task, plans, at, either);
    for (const [index, { sample }] of plans.entries()) first[sample]!.revised = outcomes[index];
    return plans.map(({ completion }, index) => ({ completion, outcome: outcomes[index] as RolloutOutcome }));
  };

  const gather = async (task: Task, at: GroupPlace, completions: readonly SampledCompletion[]): Promise<readonly (readonly JudgedCompletion[])[]> => {
    const plans = completions.map((completion, sample) => ({ sample, completion }));
    const outcomes = await gatherer.outcomes(task, plans, at, either);
    const first = completions.map((completion, sample): JudgedCompletion => ({ completion, outcome: outcomes[sample] as RolloutOutcome }));
    return rounds === 1 ? [first] : [first, await revise(task, at, first)];
  };

  let done = 0;
  const gathering: Promise<readonly (readonly JudgedCompletion[])[] | undefined>[] = [];
  try {
    for (const [place, task] of tasksOfStep(tasks, { seed, step, count: options.tasksPerStep }).entries()) {
      const purposes = Array.from({ length: Math.ceil(groupSize / rounds) }, (_, sample) => ['plan', step, place, sample]);
      const completions = await sampleFor(gatherer.prompt(task, { step, place }), ...purposes);
      gathering.push(gather(task, { step, place }, completions).then((groups) => {
        onGroup?.(step, done += 1);
        return groups;
      }).catch((error: unknown) => {
        failed.abort(error);
        return undefined;
      }));
    }
  } catch (error) {
    failed.abort(error);
  }
  const groups = await Promise.all(gathering);
  if (failed.signal.aborted) throw failed.signal.reason;
  return groups.flatMap((found) => found ?? []);
}
