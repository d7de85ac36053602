import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCheckpoint, type Checkpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readTensor } from '../../../backend/lm/checkpoint/read-tensor.ts';
import { readSafetensorsHeader } from '../../../backend/lm/checkpoint/safetensors-file.ts';
import { allocateQuantizedRows, quantizeRows } from '../../../backend/lm/quantize/block-quantize.ts';
import { openQuantized, type OpenQuantizedOptions, type QuantizedWeights } from '../../../backend/lm/quantize/quantized-store.ts';
import type { QuantizedTensor, StoredRange } from '../../../backend/lm/quantize/quantized-tensor.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { TINY_QWEN2, TINY_QWEN3, tinyTensors, writeTinyCheckpoint } from '../../support/tiny-checkpoint.ts';
import { gaussian } from './random-weights.ts';

/*
 * Semantics under test: the weights are worked out once; whole or not there at all is all that anybody ever sees; what is damaged
 * is made again; what failed or was cancelled leaves nothing.
 */

interface Place {
  readonly checkpoint: Checkpoint;
  readonly storage: string;
  open(options?: Partial<OpenQuantizedOptions>): Promise<QuantizedWeights>;
  /** What lies in the storage. */
  left(): Promise<string[]>;
}

const USUAL = { bits: 4, blockSize: 16, signal: new AbortController().signal } as const;

async function place(
  config: object = TINY_QWEN2, change: (tensors: ReturnType<typeof tinyTensors>) => void = () => {},
): Promise<Place> {
  const root = await temporaryFolder();
  const tensors = Object.fromEntries(Object.entries(tinyTensors(config)).map(([name, tensor], index) =>
    [name, { ...tensor, data: gaussian(index, tensor.data.length) }]));
  change(tensors);
  await writeTinyCheckpoint(path.join(root, 'model'), config, tensors);
  const checkpoint = await openCheckpoint(path.join(root, 'model'));
  const storage = path.join(root, 'storage');
  return {
    checkpoint,
    storage,
    open: (options) => openQuantized(checkpoint, { ...USUAL, storage, ...options }),
    left: () => readdir(path.join(storage, 'quantized')),
  };
}

async function bytesOf({ file, offset, byteLength }: StoredRange): Promise<Buffer> {
  return (await readFile(file)).subarray(offset, offset + byteLength);
}

async function expectQuantized(checkpoint: Checkpoint, name: string, tensor: QuantizedTensor): Promise<void> {
  const stored = checkpoint.tensors.get(name)!;
  const [rows = 0, columns = 0] = stored.shape;
  expect(tensor).toMatchObject({ rows, columns });
  const expected = allocateQuantizedRows(rows, columns, tensor);
  quantizeRows(await readTensor(stored), columns, tensor, expected);
  // A comparison by Vitest takes seconds for millions of bytes.
  expect((await bytesOf(tensor.blocks)).equals(expected.blocks)).toBe(true);
  expect((await bytesOf(tensor.scales)).equals(new Uint8Array(expected.scales.buffer))).toBe(true);
  expect(tensor.zeroPoints !== undefined).toBe(tensor.bits === 4);
  if (tensor.zeroPoints) expect((await bytesOf(tensor.zeroPoints)).equals(expected.zeroPoints!)).toBe(true);
}

const PROJECTIONS = [
  'self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj', 'self_attn.o_proj', 'mlp.gate_proj', 'mlp.up_proj', 'mlp.down_proj',
];

describe('opening quantised weights', () => {
  it.each([4, 8] as const)('stores every linear layer in %i bits and the output layer in 8, where it says', async (bits) => {
    const { checkpoint, open } = await place();
    const { tensors } = await open({ bits });
    const layers = [0, 1].flatMap((layer) => PROJECTIONS.map((projection) => `model.layers.${layer}.${projection}.weight`));
    expect([...tensors.keys()]).toEqual([...layers, 'lm_head.weight']);
    for (const [name, tensor] of tensors) {
      expect(tensor.bits).toBe(name === 'lm_head.weight' ? 8 : bits);
      await expectQuantized(checkpoint, name, tensor);
    }
  });

  it('quantises the embedding table where it is the output layer', async () => {
    const { checkpoint, open } = await place(TINY_QWEN3);
    const { tensors } = await open();
    expect([...tensors.keys()].at(-1)).toBe('model.embed_tokens.weight');
    const table = tensors.get('model.embed_tokens.weight')!;
    expect(table.bits).toBe(8);
    await expectQuantized(checkpoint, 'model.embed_tokens.weight', table);
  });

  it('lets columns count what they are said to, measured once with plain weights that are gone afterwards', async () => {
    const { checkpoint, open, left } = await place();
    const name = 'model.layers.1.mlp.up_proj.weight';
    const stored = checkpoint.tensors.get(name)!;
    const [rows = 0, columns = 0] = stored.shape;
    const importance = Float32Array.from({ length: columns }, (_, column) => 1 + (column % 3) * 20);
    let asked = 0;
    const measure = async (plain: QuantizedWeights['tensors']): Promise<ReadonlyMap<string, Float32Array>> => {
      asked += 1;
      await expectQuantized(checkpoint, name, plain.get(name)!);
      return new Map([[name, importance]]);
    };
    const progress: [number, number][] = [];
    const { tensors, folder } = await open({ importance: measure, onProgress: (done, total) => progress.push([done, total]) });
    const expected = allocateQuantizedRows(rows, columns, USUAL);
    quantizeRows(await readTensor(stored), columns, USUAL, expected, importance);
    expect((await bytesOf(tensors.get(name)!.blocks)).equals(expected.blocks)).toBe(true);
    await expectQuantized(checkpoint, 'model.layers.0.mlp.up_proj.weight', tensors.get('model.layers.0.mlp.up_proj.weight')!);
    expect((await readdir(folder)).toSorted()).toEqual(['model.safetensors', 'source.json']);
    expect(progress.at(-1)![0]).toBe(progress.at(-1)![1]);
    await open({ importance: measure });
    expect([asked, await left()]).toEqual([1, [path.basename(folder)]]);
  });

  it('leaves nothing where the importance of columns cannot be measured', async () => {
    const { open, left } = await place();
    await expect(open({ importance: () => Promise.reject(new Error('It cannot.')) })).rejects.toThrow('It cannot.');
    expect(await left()).toEqual([]);
  });

  it('begins each range at a multiple of 64 bytes, in a valid safetensors file', async () => {
    const { open } = await place();
    const { tensors, byteLength } = await open();
    for (const { blocks, scales, zeroPoints } of tensors.values()) {
      expect([blocks, scales, ...(zeroPoints ? [zeroPoints] : [])].filter(({ offset }) => offset % 64 > 0)).toEqual([]);
    }
    const { file } = tensors.get('lm_head.weight')!.blocks;
    expect((await stat(file)).size).toBe(byteLength);
    const listed = new Map((await readSafetensorsHeader(file)).tensors.map((tensor) => [tensor.name, tensor]));
    for (const [name, { blocks, scales, zeroPoints }] of tensors) {
      expect(listed.get(`${name}.blocks`)).toMatchObject({ storedAs: 'U8', ...blocks });
      expect(listed.get(`${name}.scales`)).toMatchObject({ storedAs: 'F32', ...scales });
      if (zeroPoints) expect(listed.get(`${name}.zero_points`)).toMatchObject({ storedAs: 'U8', ...zeroPoints });
    }
  });

  it('takes a tensor that is too large for one step row by row', async () => {
    const { checkpoint, open } = await place({ ...TINY_QWEN2, vocab_size: 70_001, hidden_size: 64, num_hidden_layers: 1 });
    const progress: number[] = [];
    const { tensors } = await open({ onProgress: (done) => progress.push(done) });
    expect(progress).toHaveLength(PROJECTIONS.length + 2);
    await expectQuantized(checkpoint, 'lm_head.weight', tensors.get('lm_head.weight')!);
  });

  it('counts the weights as it goes, up to all of them', async () => {
    const { open } = await place();
    const progress: [number, number][] = [];
    const { tensors } = await open({ onProgress: (done, total) => progress.push([done, total]) });
    const all = [...tensors.values()].reduce((sum, { rows, columns }) => sum + rows * columns, 0);
    expect(progress.at(-1)).toEqual([all, all]);
    expect(progress.map(([done]) => done)).toEqual(progress.map(([done]) => done).toSorted((one, other) => one - other));
  });

  it('finds at the second time what the first one made', async () => {
    const { open, left } = await place();
    const first = await open();
    const { ino, mtimeMs } = await stat(first.tensors.get('lm_head.weight')!.blocks.file);
    const second = await open({ onProgress: () => expect.unreachable() });
    expect(second).toEqual(first);
    expect(await stat(second.tensors.get('lm_head.weight')!.blocks.file)).toMatchObject({ ino, mtimeMs });
    expect(await left()).toHaveLength(1);
  });

  it('keeps formats beside each other', async () => {
    const { open, left } = await place();
    const opened = [await open(), await open({ bits: 8 }), await open({ blockSize: 32 })];
    expect((await left()).toSorted()).toEqual(opened.map(({ folder }) => path.basename(folder)).toSorted());
  });

  it.each<[string, (file: string) => Promise<void>]>([
    ['is cut off', (file) => truncate(file, 900)],
    ['has a header of something else', async (file) => writeFile(file, Buffer.from(await readFile(file)).fill(0x20, 8, 40))],
    ['is empty', (file) => truncate(file, 0)],
    ['is missing', (file) => rm(file)],
  ])('makes the file again when it %s', async (_, damage) => {
    const { checkpoint, open, left } = await place();
    const first = await open();
    const file = first.tensors.get('lm_head.weight')!.blocks.file;
    const whole = await readFile(file);
    await damage(file);
    const second = await open();
    expect(second.tensors).toEqual(first.tensors);
    expect(await readFile(file)).toEqual(whole);
    await expectQuantized(checkpoint, 'lm_head.weight', second.tensors.get('lm_head.weight')!);
    expect(await left()).toHaveLength(1);
  });

  it('gives the same weights to two that ask at once', async () => {
    const { open, left } = await place();
    const [one, other] = await Promise.all([open(), open()]);
    expect(one).toEqual(other);
    expect(await left()).toEqual([path.basename(one.folder)]);
  });

  it('leaves nothing when it is cancelled on the way, and says why it ended', async () => {
    const { open, left } = await place();
    const controller = new AbortController();
    const reason = new Error('the user changed their mind');
    const opening = open({ signal: controller.signal, onProgress: () => controller.abort(reason) });
    await expect(opening).rejects.toBe(reason);
    expect(await left()).toEqual([]);
  });

  it('does not begin when it is cancelled before', async () => {
    const { open, storage } = await place();
    await expect(open({ signal: AbortSignal.abort() })).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }) as Error);
    await expect(stat(storage)).rejects.toThrow('ENOENT');
  });

  it('says how much room it needs before it writes anything', async () => {
    const { open, left } = await place();
    const { byteLength } = await open({ bits: 8 });
    const opening = open({ bits: 8, blockSize: 32, freeBytes: () => Promise.resolve(byteLength) });
    await expect(opening).rejects.toMatchObject({ name: 'QuantizedCacheError', kind: 'no-space', freeBytes: byteLength });
    expect(await left()).toHaveLength(1);
  });

  it('names the folder that cannot be made', async () => {
    const { open, storage } = await place();
    await writeFile(storage, 'a file where the folder should be');
    const folder = path.join(storage, 'quantized');
    await expect(open()).rejects.toMatchObject({ name: 'QuantizedCacheError', kind: 'unwritable', folder });
  });

  it('names the tensor of a weight that is no number, and leaves nothing', async () => {
    const tensor = 'model.layers.1.mlp.up_proj.weight';
    const { open, left } = await place(TINY_QWEN2, (tensors) => (tensors[tensor]!.data as Float32Array).fill(Number.NaN, 20, 21));
    const opening = open();
    await expect(opening).rejects.toMatchObject({ name: 'CheckpointError', kind: 'not-finite', tensor });
    await expect(opening).rejects.toThrow('index 20');
    expect(await left()).toEqual([]);
  });

  it('removes what it will not use again: earlier versions, and this model before its files changed', async () => {
    const { checkpoint, open, storage, left } = await place();
    await open();
    await open({ bits: 8 });
    const kept = ['another-model-4-32-v2', 'another-model-8-32-v1'];
    for (const name of ['abcdef-4-32-v1', 'abcdef-8-32-v0', ...kept]) await mkdir(path.join(storage, 'quantized', name));
    await writeTinyCheckpoint(checkpoint.folder);
    const after = await openQuantized(await openCheckpoint(checkpoint.folder), { ...USUAL, storage });
    expect((await left()).toSorted()).toEqual([...kept, path.basename(after.folder)].toSorted());
  });

  it('clears up after a process that died on the way, and not after one that lives', async () => {
    const { open, storage } = await place();
    const { pid: dead } = spawnSync(process.execPath, ['--version']);
    const folders = [`partial-${dead}-00000000`, `partial-${process.pid}-00000000`];
    for (const name of folders) await mkdir(path.join(storage, 'quantized', name), { recursive: true });
    const { folder } = await open();
    expect((await readdir(path.join(storage, 'quantized'))).toSorted()).toEqual([path.basename(folder), folders[1]].toSorted());
  });
});
