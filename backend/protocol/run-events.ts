import * as z from 'zod';
import { conversationSchema } from './conversation.ts';
import { DEVICES } from './devices.ts';
import { earlierSchema } from './earlier.ts';
import { editSummarySchema } from './edit-summary.ts';
import { fileChangeSchema } from './file-change.ts';
import { localRecordSchema, noTrySchema } from './local-first.ts';
import { outcomeSchema } from './outcome.ts';
import { planMendSchema } from './plan-mend.ts';
import { planSchema } from './plan.ts';
import { plannerChoiceSchema } from './planner-choice.ts';
import { projectFactsSchema } from './project-facts.ts';
import { failedBeforeSchema, runRequestSchema } from './run-request.ts';
import { callResultSchema, toolCallSchema, verbatimTurnSchema } from './tool-calls.ts';
import { costSchema, usageSchema } from './usage.ts';
import { verdictSchema } from './verdict.ts';
import { workEstimateSchema } from './work-estimate.ts';
import { budgetLimitSchema, budgetSchema, stopLimitSchema, workerConfigSchema } from './worker-config.ts';
import { workerRecordSchema } from './worker-record.ts';

export { outcomeSchema, type Outcome } from './outcome.ts';
export { editSummarySchema, type EditSummary } from './edit-summary.ts';

/*
 * The events of a run. The journal stores them, the backend sends them to clients, and `run-snapshot.ts` folds them into the state that
 * people see. A new field needs a default, so that older journals stay readable.
 */

export const runKindSchema = z.enum(['solve', 'rollout', 'evaluation']);
export type RunKind = z.infer<typeof runKindSchema>;

/** What was read from a question when it was asked. */
export const asksSchema = z.object({
  /** Such as `explain`, `bug` or `small-talk`; one of the Conductor's `QuestionKind`. */
  kind: z.string().max(40),
  /** What has to come back: words, code that stands alone, a change of the project; `any` where the question does not tell. */
  wants: z.enum(['words', 'code', 'change', 'any']),
  /** A change is wanted with tests of its own. */
  tests: z.literal(true).optional(),
});
export type Asks = z.infer<typeof asksSchema>;

/** A failure, for people: one sentence that says what happened and what to do. */
export const failureSchema = z.object({
  /** Class of the failure, such as `authentication` or `plan-rejected`. For code; not shown. */
  kind: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  /** The wait that the server asked for. */
  retryAfterMs: z.number().nonnegative().optional(),
});
export type Failure = z.infer<typeof failureSchema>;

/** The planning model and its version: part of every cache key and comparison. */
export const policySnapshotSchema = z.object({
  kind: z.enum(['endpoint', 'local']),
  worker: workerConfigSchema.optional(),
  model: z.string(),
  adapterVersion: z.string().optional(),
  promptVersion: z.string(),
  /** Why this model plans; absent in runs of an earlier version, and in trainings. */
  choice: plannerChoiceSchema.optional(),
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

/** Lines of a file of the workspace. */
export const placeSchema = z.object({
  path: z.string(), startLine: z.number().int().min(1), endLine: z.number().int().min(1),
});
export type Place = z.infer<typeof placeSchema>;

/** A test that fails on the code as it is. */
export const failingTestSchema = z.object({
  /** As in a verdict: file, suites and name. */
  id: z.string(),
  message: z.string().optional(),
  /** Where its source is, as far as it was found. */
  places: z.array(placeSchema),
});
export type FailingTest = z.infer<typeof failingTestSchema>;

/** What the tests say of the code as it is. */
export const baseResultSchema = z.object({
  /** Tests that ran, and files and suites that failed by themselves, such as one that cannot be loaded; without those that are left out. */
  total: z.number().int().nonnegative(),
  /** How many of them failed, without flaky ones. */
  failed: z.number().int().nonnegative(),
  /** How many ended differently in two runs. */
  flaky: z.number().int().nonnegative(),
  /** How many failed and are left out, because a person decided so. */
  leftOut: z.number().int().nonnegative().optional(),
  /** The first that failed. */
  failing: z.array(failingTestSchema),
  /** Why the tests gave no result, if they gave none. */
  problem: z.string().optional(),
  durationMs: z.number().nonnegative(),
});
export type BaseResult = z.infer<typeof baseResultSchema>;

/** What verified answers cost in a project. */
export const verifiedCostSchema = z.object({
  /** All that runs with a verdict cost, also those that were not verified, for each verified one. */
  usd: z.number().nonnegative(),
  /** The number of verified ones. */
  answers: z.number().int().min(1),
});
export type VerifiedCost = z.infer<typeof verifiedCostSchema>;

/** What the tests say of the change of one step. */
export const triedSchema = z.object({
  /** As its readers are told: bounded, and without lines that look like a secret. */
  text: z.string(),
  passed: z.number().int().nonnegative(),
  failed: z.number().int().nonnegative(),
  /** Why the tests gave no result, if they gave none. */
  problem: z.string().optional(),
  durationMs: z.number().nonnegative(),
});
export type Tried = z.infer<typeof triedSchema>;

export const leftOutSchema = z.object({ path: z.string(), reason: z.string() });

/** A step as the executor sees it: `all` resolved to indices. */
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
/** The run that produced and paid for it, if this run only reuses it. */
const keptFrom = z.string().optional();

/** How a local model sampled a text. The same seed, device and prompt give the same text. */
export const sampledSchema = z.object({ seed: z.number().int(), device: z.enum(DEVICES) });
export type Sampled = z.infer<typeof sampledSchema>;
const sampled = { sampled: sampledSchema.optional() };

/** A plan as the local Conductor sampled it, so that it can learn from what came of it. The prompt is made again then, and known by its digest. */
export const planTokensSchema = z.object({
  prompt: z.string(),
  ids: z.array(z.number().int().nonnegative()),
  /** One per token, from softmax(logits / temperature) before top-p, top-k and grammar are applied. */
  logprobs: z.array(z.number()),
  temperature: z.number().positive(),
});
export type PlanTokens = z.infer<typeof planTokensSchema>;

/** The purpose of an attempt. */
export const purposeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('plan') }),
  z.object({ kind: z.literal('step'), step }),
]);
export type Purpose = z.infer<typeof purposeSchema>;

/** A warning that a limit is nearly spent, in dollars or tokens. */
export const budgetWarningSchema = z.object({ limit: budgetLimitSchema, spent: z.number().nonnegative(), of: z.number().positive() });
export type BudgetWarning = z.infer<typeof budgetWarningSchema>;

export const runEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('run.accepted'),
    kind: runKindSchema,
    /** For a rollout, its training. For a repeated question, the earlier run. */
    parentId: z.string().optional(),
    /** The step of the earlier run that is retried, if any; both indices count from 0. */
    retried: z.object({ round, step }).optional(),
    taskId: z.string().optional(),
    seed: z.number().int().optional(),
    /** What a run of a training counts as: the project (absolute path) of whose files its workspace is a copy, and the kind of its question. */
    countsAs: z.object({ project: z.string(), kind: z.string().max(40) }).optional(),
    request: runRequestSchema,
    /** What it continues from; absent if it continues from nothing. */
    earlier: earlierSchema.optional(),
    /** The conversation in which another program asks; the last step then speaks there, with that program's tools. */
    conversation: conversationSchema.optional(),
    /** Absent in runs of an earlier version, and in trainings. */
    asks: asksSchema.optional(),
    /** The workers on offer, in the order of their ordinals. */
    pool: z.array(workerConfigSchema),
    policy: policySnapshotSchema,
    budget: budgetSchema,
    /** What tests said of its workers before, as its Conductor is told; absent if it is told nothing. */
    records: z.array(workerRecordSchema).optional(),
    /** Nobody is chosen by records in this run. */
    recordsOff: z.literal(true).optional(),
    /** Tests that a person left out in earlier runs of the project: while they fail, they are left out here as well. */
    leftOut: z.array(z.string()).optional(),
  }),
  z.object({
    type: z.literal('run.resumed'),
    reason: z.enum(['restart', 'user']),
    /** The current budget, if it was raised. */
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
    /** The exact text sent to the models. */
    text: z.string(),
    /** The round that it was gathered for; 0 when absent. A round can have several: what fails may become known while it runs. */
    round: round.optional(),
    /** Whether it was known what fails on the code as it is. */
    knowsBase: z.boolean().optional(),
    /** The tests that fail, as models are told; empty or absent if none is known to. */
    failing: z.string().optional(),
    /** What the Conductor is told of the project; with the first context only. */
    project: projectFactsSchema.optional(),
  }),
  /** The tests run on the code as it is, before any answer. */
  z.object({ type: z.literal('base.started'), command: z.string(), runner: z.string().optional() }),
  baseResultSchema.extend({ type: z.literal('base.completed') }),
  z.object({
    type: z.literal('attempt.started'),
    round,
    purpose: purposeSchema,
    attemptId,
    worker: z.string(),
    /** 1 for the first attempt at this call. */
    number: z.number().int().min(1),
    reserved: z.object({ usd: z.number().nonnegative().optional(), tokens: z.number().int().nonnegative() }),
    /** Which of the run's contexts is sent, counted from 0; the first when absent. */
    context: z.number().int().nonnegative().optional(),
  }),
  z.object({
    type: z.literal('attempt.failed'),
    round,
    purpose: purposeSchema,
    attemptId,
    failure: failureSchema,
    /** Present if another attempt follows. */
    retryInMs: z.number().nonnegative().optional(),
    ...spent,
  }),
  /** A worker that costs nothing tries the question in this round, before anybody is paid. `record`: how tries turned out in the project before. */
  z.object({ type: z.literal('try.begun'), round, record: localRecordSchema, keptFrom }),
  /** Nobody tries first, though it was asked for. */
  z.object({ type: z.literal('try.omitted'), because: noTrySchema }),
  z.object({
    type: z.literal('plan.proposed'),
    round,
    attemptId,
    /** As the Conductor wrote it. The words of a small model are replaced, so `plan` may say the same in others. */
    text: z.string(),
    plan: planSchema,
    steps: z.array(stepSchema),
    /** Why `plan` is not the plan of the text, which made no sense for the question. Journals of earlier versions have sentences for models here. */
    mended: planMendSchema.optional().catch(undefined),
    /** Only where the plan that is carried out is the one that was sampled. */
    tokens: planTokensSchema.optional().catch(undefined),
    keptFrom,
    ...sampled,
    ...spent,
  }),
  z.object({
    type: z.literal('plan.rejected'),
    round,
    attemptId,
    text: z.string(),
    /** The rule that the text violates, such as `unknown-worker`. */
    reason: z.string(),
    message: z.string(),
    ...sampled,
    ...spent,
  }),
  /** Three explicit empty lists: the Conductor keeps the previous round's answer. */
  z.object({ type: z.literal('plan.kept'), round, attemptId, text: z.string(), keptFrom, ...sampled, ...spent }),
  /** The plan waits for a person, before any of its workers is paid. */
  z.object({ type: z.literal('plan.held'), round, estimate: workEstimateSchema }),
  /** A person changed the plan. It replaces the one that was proposed, which stays in the journal beside it. */
  z.object({
    type: z.literal('plan.edited'), round, plan: planSchema, steps: z.array(stepSchema),
    /** Whether the person lets Conductor learn from it. Where not, nothing that chooses workers or trains a Conductor counts it. */
    forTraining: z.boolean(),
  }),
  /** A person lets the plan run. */
  z.object({ type: z.literal('plan.approved'), round }),
  /** A person wants another plan instead. `wish`: what the Conductor is told of it. */
  z.object({ type: z.literal('plan.discarded'), round, wish: z.string().optional() }),
  z.object({
    type: z.literal('step.completed'),
    round,
    step,
    attemptId,
    output: z.string(),
    /** `stopped`: a person stopped the step, and the output is what it had so far. */
    finishReason: z.enum(['stop', 'length', 'content-filter', 'stopped']),
    /** What a step with hands changed of the workspace; the output shows it as a diff. */
    changes: z.array(fileChangeSchema).optional(),
    keptFrom,
    ...sampled,
    ...spent,
  }),
  /** The copy of a step with hands begins with the changes of the steps that it reads. `text`: what its worker is told of them. */
  z.object({ type: z.literal('step.begun'), round, step, text: z.string(), changes: z.array(fileChangeSchema) }),
  /** A reply that is not yet the step's output, in a step of several turns. */
  z.object({
    type: z.literal('step.turned'), round, step, attemptId, text: z.string(),
    /** The tools that it asks for, and the turn as its provider wants it back. */
    calls: z.array(toolCallSchema).optional(),
    verbatim: verbatimTurnSchema.optional(),
    ...sampled, ...spent,
  }),
  /** What the worker is given for its last reply. */
  z.object({
    type: z.literal('step.observed'), round, step, text: z.string(),
    /** What each tool call gave, in the order of the calls. `text` is empty then. */
    results: z.array(callResultSchema).optional(),
    /** The pieces of the workspace in the text. */
    pieces: z.array(contextPieceSchema).optional(),
    /** The files that the turn changed in the step's copy, each compared with the workspace. */
    changes: z.array(fileChangeSchema).optional(),
    /** A limit is reached: the next reply is the output, whatever it says. */
    isLast: z.literal(true).optional(),
  }),
  /** A person says something to the worker, which reads it with the next thing that it is given. */
  z.object({ type: z.literal('step.told'), round, step, text: z.string() }),
  /** A person stops the step. It asks for no further turn and ends with what it has. */
  z.object({ type: z.literal('step.stopped'), round, step }),
  /** An agent did something in the attempt that is under way. `call`: the kind of the act, and what it is about. */
  z.object({ type: z.literal('step.acted'), round, step, during: z.string(), text: z.string(), call: toolCallSchema, result: z.string() }),
  z.object({ type: z.literal('step.failed'), round, step, failure: failureSchema }),
  /** The tests run on the step's change, because a later step reads it beside another change. */
  z.object({ type: z.literal('step.trying'), round, step }),
  /** What they say: which pass and fail, no verdict. */
  triedSchema.extend({ type: z.literal('step.tried'), round, step }),
  /** The step's worker failed, or is known to: another one does the step from its beginning. Both are ordinals in the run's pool. */
  z.object({
    type: z.literal('step.reassigned'), round, step, from: z.number().int().nonnegative(), to: z.number().int().nonnegative(),
    /** Why `from` does not do it. */
    failure: failureSchema,
    keptFrom,
  }),
  /** An attempt that cannot go on, while another one can. Its failure does not end the run. */
  z.object({ type: z.literal('round.failed'), round, failure: failureSchema }),
  z.object({ type: z.literal('step.skipped'), round, step, reason: z.string() }),
  /** The step's output was to change files and cannot be read: its worker is told so and asked again, once in a round. */
  z.object({ type: z.literal('answer.returned'), round, step, text: z.string() }),
  z.object({
    type: z.literal('answer.ready'),
    round,
    step,
    edits: z.array(editSummarySchema),
    /** Edits of the answer that were refused, with the reason: `isUnreadable` for one that could not be read, otherwise it may not be made. */
    refused: z.array(leftOutSchema.extend({ isUnreadable: z.boolean().optional() })),
    /** Edits of tests that nobody asked for, beside others, with the reason: the rest was judged without them. */
    leftOut: z.array(leftOutSchema).optional(),
  }),
  z.object({ type: z.literal('verify.started'), round, command: z.string(), runner: z.string().optional(), sandboxed: z.boolean() }),
  z.object({ type: z.literal('verify.completed'), round, verdict: verdictSchema }),
  /** The answer fails only for these tests, which failed before: a person says whether they must pass, before anything more is paid. */
  z.object({ type: z.literal('verdict.held'), round, tests: z.array(z.string()) }),
  /** The person said so, in the run `keptFrom` where it is kept from another one. Where they are left out, the same answer is judged again. */
  z.object({ type: z.literal('verdict.decided'), round, tests: z.array(z.string()), failedBefore: failedBeforeSchema, keptFrom: z.string().optional() }),
  /** The run stopped with its current result and can be resumed. */
  z.object({
    type: z.literal('run.stopped'),
    reason: z.enum(['budget']),
    /** The limit that the next call would exceed; absent in runs of an earlier version. */
    limit: stopLimitSchema.optional(),
    /** The lowest limit that allows that call, in the limit's unit. */
    needed: z.number().nonnegative().optional(),
    message: z.string(),
  }),
  /** A limit is nearly spent. The run continues. Sent once for each limit. */
  budgetWarningSchema.extend({ type: z.literal('budget.warned') }),
  z.object({
    type: z.literal('run.completed'),
    outcome: outcomeSchema,
    /** The round whose answer is offered. */
    round,
    message: z.string(),
    /** Of a verified answer: what verified answers cost in this project so far, with this one. */
    verifiedCost: verifiedCostSchema.optional(),
  }),
  z.object({ type: z.literal('run.failed'), failure: failureSchema }),
  z.object({ type: z.literal('run.cancelled') }),
]);
export type RunEvent = z.infer<typeof runEventSchema>;
export type RunEventType = RunEvent['type'];
export type RunEventOf<T extends RunEventType> = Extract<RunEvent, { type: T }>;

/** An event as stored: `seq` counts from 1 within its run without gaps, `at` is milliseconds since 1970. */
export const storedEventSchema = z.object({
  runId: z.string(),
  seq: z.number().int().min(1),
  at: z.number(),
  event: runEventSchema,
});
export type StoredEvent = z.infer<typeof storedEventSchema>;

/** Streamed text. Not journalled: an interrupted attempt is repeated. */
export const runTextSchema = z.object({
  runId: z.string(),
  round,
  purpose: purposeSchema,
  attemptId,
  /** Number of earlier characters of the same attempt, so that a client can detect a gap. */
  offset: z.number().int().nonnegative(),
  text: z.string(),
});
export type RunText = z.infer<typeof runTextSchema>;
