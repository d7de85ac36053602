import { mkdir, open, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { CONFIG, sizeOf, tensorSpecs, type TensorSpec } from './geometry.ts';
import { randomNumbers } from './random.ts';

/** Values written at once. */
const CHUNK = 4 * 1024 * 1024;

/** Uniform numbers in ±this have the standard deviation with which Qwen's weights are initialised. */
const AMPLITUDE = CONFIG.initializer_range * Math.sqrt(3);

/** A Hugging Face folder with random float32 weights, made at the first call. @returns the folder. */
export async function ensureCheckpoint(cache: string): Promise<string> {
  const folder = path.join(cache, 'qwen2.5-0.5b-random');
  if (await exists(folder)) return folder;
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await writeFile(path.join(partial, 'config.json'), JSON.stringify(CONFIG, null, 2));
  const file = await open(path.join(partial, 'model.safetensors'), 'w');
  try {
    await writeWeights(file, tensorSpecs());
  } finally {
    await file.close();
  }
  await rename(partial, folder);
  return folder;
}

export async function exists(name: string): Promise<boolean> {
  return stat(name).then(() => true, () => false);
}

/** The format of safetensors: the length of the header in 8 bytes, the header as JSON, the values. */
async function writeWeights(file: FileHandle, specs: readonly TensorSpec[]): Promise<void> {
  let offset = 0;
  const entries = specs.map(({ name, shape }) => {
    const from = offset;
    offset += sizeOf(shape) * 4;
    return [name, { dtype: 'F32', shape, data_offsets: [from, offset] }] as const;
  });
  const json = JSON.stringify({ __metadata__: { format: 'pt' }, ...Object.fromEntries(entries) });
  // Padded so that the values are aligned.
  const header = Buffer.from(json.padEnd(Math.ceil((8 + json.length) / 64) * 64 - 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  await file.write(length);
  await file.write(header);
  for (const [index, spec] of specs.entries()) await writeTensor(file, spec, index);
}

async function writeTensor(file: FileHandle, { shape, kind }: TensorSpec, seed: number): Promise<void> {
  const random = randomNumbers(seed + 1);
  const value = kind === 'norm' ? () => 1 : () => (2 * random() - 1) * AMPLITUDE;
  for (let left = sizeOf(shape); left > 0; left -= CHUNK) {
    const values = new Float32Array(Math.min(left, CHUNK));
    for (let i = 0; i < values.length; i += 1) values[i] = value();
    await file.write(new Uint8Array(values.buffer));
  }
}
