import path from 'node:path';
import type { PromptProfile } from '../../conductor/prompt-profile.ts';
import type { Journal } from '../../journal/journal.ts';
import type { TrainableModel } from '../../lm/language-model.ts';
import { ADAMW_DEFAULTS } from '../../lm/trainer/adamw.ts';
import { budgetSchema, workerConfigSchema, type WorkerConfig } from '../../protocol/worker-config.ts';
import type { JudgedGymTask } from './gym-grades.ts';
import type { StepMetrics } from '../../train/grpo/grpo-step.ts';
import type { Gatherer } from '../../train/grpo/gatherer.ts';
import { type GrpoTrainerOptions, trainWithGrpo } from '../../train/grpo/grpo-trainer.ts';
import type { PolicyLossType } from '../../train/engines/engine.ts';
import { LocalEngine } from '../../train/engines/local-engine.ts';
import { rehearsingEngine } from '../mini/rehearsal.ts';
import { RolloutGatherer } from '../../train/rollouts/rollout-gatherer.ts';
import { RolloutRunner } from '../../train/rollouts/rollout-runner.ts';
import type { CheckpointStore } from '../../train/grpo/checkpoint-store.ts';
import { AnswerCache } from '../../workers/answer-cache.ts';
import type { WorkerCaller } from '../../workers/call-worker.ts';
import { delay } from '../../workers/limits/delay.ts';
import type { Prices } from '../../workers/limits/prices.ts';
import { costOnlyWhere } from './cost-where.ts';
import { gatherersInTurn } from './gatherers-in-turn.ts';
import { PlanDiary, type PlanEntry, planEntry } from './plan-diary.ts';
import { sabotagedEngine, sabotagedGatherer, type Sabotage } from './sabotage.ts';

export interface GymTrainingParts {
  /** All of its weights are trained. */
  readonly model: TrainableModel;
  /** What the model was before; asked only where the divergence from it counts. */
  readonly reference?: Pick<TrainableModel, 'score' | 'write'> | undefined;
  readonly profile: PromptProfile;
  /** Of the model. Where it is given, later rounds are rehearsed. */
  readonly tokenizer?: Parameters<typeof rehearsingEngine>[1] | undefined;
  readonly tasks: readonly JudgedGymTask[];
  /** Always the same workers, by ordinal. */
  readonly pool: readonly WorkerConfig[];
  /** Workers that random pools are drawn from. */
  readonly roster?: readonly WorkerConfig[] | undefined;
  /** The same for pools in which some have hands; half of the drawn pools are of it, where it is given. */
  readonly rosterWithHands?: readonly WorkerConfig[] | undefined;
  readonly journal: Journal;
  readonly caller: WorkerCaller;
  readonly prices: Prices;
  readonly store: CheckpointStore;
  readonly signal: AbortSignal;
  readonly onStep?: (step: number, metrics: StepMetrics) => void;
}

/** Whom plans are for: the pool; workers drawn from the roster for each group; or the one and the other in turn. */
export const GYM_POOLS = ['fixed', 'random', 'both'] as const;
export type GymPools = (typeof GYM_POOLS)[number];

/** Workers of a random pool, as many as there are in the fixed one. */
const DRAWN_WORKERS = 5;

export interface GymTrainingOptions {
  readonly steps: number;
  readonly tasksPerStep: number;
  readonly groupSize: number;
  readonly seed: number;
  readonly learningRate: number;
  readonly lossType: PolicyLossType;
  /** How much the divergence from what the model was before counts. */
  readonly divergence: number;
  readonly pools: GymPools;
  readonly sabotage?: Sabotage | undefined;
}

/** So many plans a step as the paper has (4 times 64), of more questions, since a small model generalises from few badly. */
export const GYM_TRAINING_DEFAULTS: Omit<GymTrainingOptions, 'seed'> = { steps: 100, tasksPerStep: 8, groupSize: 32, learningRate: 6e-4, lossType: 'grpo', divergence: 0, pools: 'both' };

/** Room for a plan of five steps in the words of conductor-mini. */
export const GYM_PLAN_TOKENS = 256;

/** Reward for each dollar that a reply to small talk costs less. A step costs about a thousandth of one. */
const TALK_COST_WEIGHT = 10;

const SIMULATED_BUDGET = budgetSchema.parse({ runUsd: 1e6, runTokens: 1e9, dayUsd: 1e6, dayTokens: 1e12 });

export interface GymTrained {
  /** Of each step. */
  readonly metrics: readonly StepMetrics[];
  readonly plans: readonly PlanEntry[];
}

/**
 * Trains all weights of a small model on the gym's tasks, with the paper's GRPO (`grpo` loss, clip 0.2, group-normalised advantages) and, with a
 * tokenizer, a rehearsal of later rounds, from where the store's checkpoint left off. @throws the signal's reason, and what its parts throw
 */
export async function trainOnGym(parts: GymTrainingParts, options: GymTrainingOptions): Promise<GymTrained> {
  const { model, reference, profile, tokenizer, tasks, pool, roster, rosterWithHands, journal, caller, prices, store, signal, onStep } = parts;
  const { steps, tasksPerStep, groupSize, seed, lossType, divergence, pools, sabotage } = options;
  const answers = new Map<string, string>();
  const rollouts = new RolloutRunner({
    journal, caller, prices, delay,
    keys: { get: (name) => Promise.reject(new Error(`Simulated workers have no key, and ${name} is asked for.`)), forget: () => {} },
    answers: new AnswerCache(answers),
    name: 'gym', scope: 'training:gym', kind: 'rollout',
    budget: () => SIMULATED_BUDGET,
    planner: workerConfigSchema.parse({ id: 'conductor', provider: 'local', model: 'conductor-mini', concurrency: 64 }),
    parallel: 16,
    onWaiting: () => {},
    now: Date.now,
  });
  const from = await store.resume();
  await model.startTraining({ optimizer: ADAMW_DEFAULTS, ...(from && { resume: from.engineState }) });
  const trained = new LocalEngine(model, { versions: store.versions, trains: 'weights', reference });
  const engine = tokenizer ? rehearsingEngine(trained, tokenizer, { seed, stepsDone: from?.step ?? 0, withHands: rosterWithHands !== undefined }) : trained;
  const diary = await PlanDiary.open(path.join(store.folder, 'plans.jsonl'), { stepsDone: from?.step ?? 0 });
  if (pools !== 'fixed' && !roster) throw new RangeError('Random pools are drawn from a roster, and none is given.');
  const drawn = (from: readonly WorkerConfig[]): RolloutGatherer =>
    new RolloutGatherer({ rollouts, pool: from, poolSizes: [DRAWN_WORKERS], profile, seed, handsWithoutProject: true });
  const withoutHands = [
    ...(pools === 'random' ? [] : [new RolloutGatherer({ rollouts, pool, profile, seed })]),
    ...(pools === 'fixed' || !roster ? [] : [drawn(roster)]),
  ];
  // Every other pool that is drawn has workers with hands: the fixed one stays as often as it was.
  const gatherer = gatherersInTurn(rosterWithHands ? [...withoutHands, ...withoutHands.slice(0, -1), drawn(rosterWithHands)] : withoutHands);
  const hasTalk = tasks.some(isTalk);
  const costed = hasTalk ? costOnlyWhere<JudgedGymTask>(gatherer, isTalk) : gatherer;
  const trainer: GrpoTrainerOptions = {
    steps, tasksPerStep, groupSize, seed,
    rounds: 1,
    maxTokens: GYM_PLAN_TOKENS,
    learningRate: { peak: options.learningRate, warmup: 0.03, schedule: 'cosine' },
    loss: { type: lossType, clip: { low: 0.2, high: 0.2 }, klCoefficient: divergence, importanceRatioCap: 0, temperature: 1, maxCompletionLength: GYM_PLAN_TOKENS },
    reward: { judgedBy: 'verified', passes: 'wrong', costWeight: hasTalk ? TALK_COST_WEIGHT : 0 },
    revisionWeight: 0,
    advantage: { scale: 'group' },
    updates: 1,
    maskTruncated: false,
    gradientClip: 1,
  };
  const recorded = withDiary(sabotagedGatherer(costed, sabotage, seed), diary, (at) => gatherer.poolOf(at));
  const metrics = await trainWithGrpo({ engine: sabotagedEngine(engine, sabotage), store, tasks, gatherer: recorded, onStep }, trainer, { from, signal });
  return { metrics, plans: diary.entries };
}

const isTalk = ({ want }: Pick<JudgedGymTask, 'want'>): boolean => want === 'talk';

function withDiary(
  gatherer: Gatherer<JudgedGymTask>, diary: PlanDiary, poolOf: RolloutGatherer['poolOf'],
): Gatherer<JudgedGymTask> {
  return {
    prompt: (task, at) => gatherer.prompt(task, at),
    outcomes: async (task, plans, at, signal) => {
      await diary.add(planEntry(plans.map(({ completion }) => completion.text), { step: at.step + 1, kind: task.want === 'code' ? task.kind : task.want, pool: poolOf(at) }));
      return await gatherer.outcomes(task, plans, at, signal);
    },
  };
}
