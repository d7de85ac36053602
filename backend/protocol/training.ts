import * as z from 'zod';
import { testCommandText, testImageName, testReportsGlob, testRunnerName } from './test-command.ts';
import { budgetOverrideSchema, stopLimitSchema } from './worker-config.ts';

/*
 * A training of the Conductor on this machine: what it is made with, and how it stands. The defaults of the algorithm are those of the
 * paper (arXiv 2512.04388 §4.1 and A.1) where it states them; where it does not, each has its own source.
 */

const share = z.number().min(0).max(1);
const positive = z.number().positive();
const count = z.number().int().min(1);

/**
 * What a training is held by, instead of the day's limits: `usd` and `tokens` are the most that all rollouts together may cost, in whatever
 * processes; the others hold a single rollout, and take the place of those in workers.json.
 */
const limits = { usd: positive, tokens: count, ...budgetOverrideSchema.pick({ runUsd: true, runTokens: true }).shape };

/** Limits that a training goes on with instead of those that it had. */
export const trainingLimitsSchema = z.strictObject(limits).partial();
export type TrainingLimits = z.infer<typeof trainingLimitsSchema>;

/**
 * What is made of a project: a function that was emptied is written again, a bug of one word or sign is repaired, the change of a commit
 * that tests depend on is made again.
 */
export const projectTaskKindSchema = z.enum(['write', 'repair', 'redo']);
export type ProjectTaskKind = z.infer<typeof projectTaskKindSchema>;

/** What can sample from and train the Conductor. `local`: this machine. */
export const TRAINING_ENGINES = ['local'] as const;

export const trainingConfigSchema = z.strictObject({
  engine: z.enum(TRAINING_ENGINES).default('local'),
  tasks: z.strictObject({
    /** The most that are made of the project. */
    count: count.max(1_000).default(40),
    /** Share of the project's files whose tasks are never trained on. */
    heldOut: share.default(0.3),
    /** A file of tasks (JSON lines) beside those of the project, relative to it; `conductor.tasks.jsonl` is read where it is there. */
    file: z.string().min(1).max(4_096).optional(),
    /** Whether tasks are made of the project's own functions, tests and history. */
    project: z.boolean().default(true),
    /** How the project's tests are run; what is not said here, its files show. */
    test: z.strictObject({ command: testCommandText, runner: testRunnerName, reports: testReportsGlob }).partial().optional(),
    /** The container image in which the project's tests run, instead of in the sandbox on this machine. */
    image: testImageName.optional(),
    /** Which; all, since each asks for something else. */
    kinds: z.array(projectTaskKindSchema).min(1).max(projectTaskKindSchema.options.length).default([...projectTaskKindSchema.options]),
  }).prefault({}),
  /** Updates. The paper makes 200 with 4 tasks of 64 plans; a project of 40 tasks has seen each ten times after 50 of 8. */
  steps: count.max(100_000).default(50),
  tasksPerStep: count.max(64).default(4),
  /** Plans sampled for a task. */
  groupSize: z.number().int().min(2).max(256).default(8),
  /** Of a plan with its reasoning; the paper's. */
  maxTokens: count.max(8_192).default(1_024),
  /** Everything that is drawn follows from it. */
  seed: z.number().int().min(0).max(2 ** 32 - 1).default(0),
  /** At which plans are sampled; the paper's, with nothing cut off. */
  temperature: positive.max(10).default(1),
  learningRate: z.strictObject({
    /** Ten times what all weights take ("LoRA Without Regret", as repeated in TRL's documentation): the paper's is 1e-6 for all weights. */
    peak: positive.max(1).default(1e-5),
    /** Share of the steps in which it rises; the paper's, as is the schedule. */
    warmup: share.default(0.03),
    schedule: z.enum(['cosine', 'linear', 'constant']).default('cosine'),
  }).prefault({}),
  loss: z.strictObject({
    /** How tokens are averaged: over each plan (GRPO, the paper's), over a fixed length (Dr. GRPO), over all (DAPO). */
    type: z.enum(['grpo', 'dr_grpo', 'dapo']).default('grpo'),
    /** The paper's 0.2; DAPO's `high` is 0.28. */
    clip: z.strictObject({ low: share.default(0.2), high: positive.max(10).default(0.2) }).prefault({}),
    /** How much the divergence from the model without its adapter counts; the paper has none. */
    divergence: z.number().min(0).max(10).default(0),
    /** The most that a token may count for being likelier to the trainer than to the sampler (truncated importance sampling); 0 for none. */
    importanceLimit: z.number().min(0).max(100).default(2),
  }).prefault({}),
  /** Group-normalised, the paper's; or centred alone (Dr. GRPO). */
  advantage: z.enum(['group', 'none']).default('group'),
  /** Leaves plans that were cut off out of the loss (DAPO); without it they have the reward 0. */
  maskTruncated: z.boolean().default(false),
  reward: z.strictObject({
    /** The strict verdict, or the graded score. */
    judgedBy: z.enum(['verified', 'score']).default('verified'),
    /** What a dollar takes off; the paper has none. */
    costWeight: z.number().min(0).max(1_000).default(0),
  }).prefault({}),
  /** transformers' default. */
  gradientClip: positive.default(1),
  adapter: z.strictObject({
    rank: count.max(256).default(16),
    /** TRL's for its rank of 16. */
    alpha: positive.default(32),
  }).prefault({}),
  /** How many workers of the pool are on offer for a task, drawn anew for each: these numbers in turn. Absent: all of them. */
  poolSizes: z.array(count.max(32)).min(1).max(32).optional(),
  /** 2: half of the plans of a group are revisions of the other half, after these ran (the paper's recursion). */
  rounds: z.union([z.literal(1), z.literal(2)]).default(1),
  /** How much of the reward of a revised plan is that of its revision; the paper's discount. */
  revisionWeight: share.default(0.25),
  evaluation: z.strictObject({
    /** Plans for each held-out task, of each of the two that are compared. */
    samples: count.max(64).default(4),
  }).prefault({}),
  /** Nothing is begun that could go beyond. Of workers without a known price the dollars hold the tokens: `unpricedTokensFor`. */
  budget: z.strictObject({ ...limits, usd: positive.default(10), tokens: count.default(20_000_000) }).prefault({}),
  /** Rollouts under way at once. */
  parallel: count.max(64).default(8),
});
export type TrainingConfig = z.infer<typeof trainingConfigSchema>;

/** A score with the 95 % interval of its mean. */
const estimateSchema = z.object({ mean: z.number(), low: z.number(), high: z.number() });
export type Estimate = z.infer<typeof estimateSchema>;

/** Two Conductors on the same held-out tasks with the same pool. */
export const comparisonSchema = z.object({
  tasks: z.number().int(),
  samples: z.number().int(),
  before: z.object({ verified: estimateSchema, formatRate: z.number(), costUsd: z.number() }),
  after: z.object({ verified: estimateSchema, formatRate: z.number(), costUsd: z.number() }),
  /** After less before, by task. */
  difference: estimateSchema,
  /** That so large a difference comes by chance: a sign-flip test over tasks, two-sided. */
  pValue: z.number(),
});
export type Comparison = z.infer<typeof comparisonSchema>;

/** By TRL's names, where it has one. */
export const stepMetricsSchema = z.record(z.string(), z.number());

export const trainingStateSchema = z.enum([
  'preparing', 'training', 'waiting', 'evaluating', 'paused', 'completed', 'failed', 'cancelled',
]);
export type TrainingState = z.infer<typeof trainingStateSchema>;

/** How the making of tasks stands: candidates tried, of the most that are, and what came of them. */
const makingSchema = z.object({
  tried: z.number().int(),
  of: z.number().int(),
  train: z.number().int(),
  heldOut: z.number().int(),
  leftOut: z.number().int(),
  /** If it goes on as it went. */
  secondsLeft: z.number().optional(),
});

const progressSchema = z.object({ done: z.number().int(), of: z.number().int() });

/** The limit that a training stopped at, in dollars or tokens, and the lowest that its next call could be made with. */
const stoppedSchema = z.object({ by: stopLimitSchema, limit: z.number(), needed: z.number() });
export type StoppedTraining = z.infer<typeof stoppedSchema>;

/** A sampled plan of a step, short enough for a list; `training/rollout` has the whole of it. */
export const rolloutSchema = z.object({
  /** The run that it is. */
  runId: z.string(),
  /** Which task of the step, from 0, and which plan of its group; the same two have a plan and the one that revises it. */
  place: z.number().int(),
  sample: z.number().int(),
  revises: z.boolean(),
  /** Cut short, as are the subtasks. */
  question: z.string(),
  steps: z.array(z.object({ worker: z.string(), subtask: z.string() })),
  /** The end of what was written instead of a plan. */
  text: z.string().optional(),
  /** `unknown`: a worker, the sandbox or the machine failed, and nothing is known of the plan. */
  outcome: z.enum(['running', 'verified', 'not-verified', 'unparseable', 'unknown']),
  reward: z.number().optional(),
  costUsd: z.number().optional(),
});
export type Rollout = z.infer<typeof rolloutSchema>;

export const trainingSchema = z.object({
  trainingId: z.string(),
  /** The last change that is in here. */
  seq: z.number().int().default(0),
  workspace: z.string(),
  /** The worker that plays the Conductor, and its model. */
  conductor: z.string(),
  model: z.string(),
  /** SHA-256 of the model's weights, where they change with versions of Conductor. */
  base: z.string().optional(),
  /** Who does what is planned, from the beginning to the end; absent in trainings of an earlier version. */
  pool: z.array(z.object({ id: z.string(), model: z.string() })).optional(),
  config: trainingConfigSchema,
  state: trainingStateSchema,
  /** One sentence: what is under way, why it waits, or how it ended. */
  message: z.string(),
  /** Where it is paused because of a limit. */
  stopped: stoppedSchema.optional(),
  startedAt: z.number(),
  updatedAt: z.number(),
  tasks: z.object({ train: z.number().int(), heldOut: z.number().int() }),
  /** Steps done. */
  step: z.number().int(),
  /** No further step is done: what was learned by now is compared. */
  finishing: z.boolean().optional(),
  /** Of what is under way (tasks tried, groups of the step, evaluated tasks). */
  progress: progressSchema.optional(),
  /** Until the tasks are made. */
  making: makingSchema.optional(),
  metrics: z.array(stepMetricsSchema),
  /** Of the step under way, or of the last one: its number, from 1, and what has come of it so far. */
  rollouts: z.object({ step: z.number().int(), list: z.array(rolloutSchema) }).optional(),
  /** Of workers that cost something; models of this machine are in neither. */
  spentUsd: z.number(),
  spentTokens: z.number(),
  /** How many of these were workers' whose price is not known. */
  unpricedTokens: z.number().default(0),
  /** Of work alone, without pauses. */
  secondsPerStep: z.number().optional(),
  comparison: comparisonSchema.optional(),
  /** The adapter (a folder) that the Conductor planned with when this began. */
  adapterBefore: z.string().optional(),
  /** Whether the Conductor plans with what was trained here. */
  adopted: z.boolean(),
  simulated: z.boolean(),
});
export type Training = z.infer<typeof trainingSchema>;

/** What a training of a project would be made with, or the first thing that it lacks. */
export const trainingCheckSchema = z.object({
  missing: z.object({ what: z.enum(['conductor', 'worker', 'sandbox', 'tests']), message: z.string() }).optional(),
  /** The worker that plays the Conductor. */
  conductor: z.string().optional(),
  /** Who would be asked; those without a known price are held by tokens. */
  workers: z.array(z.object({ id: z.string(), priced: z.boolean(), simulated: z.boolean() })),
});
export type TrainingCheck = z.infer<typeof trainingCheckSchema>;
export type TrainingRequirement = NonNullable<TrainingCheck['missing']>['what'];

/** What has changed, and nothing else. */
export const trainingChangeSchema = z.object({
  ...trainingSchema.pick({
    config: true, state: true, message: true, tasks: true, step: true, finishing: true, spentUsd: true, spentTokens: true, unpricedTokens: true, secondsPerStep: true, comparison: true,
    adapterBefore: true, adopted: true,
  }).partial().shape,
  /** Null where nothing is counted any more. */
  progress: progressSchema.nullable().optional(),
  /** Null once they are made. */
  making: makingSchema.nullable().optional(),
  /** Null once it goes on. */
  stopped: stoppedSchema.nullable().optional(),
  /** Of the steps behind the first `after`; what was known of later ones is replaced. */
  metrics: z.object({ after: z.number().int(), told: z.array(stepMetricsSchema) }).optional(),
  /** New, or news of ones that are known; those of another step replace them all. */
  rollouts: z.object({ step: z.number().int(), list: z.array(rolloutSchema) }).optional(),
});
export type TrainingChange = z.infer<typeof trainingChangeSchema>;

/** One change; `seq` counts those of a training without a gap. */
export const trainingEventSchema = z.object({ trainingId: z.string(), seq: z.number().int(), at: z.number(), change: trainingChangeSchema });
export type TrainingEvent = z.infer<typeof trainingEventSchema>;

/** A training as a list has it. */
export const trainingSummarySchema = z.object({
  ...trainingSchema.pick({
    trainingId: true, workspace: true, conductor: true, model: true, state: true, message: true, startedAt: true, updatedAt: true, step: true,
    spentUsd: true, unpricedTokens: true, stopped: true, adopted: true, simulated: true,
  }).shape,
  steps: z.number().int(),
  maxUsd: z.number(),
});
export type TrainingSummary = z.infer<typeof trainingSummarySchema>;

export function trainingSummaryOf(training: Training): TrainingSummary {
  const {
    trainingId, workspace, conductor, model, state, message, startedAt, updatedAt, step, spentUsd, unpricedTokens, stopped, adopted, simulated,
    config: { steps, budget },
  } = training;
  return {
    trainingId, workspace, conductor, model, state, message, startedAt, updatedAt, step, spentUsd, unpricedTokens, ...(stopped && { stopped }), adopted, simulated, steps,
    maxUsd: budget.usd,
  };
}

/** A rollout as a whole: the plan that was sampled, and what became of it. */
export const wholeRolloutSchema = z.object({
  runId: z.string(),
  question: z.string(),
  /** What the Conductor wrote, its reasoning included. */
  text: z.string(),
  steps: z.array(z.object({
    worker: z.string(),
    subtask: z.string(),
    /** Earlier steps whose outputs it read, from 0. */
    reads: z.array(z.number().int()),
    readsPreviousRound: z.boolean(),
    state: z.enum(['pending', 'running', 'completed', 'failed', 'skipped']),
    /** The worker's answer; long ones are cut. */
    output: z.string().optional(),
    /** Why it has none. */
    problem: z.string().optional(),
  })),
  /** What judged the answer, in a sentence; why no plan could be read. */
  message: z.string().optional(),
});
export type WholeRollout = z.infer<typeof wholeRolloutSchema>;

/** A task that a training was given or has made, or that it could not use. */
export const taskNoteSchema = z.object({
  /** Where in the project, such as `src/sum.ts:12`, or which commit; its id in the file of tasks. */
  about: z.string(),
  source: z.enum(['project', 'file']),
  state: z.enum(['train', 'held-out', 'left-out']),
  /** One sentence: why it was admitted, or not. */
  reason: z.string(),
});
export type TaskNote = z.infer<typeof taskNoteSchema>;

/** Some of a training's tasks, from `offset` on, and the numbers of all. */
export const taskNotesSchema = z.object({
  offset: z.number().int(),
  tasks: z.array(taskNoteSchema),
  total: z.number().int(),
  train: z.number().int(),
  heldOut: z.number().int(),
  leftOut: z.number().int(),
  /** Found in the project and not tried yet, or not at all: enough were admitted. */
  untried: z.number().int(),
});
export type TaskNotes = z.infer<typeof taskNotesSchema>;
