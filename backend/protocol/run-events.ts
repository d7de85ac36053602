import * as z from 'zod';
import { DEVICES } from './devices.ts';
import { planSchema } from './plan.ts';
import { runRequestSchema } from './run-request.ts';
import { costSchema, usageSchema } from './usage.ts';
import { verdictSchema } from './verdict.ts';
import { budgetLimitSchema, budgetSchema, stopLimitSchema, workerConfigSchema } from './worker-config.ts';

/*
 * Everything that can happen to a run, in the past tense. The journal stores these events, the backend sends them to its clients, and
 * `run-snapshot.ts` folds them into what a person sees. A version that adds a field gives it a default, so that journals written by
 * older versions stay readable.
 */

export const runKindSchema = z.enum(['solve', 'rollout', 'evaluation']);
export type RunKind = z.infer<typeof runKindSchema>;

/** Why something did not work, for people: one sentence that says what happened and what to do. */
export const failureSchema = z.object({
  /** Class of the failure, such as `authentication` or `plan-rejected`; decided by code, shown to nobody. */
  kind: z.string(),
  message: z.string(),
  retryable: z.boolean(),
});
export type Failure = z.infer<typeof failureSchema>;

/** Which model planned, and in which version: part of every cache key and of every comparison. */
export const policySnapshotSchema = z.object({
  kind: z.enum(['endpoint', 'local']),
  worker: workerConfigSchema.optional(),
  model: z.string(),
  adapterVersion: z.string().optional(),
  promptVersion: z.string(),
});
export type PolicySnapshot = z.infer<typeof policySnapshotSchema>;

export const contextPieceSchema = z.object({
  path: z.string(),
  startLine: z.number().int().min(1),
  endLine: z.number().int().min(0),
  /** Why it is sent, in a few words: `selection`, `named in the question`, `defines mergeIntervals`. */
  reason: z.string(),
  tokens: z.number().int().nonnegative(),
});
export type ContextPiece = z.infer<typeof contextPieceSchema>;

export const leftOutSchema = z.object({ path: z.string(), reason: z.string() });

/** One file the answer changes, as text for people; the edit itself is worked out again from the answer when it is applied. */
export const editSummarySchema = z.object({
  path: z.string(),
  kind: z.enum(['create', 'modify', 'delete']),
  /** Unified diff against the workspace as it was when the answer came. */
  diff: z.string(),
});
export type EditSummary = z.infer<typeof editSummarySchema>;

/** A step as the executor sees it: `all` resolved to positions. */
export const stepSchema = z.object({
  /** Ordinal of the worker in the run's pool. */
  worker: z.number().int().nonnegative(),
  subtask: z.string(),
  reads: z.array(z.number().int().nonnegative()),
  readsPreviousRound: z.boolean(),
});

const round = z.number().int().nonnegative();
const step = z.number().int().nonnegative();
const durationMs = z.number().nonnegative();
const attemptId = z.string();
const spent = { usage: usageSchema, cost: costSchema, durationMs };
/** The run that made and paid for it, where this one only keeps it. */
const keptFrom = z.string().optional();

/** How a model of this machine came to a text: with the same seed, device and prompt it writes the same one. */
export const sampledSchema = z.object({ seed: z.number().int(), device: z.enum(DEVICES) });
export type Sampled = z.infer<typeof sampledSchema>;
const sampled = { sampled: sampledSchema.optional() };

/** What an attempt is for. */
export const purposeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('plan') }),
  z.object({ kind: z.literal('step'), step }),
]);
export type Purpose = z.infer<typeof purposeSchema>;

/** So much of a limit is spent that people are told: dollars or tokens, as the limit counts. */
export const budgetWarningSchema = z.object({ limit: budgetLimitSchema, spent: z.number().nonnegative(), of: z.number().positive() });
export type BudgetWarning = z.infer<typeof budgetWarningSchema>;

export const runEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('run.accepted'),
    kind: runKindSchema,
    /** Of a rollout its training; of a run that asks an earlier one's question again, that one. */
    parentId: z.string().optional(),
    /** The step of the earlier run that is asked again, where it is one; both count from 0. */
    retried: z.object({ round, step }).optional(),
    taskId: z.string().optional(),
    seed: z.number().int().optional(),
    request: runRequestSchema,
    /** The workers on offer, in the order of their ordinals. */
    pool: z.array(workerConfigSchema),
    policy: policySnapshotSchema,
    budget: budgetSchema,
  }),
  z.object({
    type: z.literal('run.resumed'),
    reason: z.enum(['restart', 'user']),
    /** The budget as it is by now, where it was raised meanwhile. */
    budget: budgetSchema.optional(),
  }),
  z.object({
    type: z.literal('run.waiting'),
    for: z.enum(['secret', 'confirmation', 'model']),
    message: z.string(),
  }),
  z.object({
    type: z.literal('context.gathered'),
    pieces: z.array(contextPieceSchema),
    leftOut: z.array(leftOutSchema),
    tokens: z.number().int().nonnegative(),
    /** The exact text that the models are sent. */
    text: z.string(),
  }),
  z.object({
    type: z.literal('attempt.started'),
    round,
    purpose: purposeSchema,
    attemptId,
    worker: z.string(),
    /** 1 for the first attempt at this call. */
    number: z.number().int().min(1),
    reserved: z.object({ usd: z.number().nonnegative().optional(), tokens: z.number().int().nonnegative() }),
  }),
  z.object({
    type: z.literal('attempt.failed'),
    round,
    purpose: purposeSchema,
    attemptId,
    failure: failureSchema,
    /** Present when another attempt follows. */
    retryInMs: z.number().nonnegative().optional(),
    ...spent,
  }),
  z.object({
    type: z.literal('plan.proposed'),
    round,
    attemptId,
    text: z.string(),
    plan: planSchema,
    steps: z.array(stepSchema),
    keptFrom,
    ...sampled,
    ...spent,
  }),
  z.object({
    type: z.literal('plan.rejected'),
    round,
    attemptId,
    text: z.string(),
    /** Name of the rule that the text breaks, such as `unknown-worker`. */
    reason: z.string(),
    message: z.string(),
    ...sampled,
    ...spent,
  }),
  /** Three explicit empty lists: the Conductor keeps the previous round's answer. */
  z.object({ type: z.literal('plan.kept'), round, attemptId, text: z.string(), keptFrom, ...sampled, ...spent }),
  z.object({
    type: z.literal('step.completed'),
    round,
    step,
    attemptId,
    output: z.string(),
    finishReason: z.enum(['stop', 'length', 'content-filter']),
    keptFrom,
    ...sampled,
    ...spent,
  }),
  /** A reply that is not yet the step's output, in a step of several turns. */
  z.object({ type: z.literal('step.turned'), round, step, attemptId, text: z.string(), ...sampled, ...spent }),
  /** What the worker is given for its last reply. */
  z.object({ type: z.literal('step.observed'), round, step, text: z.string() }),
  z.object({ type: z.literal('step.failed'), round, step, failure: failureSchema }),
  z.object({ type: z.literal('step.skipped'), round, step, reason: z.string() }),
  z.object({
    type: z.literal('answer.ready'),
    round,
    step,
    edits: z.array(editSummarySchema),
    /** Edits that the answer holds and that are not admissible, with the reason. */
    refused: z.array(leftOutSchema),
  }),
  z.object({ type: z.literal('verify.started'), round, command: z.string(), runner: z.string().optional(), sandboxed: z.boolean() }),
  z.object({ type: z.literal('verify.completed'), round, verdict: verdictSchema }),
  /** The run ended with what it has and can be resumed. */
  z.object({
    type: z.literal('run.stopped'),
    reason: z.enum(['budget']),
    /** Which limit does not hold the next call; absent in runs of an earlier version. */
    limit: stopLimitSchema.optional(),
    /** The lowest limit that would hold that call, in its unit. */
    needed: z.number().nonnegative().optional(),
    message: z.string(),
  }),
  /** The run goes on; once for each limit that is nearly spent. */
  budgetWarningSchema.extend({ type: z.literal('budget.warned') }),
  z.object({
    type: z.literal('run.completed'),
    /** `unchecked`: there was no test to run. */
    outcome: z.enum(['verified', 'not-verified', 'unchecked']),
    /** The round whose answer is offered. */
    round,
    message: z.string(),
  }),
  z.object({ type: z.literal('run.failed'), failure: failureSchema }),
  z.object({ type: z.literal('run.cancelled') }),
]);
export type RunEvent = z.infer<typeof runEventSchema>;
export type RunEventType = RunEvent['type'];
export type RunEventOf<T extends RunEventType> = Extract<RunEvent, { type: T }>;

/** An event as the journal holds it: `seq` counts from 1 within its run without gaps, `at` is milliseconds since 1970. */
export const storedEventSchema = z.object({
  runId: z.string(),
  seq: z.number().int().min(1),
  at: z.number(),
  event: runEventSchema,
});
export type StoredEvent = z.infer<typeof storedEventSchema>;

/** Text as it streams. Not journalled: an attempt cut short is made again. */
export const runTextSchema = z.object({
  runId: z.string(),
  round,
  purpose: purposeSchema,
  attemptId,
  /** Characters of the same attempt that came before, so that a client can tell a gap. */
  offset: z.number().int().nonnegative(),
  text: z.string(),
});
export type RunText = z.infer<typeof runTextSchema>;
