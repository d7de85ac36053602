import * as z from 'zod';
import { editSummarySchema } from './edit-summary.ts';
import { outcomeSchema } from './outcome.ts';
import { pictureSchema } from './run-request.ts';

/*
 * What a run continues from: the earlier questions of its conversation with their answers, as its models are told of them, and the change
 * that it builds on. It is journalled with the run, so that its prompts stay what they were, and the earlier runs can be removed.
 */

/** An earlier question with its answer, clipped. */
export const exchangeSchema = z.object({
  runId: z.string(),
  question: z.string(),
  /** What came with the question. Older ones have no data: models are told of them and not shown them. */
  pictures: z.array(pictureSchema).optional(),
  /** How the run ended, in words for models. */
  result: z.string(),
  /** Empty if there was no answer, or if the exchange is not told. */
  answer: z.string(),
  state: z.enum(['stopped', 'completed', 'failed', 'cancelled']),
  outcome: outcomeSchema.optional(),
  /** False for one that models are not told of, because newer ones took the room. */
  isTold: z.boolean(),
});
export type Exchange = z.infer<typeof exchangeSchema>;

/**
 * The last change of the conversation. `there`: the files of the project have it. `pending`: it was not applied, and the run begins with it.
 * `lost`: it does not fit the project any more, and is only shown.
 */
export const earlierChangeSchema = z.object({
  runId: z.string(),
  state: z.enum(['there', 'pending', 'lost']),
  /** Its files; of each the whole diff against the project. */
  edits: z.array(editSummarySchema),
  /** Why it is lost, in one sentence. */
  reason: z.string().optional(),
});
export type EarlierChange = z.infer<typeof earlierChangeSchema>;

export const earlierSchema = z.object({
  /** The first run of the conversation. */
  thread: z.string(),
  /** Oldest first; at least one. */
  exchanges: z.array(exchangeSchema),
  change: earlierChangeSchema.optional(),
});
export type Earlier = z.infer<typeof earlierSchema>;
