import type { CheckpointStore, TrainingCheckpoint } from './checkpoint-store.ts';
import type { TrainEngine } from '../engines/engine.ts';
import { gatherStep, type GatherOptions, type GatherParts } from './gather-step.ts';
import type { Givers } from './givers.ts';
import { grpoStep, type GrpoOptions, type StepMetrics } from './grpo-step.ts';
import { learningRate, type LearningRateOptions } from './learning-rate.ts';
import { type UnpaidParts, unpaidUpdates } from './unpaid-updates.ts';

export interface GrpoTrainerOptions extends GrpoOptions, Omit<GatherOptions, 'temperature'> {
  readonly steps: number;
  /** The most updates after each step for which nothing is paid, where only some plans of a step are carried out; 0 by default. */
  readonly unpaidUpdates?: number | undefined;
  readonly learningRate: LearningRateOptions;
}

export interface GrpoTrainerParts<Task> extends GatherParts<Task>, Pick<UnpaidParts<Task>, 'onUnpaid'> {
  readonly engine: TrainEngine;
  readonly store: CheckpointStore;
  /** Other machines whose groups go into the same batches. */
  readonly givers?: Givers | undefined;
  /** Asked before each step, with the number of those done: false ends the training. */
  readonly goesOn?: ((done: number) => Promise<boolean>) | undefined;
  /** Called after each step, when its checkpoint is on disk. */
  readonly onStep?: ((step: number, metrics: StepMetrics) => void) | undefined;
}

/**
 * Trains from the checkpoint to the last step, or until it is to go on no more. Each step is on disk before the next starts; an interrupted step is repeated with the same
 * tasks and seeds. @throws the signal's reason, and what the engine and the gatherer throw
 */
export async function trainWithGrpo<Task>(
  { store, givers, goesOn, onStep, ...parts }: GrpoTrainerParts<Task>, options: GrpoTrainerOptions,
  { from, signal }: { readonly from: TrainingCheckpoint | undefined; readonly signal: AbortSignal },
): Promise<readonly StepMetrics[]> {
  const { engine, gatherer, critic } = parts;
  const gathering = { ...options, temperature: options.loss.temperature };
  const metrics = [...(from?.metrics ?? [])];
  for (let step = from?.step ?? 0; step < options.steps; step += 1) {
    signal.throwIfAborted();
    if (goesOn && !(await goesOn(step))) break;
    await givers?.begin(step, signal);
    const groups = await gatherStep(parts, gathering, step, signal);
    const given = await givers?.groups(step, signal) ?? [];
    const rate = learningRate(step, options.steps, options.learningRate);
    const learned = await grpoStep(engine, [...groups.map(({ group }) => group), ...given], options, { learningRate: rate, signal });
    const measured = { ...learned, ...gatherer.metrics?.(step), ...givers?.metrics(step) };
    critic?.learn(groups);
    const most = options.carriedOut === undefined ? 0 : options.unpaidUpdates ?? 0;
    const unpaid = critic && most > 0 ? await unpaidUpdates({ ...parts, critic, store }, { ...gathering, unpaidUpdates: most }, { step, learningRate: rate, signal }) : {};
    metrics.push({ ...measured, ...unpaid });
    await engine.saveForSampler(store.versionName(step + 1));
    await store.save(step + 1, { metrics, judged: critic?.judged, counted: givers?.counted }, (folder) => engine.saveState(folder));
    onStep?.(step + 1, metrics.at(-1) as StepMetrics);
  }
  return metrics;
}
