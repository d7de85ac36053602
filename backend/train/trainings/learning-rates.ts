import { profileOf } from '../../conductor/prompt-profile.ts';
import type { TrainingConfig } from '../../protocol/training.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import type { LearningRateOptions } from '../grpo/learning-rate.ts';

/** Small models train well at a high one; half of what conductor-mini was pre-trained at. docs/learn-bench.md has it beside a lower one. */
const MINI = 1e-3;
/** All of its weights, as it was trained in the gym (docs/gym). */
const MINI_WEIGHTS = 6e-4;
/** The paper's, for all weights. */
const WEIGHTS_FROM_PLANS = 1e-6;
/** LoRA needs ten times the rate of full training ("LoRA Without Regret", TRL's documentation); the paper uses 1e-6 for all weights. */
const FROM_PLANS = 1e-5;
/** For imitation by an adapter, as high beside that of all weights. */
const FROM_OUTCOMES = 2e-4;

/** Where nobody chose a rate, one for the Conductor's size. @param from plans that it samples, or logged outcomes */
export function rateOf(
  { learningRate, train }: Pick<TrainingConfig, 'learningRate' | 'train'>, conductor: Pick<WorkerConfig, 'provider' | 'promptProfile'>, from: 'plans' | 'outcomes',
): LearningRateOptions {
  const usual = train === 'weights'
    ? (profileOf(conductor).isInstructed ? WEIGHTS_FROM_PLANS : MINI_WEIGHTS)
    : (profileOf(conductor).isInstructed ? { plans: FROM_PLANS, outcomes: FROM_OUTCOMES }[from] : MINI);
  return { ...learningRate, peak: learningRate.peak ?? usual };
}
