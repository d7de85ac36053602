import * as z from 'zod';
import { MAX_TOLD_AFTER, MAX_TOLD_BEFORE } from './suggestion-limits.ts';

/** A place in a document where a worker may write on. Documents are told as they are in the editor, saved or not. */
export const suggestRequestSchema = z.object({
  /** Of the client's own choosing; the text that streams carries it. */
  requestId: z.string().min(1).max(64),
  /** Absolute path of the project. */
  workspace: z.string().min(1).max(4_096),
  /** Of the document, absolute or relative to the project. */
  path: z.string().min(1).max(4_096),
  /** As VS Code calls it, such as `typescriptreact`. */
  language: z.string().min(1).max(64),
  before: z.string().max(MAX_TOLD_BEFORE),
  after: z.string().max(MAX_TOLD_AFTER),
  /** Whether more than the rest of the line is wanted. */
  multiline: z.boolean(),
  /** False in VS Code's Restricted Mode: then nothing of the workspace is read or sent. */
  trusted: z.boolean().default(true),
  /** Id of the worker to ask, instead of the one that the Conductor chose for the language and the project. */
  worker: z.string().max(64).optional(),
  /** What all suggestions of a day may cost; the day's own budget counts, too. Without a known price tokens stand for it. */
  maxUsdPerDay: z.number().positive().max(1_000).default(1),
});
export type SuggestRequest = z.infer<typeof suggestRequestSchema>;

export const suggestResultSchema = z.object({
  /** As the worker wrote it, without the fences and repetitions of a chat; empty where nothing belongs there. */
  text: z.string(),
  /** Why nothing was asked, in one sentence: the file may not be sent. */
  withheld: z.string().optional(),
  /** Who wrote it. */
  worker: z.object({ id: z.string(), model: z.string(), simulated: z.boolean() }).optional(),
  /** What all suggestions of this day have cost; one that is still being written is not in it. */
  spentTodayUsd: z.number().nonnegative(),
  /** Those of them whose price is not known used so many tokens. */
  unpricedTokensToday: z.number().nonnegative(),
});
export type SuggestResult = z.infer<typeof suggestResultSchema>;

/** A suggestion as far as it has come: who has enough of it knows from it, too, who wrote it and what the day has cost. */
export const suggestTextSchema = suggestResultSchema.extend({ requestId: z.string() });
export type SuggestText = z.infer<typeof suggestTextSchema>;
