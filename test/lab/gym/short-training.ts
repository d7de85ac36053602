import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { conductorPrompt } from '../../../backend/conductor/conductor-prompt.ts';
import { parsePlan } from '../../../backend/conductor/parse-plan.ts';
import { PROMPT_PROFILES } from '../../../backend/conductor/prompt-profile.ts';
import { GymArena } from '../../../backend/lab/gym/gym-arena.ts';
import { runPlanOnWire } from '../../../backend/eval/run-plan-on-wire.ts';
import type { Sabotage } from '../../../backend/lab/gym/sabotage.ts';
import { GYM_PLAN_TOKENS, trainOnGym } from '../../../backend/lab/gym/train-on-gym.ts';
import { Journal } from '../../../backend/journal/journal.ts';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { TRAINING_POOL } from '../../../backend/lab/gym/gym-pools.ts';
import { gymTasks } from '../../../backend/lab/gym/gym-tasks.ts';
import { draw } from '../../../backend/train/statistics/draws.ts';
import type { StepMetrics } from '../../../backend/train/grpo/grpo-step.ts';
import { rewardOf } from '../../../backend/train/grpo/reward.ts';
import { estimate, mean } from '../../../backend/train/statistics/statistics.ts';
import { CheckpointStore } from '../../../backend/train/grpo/checkpoint-store.ts';

/** Made by make-short-model.ts. */
export const SHORT_MODEL = fileURLToPath(new URL('../../fixtures/mini-before-grpo', import.meta.url));

const SEED = 11;
const TRAINING = { steps: 24, tasksPerStep: 4, groupSize: 8, seed: SEED, learningRate: 1e-3, lossType: 'grpo', divergence: 0, pools: 'fixed' } as const;
const SAMPLES = 4;

export interface ShortTraining {
  /** How much the mean reward of plans for held-out tasks rose, with its 95 % interval over the tasks. */
  readonly gain: ReturnType<typeof estimate>;
  readonly metrics: readonly StepMetrics[];
}

/**
 * The whole of learning in small: a real model, plans that are sampled without constraint, workers behind their wire formats, code that is
 * executed, GRPO; or one of its sabotaged twins.
 */
export async function shortTraining(sabotage?: Sabotage): Promise<ShortTraining> {
  const { signal } = new AbortController();
  const folder = await mkdtemp(path.join(tmpdir(), 'short-training-'));
  const tasks = gymTasks({ seed: SEED, split: 'train', count: 36 });
  const heldOut = gymTasks({ seed: SEED, split: 'held-out', count: 32 });
  const arena = await GymArena.open({ train: { workers: TRAINING_POOL, luck: SEED } }, [...tasks, ...heldOut], isProcessAlive);
  const journal = Journal.open(path.join(folder, 'journal.sqlite'), { isDurable: false });
  const model = await LocalModel.open({
    settings: { folder: SHORT_MODEL, device: 'cpu', precision: 'full', adapters: false, trainable: 'weights', storage: folder },
    device: 'cpu', deviceReasons: [], threads: 1,
  });
  const profile = PROMPT_PROFILES.mini;
  const pool = arena.pool('train');
  const run = runPlanOnWire(arena.caller);

  /** Of each held-out task, the mean reward of some plans. */
  const rewards = async (): Promise<number[]> => {
    const found: number[] = [];
    for (const task of heldOut.map((each) => arena.grades.judged(each))) {
      const { messages, prefill } = conductorPrompt({ ...task, pool, rounds: [] }, profile);
      const texts = await model.write({
        messages: messages.map(({ role, content }) => ({ role, content })), prefill, samples: SAMPLES, maxTokens: GYM_PLAN_TOKENS, temperature: 1,
        seeds: Array.from({ length: SAMPLES }, (_, sample) => draw(SEED, task.id, sample)),
      });
      found.push(mean(await Promise.all(texts.map(async ({ text, finishReason }, sample) => {
        const parsed = parsePlan(text, { workerCount: pool.length, round: 0, truncated: finishReason === 'length' });
        if (parsed.kind !== 'plan') return 0;
        const { verified, score, costUsd } = await run(task, parsed.plan, { pool, sample, signal });
        return rewardOf({ kind: 'judged', verified, score, costUsd }, { judgedBy: 'verified', passes: 'wrong', costWeight: 0 }) as number;
      }))));
    }
    return found;
  };

  try {
    const before = await rewards();
    const { metrics } = await trainOnGym({
      model, profile, pool, journal, signal,
      tasks: tasks.map((task) => arena.grades.judged(task)),
      caller: arena.caller,
      prices: arena.prices,
      store: new CheckpointStore(path.join(folder, 'training'), { configuration: 'short' }),
    }, { ...TRAINING, sabotage });
    const after = await rewards();
    return { gain: estimate([after.map((reward, task) => reward - (before[task] as number))]), metrics };
  } finally {
    await model.close();
    journal.close();
    await arena.close();
    await rm(folder, { recursive: true, force: true });
  }
}
