import * as z from 'zod';
import { outcomesSchema } from '../../protocol/learning.ts';

const place = z.object({ runId: z.string(), round: z.number().int().nonnegative() });

/** What a training learns from and is judged by, decided once. It has no text of a run, so that what is removed from the journal is gone. */
export const frozenOutcomesSchema = z.object({
  /** Verified plans to learn, with their weights, oldest first. */
  taught: z.array(place.extend({ weight: z.number() })),
  /** Plans that the Conductor sampled itself, verified or not, with their advantages. */
  own: z.array(place.extend({ advantage: z.number() })).default([]),
  /** The newest, by which the result is judged. */
  heldOut: z.array(place.extend({ verified: z.boolean() })),
  /** Names of all outcomes before the newest, and of those that the Conductor had learned from before. */
  seen: z.array(z.string()),
  before: z.array(z.string()),
  /** Updates to make. */
  steps: z.number().int().min(1),
  counts: outcomesSchema,
});
export type FrozenOutcomes = z.infer<typeof frozenOutcomesSchema>;

export const learnedWith = ({ seen, before }: FrozenOutcomes): readonly string[] => [...new Set([...before, ...seen])];
