import * as z from 'zod';

/**
 * Why a model plans.
 * - `asked`: the request names it
 * - `chosen`: workers.json names it
 * - `trained`: conductor-mini with what it learned here
 * - `only`: no other worker can plan
 * - `strongest`: of the workers whose plans are cheap, the one with the highest price
 * - `cheapest`: no plan is cheap; this one costs least
 * - `free`: the largest of the workers that cost nothing
 * - `unpriced`: the first worker that can plan, and none of them has a known price
 * - `first`: the first worker, because none can be expected to plan and no model is bundled
 * - `none-can`: conductor-mini, because no worker can plan
 * - `simulated`: conductor-mini, because all workers are simulated
 * - `routing`: conductor-mini, to choose who suggests code
 */
export const plannerReasonSchema = z.enum([
  'asked', 'chosen', 'trained', 'only', 'strongest', 'cheapest', 'free', 'unpriced', 'first', 'none-can', 'simulated', 'routing',
]);
export type PlannerReason = z.infer<typeof plannerReasonSchema>;

/** The expected cost and time of one plan. */
export const planEstimateSchema = z.object({
  /** Absent for a worker without a known price. */
  usd: z.number().nonnegative().optional(),
  /** Absent for a worker that has not planned yet. */
  durationMs: z.number().nonnegative().optional(),
  /** The number of earlier plans that this is the mean of; 0: from the price and the longest prompt. */
  plans: z.number().int().nonnegative(),
});
export type PlanEstimate = z.infer<typeof planEstimateSchema>;

export const plannerChoiceSchema = z.object({ why: plannerReasonSchema, estimate: planEstimateSchema });
export type PlannerChoice = z.infer<typeof plannerChoiceSchema>;
