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
import { trainWithGrpo, type Gatherer } from '../../../backend/train/grpo/grpo-trainer.ts';
import { REWARD_DEFAULTS, type RolloutOutcome } from '../../../backend/train/grpo/reward.ts';
import { draw } from '../../../backend/train/statistics/draws.ts';
import { planOf } from './learner.ts';
import type { LearnTask } from './learn-tasks.ts';
import { PLAN_TOKENS, samplePlans, stepsIn } from './sampled-plans.ts';
import type { World } from './world.ts';

/** Defaults of a training, but for the rate: that of the trial that the bench repeats (docs/learn-bench.md). */
const TASKS_PER_STEP = 4;
const GROUP_SIZE = 8;
const RATE = 3e-4;
/** Plans that are sampled for a held-out task. */
const SAMPLES = 4;

export interface TrainedOptions {
  readonly world: World;
  readonly train: readonly LearnTask[];
  readonly heldOut: readonly LearnTask[];
  readonly budgets: readonly number[];
  readonly seed: number;
}

/** The plans for each held-out task after each budget that pays for a step; of an adapter of conductor-mini, trained as the product trains. */
export async function trainedPlans({ world, train, heldOut, budgets, seed }: TrainedOptions): Promise<ReadonlyMap<number, ReadonlyMap<string, readonly (readonly ShapeStep[])[]>>> {
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
    const stepsFor = (budget: number): number => Math.floor(budget / (TASKS_PER_STEP * GROUP_SIZE));
    await trainWithGrpo({ engine: new LocalEngine(model, { versions: store.versions }), store, tasks: train, gatherer }, {
      steps: stepsFor(Math.max(...budgets)), tasksPerStep: TASKS_PER_STEP, groupSize: GROUP_SIZE, seed, rounds: 1, maxTokens: PLAN_TOKENS,
      learningRate: { peak: RATE, warmup: 0.03, schedule: 'cosine' },
      loss: { type: 'grpo', clip: { low: 0.2, high: 0.2 }, klCoefficient: 0, importanceRatioCap: 2, temperature: 1, maxCompletionLength: PLAN_TOKENS },
      reward: REWARD_DEFAULTS, revisionWeight: 0, advantage: { scale: 'group' }, updates: 1, maskTruncated: false, gradientClip: 1,
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
