import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { goldenAdapter, openModel, request } from './tiny-model.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Bytes that are held when nothing is left that could be given back. On Linux what was swapped out counts, and pages of files do not: both
 * come and go with what else the machine does.
 */
async function heldBytes(): Promise<number> {
  collectGarbage();
  collectGarbage();
  if (process.platform !== 'linux') return process.memoryUsage().rss;
  const status = await readFile('/proc/self/status', 'utf8');
  const kilobytes = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
  return 1024 * (kilobytes('RssAnon') + kilobytes('VmSwap'));
}

it('a thousand generations, of all kinds, leave no memory behind', async () => {
  const session = await openModel('qwen2-tiny', { adapters: true });
  const adapter = await goldenAdapter('qwen2-tiny', 'qwen2-tiny-all');
  const generate = async (index: number): Promise<void> => {
    const promptOf = (length: number): number[] => Array.from({ length }, (_, place) => place);
    const prompts = Array.from({ length: 1 + (index % 2) }, (_, row) => promptOf(1 + ((index * 37 + row * 61) % 100)));
    await session.generate(request({
      prompts, samples: 1 + (index % 3), maxTokens: 4, chunkTokens: 2, topP: index % 5 === 0 ? 0.9 : 1, ...(index % 4 === 0 && { adapter }),
    }));
    if (index % 5 === 0) await session.score({ sequences: prompts, promptLengths: prompts.map(() => 1) });
  };
  // In these every shape comes that comes later.
  for (let index = 0; index < 200; index += 1) await generate(index);
  const before = await heldBytes();
  for (let index = 200; index < 1_200; index += 1) await generate(index);
  // It was 1 MB when this was written. The cache of the smallest of these prompts takes 49 kB, so that keeping them would take 49 MB.
  expect((await heldBytes()) - before).toBeLessThan(10e6);
  await session.close();
}, 120_000);
