import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { narrow } from '../../../backend/lm/checkpoint/narrow.ts';
import { writeNarrowCheckpoint } from '../../../backend/lm/checkpoint/narrow-checkpoint.ts';
import { type NewCheckpoint, writeNewCheckpoint } from '../../../backend/lm/checkpoint/new-checkpoint.ts';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readTensor } from '../../../backend/lm/checkpoint/read-tensor.ts';
import type { StoredTensor } from '../../../backend/lm/checkpoint/stored-tensor.ts';
import { DecoderSession } from '../../../backend/lm/decoder/decoder-session.ts';

const GEOMETRY: NewCheckpoint = {
  vocabularySize: 300, hiddenSize: 32, intermediateSize: 64, layers: 2, attentionHeads: 2, keyValueHeads: 1, maximumPositions: 128,
  stopTokenId: 299, seed: 5,
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'new-checkpoint-'));
  await writeNewCheckpoint(path.join(folder, 'new'), GEOMETRY);
});
afterAll(() => rm(folder, { recursive: true }));

const numbers = async (name: string, tensor: string): Promise<Float32Array> =>
  readTensor((await openCheckpoint(path.join(folder, name))).tensors.get(tensor) as StoredTensor);

describe('a new checkpoint', () => {
  it('opens as a Qwen2 model of its geometry, whose output layer is its embedding table', async () => {
    const { config } = await openCheckpoint(path.join(folder, 'new'));
    expect(config).toMatchObject({
      architecture: 'qwen2', vocabularySize: 300, hiddenSize: 32, layers: 2, headSize: 16, tiedEmbeddings: true, stopTokenIds: [299],
    });
  });

  it('begins with norms of 1, biases of 0 and weights that keep the size of what they are multiplied with', async () => {
    expect(new Set(await numbers('new', 'model.norm.weight'))).toEqual(new Set([1]));
    expect(new Set(await numbers('new', 'model.layers.1.self_attn.q_proj.bias'))).toEqual(new Set([0]));
    const weights = await numbers('new', 'model.embed_tokens.weight');
    expect(Math.sqrt(weights.reduce((sum, value) => sum + value ** 2, 0) / weights.length) * Math.sqrt(GEOMETRY.hiddenSize)).toBeCloseTo(1, 1);
  });

  it('says every token about equally likely, since it has learned nothing', async () => {
    const checkpoint = await openCheckpoint(path.join(folder, 'new'));
    const session = await DecoderSession.open(checkpoint, { device: 'cpu', compute: 'float32', adapters: false, threads: 1 });
    const [scores] = await session.score({ sequences: [[1, 2, 3, 4, 5, 6]], promptLengths: [1] });
    await session.close();
    for (const score of scores ?? []) expect(Math.abs(score + Math.log(300))).toBeLessThan(2);
  });

  it('is the same from the same seed, and another from another', async () => {
    await writeNewCheckpoint(path.join(folder, 'same'), GEOMETRY);
    await writeNewCheckpoint(path.join(folder, 'other'), { ...GEOMETRY, seed: 6 });
    const weights = (name: string): Promise<Buffer> => readFile(path.join(folder, name, 'model.safetensors'));
    expect(await weights('same')).toEqual(await weights('new'));
    expect(await weights('other')).not.toEqual(await weights('new'));
  });
});

describe('bfloat16', () => {
  it('rounds to the nearest, ties to even, and keeps what is no number', () => {
    const values = Float32Array.of(1, -2, 1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -8 + 2 ** -20, Infinity, NaN, 0);
    expect([...narrow(values)]).toEqual([0x3f80, 0xc000, 0x3f80, 0x3f82, 0x3f81, 0x7f80, 0x7fc0, 0]);
  });

  it('halves a checkpoint and changes each weight by less than 0.4 %', async () => {
    await writeNarrowCheckpoint(path.join(folder, 'new'), path.join(folder, 'narrow'));
    const { tensors } = await openCheckpoint(path.join(folder, 'narrow'));
    expect(new Set([...tensors.values()].map(({ type }) => type))).toEqual(new Set(['bfloat16']));
    const [wide, narrowed] = await Promise.all(['new', 'narrow'].map((name) => numbers(name, 'model.embed_tokens.weight')));
    wide!.forEach((value, index) => expect(Math.abs(value - narrowed![index]!)).toBeLessThanOrEqual(Math.abs(value) * 0.004));
    const config = JSON.parse(await readFile(path.join(folder, 'narrow', 'config.json'), 'utf8')) as { torch_dtype: string };
    expect(config.torch_dtype).toBe('bfloat16');
  });
});
