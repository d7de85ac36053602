import * as z from 'zod';
import { STEP_ROLES } from './step-role.ts';

/** What asked for a plan that tests judged: a question, one of several attempts at it, a local try, or a plan of a training. */
export const JUDGED_SOURCES = ['question', 'attempt', 'try', 'rollout', 'evaluation'] as const;

/** What the tests said: it is verified; all pass, but nothing shows that they would notice a wrong answer; or they reject it. */
export const JUDGEMENTS = ['verified', 'passes', 'failed'] as const;

/**
 * A step of a plan whose answer the project's tests judged, by who did it. The plan itself, with its order and with what each step read, is in
 * the run's events.
 */
export const judgedStepSchema = z.object({
  runId: z.string(),
  round: z.number().int().nonnegative(),
  step: z.number().int().nonnegative(),
  /** The number of steps in its plan. */
  steps: z.number().int().min(1),
  source: z.enum(JUDGED_SOURCES),
  /** The folder of the project, absolute; absent where it is not known. */
  project: z.string().optional(),
  /** The kind of the question, such as `bug`; `unclear` where it is not known. */
  kind: z.string(),
  /** When the run ended, in milliseconds since 1970. */
  at: z.number(),
  judgement: z.enum(JUDGEMENTS),
  /** Id and model of the worker that did it; of several, the one that finished it. */
  worker: z.string(),
  model: z.string(),
  role: z.enum(STEP_ROLES),
  /** Absent where the price of a call was unknown. */
  usd: z.number().nonnegative().optional(),
  tokens: z.number().nonnegative(),
  /** Absent where the answer was known from an equal call before. */
  durationMs: z.number().nonnegative().optional(),
  /** The tests rejected the step's own change, where they pass with the answer of its plan. */
  isRefuted: z.literal(true).optional(),
});
export type JudgedStep = z.infer<typeof judgedStepSchema>;
