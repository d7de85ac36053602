import * as z from 'zod';

const amount = z.number().nonnegative();

/** From the least to the most that is expected. */
const rangeSchema = z.object({ low: amount, high: amount });
export type Range = z.infer<typeof rangeSchema>;

/**
 * Where the estimate of a step comes from.
 * - `kind`: what the worker's steps of this kind took in this project
 * - `worker`: what all its steps took in this project
 * - `limits`: its price and the most that it may write; there is too little of a record
 */
export const estimateSourceSchema = z.enum(['kind', 'worker', 'limits']);
export type EstimateSource = z.infer<typeof estimateSourceSchema>;

export const stepEstimateSchema = z.object({
  from: estimateSourceSchema,
  /** The number of earlier steps that it comes from. */
  steps: z.number().int().nonnegative(),
  /** Dollars; absent where no price is known. */
  usd: rangeSchema.optional(),
  tokens: rangeSchema,
});
export type StepEstimate = z.infer<typeof stepEstimateSchema>;

/** What the steps of a plan are expected to take. The plan itself is paid for already. */
export const workEstimateSchema = z.object({
  /** Dollars; absent where it is not known what one of its workers will cost. */
  usd: rangeSchema.optional(),
  tokens: rangeSchema,
  /** One for each step. */
  steps: z.array(stepEstimateSchema),
  /** Ids of the plan's workers of which it is not known what they will cost. */
  unpriced: z.array(z.string()),
  /** What the limits of the run and of the day still hold, whichever is less. */
  left: z.object({ usd: amount, tokens: amount }),
});
export type WorkEstimate = z.infer<typeof workEstimateSchema>;
