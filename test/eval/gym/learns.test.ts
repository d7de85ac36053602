import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { PROMPT_PROFILES } from '../../../backend/conductor/prompt-profile.ts';
import { GymArena } from '../../../backend/eval/gym/gym-arena.ts';
import { GYM_PLAN_TOKENS, trainOnGym } from '../../../backend/eval/gym/train-on-gym.ts';
import { Journal } from '../../../backend/journal/journal.ts';
import { LocalModel } from '../../../backend/lm/local-model.ts';
import { conductorPrompt } from '../../../backend/conductor/conductor-prompt.ts';
import { parsePlan } from '../../../backend/conductor/parse-plan.ts';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { TRAINING_POOL } from '../../../backend/simulator/gym/gym-pools.ts';
import { gymTasks } from '../../../backend/simulator/gym/gym-tasks.ts';
import { draw } from '../../../backend/train/draws.ts';
import { TrainingStore } from '../../../backend/train/training-store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { trySandbox } from '../../verify/setup.ts';

/*
 * The whole of learning in small: a real model, plans that are sampled without constraint, workers behind their wire formats, code that is
 * executed, GRPO. Its sabotaged twins are a command: node backend/gym-train.ts --sabotage NAME.
 */

const { available, note } = await trySandbox();
/** conductor-mini as pre-training left it. */
const MODEL = fileURLToPath(new URL('../../fixtures/mini-before-grpo', import.meta.url));
const { signal } = new AbortController();

it.skipIf(!available)(`a short training on the gym makes more plans valid on held-out tasks (${note})`, async () => {
  const folder = await temporaryFolder();
  const tasks = gymTasks({ seed: 11, split: 'train', count: 36 });
  const heldOut = gymTasks({ seed: 11, split: 'held-out', count: 48 });
  const arena = await GymArena.open({ train: { workers: TRAINING_POOL, luck: 11 } }, [...tasks, ...heldOut], isProcessAlive);
  const journal = Journal.open(path.join(folder, 'journal.sqlite'), { isDurable: false });
  const model = await LocalModel.open({
    settings: { folder: MODEL, device: 'cpu', precision: 'full', adapters: false, trainable: 'weights', storage: folder },
    device: 'cpu', deviceReasons: [], threads: 1,
  });
  const formatRate = async (): Promise<number> => {
    let valid = 0;
    for (const { id, question } of heldOut) {
      const { messages, prefill } = conductorPrompt({ question, context: '', pool: arena.pool('train'), rounds: [] }, PROMPT_PROFILES.mini);
      const texts = await model.write({
        messages: messages.map(({ role, content }) => ({ role, content })), prefill, samples: 4, maxTokens: GYM_PLAN_TOKENS, temperature: 1,
        seeds: Array.from({ length: 4 }, (_, sample) => draw(11, id, sample)),
      });
      for (const { text, finishReason } of texts) {
        if (parsePlan(text, { workerCount: 5, round: 0, truncated: finishReason === 'length' }).kind === 'plan') valid += 1;
      }
    }
    return valid / (4 * heldOut.length);
  };
  try {
    const before = await formatRate();
    const { metrics } = await trainOnGym({
      model, profile: PROMPT_PROFILES.mini, journal, signal,
      tasks: tasks.map((task) => arena.grades.judged(task)),
      pool: arena.pool('train'),
      caller: arena.caller,
      prices: arena.prices,
      store: new TrainingStore(path.join(folder, 'training'), { configuration: 'short' }),
    }, { steps: 30, tasksPerStep: 4, groupSize: 12, seed: 11, learningRate: 1e-3, lossType: 'grpo' });
    const after = await formatRate();
    // Of 192 texts each; half a dozen more or less is chance.
    expect(after - before).toBeGreaterThan(0.08);
    expect(metrics.every(({ errored_rollouts }) => errored_rollouts === 0)).toBe(true);
    expect(metrics.some(({ verified_rate }) => verified_rate! > 0)).toBe(true);
  } finally {
    await model.close();
    journal.close();
    await arena.close();
  }
}, 600_000);
