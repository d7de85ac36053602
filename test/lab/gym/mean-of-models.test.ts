import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeMeanOfModels } from '../../../backend/lab/gym/mean-of-models.ts';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readTensor } from '../../../backend/lm/checkpoint/read-tensor.ts';
import { writeSafetensors } from '../../../backend/lm/checkpoint/write-safetensors.ts';

const MODEL = fileURLToPath(new URL('../../golden/models/qwen2-tiny', import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'mean-of-models-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A copy of a tiny model with all weights changed. @returns its folder */
async function changed(name: string, change: (weight: number) => number): Promise<string> {
  const to = path.join(folder, name);
  await cp(MODEL, to, { recursive: true });
  const { tensors } = await openCheckpoint(MODEL);
  const all = await Promise.all([...tensors].map(async ([tensor, stored]) => ({ name: tensor, shape: stored.shape, data: (await readTensor(stored)).map(change) })));
  await writeSafetensors(path.join(to, 'model.safetensors'), all);
  return to;
}

it('has the mean of every weight, rounded to bfloat16', async () => {
  const out = path.join(folder, 'mean');
  await writeMeanOfModels([await changed('two', (weight) => 2 * weight), await changed('four', (weight) => 4 * weight), await changed('zero', () => 0)], out);
  const [{ tensors: means }, { tensors: ones }] = await Promise.all([openCheckpoint(out), openCheckpoint(MODEL)]);
  expect([...means.keys()].sort()).toEqual([...ones.keys()].sort());
  for (const [name, stored] of ones) {
    const [mean, one] = [await readTensor(means.get(name)!), await readTensor(stored)];
    const furthest = Math.max(...mean.map((value, index) => Math.abs(value - 2 * one[index]!) / Math.max(1e-3, Math.abs(2 * one[index]!))));
    expect(furthest, name).toBeLessThan(2 ** -8);
  }
});

it('refuses models of different shapes', async () => {
  const [whole, other] = [await changed('whole', (weight) => weight), fileURLToPath(new URL('../../golden/models/qwen3-tiny', import.meta.url))];
  await expect(writeMeanOfModels([whole, other], path.join(folder, 'none'))).rejects.toThrow(/The models differ in the shape of/);
  await expect(writeMeanOfModels([], path.join(folder, 'none'))).rejects.toThrow('There is no model');
});
