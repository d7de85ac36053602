import * as z from 'zod';
import { STEP_ROLES } from './step-role.ts';

/** What tests said of some of a worker's work. docs/decisions/0028 says how it is counted. */
export const tallySchema = z.object({
  /** Plans with a verdict in which it did a step. */
  answers: z.number().int().nonnegative(),
  /** Of them, those whose answer was verified. */
  verified: z.number().int().nonnegative(),
  /** And those whose tests pass without being shown to notice a wrong answer. */
  passes: z.number().int().nonnegative(),
  /** The steps that it did in them. */
  steps: z.number().int().min(1),
  /** How many verdicts that weighs: each is divided among the steps of its plan, and older ones count less. */
  evidence: z.number().nonnegative(),
  /** The verified share by this weight, with its 95 % interval; absent where no verdict says anything. */
  share: z.object({ mean: z.number(), low: z.number(), high: z.number() }).optional(),
  /** What its steps cost for each verified answer, also those of other answers; absent where none was verified, or a price was unknown. */
  usdPerVerified: z.number().nonnegative().optional(),
  /** Absent where a price was unknown. */
  usdPerAnswer: z.number().nonnegative().optional(),
  usdPerStep: z.number().nonnegative().optional(),
  /** Absent where no time was taken. */
  msPerAnswer: z.number().nonnegative().optional(),
  msPerStep: z.number().nonnegative().optional(),
  tokens: z.number().nonnegative(),
});
export type Tally = z.infer<typeof tallySchema>;

export const recordPartSchema = z.object({
  role: z.enum(STEP_ROLES),
  /** The kind of question, such as `bug`. */
  kind: z.string(),
  ...tallySchema.shape,
});
export type RecordPart = z.infer<typeof recordPartSchema>;

export const workerStandingSchema = z.object({
  worker: z.string(),
  model: z.string(),
  /** It is among the enabled workers, with this model. */
  isInPool: z.boolean(),
  /** The verified share to expect, drawn towards what is known otherwise where there are few answers. */
  expected: z.number(),
  total: tallySchema,
  /** By role and kind of question, the most answers first. */
  parts: z.array(recordPartSchema),
});
export type WorkerStanding = z.infer<typeof workerStandingSchema>;

/** What is known of workers, the highest expected share first. */
export const recordsSchema = z.object({
  /** The project, absolute; absent for all projects. */
  workspace: z.string().optional(),
  /** Whether Conductor uses records. */
  used: z.boolean(),
  workers: z.array(workerStandingSchema),
  /** The number of plans with a verdict, of all these workers. */
  answers: z.number().int().nonnegative(),
});
export type Records = z.infer<typeof recordsSchema>;
