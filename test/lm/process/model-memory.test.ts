import { expect, it } from 'vitest';
import { modelClients, seeds } from './model-clients.ts';

const open = modelClients();

const MEBIBYTE = 2 ** 20;

it('generates a thousand times in the same memory', async () => {
  const { client } = open('qwen2-tiny', { threads: 1 });
  const generations = async (count: number, from: number): Promise<void> => {
    for (let turn = from; turn < from + count; turn += 1) {
      // Prompts of 1 to 90 tokens and answers of 1 to 24, so that buffers of many sizes come and go.
      const prompt = Array.from({ length: 1 + (turn * 7) % 90 }, (_, place) => 1 + (place * 13) % 700);
      const [samples, maxTokens] = [1 + (turn % 2), 1 + (turn % 24)];
      await client.generate({ prompts: [prompt], samples, seeds: seeds(samples, turn), maxTokens, temperature: 1 });
    }
  };
  const resident = async (): Promise<number> => (await client.memory())?.residentBytes ?? 0;
  await generations(500, 0);
  const before = await resident();
  await generations(500, 500);
  // A cache that is kept, some 60 kB a generation, would be 30 MB; garbage that V8 has not collected yet comes and goes by 15.
  expect((await resident()) - before).toBeLessThan(20 * MEBIBYTE);
}, 120_000);
