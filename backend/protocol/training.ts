import * as z from 'zod';
import { TRAINING_ABLATIONS } from './ablations.ts';
import { testCommandText, testImageName, testReportsGlob, testRunnerName } from './test-command.ts';
import { loggedComparisonSchema, outcomesSchema } from './learning.ts';
import { TRAINING_PRESET_NAMES, withPreset } from './training-presets.ts';
import { budgetOverrideSchema, keyNameSchema, requestSettingsSchema, serverUrlSchema, stopLimitSchema } from './worker-config.ts';

/*
 * A training of the Conductor on this machine: its configuration and its state. Defaults are those of the paper (arXiv 2512.04388 §4.1 and
 * A.1) where it states them. Each other default names its source.
 */

const share = z.number().min(0).max(1);
const positive = z.number().positive();
const count = z.number().int().min(1);
const usdPerMillion = z.number().min(0).max(10_000);

/**
 * The limits of a training, in place of the daily limits. `usd` and `tokens` limit all rollouts together, over all processes. The others
 * limit a single rollout, in place of those in workers.json.
 */
const limits = { usd: positive, tokens: count, ...budgetOverrideSchema.pick({ runUsd: true, runTokens: true }).shape };

/** New limits for a training. */
export const trainingLimitsSchema = z.strictObject(limits).partial();
export type TrainingLimits = z.infer<typeof trainingLimitsSchema>;

/**
 * The kinds of tasks made from a project: rewrite an emptied function, repair a planted bug of one word or sign, redo the change of a commit
 * that tests depend on.
 */
export const projectTaskKindSchema = z.enum(['write', 'repair', 'redo']);
export type ProjectTaskKind = z.infer<typeof projectTaskKindSchema>;

/** What can sample from and train the Conductor. `local`: this machine. `remote`: a server with Tinker's API. */
export const TRAINING_ENGINES = ['local', 'remote'] as const;
export type TrainingEngineKind = (typeof TRAINING_ENGINES)[number];

/** Engines without settings are named, others are an object. */
const engineSchema = z.union([
  z.literal('local' satisfies TrainingEngineKind),
  z.strictObject({
    kind: z.literal('remote' satisfies TrainingEngineKind),
    /** Of the server, without the path of the API. */
    url: serverUrlSchema('engine.url'),
    /** What the server calls the Conductor's model. Absent: as in workers.json. */
    model: z.string().min(1).max(4_096).optional(),
    /** The name of the server's key, as of a worker's. */
    key: keyNameSchema.optional(),
    /** Dollars for a million tokens that the server reads without learning from them, writes, and learns from. Absent: nothing is counted. */
    price: z.strictObject({ prefillPerMillion: usdPerMillion, samplePerMillion: usdPerMillion, trainPerMillion: usdPerMillion }).optional(),
  }),
]);
export type RemoteEngineSettings = Exclude<z.infer<typeof engineSchema>, string>;

/** Where the coordinator of a team listens on its machine. */
const TEAM_PORT = 4101;

/** Several machines that train one Conductor on a training server. One of them coordinates, the others join it. */
const teamSchema = z.union([
  z.strictObject({
    /** On 127.0.0.1. */
    port: z.number().int().min(1).max(65_535).default(TEAM_PORT),
    /** How many members have to be there before the first step. */
    members: count.max(64).default(1),
    /** The most seconds that a step waits for members once the coordinator's own plans are judged. */
    wait: z.number().positive().max(86_400).default(600),
    /** How many versions old the plans of a member may be. */
    oldest: z.number().int().min(0).max(8).default(0),
  }),
  z.strictObject({
    /** The coordinator's address, as this machine reaches it. */
    join: serverUrlSchema('team.join'),
    /** The name of this member's key. */
    key: keyNameSchema,
    /** The coordinator's training that is joined. Absent in a file: the one that is under way. */
    training: z.string().min(1).max(200).optional(),
  }),
]);
export type TeamSettings = z.infer<typeof teamSchema>;
export type CoordinatorSettings = Exclude<TeamSettings, { readonly join: string }>;
export type MemberSettings = Extract<TeamSettings, { readonly join: string }>;

/** How workers are asked, in place of what workers.json says: by id, or `*` for each that is not named. */
const workerSettingsSchema = z.record(z.string().regex(/^(?:\*|[\w.-]{1,64})$/, 'name a worker by its id, or all with *'), requestSettingsSchema);
export type WorkerSettings = z.infer<typeof workerSettingsSchema>;

/** As many as can be sampled. */
const MOST_CARRIED_OUT = 16_384;

/** What a file of settings may have. */
export const trainingSettingsSchema = z.strictObject({
  /** Other defaults for all of it. */
  preset: z.enum(TRAINING_PRESET_NAMES).optional(),
  engine: engineSchema.default('local'),
  /** Absent: this machine trains alone. */
  team: teamSchema.optional(),
  tasks: z.strictObject({
    /** The maximum number of tasks made from the project. */
    count: count.max(1_000).default(40),
    /** Share of the project's files whose tasks are never trained on. */
    heldOut: share.default(0.3),
    /** A file of additional tasks (JSON lines), relative to the project. Default: `conductor.tasks.jsonl`, if it exists. */
    file: z.string().min(1).max(4_096).optional(),
    /** A file whose tasks are never trained on. With it, all tasks of `file` are trained on. */
    heldOutFile: z.string().min(1).max(4_096).optional(),
    /** The same number of tasks of each of several files, in place of `file`. */
    mix: z.strictObject({
      files: z.array(z.string().min(1).max(4_096)).min(1).max(32),
      /** Tasks of each file that are trained on. The paper's 960 are 240 of each of its four data sets. */
      each: count.max(100_000).default(240),
      /** Tasks of each file that are held out. */
      heldOut: count.max(100_000).default(60),
      /** The `results.json` of an evaluation: only tasks that it saw solved at some tries and not at others are drawn. */
      tried: z.string().min(1).max(4_096).optional(),
    }).optional(),
    /** Whether tasks are made from the project's functions, tests and history. */
    project: z.boolean().default(true),
    /** How to run the project's tests. Missing values are detected from its files. */
    test: z.strictObject({ command: testCommandText, runner: testRunnerName, reports: testReportsGlob }).partial().optional(),
    /** The container image in which the project's tests run, instead of in the sandbox on this machine. */
    image: testImageName.optional(),
    /** The kinds of tasks. Default: all, since each trains a different ability. */
    kinds: z.array(projectTaskKindSchema).min(1).max(projectTaskKindSchema.options.length).default([...projectTaskKindSchema.options]),
  }).prefault({}),
  /** Updates. The paper makes 200 with 4 tasks of 64 plans. 50 updates use each of 40 tasks about five times. */
  steps: count.max(100_000).default(50),
  tasksPerStep: count.max(64).default(4),
  /** Plans sampled for a task. */
  groupSize: z.number().int().min(2).max(256).default(8),
  /**
   * The most plans of a step that are carried out, which is what is paid for. What outcomes so far say of the others stands in for theirs. With
   * `rounds: 2`, all are. The paper carries out all 256. The default: docs/learn-bench.md.
   */
  carriedOut: z.number().int().min(2).max(MOST_CARRIED_OUT).default(8),
  /** The most updates after each step for which nothing is paid, where some plans are not carried out. The default: docs/learn-bench.md. */
  unpaidUpdates: z.number().int().min(0).max(64).default(3),
  /** Maximum length of a plan with its reasoning; as in the paper. */
  maxTokens: count.max(8_192).default(1_024),
  /** The seed of all random choices. */
  seed: z.number().int().min(0).max(2 ** 32 - 1).default(0),
  /** Sampling temperature of plans; as in the paper, without top-k or top-p. */
  temperature: positive.max(10).default(1),
  learningRate: z.strictObject({
    /** Absent: by the model. A training keeps what it began with. */
    peak: positive.max(1).optional(),
    /** Share of the steps for warmup; like the schedule, as in the paper. */
    warmup: share.default(0.03),
    schedule: z.enum(['cosine', 'linear', 'constant']).default('cosine'),
  }).prefault({}),
  loss: z.strictObject({
    /** How tokens are averaged: over each plan (GRPO, the paper's), over a fixed length (Dr. GRPO), over all (DAPO). */
    type: z.enum(['grpo', 'dr_grpo', 'dapo']).default('grpo'),
    /** The paper's 0.2; DAPO's `high` is 0.28. It has an effect only with more than one of `updates`. */
    clip: z.strictObject({ low: share.default(0.2), high: positive.max(10).default(0.2) }).prefault({}),
    /** How much the divergence from the model without its adapter counts; the paper has none. */
    divergence: z.number().min(0).max(10).default(0),
    /** The most that a token may count for being likelier to the trainer than to the sampler (truncated importance sampling); 0 for none. */
    importanceLimit: z.number().min(0).max(100).default(2),
  }).prefault({}),
  /** Normalised by the group's standard deviation (paper), or only centred (Dr. GRPO). */
  advantage: z.enum(['group', 'none']).default('group'),
  /**
   * Updates of the adapter for the plans of a step, which are dealt out to so many minibatches. With 1, as in the paper, no ratio is ever
   * clipped, so `loss.clip` has no effect.
   */
  updates: count.max(64).default(1),
  /** Excludes truncated plans from the loss (DAPO). Otherwise their reward is 0. */
  maskTruncated: z.boolean().default(false),
  reward: z.strictObject({
    /** The strict verdict, or the graded score. */
    judgedBy: z.enum(['verified', 'score']).default('verified'),
    /** What an answer counts as whose tests pass without being shown to notice a wrong one. */
    passes: z.enum(['wrong', 'right']).default('wrong'),
    /** Reward subtracted for each dollar of cost; the paper has none. */
    costWeight: z.number().min(0).max(1_000).default(0),
  }).prefault({}),
  /** transformers' default. */
  gradientClip: positive.default(1),
  /**
   * What learns: an adapter, or all weights, as in the paper. `auto`: all weights where this machine has the memory for them, and otherwise an
   * adapter; before it begins a training says which, and keeps to that.
   */
  train: z.enum(['adapter', 'weights', 'auto']).default('adapter'),
  adapter: z.strictObject({
    rank: count.max(256).default(16),
    /** TRL's value for rank 16. */
    alpha: positive.default(32),
  }).prefault({}),
  /** How workers are asked while plans are sampled to learn from. Absent: as in workers.json. */
  workers: workerSettingsSchema.optional(),
  /** Pool sizes, used in turn: for each task that many workers are drawn from the pool. Absent: all workers. */
  poolSizes: z.array(count.max(32)).min(1).max(32).optional(),
  /** Whether a paid worker answers a step once for all plans of a group that share it: less is paid, and outcomes of a group depend on each other. */
  sharedSteps: z.boolean().default(true),
  /** With 2, half of a group's plans revise the other half after those have run (the paper's recursion). */
  rounds: z.union([z.literal(1), z.literal(2)]).default(1),
  /** Features that are taken from each plan before it is carried out, to measure what they are worth: also in the comparison, not after an adoption. */
  ablations: z.array(z.enum(TRAINING_ABLATIONS)).max(TRAINING_ABLATIONS.length).optional(),
  /** The revision's share in the reward of the plan it revises; the paper's discount. */
  revisionWeight: share.default(0.25),
  evaluation: z.strictObject({
    /** The most tries of each held-out task by each of the two compared Conductors; fewer if fewer tell which is better. */
    samples: count.max(64).default(8),
    /** The most tries of held-out tasks on the way, as a share of the plans that are trained on. They tell when to stop; 0 for none. */
    onTheWay: share.default(0.1),
    /** What a try of a task of the project may take, as when a question is asked: plans that revise each other (clients fill in theirs; 1 if absent), or independent ones. */
    rounds: count.max(5).optional(),
    attempts: count.max(5).default(1),
    /** How workers are asked in the comparison. Absent: as in workers.json. */
    workers: workerSettingsSchema.optional(),
  }).prefault({}),
  /** Hard limits: no call starts that could exceed them. Unpriced workers are limited by tokens, see `unpricedTokensFor`. */
  budget: z.strictObject({ ...limits, usd: positive.default(10), tokens: count.default(20_000_000) }).prefault({}),
  /** Rollouts under way at once. */
  parallel: count.max(256).default(8),
});

export const trainingConfigSchema = z.custom<z.input<typeof trainingSettingsSchema>>().transform(withPreset).pipe(trainingSettingsSchema);
export type TrainingConfig = z.infer<typeof trainingConfigSchema>;

/** A mean score with its 95 % interval. */
const estimateSchema = z.object({ mean: z.number(), low: z.number(), high: z.number() });
export type Estimate = z.infer<typeof estimateSchema>;

/** A try of a held-out task: whether an answer was verified, its plans, how many of them are valid, and what they cost and used; tries of earlier versions have no tokens. */
const heldOutTrySchema = z.object({ verified: z.boolean(), plans: z.number().int(), valid: z.number().int(), usd: z.number(), tokens: z.number().int().optional() });
export type HeldOutTry = z.infer<typeof heldOutTrySchema>;

/** One try of each of some held-out tasks by the Conductor before and by the trained one. Pairs with an unknown outcome are left out. */
export const heldOutLookSchema = z.object({
  /** How many steps the trained one had learned from. */
  step: z.number().int(),
  /** Whether it is of the comparison at the end, and not on the way. */
  isFinal: z.boolean(),
  pairs: z.array(z.object({ before: heldOutTrySchema, after: heldOutTrySchema })),
});
export type HeldOutLook = z.infer<typeof heldOutLookSchema>;

/** Two Conductors on the same held-out tasks with the same pool. Each interval holds however often one looks. */
export const comparisonSchema = z.object({
  tasks: z.number().int(),
  /** Tries by each. */
  pairs: z.number().int().default(0),
  /** Of these pairs. */
  costUsd: z.number().default(0),
  /** With the mean dollars and tokens of a try, where they are known. */
  before: z.object({ verified: estimateSchema, formatRate: z.number(), costUsd: z.number(), tokens: z.number().optional() }),
  after: z.object({ verified: estimateSchema, formatRate: z.number(), costUsd: z.number(), tokens: z.number().optional() }),
  /** After minus before. */
  difference: estimateSchema,
  /** `better`: the interval is above 0. `not-better`: it is below what makes a change worth it. A fixed number of tries, as in earlier versions, tells neither. */
  says: z.enum(['better', 'not-better', 'not-known']).default('not-known'),
  /** What would tell if it went on like this; absent where it is known, or nothing would soon. */
  more: z.object({ pairs: z.number().int(), usd: z.number() }).optional(),
});
export type Comparison = z.infer<typeof comparisonSchema>;

/** The metrics of a step, with TRL's names where it has one. */
export const stepMetricsSchema = z.record(z.string(), z.number());

export const trainingStateSchema = z.enum([
  'preparing', 'training', 'waiting', 'evaluating', 'paused', 'completed', 'failed', 'cancelled',
]);
export type TrainingState = z.infer<typeof trainingStateSchema>;

/** Progress of making tasks: candidates tried, their maximum number, and the results. */
const makingSchema = z.object({
  tried: z.number().int(),
  of: z.number().int(),
  train: z.number().int(),
  heldOut: z.number().int(),
  leftOut: z.number().int(),
  /** Estimated from the progress so far. */
  secondsLeft: z.number().optional(),
});

const progressSchema = z.object({ done: z.number().int(), of: z.number().int() });

/** The limit at which a training stopped, in dollars or tokens, and the lowest limit that allows its next call. */
const stoppedSchema = z.object({ by: stopLimitSchema, limit: z.number(), needed: z.number() });
export type StoppedTraining = z.infer<typeof stoppedSchema>;

/** A summary of a sampled plan, for lists; `training/rollout` has all of it. */
export const rolloutSchema = z.object({
  /** The rollout's run. */
  runId: z.string(),
  /** The indices of the task in its step and of the plan in its group. A plan and its revision share both. */
  place: z.number().int(),
  sample: z.number().int(),
  revises: z.boolean(),
  /** Truncated, as are the subtasks. */
  question: z.string(),
  steps: z.array(z.object({ worker: z.string(), subtask: z.string() })),
  /** The end of the text, if it is not a valid plan. */
  text: z.string().optional(),
  /** `unknown`: a worker, the sandbox or the machine failed, so the plan was not judged. */
  outcome: z.enum(['running', 'verified', 'passes', 'not-verified', 'unparseable', 'unknown']),
  reward: z.number().optional(),
  costUsd: z.number().optional(),
});
export type Rollout = z.infer<typeof rolloutSchema>;

/** What a member of a team gave to the batches of a training so far. */
const teamMemberSchema = z.object({
  /** Of its key. */
  name: z.string(),
  /** Whether it was heard from within the last minute. */
  isHere: z.boolean(),
  /** That were learned from. */
  groups: z.number().int(),
  plans: z.number().int(),
  /** What its plans cost it, as it says. */
  costUsd: z.number(),
});
export type TeamMember = z.infer<typeof teamMemberSchema>;

/** Earlier versions carried out all plans and trained an adapter, and had no settings for that. */
const keptConfigSchema = z.preprocess(
  (config) => (typeof config === 'object' && config !== null ? { carriedOut: MOST_CARRIED_OUT, train: 'adapter', ...config } : config), trainingConfigSchema,
);

export const trainingSchema = z.object({
  trainingId: z.string(),
  /** Sequence number of the last included change. */
  seq: z.number().int().default(0),
  workspace: z.string(),
  /** What it learns from where it carries no plan out: the outcomes in the journal. Their `workspace` is empty where they are of all projects. */
  learnsFrom: z.literal('outcomes').optional(),
  /** The worker that plays the Conductor, and its model. */
  conductor: z.string(),
  model: z.string(),
  /** SHA-256 of the model's weights, for the bundled model, which changes with versions of Conductor. */
  base: z.string().optional(),
  /** Workers of the training, fixed from start to end; absent in trainings of an earlier version. */
  pool: z.array(z.object({ id: z.string(), model: z.string() })).optional(),
  config: keptConfigSchema,
  state: trainingStateSchema,
  /** One sentence: the current activity, why it waits, or how it ended. */
  message: z.string(),
  /** Present if a limit paused it. */
  stopped: stoppedSchema.optional(),
  startedAt: z.number(),
  updatedAt: z.number(),
  tasks: z.object({ train: z.number().int(), heldOut: z.number().int() }),
  /** Completed steps. */
  step: z.number().int(),
  /** No further step starts: the result so far is compared. */
  finishing: z.boolean().optional(),
  /** Progress of the current activity (tasks tried, groups of the step, evaluated tasks). */
  progress: progressSchema.optional(),
  /** Present until the tasks are made. */
  making: makingSchema.optional(),
  metrics: z.array(stepMetricsSchema),
  /** The current or last step: its number, from 1, and its rollouts so far. */
  rollouts: z.object({ step: z.number().int(), list: z.array(rolloutSchema) }).optional(),
  /** Spending on paid workers. Local models do not count. */
  spentUsd: z.number(),
  spentTokens: z.number(),
  /** Tokens of unpriced workers among them. */
  unpricedTokens: z.number().default(0),
  /** Active time, without pauses. */
  secondsPerStep: z.number().optional(),
  /** On held-out tasks, oldest first: what the comparison is made of, and what tells on the way when to stop. */
  looks: z.array(heldOutLookSchema).optional(),
  /** The most tries of each held-out task in the comparison, where more than at the start are allowed. */
  mostTries: z.number().int().optional(),
  comparison: comparisonSchema.optional(),
  /** Of a training that learns from outcomes: these, and what the newest say of what was learned. */
  outcomes: outcomesSchema.optional(),
  logged: loggedComparisonSchema.optional(),
  /** False if it has ended and no step had a gradient: what was to be trained is as it was, and is neither compared nor offered. */
  learned: z.boolean().optional(),
  /** The folders of the Conductor's adapter and of its trained weights when the training started. */
  adapterBefore: z.string().optional(),
  weightsBefore: z.string().optional(),
  /** Whether the Conductor plans with what this training made. */
  adopted: z.boolean(),
  /** Who was chosen to plan before it was adopted; null: nobody; absent if it was not adopted, or by an earlier version. */
  plannerBefore: z.string().nullable().optional(),
  simulated: z.boolean(),
  /** Of a training that coordinates a team. */
  members: z.array(teamMemberSchema).optional(),
});
export type Training = z.infer<typeof trainingSchema>;

/** The Conductor and workers of a possible training, or the first missing requirement. */
export const trainingCheckSchema = z.object({
  missing: z.object({ what: z.enum(['conductor', 'worker', 'sandbox', 'tests']), message: z.string() }).optional(),
  /** The worker that plays the Conductor. */
  conductor: z.string().optional(),
  /** The workers. Unpriced ones are limited by tokens. */
  workers: z.array(z.object({ id: z.string(), priced: z.boolean(), simulated: z.boolean() })),
  /** What the engine asks a person to agree to, beside the cost of workers; one sentence each. */
  terms: z.array(z.string()).optional(),
  /** The settings with those that a team tells its members; absent where they are as asked for. */
  config: trainingConfigSchema.optional(),
});
export type TrainingCheck = z.infer<typeof trainingCheckSchema>;
export type TrainingRequirement = NonNullable<TrainingCheck['missing']>['what'];

/** The changed fields only. */
export const trainingChangeSchema = z.object({
  ...trainingSchema.pick({
    config: true, state: true, message: true, tasks: true, step: true, finishing: true, spentUsd: true, spentTokens: true, unpricedTokens: true, secondsPerStep: true, looks: true, mostTries: true, comparison: true, outcomes: true, logged: true, learned: true,
    adapterBefore: true, adopted: true, plannerBefore: true, members: true,
  }).partial().shape,
  /** Null if there is no progress to show. */
  progress: progressSchema.nullable().optional(),
  /** Null once the tasks are made. */
  making: makingSchema.nullable().optional(),
  /** Null once the training continues. */
  stopped: stoppedSchema.nullable().optional(),
  /** Metrics of the steps after the first `after`. They replace all later ones. */
  metrics: z.object({ after: z.number().int(), told: z.array(stepMetricsSchema) }).optional(),
  /** New or updated rollouts. Rollouts of another step replace all earlier ones. */
  rollouts: z.object({ step: z.number().int(), list: z.array(rolloutSchema) }).optional(),
});
export type TrainingChange = z.infer<typeof trainingChangeSchema>;

/** One change; `seq` counts the changes of a training without gaps. */
export const trainingEventSchema = z.object({ trainingId: z.string(), seq: z.number().int(), at: z.number(), change: trainingChangeSchema });
export type TrainingEvent = z.infer<typeof trainingEventSchema>;

/** A training in a list. */
export const trainingSummarySchema = z.object({
  ...trainingSchema.pick({
    trainingId: true, workspace: true, conductor: true, model: true, state: true, message: true, startedAt: true, updatedAt: true, step: true,
    spentUsd: true, unpricedTokens: true, stopped: true, adopted: true, learned: true, simulated: true, learnsFrom: true,
  }).shape,
  steps: z.number().int(),
  maxUsd: z.number(),
});
export type TrainingSummary = z.infer<typeof trainingSummarySchema>;

export function trainingSummaryOf(training: Training): TrainingSummary {
  const {
    trainingId, workspace, conductor, model, state, message, startedAt, updatedAt, step, spentUsd, unpricedTokens, stopped, adopted, learned, simulated, learnsFrom,
    config: { steps, budget },
  } = training;
  return {
    trainingId, workspace, conductor, model, state, message, startedAt, updatedAt, step, spentUsd, unpricedTokens, ...(stopped && { stopped }), adopted, ...(learned !== undefined && { learned }), ...(learnsFrom && { learnsFrom }), simulated, steps,
    maxUsd: budget.usd,
  };
}

/** A complete rollout: the sampled plan and its results. */
export const wholeRolloutSchema = z.object({
  runId: z.string(),
  question: z.string(),
  /** The Conductor's text with its reasoning. */
  text: z.string(),
  steps: z.array(z.object({
    worker: z.string(),
    subtask: z.string(),
    /** Earlier steps whose outputs it read, from 0. */
    reads: z.array(z.number().int()),
    readsPreviousRound: z.boolean(),
    state: z.enum(['pending', 'running', 'completed', 'failed', 'skipped']),
    /** The worker's answer; long ones are truncated. */
    output: z.string().optional(),
    /** Why there is no answer. */
    problem: z.string().optional(),
  })),
  /** One sentence: the verdict, or why the plan is invalid. */
  message: z.string().optional(),
});
export type WholeRollout = z.infer<typeof wholeRolloutSchema>;

/** An admitted or rejected task of a training. */
export const taskNoteSchema = z.object({
  /** The place in the project, such as `src/sum.ts:12`, the commit, or the id in the file of tasks. */
  about: z.string(),
  source: z.enum(['project', 'file']),
  state: z.enum(['train', 'held-out', 'left-out']),
  /** One sentence: why it was admitted, or not. */
  reason: z.string(),
});
export type TaskNote = z.infer<typeof taskNoteSchema>;

/** A page of a training's tasks, from `offset` on, and the total numbers. */
export const taskNotesSchema = z.object({
  offset: z.number().int(),
  tasks: z.array(taskNoteSchema),
  total: z.number().int(),
  train: z.number().int(),
  heldOut: z.number().int(),
  leftOut: z.number().int(),
  /** Candidates not tried: not yet, or not needed because enough tasks were admitted. */
  untried: z.number().int(),
});
export type TaskNotes = z.infer<typeof taskNotesSchema>;
