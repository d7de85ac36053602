import { draw, tasksOfStep } from './draws.ts';
import type { SampledCompletion, SampleRequest, TrainEngine } from './engine.ts';
import { grpoStep, type GrpoOptions, type Rollout, type StepMetrics } from './grpo-step.ts';
import { learningRate, type LearningRateOptions } from './learning-rate.ts';
import type { RolloutOutcome } from './reward.ts';
import type { TrainingCheckpoint, TrainingStore } from './training-store.ts';

/** Where in a training a group of rollouts stands: what is drawn for the group follows from it. */
export interface GroupPlace {
  readonly step: number;
  /** Among the tasks of the step. */
  readonly place: number;
}

/** What plans are sampled for, and what becomes of them. */
export interface Gatherer<Task> {
  /** What the Conductor is asked. */
  prompt(task: Task, at: GroupPlace): Pick<SampleRequest, 'messages' | 'prefill'>;
  /** Runs sampled plans and judges their answers. Whatever goes wrong with one is its outcome. @throws where the training cannot go on */
  outcomes(task: Task, completions: readonly SampledCompletion[], at: GroupPlace, signal: AbortSignal): Promise<readonly RolloutOutcome[]>;
}

export interface GrpoTrainerOptions extends GrpoOptions {
  readonly steps: number;
  readonly tasksPerStep: number;
  readonly groupSize: number;
  /** Of a completion. */
  readonly maxTokens: number;
  readonly seed: number;
  readonly learningRate: LearningRateOptions;
}

/** The paper's (arXiv 2512.04388 A.1): 200 updates of 4 tasks with 64 plans each, at temperature 1, of at most 1,024 tokens. */
export const SCHEDULE_DEFAULTS = { steps: 200, tasksPerStep: 4, groupSize: 64, maxTokens: 1_024 } as const;

export interface GrpoTrainerParts<Task> {
  readonly engine: TrainEngine;
  readonly store: TrainingStore;
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
    const { seed, groupSize, maxTokens, loss: { temperature } } = options;
    const groups: Rollout[][] = [];
    // A group's plans run while the next group's are sampled: workers and sandbox have other limits than the model.
    const running: Promise<void>[] = [];
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    try {
      for (const [place, task] of tasksOfStep(tasks, { seed, step, count: options.tasksPerStep }).entries()) {
        const at = { step, place };
        const seeds = Array.from({ length: groupSize }, (_, sample) => draw(seed, 'plan', step, place, sample));
        const completions = await engine.sample({ ...gatherer.prompt(task, at), maxTokens, temperature, seeds, signal: either });
        running.push(gatherer.outcomes(task, completions, at, either).then((outcomes) => {
          groups[place] = completions.map((completion, sample) => ({ completion, outcome: outcomes[sample] as RolloutOutcome }));
          onGroup?.(step, groups.filter(Boolean).length);
        }).catch((error: unknown) => failed.abort(error)));
      }
    } catch (error) {
      failed.abort(error);
    }
    await Promise.all(running);
    if (failed.signal.aborted) throw failed.signal.reason;
    const rate = learningRate(step, options.steps, options.learningRate);
    metrics.push(await grpoStep(engine, groups, options, { learningRate: rate, signal }));
    await engine.saveForSampler(store.versionName(step + 1));
    await store.save(step + 1, metrics, (folder) => engine.saveState(folder));
    onStep?.(step + 1, metrics.at(-1) as StepMetrics);
  }
  return metrics;
}
