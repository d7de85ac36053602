import { expect, it } from 'vitest';
import { planExecutor } from '../../backend/eval/execute-on-task.ts';
import { alone } from '../../backend/eval/plans.ts';
import type { TaskHands } from '../../backend/eval/run-plan.ts';
import type { StepCopy } from '../../backend/hands/step-copy.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { NO_USAGE } from '../../backend/protocol/token-counts.ts';

const worker = workerConfigSchema.parse({ id: 'handy', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1', model: 'handy', hands: 'fenced' });
const copy = { redo: () => Promise.resolve([]), do: () => Promise.resolve({ text: 'seen' }), edits: [], release: () => Promise.resolve() } as unknown as StepCopy;
const hands: TaskHands = { name: 'here', folder: '/nowhere', copies: { open: () => Promise.resolve(copy) } };
const task = { id: 'a', question: 'Why?', context: '', grader: { grade: () => Promise.reject(new Error('Nothing is graded here.')) }, hands };

it('costs what all of its turns cost, also where it goes on with turns that are kept', async () => {
  const kept = new Map<string, string>();
  const memory = { get: (key: string) => kept.get(key), set: (key: string, value: string) => void kept.set(key, value) };
  let asked = 0;
  const execute = planExecutor(() => Promise.reject(new Error('It works in turns.')), {
    memory,
    ask: (_worker, { messages }) => {
      asked += 1;
      return Promise.resolve({ text: messages.length < 5 ? '```run\nls\n```' : 'Done.', costUsd: 1, usage: { ...NO_USAGE, output: 10 }, seconds: 2 });
    },
  });
  const options = { pool: [worker], sample: 0, signal: new AbortController().signal };
  const first = await execute(task, alone(0), options);
  expect(first).toMatchObject({ costUsd: 3, usage: { output: 30 }, seconds: 6 });
  expect(asked).toBe(3);
  expect(await execute(task, alone(0), options)).toEqual(first);
  // Only the answer is asked for once more, which an evaluation has kept as well.
  expect(asked).toBe(4);
});

it('has cost what its turns cost where one of them fails', async () => {
  const execute = planExecutor(() => Promise.reject(new Error('It works in turns.')), {
    ask: (_worker, { messages }) => (messages.length < 5
      ? Promise.resolve({ text: '```run\nls\n```', costUsd: 1, usage: NO_USAGE, seconds: 2 })
      : Promise.reject(new Error('The conversation is too long.'))),
  });
  await expect(execute(task, alone(0), { pool: [worker], sample: 0, signal: new AbortController().signal })).rejects.toMatchObject({ name: 'PlanNotRunError', costUsd: 2 });
});
