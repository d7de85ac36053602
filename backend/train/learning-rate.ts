export interface LearningRateOptions {
  /** At the top, after the warm-up. */
  readonly peak: number;
  /** Share of all steps in which it rises from 0. */
  readonly warmup: number;
  readonly schedule: 'cosine' | 'linear' | 'constant';
}

/**
 * Cosine with a warm-up of 3 %, as in the paper (arXiv 2512.04388 A.1). The paper's 1e-6 is for all weights; adapters take ten times as much
 * ("LoRA Without Regret" as repeated in TRL's documentation: 1e-5 matches full fine-tuning).
 */
export const LEARNING_RATE_DEFAULTS: LearningRateOptions = { peak: 1e-5, warmup: 0.03, schedule: 'cosine' };

/** The learning rate of a step, from 0 on, of so many; as transformers' schedules have it. */
export function learningRate(step: number, steps: number, { peak, warmup, schedule }: LearningRateOptions): number {
  const rising = Math.ceil(warmup * steps);
  if (step < rising) return (peak * step) / Math.max(1, rising);
  if (schedule === 'constant') return peak;
  const progress = (step - rising) / Math.max(1, steps - rising);
  if (schedule === 'linear') return peak * Math.max(0, 1 - progress);
  return peak * Math.max(0, 0.5 * (1 + Math.cos(Math.PI * progress)));
}
