import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { openCheckpoint } from '../../../../backend/lm/checkpoint/open-checkpoint.ts';
import { DecoderSession } from '../../../../backend/lm/decoder/decoder-session.ts';
import { DEFAULT_BLOCK_SIZE } from '../../../../backend/lm/quantize/block-quantize.ts';
import { openQuantized } from '../../../../backend/lm/quantize/quantized-store.ts';
import type { GenerateRequest } from '../peer.ts';
import { servePeer, type Timed } from '../serve-peer.ts';

/*
 * Our runtime as a peer:  ours.ts --model FOLDER --threads N --context N [--quantized-in FOLDER]
 * It is measured as it streams, in chunks: the cache is handed out and in again between two of them.
 */

const CHUNK_TOKENS = 32;

const { values } = parseArgs({
  options: {
    model: { type: 'string' }, threads: { type: 'string' }, context: { type: 'string' }, 'quantized-in': { type: 'string' },
  },
});
const began = performance.now();
const checkpoint = await openCheckpoint(values.model as string);
const storage = values['quantized-in'];
const { signal } = new AbortController();
const quantized = storage === undefined
  ? undefined
  : (await openQuantized(checkpoint, { bits: 4, blockSize: DEFAULT_BLOCK_SIZE, storage, signal })).tensors;
const session = await DecoderSession.open(checkpoint, {
  device: 'cpu', compute: 'float32', adapters: false, quantized,
  contextLength: Number(values.context), threads: Number(values.threads), repackWeights: true,
});

const { version } = createRequire(import.meta.url)('onnxruntime-node/package.json') as { version: string };
await servePeer({ version: `onnxruntime ${version}`, loadSeconds: (performance.now() - began) / 1000 }, generate);
await session.close();

async function generate(request: GenerateRequest): Promise<Timed> {
  // The tokens of a chunk come together, so the first one is timed in a request of its own.
  const alone = await generateChunks({ ...request, newTokens: 1 });
  const { tokens, chunkEnds } = await generateChunks(request);
  return {
    tokens,
    firstTokenSeconds: alone.chunkEnds[0] as number,
    fromTokens: Math.min(CHUNK_TOKENS, request.newTokens),
    fromSeconds: chunkEnds[0] as number,
    endSeconds: chunkEnds.at(-1) as number,
  };
}

/** @returns also when each chunk was there, in seconds. */
async function generateChunks({ prompts, newTokens }: GenerateRequest) {
  const start = performance.now();
  const chunkEnds: number[] = [];
  const rows = await session.generate({
    prompts, samples: 1, maxTokens: newTokens, chunkTokens: CHUNK_TOKENS,
    temperature: 0, topP: 1, topK: 0, seeds: prompts.map((_, row) => row), stopTokenIds: [],
    onTokens: (row) => {
      if (row === prompts.length - 1) chunkEnds.push((performance.now() - start) / 1000);
    },
  });
  return { tokens: rows.map(({ tokens }) => tokens), chunkEnds };
}
