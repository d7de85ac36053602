export interface LearningRateOptions {
  /** The rate after the warm-up. */
  readonly peak: number;
  /** Share of all steps in which the rate rises from 0 to its peak. */
  readonly warmup: number;
  readonly schedule: 'cosine' | 'linear' | 'constant';
}

/** The learning rate of a step (from 0) of `steps`, as transformers' schedules define it. */
export function learningRate(step: number, steps: number, { peak, warmup, schedule }: LearningRateOptions): number {
  const rising = Math.ceil(warmup * steps);
  if (step < rising) return (peak * step) / Math.max(1, rising);
  if (schedule === 'constant') return peak;
  const progress = (step - rising) / Math.max(1, steps - rising);
  if (schedule === 'linear') return peak * Math.max(0, 1 - progress);
  return peak * Math.max(0, 0.5 * (1 + Math.cos(Math.PI * progress)));
}
