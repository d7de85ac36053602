import { draw, tasksOfStep } from '../statistics/draws.ts';
import type { Prompt, SampledCompletion, TrainEngine } from '../engines/engine.ts';
import { grpoStep, type GrpoOptions, type JudgedCompletion, type StepMetrics } from './grpo-step.ts';
import { learningRate, type LearningRateOptions } from './learning-rate.ts';
import type { RolloutOutcome } from './reward.ts';
import type { TrainingCheckpoint, CheckpointStore } from './checkpoint-store.ts';

/** The place of a group in its training. Everything that is drawn for the group follows from it. */
export interface GroupPlace {
  readonly step: number;
  /** The index of its task within the step. */
  readonly place: number;
}

/** A plan to run for a task. */
export interface SampledPlan {
  /** Its index within the group. Answers of workers are shared between equal samples only. */
  readonly sample: number;
  readonly completion: SampledCompletion;
  /** The plans that this one revises: the same sample's, of the rounds before, oldest first. */
  readonly revises?: readonly SampledCompletion[] | undefined;
}

/** The environment of a training: it asks for plans and judges them. */
export interface Gatherer<Task> {
  /** The prompt for a plan. */
  prompt(task: Task, at: GroupPlace): Prompt;
  /** The prompt for a revision of a plan that has run; undefined where that plan led to no answer. */
  revisionPrompt?(task: Task, at: GroupPlace, plan: Pick<SampledPlan, 'sample' | 'revises'>): Prompt | undefined;
  /** Runs sampled plans and judges their answers. The failure of one plan is its outcome. @throws where the training cannot go on */
  outcomes(task: Task, plans: readonly SampledPlan[], at: GroupPlace, signal: AbortSignal): Promise<readonly RolloutOutcome[]>;
  /** What is recorded of a step besides what it taught, once its plans are judged. */
  metrics?(step: number): StepMetrics;
}

export interface GrpoTrainerOptions extends GrpoOptions {
  readonly steps: number;
  readonly tasksPerStep: number;
  readonly groupSize: number;
  /** 2: half of each group are revisions, one for each plan of the other half, made after these ran (the paper's recursion). */
  readonly rounds: 1 | 2;
  /** Maximum length of a completion. */
  readonly maxTokens: number;
  readonly seed: number;
  readonly learningRate: LearningRateOptions;
}

export interface GrpoTrainerParts<Task> {
  readonly engine: TrainEngine;
  readonly store: CheckpointStore;
  readonly tasks: readonly Task[];
  readonly gatherer: Gatherer<Task>;
  /** Asked before each step, with the number of those done: false ends the training. */
  readonly goesOn?: ((done: number) => Promise<boolean>) | undefined;
  /** Called after each step, when its checkpoint is on disk. */
  readonly onStep?: ((step: number, metrics: StepMetrics) => void) | undefined;
  /** Called when another group of the step is judged; `groups` is their number. */
  readonly onGroup?: ((step: number, groups: number) => void) | undefined;
}

/**
 * Trains from the checkpoint to the last step, or until it is to go on no more. Each step is on disk before the next starts; an interrupted step is repeated with the same
 * tasks and seeds. @throws the signal's reason, and what the engine and the gatherer throw
 */
export async function trainWithGrpo<Task>(
  { engine, store, tasks, gatherer, goesOn, onStep, onGroup }: GrpoTrainerParts<Task>, options: GrpoTrainerOptions,
  { from, signal }: { readonly from: TrainingCheckpoint | undefined; readonly signal: AbortSignal },
): Promise<readonly StepMetrics[]> {
  const metrics = [...(from?.metrics ?? [])];
  for (let step = from?.step ?? 0; step < options.steps; step += 1) {
    signal.throwIfAborted();
    if (goesOn && !(await goesOn(step))) break;
    const groups = await gatherStep({ engine, tasks, gatherer, onGroup }, options, step, signal);
    const rate = learningRate(step, options.steps, options.learningRate);
    metrics.push({ ...await grpoStep(engine, groups, options, { learningRate: rate, signal }), ...gatherer.metrics?.(step) });
    await engine.saveForSampler(store.versionName(step + 1));
    await store.save(step + 1, metrics, (folder) => engine.saveState(folder));
    onStep?.(step + 1, metrics.at(-1) as StepMetrics);
  }
  return metrics;
}

type StepParts<Task> = Pick<GrpoTrainerParts<Task>, 'engine' | 'tasks' | 'gatherer' | 'onGroup'>;

/** The groups of one step. One group's plans run while the next group is sampled: the model is idle while workers and sandbox are busy. */
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
    for (const [sample, { completion: before }] of first.entries()) {
      const prompt = gatherer.revisionPrompt?.(task, at, { sample });
      // Workers' answers decide how long the prompt of a revision is.
      if (!prompt || !(await engine.hasRoom(prompt, 1))) continue;
      const [completion] = await sampleFor(prompt, ['revision', step, at.place, sample]);
      if (completion) plans.push({ sample, completion, revises: [before] });
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
