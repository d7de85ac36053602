import { tasksOfStep } from '../statistics/draws.ts';
import type { Example, TrainEngine } from '../engines/engine.ts';
import type { CheckpointStore, TrainingCheckpoint } from '../grpo/checkpoint-store.ts';
import type { StepMetrics } from '../grpo/grpo-step.ts';
import { learningRate, type LearningRateOptions } from '../grpo/learning-rate.ts';

/** Plans of an update. */
export const BATCH = 8;
/** How often each plan is learned from. */
const PASSES = 20;
/** Enough for 600 plans; with more, each is seen less often. */
const MOST_STEPS = 600;
/** A step takes less than a second for a small model. */
const STEPS_KEPT = 5;

export const stepsFor = (plans: number): number => Math.min(MOST_STEPS, Math.ceil((plans * PASSES) / BATCH));

export interface ImitateOptions {
  readonly steps: number;
  readonly seed: number;
  readonly learningRate: LearningRateOptions;
  readonly gradientClip: number;
}

/**
 * Learns to write plans that were verified, from the checkpoint to the last step: cross-entropy, each plan with its weight. The seed and the step
 * decide what a step learns from, so that one that was interrupted is repeated and nothing is learned twice. @throws the signal's reason, and what the engine throws
 */
export async function imitate(
  { engine, store, examples, onStep }: { readonly engine: TrainEngine; readonly store: CheckpointStore; readonly examples: readonly Example[]; readonly onStep: (step: number, metrics: StepMetrics) => void },
  { steps, seed, gradientClip, ...options }: ImitateOptions,
  { from, signal }: { readonly from: TrainingCheckpoint | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const metrics = [...(from?.metrics ?? [])];
  for (let step = from?.step ?? 0; step < steps; step += 1) {
    signal.throwIfAborted();
    const batch = tasksOfStep(examples, { seed, step, count: Math.min(BATCH, examples.length) });
    const rate = learningRate(step, steps, options.learningRate);
    const { loss } = await engine.forwardBackward({ type: 'cross_entropy' }, batch, signal);
    const { gradientNorm } = await engine.optimStep({ learningRate: rate, gradientClip });
    metrics.push({ loss, ...(gradientNorm !== undefined && { grad_norm: gradientNorm }), learning_rate: rate, examples: batch.length });
    const done = step + 1;
    if (done % STEPS_KEPT === 0 || done === steps) {
      await engine.saveForSampler(store.versionName(done));
      await store.save(done, metrics, (folder) => engine.saveState(folder));
    }
    onStep(done, metrics.at(-1) as StepMetrics);
  }
}
