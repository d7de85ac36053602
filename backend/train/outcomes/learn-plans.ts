import { draw, tasksOfStep } from '../statistics/draws.ts';
import type { Example, PolicyLoss, TrainEngine } from '../engines/engine.ts';
import type { CheckpointStore, TrainingCheckpoint } from '../grpo/checkpoint-store.ts';
import type { StepMetrics } from '../grpo/grpo-step.ts';
import { learningRate, type LearningRateOptions } from '../grpo/learning-rate.ts';

/** Plans of each kind in an update. */
export const BATCH = 8;
/** How often each plan is learned from. */
const PASSES = 20;
/** Enough for 600 plans; with more, each is seen less often. */
const MOST_STEPS = 600;
/** A step takes less than a second for a small model. */
const STEPS_KEPT = 5;

export const stepsFor = (plans: number): number => Math.min(MOST_STEPS, Math.ceil((plans * PASSES) / BATCH));

/** A plan that the learner sampled itself, with its advantage, and the temperature of its log-probabilities. */
export interface OwnExample extends Example {
  readonly temperature: number;
}

export interface LearnedPlans {
  /** To imitate, each with its weight. Not empty. */
  readonly verified: readonly Example[];
  /** For the policy gradient. */
  readonly own: readonly OwnExample[];
}

export interface LearnPlansOptions {
  readonly steps: number;
  readonly seed: number;
  readonly learningRate: LearningRateOptions;
  readonly gradientClip: number;
  readonly loss: Omit<PolicyLoss, 'temperature'>;
}

/**
 * Learns from plans that were carried out, from the checkpoint to the last step: cross-entropy of verified ones, and a policy gradient of the learner's own, verified
 * or not. Those were sampled by an older version, so each token counts by how likely it still is (importance ratio, truncated): what became unlikely is pushed no
 * further. The seed and the step decide what a step learns from, so that one that was interrupted is repeated and nothing is learned twice.
 * @throws the signal's reason, and what the engine throws
 */
export async function learnPlans(
  { engine, store, plans: { verified, own }, onStep }: { readonly engine: TrainEngine; readonly store: CheckpointStore; readonly plans: LearnedPlans; readonly onStep: (step: number, metrics: StepMetrics) => void },
  { steps, seed, gradientClip, loss: policyLoss, ...options }: LearnPlansOptions,
  { from, signal }: { readonly from: TrainingCheckpoint | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const metrics = [...(from?.metrics ?? [])];
  for (let step = from?.step ?? 0; step < steps; step += 1) {
    signal.throwIfAborted();
    const batch = tasksOfStep(verified, { seed, step, count: Math.min(BATCH, verified.length) });
    const ownBatch = tasksOfStep(own, { seed: draw(seed, 'own plans'), step, count: Math.min(BATCH, own.length) });
    const rate = learningRate(step, steps, options.learningRate);
    const { loss } = await engine.forwardBackward({ type: 'cross_entropy' }, batch, signal);
    // The loss is a mean over its plans, and plans of several temperatures take several calls.
    for (const [temperature, plans] of Map.groupBy(ownBatch, (example) => example.temperature)) {
      const share = plans.length / ownBatch.length;
      await engine.forwardBackward({ ...policyLoss, klCoefficient: policyLoss.klCoefficient * share, temperature }, plans.map((example) => ({ ...example, advantage: example.advantage * share })), signal);
    }
    const { gradientNorm } = await engine.optimStep({ learningRate: rate, gradientClip });
    metrics.push({ loss, ...(gradientNorm !== undefined && { grad_norm: gradientNorm }), learning_rate: rate, examples: batch.length + ownBatch.length });
    const done = step + 1;
    if (done % STEPS_KEPT === 0 || done === steps) {
      await engine.saveForSampler(store.versionName(done));
      await store.save(done, { metrics }, (folder) => engine.saveState(folder));
    }
    onStep(done, metrics.at(-1) as StepMetrics);
  }
}
