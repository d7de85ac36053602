import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { goldenAdapter, openModel, request } from './tiny-model.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes in memory when nothing is left that could be given back. */
function residentBytes(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().rss;
}

it('a thousand generations, of all kinds, leave no memory behind', async () => {
  const session = await openModel('qwen2-tiny', { adapters: true });
  const adapter = await goldenAdapter('qwen2-tiny', 'qwen2-tiny-all');
  const generate = async (index: number): Promise<void> => {
    const prompts = Array.from({ length: 1 + (index % 2) }, (_, row) => Array.from({ length: 1 + ((index * 37 + row * 61) % 100) }, (_, id) => id));
    await session.generate(request({
      prompts, samples: 1 + (index % 3), maxTokens: 4, chunkTokens: 2, topP: index % 5 === 0 ? 0.9 : 1, ...(index % 4 === 0 && { adapter }),
    }));
    if (index % 5 === 0) await session.score({ sequences: prompts, promptLengths: prompts.map(() => 1) });
  };
  // In these every shape comes that comes later.
  for (let index = 0; index < 200; index += 1) await generate(index);
  const before = residentBytes();
  for (let index = 200; index < 1_200; index += 1) await generate(index);
  // It was 2 MB when this was written. The cache of the smallest of these prompts takes 49 kB, so that keeping them would take 49 MB.
  expect(residentBytes() - before).toBeLessThan(10e6);
  await session.close();
});
