import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readTensor, readTensorRows } from '../../../backend/lm/checkpoint/read-tensor.ts';
import { readSafetensorsHeader, storedTensor } from '../../../backend/lm/checkpoint/safetensors-file.ts';
import type { StoredTensor } from '../../../backend/lm/checkpoint/stored-tensor.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { tinyTensors, TINY_QWEN2, writeTinyCheckpoint } from '../../support/tiny-checkpoint.ts';
import { safetensorsOf, writeSafetensors, type TensorToWrite } from '../../support/write-safetensors.ts';

async function stored(tensors: Readonly<Record<string, TensorToWrite>>): Promise<StoredTensor[]> {
  const file = join(await temporaryFolder(), 'model.safetensors');
  await writeSafetensors(file, tensors);
  return (await readSafetensorsHeader(file)).tensors.map(storedTensor);
}

async function readOne(tensor: TensorToWrite): Promise<Float32Array> {
  const [only] = await stored({ only: tensor });
  if (only === undefined) throw new Error('was not written');
  return readTensor(only);
}

/** Every pattern of 16 bits. */
const PATTERNS = Uint16Array.from({ length: 65536 }, (_, index) => index);
const asBytes = (values: Uint16Array) => new Uint8Array(values.buffer);

test('widens every float16 to the number it stands for', async () => {
  const read = await readOne({ type: 'F16', shape: [65536], data: asBytes(PATTERNS) });
  const view = new DataView(PATTERNS.buffer) as DataView & { getFloat16(offset: number, littleEndian: boolean): number };
  expect(read).toEqual(Float32Array.from(PATTERNS, (_, index) => view.getFloat16(index * 2, true)));
});

test('widens every bfloat16 to the float32 with the same upper bits', async () => {
  const read = await readOne({ type: 'BF16', shape: [65536], data: asBytes(PATTERNS) });
  expect(new Uint32Array(read.buffer)).toEqual(Uint32Array.from(PATTERNS, (bits) => bits << 16));
});

test('reads float32 as it is, wherever in the file it begins', async () => {
  const values = [1.5, -0, 3.4e38, 1e-45, Infinity];
  for (const padding of [0, 1, 2, 3]) {
    const file = join(await temporaryFolder(), 'model.safetensors');
    const header = JSON.stringify({ w: { dtype: 'F32', shape: [5], data_offsets: [0, 20] } }) + ' '.repeat(padding);
    await writeFile(file, safetensorsOf(header, new Uint8Array(Float32Array.from(values).buffer)));
    const [listed] = (await readSafetensorsHeader(file)).tensors;
    if (listed === undefined) throw new Error('was not written');
    expect(await readTensor(storedTensor(listed))).toEqual(Float32Array.from(values));
  }
});

test('reads a tensor that is longer than what is in memory at once', async () => {
  const count = 2_500_000;
  for (const [type, period] of [['BF16', 257], ['F32', count]] as const) {
    const read = await readOne({ type, shape: [count], data: Float32Array.from({ length: count }, (_, at) => at % period) });
    expect(read).toHaveLength(count);
    expect(read.findIndex((value, at) => value !== at % period)).toBe(-1);
  }
});

test('reads every tensor of a checkpoint as it was written', async () => {
  const folder = await temporaryFolder();
  for (const type of ['F32', 'F16', 'BF16']) {
    const written = tinyTensors(TINY_QWEN2, type);
    await writeTinyCheckpoint(folder, TINY_QWEN2, written);
    for (const tensor of (await openCheckpoint(folder)).tensors.values()) {
      expect(await readTensor(tensor)).toEqual(written[tensor.name]?.data);
    }
  }
});

test('reads rows along the first axis', async () => {
  const data = Array.from({ length: 24 }, (_, index) => index);
  for (const type of ['F32', 'BF16']) {
    const [matrix, cube, list] = await stored({
      matrix: { type, shape: [6, 4], data }, cube: { type, shape: [2, 3, 4], data }, list: { type, shape: [24], data },
    });
    if (matrix === undefined || cube === undefined || list === undefined) throw new Error('was not written');
    expect([...(await readTensorRows(matrix, 2, 3))]).toEqual(data.slice(8, 20));
    expect([...(await readTensorRows(cube, 1, 1))]).toEqual(data.slice(12));
    expect([...(await readTensorRows(list, 5, 2))]).toEqual([5, 6]);
    expect(await readTensorRows(matrix, 6, 0)).toHaveLength(0);
    for (const [start, count] of [[-1, 1], [0, 7], [6, 1], [1, -1]] as const) {
      await expect(readTensorRows(matrix, start, count)).rejects.toThrow(RangeError);
    }
  }
});

test('says so when a file has become shorter since it was opened', async () => {
  const [tensor] = await stored({ w: { type: 'F32', shape: [4], data: [1, 2, 3, 4] } });
  if (tensor === undefined) throw new Error('was not written');
  await truncate(tensor.file, tensor.offset + 15);
  await expect(readTensor(tensor)).rejects.toMatchObject({ name: 'CheckpointError', kind: 'truncated', file: tensor.file });
  await expect(readTensorRows(tensor, 0, 3)).resolves.toEqual(Float32Array.of(1, 2, 3));
});
