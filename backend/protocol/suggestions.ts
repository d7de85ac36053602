import * as z from 'zod';
import { MAX_EDIT_LENGTH, MAX_EDITS, MAX_OPEN_FILES, MAX_TOLD_AFTER, MAX_TOLD_BEFORE } from './suggestion-limits.ts';

/** Lines that were changed in the editor, as they were and as they are now. */
export const recentEditSchema = z.object({
  /** Absolute, or relative to the project. */
  path: z.string().min(1).max(4_096),
  /** Where the lines begin, from 0. */
  line: z.number().int().nonnegative(),
  before: z.string().max(MAX_EDIT_LENGTH),
  after: z.string().max(MAX_EDIT_LENGTH),
});
export type RecentEdit = z.infer<typeof recentEditSchema>;

/** A cursor position at which a suggestion is wanted. The text is the editor's, saved or not. */
export const suggestRequestSchema = z.object({
  /** Chosen by the client; streamed text carries it. */
  requestId: z.string().min(1).max(64),
  /** Absolute path of the project. */
  workspace: z.string().min(1).max(4_096),
  /** Path of the document, absolute or relative to the project. */
  path: z.string().min(1).max(4_096),
  /** VS Code's language id, such as `typescriptreact`. */
  language: z.string().min(1).max(64),
  before: z.string().max(MAX_TOLD_BEFORE),
  after: z.string().max(MAX_TOLD_AFTER),
  /** Whether more than the rest of the line is wanted. */
  multiline: z.boolean(),
  /** False in VS Code's Restricted Mode: then nothing of the workspace is read or sent. */
  trusted: z.boolean().default(true),
  /** Whether other parts of the project may be sent with the text at the cursor. */
  project: z.boolean().default(true),
  /** Other files of the project that are open, the last used first. The backend reads them itself, by its rules of what may be sent. */
  openFiles: z.array(z.string().min(1).max(4_096)).max(MAX_OPEN_FILES).default([]),
  /** What was edited last, the newest last, without the line that is being written. */
  edits: z.array(recentEditSchema).max(MAX_EDITS).default([]),
  /** Id of the worker to ask, instead of the one that the Conductor chose for the language and the project. */
  worker: z.string().max(64).optional(),
  /** The daily cost limit of all suggestions. The daily budget applies, too. Without a known price, tokens are counted instead. */
  maxUsdPerDay: z.number().positive().max(1_000).default(1),
});
export type SuggestRequest = z.infer<typeof suggestRequestSchema>;

export const suggestResultSchema = z.object({
  /** As the worker wrote it, without the fences and repetitions of a chat; empty where nothing belongs there. */
  text: z.string(),
  /** Why nothing was asked, in one sentence: the file may not be sent. */
  withheld: z.string().optional(),
  /** The worker that wrote it. */
  worker: z.object({ id: z.string(), model: z.string(), simulated: z.boolean() }).optional(),
  /** The cost of all suggestions today, without those still in progress. */
  spentTodayUsd: z.number().nonnegative(),
  /** Tokens of today's suggestions without a known price. */
  unpricedTokensToday: z.number().nonnegative(),
});
export type SuggestResult = z.infer<typeof suggestResultSchema>;

/** A partial suggestion. It includes the worker and today's cost, for clients that cancel the rest. */
export const suggestTextSchema = suggestResultSchema.extend({ requestId: z.string() });
export type SuggestText = z.infer<typeof suggestTextSchema>;

/** What became of a suggestion that was shown. */
export const suggestOutcomeSchema = z.object({
  workspace: z.string().min(1).max(4_096),
  language: z.string().min(1).max(64),
  /** Id of the worker that wrote it. */
  worker: z.string().min(1).max(64),
  accepted: z.boolean(),
});
export type SuggestOutcome = z.infer<typeof suggestOutcomeSchema>;
