import * as z from 'zod';

/*
 * Learning from what happened already (docs/learn.md): the outcomes in the journal, what of them is learned from, and what the newest tell of the
 * result.
 */

/** Why a plan that was carried out is not learned from, in the order in which people are told. */
export const LEFT_OUT_REASONS = [
  'no-verdict', 'simulated', 'forgotten', 'edited', 'stopped', 'stood-in', 'kept', 'unplanned', 'worker-gone', 'too-long', 'unreadable', 'learned',
] as const;
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

const count = z.number().int().nonnegative();

/** Plans by what the tests said of their answers. `other`: rejected, or passing without being shown to notice a wrong answer. */
const verdictsSchema = z.object({ verified: count, other: count });

export const outcomesSchema = z.object({
  /** Of the plans that can be learned from, the ones before the newest fifth of the questions. */
  learned: verdictsSchema,
  /** Of the newest fifth of the questions; never learned from. */
  heldOut: verdictsSchema,
  leftOut: z.array(z.object({ reason: z.enum(LEFT_OUT_REASONS), count })),
});
export type Outcomes = z.infer<typeof outcomesSchema>;

const estimateSchema = z.object({ mean: z.number(), low: z.number(), high: z.number() });

/** What the newest outcomes say of what was learned, without a plan being carried out. */
export const loggedComparisonSchema = z.object({
  ...verdictsSchema.shape,
  /** By how much verified plans, and the others, became likelier to be written: nats a plan, after less before. */
  gain: z.object({ verified: z.number(), other: z.number() }),
  /** The one less the other, with its 95 % interval; absent where there are too few of one kind. */
  difference: estimateSchema.optional(),
  /** The share of plans, one written for each of these questions, that are valid. */
  formatRate: z.object({ before: z.number(), after: z.number() }),
  /** How often chance alone gives so large a difference. */
  pValue: z.number().optional(),
  /** `not-known`: there are too few, or the interval holds 0. */
  says: z.enum(['better', 'not-better', 'not-known']),
});
export type LoggedComparison = z.infer<typeof loggedComparisonSchema>;

export const outcomesCheckSchema = z.object({
  ...outcomesSchema.shape,
  /** Of the plans to learn from, those that it sampled itself and that teach by policy gradient, verified or not. */
  own: count,
  /** Who would learn, and its model. */
  conductor: z.string().optional(),
  /** Whether the newest are enough to tell whether what is learned is better. */
  canTell: z.boolean(),
  /** What is missing before anything can be learned; absent if nothing is. One sentence. */
  missing: z.string().optional(),
});
export type OutcomesCheck = z.infer<typeof outcomesCheckSchema>;
