import * as z from 'zod';
import { PICTURE_TYPES } from '../common/picture-facts.ts';
import { MAX_PICTURE_BYTES, MAX_PICTURE_SIDE, MAX_PICTURES } from './pictures.ts';
import { testCommandText, testImageName, testReportsGlob, testRunnerName } from './test-command.ts';
import { budgetOverrideSchema } from './worker-config.ts';

/** Plans for a question, unless a person sets another number. */
export const DEFAULT_ROUNDS = 2;

const line = z.number().int().min(1);

/** A place in a file of the workspace: path relative to its root, lines counted from 1, both ends included. */
export const fileRangeSchema = z.object({
  path: z.string().min(1).max(4_096),
  startLine: line.optional(),
  endLine: line.optional(),
});
export type FileRange = z.infer<typeof fileRangeSchema>;

export const diagnosticSchema = z.object({
  path: z.string().min(1).max(4_096),
  line,
  severity: z.enum(['error', 'warning']),
  message: z.string().max(4_000),
});
export type Diagnostic = z.infer<typeof diagnosticSchema>;

/** The user's question and what was open in the editor. Everything but the question is optional. */
export const focusSchema = z.object({
  /** Named by the person, on the command line or with `#file` in the question. */
  files: z.array(fileRangeSchema).max(64).default([]),
  selection: fileRangeSchema.optional(),
  openFile: fileRangeSchema.optional(),
  diagnostics: z.array(diagnosticSchema).max(200).default([]),
  /** Output of a failing test. */
  testOutput: z.string().max(100_000).optional(),
});
export type Focus = z.infer<typeof focusSchema>;

const side = z.number().int().min(1).max(MAX_PICTURE_SIDE);

/** A picture, as far as a schema can check it. `takenPictures` checks its bytes. */
export const pictureSchema = z.strictObject({
  type: z.enum(PICTURE_TYPES),
  width: side,
  height: side,
  data: z.string().max(Math.ceil(MAX_PICTURE_BYTES / 3) * 4),
});

/** `always`, or only a plan that may cost more than this many dollars or whose cost is not known. */
export const reviewPlanSchema = z.union([z.literal('always'), z.strictObject({ aboveUsd: z.number().nonnegative() })]);
export type ReviewPlan = z.infer<typeof reviewPlanSchema>;

/** Whether tests that failed before the answer must pass with it, or are left out of the verdict. */
export const failedBeforeSchema = z.enum(['must-pass', 'leave-out']);
export type FailedBefore = z.infer<typeof failedBeforeSchema>;

/** Of tests that a request names. */
const MAX_TESTS = 1_000;
const testId = z.string().trim().min(1).max(4_000);

export const runRequestSchema = z.object({
  /** An empty question is accepted and fails with a message, so that the run appears in the history. */
  question: z.string().trim().max(32_000, 'the question is longer than 32,000 characters: name files instead of pasting them'),
  /** Shown to workers that take pictures. Others are told that there are any. */
  pictures: z.array(pictureSchema).max(MAX_PICTURES).optional(),
  /** Id of the run that the question continues from: it is over, and about the same project. */
  continues: z.string().min(1).max(64).optional(),
  /** Absolute path of the project; without one the answer is only text and cannot be verified. */
  workspace: z.string().min(1).max(4_096).optional(),
  /** False in VS Code's Restricted Mode: the backend then reads and runs nothing of the workspace, and the run fails. */
  trusted: z.boolean().default(true),
  focus: focusSchema.prefault({}),
  /** The cursor at which the answer belongs, path relative to the workspace, line and column from 1; anywhere when absent. */
  insertAt: z.object({ path: z.string().min(1).max(4_096), line, column: line }).optional(),
  /** Total number of rounds: the first plan and its revisions. */
  rounds: z.number().int().min(1).max(5).default(DEFAULT_ROUNDS),
  /**
   * Up to this many plans are sampled and tried, from the cheapest, until the tests verify an answer; otherwise the best by the tests is
   * offered. With more than one, each round is an attempt of its own and none revises another.
   */
  attempts: z.number().int().min(1).max(5).default(1),
  /** Attempts are tried at the same time, which is quicker and costs more: those that the first verified one ends have been paid in part. */
  atOnce: z.boolean().optional(),
  /** A worker that costs nothing tries first, and nobody is paid if the tests verify its answer; see `local-first.ts`. */
  localFirst: z.boolean().optional(),
  /** The command that runs the project's tests; found from the project's files when absent, none when null. */
  testCommand: testCommandText.nullable().optional(),
  /** The runner whose report is read; without a command, the one whose tests are looked for. */
  testRunner: testRunnerName.optional(),
  /** The JUnit files to read instead of the runner's own report. */
  testReports: testReportsGlob.optional(),
  /** The container image in which the tests run, instead of in the sandbox on this machine. */
  testImage: testImageName.optional(),
  /** Ids of the tests that must pass, as a verdict prints them, instead of those that failed before. */
  tests: z.array(testId).min(1).max(MAX_TESTS).optional(),
  /** What becomes of tests that failed before; they must pass when absent. `ask`: a person says so when an answer fails for them alone. */
  failedBefore: z.union([failedBeforeSchema, z.literal('ask')]).optional(),
  budget: budgetOverrideSchema.optional(),
  /** Ids of the workers to plan with; every enabled worker whose key is there when absent. */
  workers: z.array(z.string().max(64)).min(1).max(32).optional(),
  /** Id of the worker whose model plays the Conductor, instead of the one that workers.json names. */
  conductor: z.string().max(64).optional(),
  /** Shows each plan to a person before its workers are paid; never when absent. */
  reviewPlan: reviewPlanSchema.optional(),
});
export type RunRequest = z.infer<typeof runRequestSchema>;
export type RunRequestInput = z.input<typeof runRequestSchema>;
