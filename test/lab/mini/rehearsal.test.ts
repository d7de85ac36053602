import { expect, it } from 'vitest';
import type { Example, PolicyLoss, TrainEngine } from '../../../backend/train/engines/engine.ts';
import { rehearsingEngine } from '../../../backend/lab/mini/rehearsal.ts';

const POLICY = { type: 'grpo' } as PolicyLoss;
const text = (tokens: readonly number[]): string => String.fromCharCode(...tokens);
/** Every character is a token. */
const tokenizer = {
  chat: (messages: readonly { content: string }[]) => [...messages.map(({ content }) => content).join('\n')].map((letter) => letter.charCodeAt(0)),
  encode: (words: string) => [...words].map((letter) => letter.charCodeAt(0)),
  stopTokenIds: [1],
};

/** What an engine is trained with, in order. */
function recorded() {
  const trained: { type: string; batch: readonly Example[] }[] = [];
  const engine = {
    forwardBackward: ({ type }: { type: string }, batch: readonly Example[]) => {
      trained.push({ type, batch });
      return Promise.resolve({ loss: trained.length, logprobs: [], entropies: [] });
    },
    optimStep: () => Promise.resolve({ gradientNorm: 1 }),
    saveForSampler: () => Promise.resolve(),
  } as unknown as TrainEngine;
  return { engine, trained };
}

const step = async (engine: TrainEngine): Promise<number> => {
  const { loss } = await engine.forwardBackward(POLICY, []);
  await engine.optimStep({ learningRate: 1, gradientClip: 1 });
  await engine.saveForSampler('any');
  return loss;
};

it('rehearses later rounds in each step of reinforcement, and tells of the reinforcement alone', async () => {
  const { engine, trained } = recorded();
  expect(await step(rehearsingEngine(engine, tokenizer, { seed: 1, stepsDone: 0 }))).toBe(1);
  expect(trained.map(({ type }) => type)).toEqual(['grpo', 'cross_entropy']);
  for (const { promptTokens } of trained[1]!.batch) expect(text(promptTokens)).toContain('TEST FEEDBACK');
});

it('goes on with the examples that come next, whatever step it goes on from', async () => {
  const [whole, rest] = [recorded(), recorded()];
  const rehearsing = rehearsingEngine(whole.engine, tokenizer, { seed: 1, stepsDone: 0 });
  for (let count = 0; count < 3; count += 1) await step(rehearsing);
  await step(rehearsingEngine(rest.engine, tokenizer, { seed: 1, stepsDone: 2 }));
  expect(rest.trained[1]).toEqual(whole.trained[5]);
  expect(whole.trained[1]).not.toEqual(whole.trained[3]);
});
