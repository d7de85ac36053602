import { comparisonVerdict } from '../../backend/protocol/comparison-words.ts';
import type { LoggedComparison } from '../../backend/protocol/learning.ts';
import { flatMessage, flatMetric, flatStepsOf } from '../../backend/protocol/flat-steps.ts';
import {
  trainingConfigSchema, trainingSchema, trainingSummaryOf, type Comparison, type Rollout, type TaskNote, type TaskNotes, type Training, type TrainingSummary,
  type WholeRollout,
} from '../../backend/protocol/training.ts';

/*
 * Trainings in every state, as the backend tells of them.
 */

/** When every story begins: 20 November 2026, 10:00 UTC. */
export const BEGIN = Date.UTC(2026, 10, 20, 10);

/** A figure that wanders as measured ones do, the same for the same step. */
const wander = (step: number, by: number): number => by * (Math.sin(step * 2.7) * 0.6 + Math.sin(step * 7.1) * 0.4);

const share = (value: number): number => Math.min(1, Math.max(0, value));

function metricsOf(step: number): Record<string, number> {
  const learned = 1 - Math.exp(-step / 14);
  const format = share(0.62 + 0.38 * learned + wander(step, 0.06));
  const verified = share(0.31 + 0.3 * learned + wander(step + 5, 0.09));
  const length = 340 - 110 * learned + wander(step + 2, 40);
  return {
    'reward': 0.5 * format + 0.5 * verified,
    'reward_std': 0.2,
    'verified_rate': verified,
    'format_rate': format,
    'completions/mean_length': length,
    'completions/min_length': length * 0.55,
    'completions/max_length': Math.min(1_024, length * 2.1),
    'completions/clipped_ratio': share(0.09 - 0.08 * learned + wander(step, 0.02)),
    'cost_usd': 0.034 + wander(step, 0.006),
    'grad_norm': 0.4 + wander(step + 1, 0.2),
    'learning_rate': 1e-5,
    // A step whose groups are all alike teaches nothing and has no entropy.
    ...(step !== 11 && { entropy: 0.62 - 0.2 * learned + wander(step, 0.03) }),
    ...plansOf(step),
  };
}

/** What the plans of a step do: more and more of them are of two steps, the second of which reads the first. */
function plansOf(step: number): Record<string, number> {
  const learned = 1 - Math.exp(-step / 14);
  const [one, three] = [share(0.5 - 0.4 * learned + wander(step, 0.05)), share(0.15 - 0.1 * learned + wander(step + 3, 0.03))];
  const claude = share(0.34 + 0.2 * learned + wander(step, 0.04));
  const gpt = share(0.33 + 0.05 * learned + wander(step + 4, 0.04));
  const check = share(0.1 + 0.3 * learned + wander(step + 1, 0.05));
  const all = three / 2;
  return {
    'plans/mean_steps': one + 2 * (1 - one - three) + 3 * three,
    'plans/diversity': share(0.8 - 0.4 * learned + wander(step, 0.06)),
    'plans/steps/1': one, 'plans/steps/2': 1 - one - three, 'plans/steps/3': three,
    'plans/access/none': one, 'plans/access/chain': 1 - one - three, 'plans/access/tree': three - all, 'plans/access/all': all,
    'plans/role/plan': share(0.35 - check / 2), 'plans/role/write': share(0.65 - check / 2), 'plans/role/check': check,
    'plans/worker/claude': claude, 'plans/worker/gpt': gpt, 'plans/worker/qwen-coder': 1 - claude - gpt,
    // A step has tasks of some kinds only.
    ...(step % 2 === 0
      ? { 'plans/kind/write/gpt': share(0.4 + 0.4 * learned), 'plans/kind/write/claude': share(0.6 - 0.4 * learned) }
      : { 'plans/kind/repair/claude': share(0.3 + 0.5 * learned), 'plans/kind/repair/qwen-coder': share(0.7 - 0.5 * learned) }),
  };
}

export function training(change: Partial<Training> = {}): Training {
  const step = change.step ?? 0;
  return trainingSchema.parse({
    trainingId: 'training-1', seq: 0, workspace: '/home/ada/intervals', conductor: 'qwen3-1.7b', model: 'Qwen/Qwen3-1.7B',
    config: trainingConfigSchema.parse({}), state: 'training', message: 'Training.', startedAt: BEGIN, updatedAt: BEGIN + 1_900_000,
    tasks: { train: 27, heldOut: 12 }, metrics: Array.from({ length: step }, (_, index) => metricsOf(index)),
    spentUsd: 0.034 * step, spentTokens: 61_000 * step, unpricedTokens: 0, adopted: false, simulated: false, ...change, step,
  } satisfies Training);
}

export const COMPARISON: Comparison = {
  tasks: 12, pairs: 48, costUsd: 0.97,
  before: { verified: { mean: 0.417, low: 0.292, high: 0.563 }, formatRate: 0.71, costUsd: 0.0113 },
  after: { verified: { mean: 0.604, low: 0.458, high: 0.729 }, formatRate: 0.98, costUsd: 0.0089 },
  difference: { mean: 0.187, low: 0.063, high: 0.313 },
  says: 'better',
};

/** Learns from the outcomes in the journal. */
export const learningTraining = (change: Partial<Training> = {}): Training => training({
  workspace: '', learnsFrom: 'outcomes', conductor: 'conductor-mini', model: 'conductor-mini', tasks: { train: 24, heldOut: 12 }, spentUsd: 0, spentTokens: 0,
  metrics: [], step: 0, outcomes: { learned: { verified: 24, other: 30 }, heldOut: { verified: 6, other: 6 }, leftOut: [] }, ...change,
});

export const learnedTraining = (says: LoggedComparison['says'] = 'better'): Training => learningTraining({
  state: 'completed', message: 'Better on the newest outcomes: adopt it, or let it be.', learned: true,
  logged: {
    verified: 6, other: 6, gain: { verified: 3.97, other: -3.19 }, formatRate: { before: 1, after: 1 }, says,
    ...(says !== 'not-known' && { difference: { mean: 7.16, low: 4.2, high: 10.1 }, pValue: 0.003 }),
  },
});

/** Coordinates a team of three. */
export const teamTraining = (): Training => training({
  ...runningTraining(),
  members: [{ name: 'ann', isHere: true, groups: 4, plans: 32, costUsd: 0.25 }, { name: 'ben', isHere: false, groups: 1, plans: 8, costUsd: 0 }],
});

export const preparingTraining = (): Training => training({
  state: 'preparing', message: 'Making tasks of the project: 9 admitted.', progress: { done: 14, of: 63 }, tasks: { train: 0, heldOut: 0 },
  making: { tried: 14, of: 63, train: 6, heldOut: 3, leftOut: 5, secondsLeft: 392 },
});

const QUESTIONS = [
  'The function `mergeIntervals` in src/intervals.ts is not written yet. Write it, so that it does what its name, its comments…',
  'These tests fail: - test/intervals.test.ts > merges what touches. Find the bug in the code and mend it.',
];

function rollout(place: number, sample: number, change: Partial<Rollout>): Rollout {
  return {
    runId: `training-1.23.${place}.${sample}`, place, sample, revises: false, question: QUESTIONS[place] ?? '', outcome: 'running',
    steps: [
      { worker: 'claude', subtask: 'Read the tests of intervals and say in a few lines what mergeIntervals has to return for touching intervals.' },
      { worker: 'gpt', subtask: 'Write mergeIntervals as described, and give the whole file.' },
    ],
    ...change,
  };
}

export const ROLLOUTS: NonNullable<Training['rollouts']> = {
  step: 24,
  list: [
    rollout(0, 0, { outcome: 'verified', reward: 1, costUsd: 0.0041 }),
    rollout(0, 1, { outcome: 'not-verified', reward: 0.5, costUsd: 0.0023, steps: [{ worker: 'qwen-coder', subtask: 'Write mergeIntervals.' }] }),
    rollout(0, 2, { outcome: 'unparseable', reward: 0, steps: [], text: 'Let me think about which of the models could do this. The first one is good at' }),
    rollout(0, 3, { outcome: 'unknown' }),
    rollout(1, 0, { outcome: 'running', steps: [{ worker: 'claude', subtask: 'Find the bug.' }, { worker: 'gpt', subtask: 'Check it.' }, { worker: 'claude', subtask: 'Mend it.' }] }),
    rollout(1, 1, { outcome: 'running' }),
  ],
};

export const WHOLE_ROLLOUT: WholeRollout = {
  runId: 'training-1.23.0.0',
  question: 'The function `mergeIntervals` in src/intervals.ts is not written yet. Write it.',
  text: 'The tests say what is wanted; one model should read them and another should write.\n\nmodel_id = [0, 1]\nsubtasks = ["Read", "Write"]\naccess_list = [[], ["all"]]',
  steps: [
    {
      worker: 'claude', subtask: 'Read the tests of intervals and say in a few lines what mergeIntervals has to return for touching intervals.',
      reads: [], readsPreviousRound: false, state: 'completed', output: 'Intervals that touch are one: [1, 2] and [2, 3] are [1, 3].',
    },
    {
      worker: 'gpt', subtask: 'Write mergeIntervals as described, and give the whole file.', reads: [0], readsPreviousRound: false, state: 'completed',
      output: 'export function mergeIntervals(intervals) {\n  // …\n}',
    },
  ],
  message: '5 of 5 failing tests are mended, and none that passed fails.',
};

const note = (state: TaskNote['state'], about: string, reason: string): TaskNote => ({ about, source: 'project', state, reason });

export const TASK_NOTES: TaskNotes = {
  offset: 0, total: 45, train: 27, heldOut: 12, leftOut: 6, untried: 114,
  tasks: [
    note('train', 'src/intervals.ts: mergeIntervals', '5 of 5 failing tests are mended, and none that passed fails.'),
    note('train', 'src/intervals.ts:42', '1 of 1 failing test is mended, and none that passed fails.'),
    note('held-out', 'src/ranges.ts:7', '3 of 3 failing tests are mended, and none that passed fails.'),
    note('left-out', 'src/intervals.ts:61', 'No test notices it: no test failed before the change.'),
    note('left-out', 'commit 4f1c2d90ab13', 'Some of the files that it changes are held out and some are not.'),
  ],
};

export const runningTraining = (): Training =>
  training({ step: 23, progress: { done: 2, of: 4 }, secondsPerStep: 71.4, rollouts: ROLLOUTS });

export const waitingTraining = (): Training => training({
  step: 4, state: 'waiting', message: 'claude is overloaded at the moment: tried again in 30 s.', secondsPerStep: 71.4,
});

export const overBudgetTraining = (): Training => training({
  step: 31, state: 'paused', stopped: { by: 'usd', limit: 1, needed: 1.0123 },
  message: 'The budget of this training ($1.00) does not hold the next call, which may take $0.0252: $0.9871 are spent. Resume the training with a higher limit.',
  config: trainingConfigSchema.parse({ budget: { usd: 1 } }), spentUsd: 0.9871,
});

export const pausedTraining = (): Training => training({ step: 31, state: 'paused', message: 'Paused.' });

export const failedTraining = (): Training => training({
  step: 1, state: 'failed', message: 'The files that this training\'s tasks are made of are gone: start another training.',
});

export const completedTraining = (): Training => training({
  step: 50, state: 'completed', simulated: true, comparison: COMPARISON,
  message: comparisonVerdict(COMPARISON),
});

/** All tries of held-out tasks are made, and do not tell. */
export function unknownTraining(): Training {
  const comparison: Comparison = { ...COMPARISON, says: 'not-known', difference: { mean: 0.08, low: -0.1, high: 0.26 }, more: { pairs: 60, usd: 1.21 } };
  const once = { verified: true, plans: 1, valid: 1, usd: 0.01 };
  return { ...completedTraining(), comparison, looks: [{ step: 50, isFinal: true, pairs: [{ before: once, after: once }] }], message: comparisonVerdict(comparison) };
}

/** A step in which every plan was verified, so there is no gradient. */
const flatStep = { ...metricsOf(40), reward: 1, reward_std: 0, verified_rate: 1, format_rate: 1, examples: 0, grad_norm: 0, [flatMetric('solved')]: 4 };

/** Some of its steps taught nothing. */
export function flatTraining(): Training {
  const metrics = [metricsOf(0), metricsOf(1), flatStep, metricsOf(3), flatStep];
  return { ...training({ step: metrics.length, message: `Training. ${flatMessage(flatStepsOf({ metrics })!)}`, secondsPerStep: 71.4 }), metrics };
}

/** None of its steps taught anything. */
export function flatCompletedTraining(): Training {
  const metrics = Array<typeof flatStep>(50).fill(flatStep);
  return {
    ...training({ step: 50, state: 'completed', learned: false, message: `Nothing was learned, so there is nothing to adopt. ${flatMessage(flatStepsOf({ metrics })!)}` }),
    metrics,
  };
}

export const adoptedTraining = (): Training => ({ ...completedTraining(), simulated: false, adopted: true });

export const TRAININGS: readonly TrainingSummary[] = [
  training({ trainingId: 'training-3', startedAt: BEGIN - 600_000, step: 7, spentUsd: 0.24 }),
  training({ trainingId: 'training-2', state: 'completed', startedAt: BEGIN - 7_200_000, step: 50, spentUsd: 1.7, adopted: true }),
  training({ trainingId: 'training-1', state: 'cancelled', startedAt: BEGIN - 90_000_000, step: 2, spentUsd: 0, simulated: true }),
].map(trainingSummaryOf);
