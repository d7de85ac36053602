import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { conductorPrompt } from '../../../backend/conductor/conductor-prompt.ts';
import { MINI_PLANNER } from '../../../backend/conductor/mini-planner.ts';
import type { ShapeStep } from '../../../backend/conductor/plan/shape.ts';
import { profileOf } from '../../../backend/conductor/prompt-profile.ts';
import { BUNDLED_FOLDER } from '../../../backend/lab/gym/with-conductor-model.ts';
import { PROJECTIONS } from '../../../backend/lm/adapter/projections.ts';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { ADAMW_DEFAULTS } from '../../../backend/lm/trainer/adamw.ts';
import { LocalEngine } from '../../../backend/train/engines/local-engine.ts';
import { CheckpointStore, stepName } from '../../../backend/train/grpo/checkpoint-store.ts';
import type { Gatherer } from '../../../backend/train/grpo/gatherer.ts';
import { trainWithGrpo } from '../../../backend/train/grpo/grpo-trainer.ts';
import { OutcomeCritic } from '../../../backend/train/rollouts/outcome-critic.ts';
import { REWARD_DEFAULTS, type RolloutOutcome } from '../../../backend/train/grpo/reward.ts';
import { draw } from '../../../backend/train/statistics/draws.ts';
import { planOf } from './learner.ts';
import type { LearnTask } from './learn-tasks.ts';
import { PLAN_TOKENS, samplePlans, stepsIn } from './sampled-plans.ts';
import type { World } from './world.ts';

/** How a training learns, as far as contestants differ. */
export interface TrainingWay {
  readonly tasksPerStep: number;
  readonly groupSize: number;
  /** Plans of a step that are carried out; all by default. */
  readonly carriedOut?: number | undefined;
  readonly updates: number;
  readonly unpaidUpdates?: number | undefined;
  readonly rate: number;
}

const ALL_CARRIED_OUT = { tasksPerStep: 4, groupSize: 8, updates: 1 } as const;
const SOME_CARRIED_OUT = { ...ALL_CARRIED_OUT, carriedOut: 8, rate: 1e-3 } as const;

/** By the name of the contestant. The first is that of the trial that the bench repeats (docs/learn-bench.md), the last has the defaults of a training. */
export const TRAINING_WAYS: Readonly<Record<string, TrainingWay>> = {
  'trained, all plans paid': { ...ALL_CARRIED_OUT, rate: 3e-4 },
  'the same at a higher rate': { ...ALL_CARRIED_OUT, rate: 1e-3 },
  'trained, a quarter paid': SOME_CARRIED_OUT,
  'and unpaid updates': { ...SOME_CARRIED_OUT, unpaidUpdates: 3 },
};
/** Plans that are sampled for a held-out task. */
const SAMPLES = 4;

export interface TrainedOptions {
  readonly world: World;
  readonly train: readonly LearnTask[];
  readonly heldOut: readonly LearnTask[];
  readonly budgets: readonly number[];
  readonly seed: number;
  readonly way: TrainingWay;
}

/** The plans for each held-out task after each budget that pays for a step; of an adapter of conductor-mini, trained as the product trains. */
export async function trainedPlans({ world, train, heldOut, budgets, seed, way }: TrainedOptions): Promise<ReadonlyMap<number, ReadonlyMap<string, readonly (readonly ShapeStep[])[]>>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'learn-'));
  const model = await LocalModel.open({
    settings: { folder: BUNDLED_FOLDER, device: 'cpu', precision: 'full', adapters: true, trainable: 'adapter', storage: folder }, device: 'cpu', deviceReasons: [], threads: 1,
  });
  const workers = world.pool.length;
  let paid = 0;
  const gatherer: Gatherer<LearnTask> = {
    prompt: ({ question }) => {
      const { messages, prefill } = conductorPrompt({ question, context: '', pool: world.pool.map(() => ({})), rounds: [] }, profileOf(MINI_PLANNER));
      return { messages: messages.map(({ role, content }) => ({ role, content })), prefill };
    },
    outcomes: async (task, plans, at) => {
      const before = paid;
      paid += plans.length;
      return await Promise.all(plans.map(async ({ completion: { text, finishReason }, sample }): Promise<RolloutOutcome> => {
        const [steps] = stepsIn(text, { workers, question: task.question, truncated: finishReason === 'length' }) ?? [];
        if (!steps) return { kind: 'unparseable' };
        const { verified, costUsd } = await world.play(task, planOf(steps, task), { paid: before + sample, luck: draw(seed, 'rollout', at.step, at.place, sample) });
        return { kind: 'judged', verified, score: Number(verified), costUsd };
      }));
    },
  };
  try {
    await model.startTraining({ adapter: { rank: 16, alpha: 32, projections: PROJECTIONS, seed }, optimizer: ADAMW_DEFAULTS });
    const store = new CheckpointStore(path.join(folder, 'training'), { configuration: 'learn' });
    const { tasksPerStep, groupSize, carriedOut, updates, rate, unpaidUpdates } = way;
    const stepsFor = (budget: number): number => Math.floor(budget / (carriedOut ?? tasksPerStep * groupSize));
    const critic = new OutcomeCritic({ profile: profileOf(MINI_PLANNER), poolOf: () => world.pool, passes: 'wrong' });
    await trainWithGrpo<LearnTask & { readonly installed: string }>({
      engine: new LocalEngine(model, { versions: store.versions }), store, tasks: train.map((task) => ({ ...task, installed: task.project })), gatherer, critic,
    }, {
      steps: stepsFor(Math.max(...budgets)), tasksPerStep, groupSize, carriedOut, unpaidUpdates, seed, rounds: 1, maxTokens: PLAN_TOKENS,
      learningRate: { peak: rate, warmup: 0.03, schedule: 'cosine' },
      loss: { type: 'grpo', clip: { low: 0.2, high: 0.2 }, klCoefficient: 0, importanceRatioCap: 2, temperature: 1, maxCompletionLength: PLAN_TOKENS },
      reward: REWARD_DEFAULTS, revisionWeight: 0, advantage: { scale: 'group' }, updates, maskTruncated: false, gradientClip: 1,
    }, { from: undefined, signal: new AbortController().signal });
    const found = new Map<number, ReadonlyMap<string, readonly (readonly ShapeStep[])[]>>();
    for (const budget of budgets) {
      if (stepsFor(budget) === 0) continue;
      const plans = new Map<string, readonly (readonly ShapeStep[])[]>();
      for (const task of heldOut) plans.set(task.id, await samplePlans(model, task, { workers, seed: draw(seed, 'held out'), samples: SAMPLES, adapter: path.join(store.versions, stepName(stepsFor(budget))) }));
      found.set(budget, plans);
    }
    return found;
  } finally {
    await model.close();
    await rm(folder, { recursive: true, force: true });
  }
}
