import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { conductorPrompt } from '../../../backend/conductor/conductor-prompt.ts';
import { parsePlan } from '../../../backend/conductor/parse-plan.ts';
import { PROMPT_PROFILES } from '../../../backend/conductor/prompt-profile.ts';
import { runPlanOnWire } from '../../../backend/eval/run-plan-on-wire.ts';
import { Journal } from '../../../backend/journal/journal.ts';
import { GymArena } from '../../../backend/lab/gym/gym-arena.ts';
import { knownGrader } from '../../../backend/lab/gym/gym-grades.ts';
import { TRAINING_POOL } from '../../../backend/lab/gym/gym-pools.ts';
import { gymTasks, type GymTask } from '../../../backend/lab/gym/gym-tasks.ts';
import { GYM_PLAN_TOKENS, trainOnGym } from '../../../backend/lab/gym/train-on-gym.ts';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { CheckpointStore } from '../../../backend/train/grpo/checkpoint-store.ts';
import { draw } from '../../../backend/train/statistics/draws.ts';
import { estimate, mean } from '../../../backend/train/statistics/statistics.ts';

/*
 * A short training with GRPO in the gym, on a device:
 *     gym.ts --device cuda|cpu --out FOLDER [--steps 30] [--seed 11]
 * The model is the small one of test/lab/gym, which writes plans and does not know the workers yet. Workers are simulated. Answers are graded
 * by the known solutions, since a GPU machine may have no sandbox. Every draw depends on the seed alone, so the first step is the same on each
 * device, and later ones as far as rounding lets them.
 */

const { values } = parseArgs({
  options: {
    device: { type: 'string', default: 'cuda' }, out: { type: 'string', default: '.' }, steps: { type: 'string', default: '30' },
    seed: { type: 'string', default: '11' }, model: { type: 'string', default: fileURLToPath(new URL('../../fixtures/mini-before-grpo', import.meta.url)) },
  },
});
const device = values.device === 'cpu' ? 'cpu' : 'cuda';
const seed = Number(values.seed);
const SAMPLES = 4;
const { signal } = new AbortController();
const profile = PROMPT_PROFILES.mini;
const judged = (task: GymTask) => ({ ...task, context: '' as const, grader: knownGrader(task) });

const folder = await mkdtemp(path.join(tmpdir(), 'conductor-gpu-gym-'));
const tasks = gymTasks({ seed, split: 'train', count: 36 });
const heldOut = gymTasks({ seed, split: 'held-out', count: 48 });
const arena = await GymArena.open({ train: { workers: TRAINING_POOL, luck: seed } }, [...tasks, ...heldOut], isProcessAlive);
const journal = Journal.open(path.join(folder, 'journal.sqlite'), { isDurable: false });
const model = await LocalModel.open({
  settings: { folder: values.model, device, precision: 'full', adapters: false, trainable: 'weights', storage: folder },
  device, deviceReasons: [], ...(device === 'cpu' && { threads: 1 }),
});
try {
  const pool = arena.pool('train');
  const before = await rewards();
  const began = performance.now();
  const { metrics } = await trainOnGym({
    model, profile, pool, journal, signal, tasks: tasks.map(judged), caller: arena.caller, prices: arena.prices,
    store: new CheckpointStore(path.join(folder, 'training'), { configuration: 'short' }),
    onStep: (step, { reward, verified_rate: verified, entropy }) =>
      console.log(`step ${step}: reward ${reward?.toFixed(3)}, verified ${verified?.toFixed(3)}, entropy ${entropy?.toFixed(3)}`),
  }, { steps: Number(values.steps), tasksPerStep: 4, groupSize: 16, seed, learningRate: 1e-3, lossType: 'grpo', divergence: 0, pools: 'fixed' });
  const seconds = (performance.now() - began) / 1000;
  const after = await rewards();
  const gain = estimate([after.map((reward, task) => reward - (before[task] as number))]);
  const figure = (value: number): string => value.toFixed(3);
  console.log(`${device}: reward on held-out tasks ${figure(mean(before))} before, ${figure(mean(after))} after; gain ${figure(gain.mean)} ` +
    `(${figure(gain.low)} to ${figure(gain.high)}), ${(seconds / Number(values.steps)).toFixed(2)} s a step of 64 plans`);
  await writeFile(path.join(path.resolve(values.out), `gym-${device}.json`), JSON.stringify({ device, seed, seconds, before, after, gain, metrics }));
} finally {
  await model.close();
  journal.close();
  await arena.close();
  await rm(folder, { recursive: true, force: true });
}

/** Of each held-out task, the mean reward of some plans: 0 for what is no plan, 0.5 for a wrong answer, 1 for a right one. */
async function rewards(): Promise<number[]> {
  const pool = arena.pool('train');
  const run = runPlanOnWire(arena.caller);
  const found: number[] = [];
  for (const task of heldOut.map(judged)) {
    const { messages, prefill } = conductorPrompt({ ...task, pool, rounds: [] }, profile);
    const texts = await model.write({
      messages: messages.map(({ role, content }) => ({ role, content })), prefill, samples: SAMPLES, maxTokens: GYM_PLAN_TOKENS, temperature: 1,
      seeds: Array.from({ length: SAMPLES }, (_, sample) => draw(seed, task.id, sample)),
    });
    found.push(mean(await Promise.all(texts.map(async ({ text, finishReason }, sample) => {
      const parsed = parsePlan(text, { workerCount: pool.length, round: 0, truncated: finishReason === 'length' });
      if (parsed.kind !== 'plan') return 0;
      const { verified } = await run(task, parsed.plan, { pool, sample, signal });
      return verified ? 1 : 0.5;
    }))));
  }
  return found;
}
