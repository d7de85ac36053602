export interface LearningRateOptions {
  /** The rate after the warm-up. */
  readonly peak: number;
  /** Share of all steps in which the rate rises to its peak. */
  readonly warmup: number;
  readonly schedule: 'cosine' | 'linear' | 'constant';
}

/**
 * The learning rate of a step (from 0) of `steps`: transformers' schedules without their two ends, at which the rate is 0. A step at the
 * rate 0 would pay for its plans and learn nothing from them.
 */
export function learningRate(step: number, steps: number, { peak, warmup, schedule }: LearningRateOptions): number {
  const [at, end] = [step + 1, steps + 1];
  const rising = Math.ceil(warmup * end);
  if (at < rising) return (peak * at) / rising;
  if (schedule === 'constant') return peak;
  const progress = (at - rising) / Math.max(1, end - rising);
  if (schedule === 'linear') return peak * Math.max(0, 1 - progress);
  return peak * Math.max(0, 0.5 * (1 + Math.cos(Math.PI * progress)));
}
