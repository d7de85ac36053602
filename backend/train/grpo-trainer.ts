import { draw, questionsOfStep } from './draws.ts';
import type { SampledCompletion, SampleRequest, TrainEngine } from './engine.ts';
import { grpoStep, type GrpoOptions, type StepMetrics } from './grpo-step.ts';
import { learningRate, type LearningRateOptions } from './learning-rate.ts';
import type { RolloutOutcome } from './reward.ts';
import type { TrainingCheckpoint, TrainingStore } from './training-store.ts';

/** What plans are sampled for. */
export interface TrainingQuestion extends Pick<SampleRequest, 'messages' | 'prefill'> {
  /** The same in every run of the training. */
  readonly id: string;
}

/** Runs sampled plans and judges their answers. Whatever goes wrong with one is its outcome; it throws where the training has to wait. */
export type RunRollouts<Question> = (
  question: Question, completions: readonly SampledCompletion[], signal: AbortSignal,
) => Promise<readonly RolloutOutcome[]>;

export interface GrpoTrainerOptions extends GrpoOptions {
  readonly steps: number;
  readonly questionsPerStep: number;
  readonly groupSize: number;
  /** Of a completion. */
  readonly maxTokens: number;
  readonly seed: number;
  readonly learningRate: LearningRateOptions;
}

/** The paper's (arXiv 2512.04388 A.1): 200 updates of 4 questions with 64 plans each, at temperature 1, of at most 1,024 tokens. */
export const SCHEDULE_DEFAULTS = { steps: 200, questionsPerStep: 4, groupSize: 64, maxTokens: 1_024 } as const;

export interface GrpoTrainerParts<Question extends TrainingQuestion> {
  readonly engine: TrainEngine;
  readonly store: TrainingStore;
  readonly questions: readonly Question[];
  readonly runRollouts: RunRollouts<Question>;
  /** Told after each step, when it is on disk. */
  readonly onStep?: (step: number, metrics: StepMetrics) => void;
}

/**
 * Trains to the last step, from where the checkpoint left off. Each step is on disk before the next begins, so that one that is interrupted
 * is done again with the same questions and seeds. Throws the signal's reason, and what the engine and the rollouts throw.
 */
export async function trainWithGrpo<Question extends TrainingQuestion>(
  { engine, store, questions, runRollouts, onStep }: GrpoTrainerParts<Question>, options: GrpoTrainerOptions,
  { from, signal }: { readonly from: TrainingCheckpoint | undefined; readonly signal: AbortSignal },
): Promise<readonly StepMetrics[]> {
  const metrics = [...(from?.metrics ?? [])];
  for (let step = from?.step ?? 0; step < options.steps; step += 1) {
    signal.throwIfAborted();
    const { seed, groupSize, maxTokens, loss: { temperature } } = options;
    const asked = questionsOfStep(questions, { seed, step, count: options.questionsPerStep });
    const groups = [];
    for (const [place, question] of asked.entries()) {
      const seeds = Array.from({ length: groupSize }, (_, sample) => draw(seed, 'plan', step, place, sample));
      const { messages, prefill } = question;
      const completions = await engine.sample({ messages, prefill, maxTokens, temperature, seeds, signal });
      const outcomes = await runRollouts(question, completions, signal);
      groups.push(completions.map((completion, sample) => ({ completion, outcome: outcomes[sample] as RolloutOutcome })));
    }
    const rate = learningRate(step, options.steps, options.learningRate);
    metrics.push(await grpoStep(engine, groups, options, { learningRate: rate, signal }));
    await engine.saveForSampler(store.versionName(step + 1));
    await store.save(step + 1, metrics, (folder) => engine.saveState(folder));
    onStep?.(step + 1, metrics.at(-1) as StepMetrics);
  }
  return metrics;
}
