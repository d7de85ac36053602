import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openCheckpoint } from './open-checkpoint.ts';
import { readTensor } from './read-tensor.ts';
import { type NamedTensor, writeSafetensors } from './write-safetensors.ts';

/**
 * Copies a model's folder (absolute) with its weights rounded to bfloat16 in one file and its other files unchanged. Creates the target
 * folder if it does not exist. @throws CheckpointError, UnsupportedModelError, file system errors
 */
export async function writeNarrowCheckpoint(from: string, to: string): Promise<void> {
  const { tensors } = await openCheckpoint(from);
  await mkdir(to, { recursive: true });
  for (const { name } of (await readdir(from, { withFileTypes: true })).filter((entry) => entry.isFile())) {
    if (!/\.safetensors(?:\.index\.json)?$/.test(name) && name !== 'config.json') await copyFile(path.join(from, name), path.join(to, name));
  }
  const config = JSON.parse(await readFile(path.join(from, 'config.json'), 'utf8')) as object;
  await writeFile(path.join(to, 'config.json'), `${JSON.stringify({ ...config, torch_dtype: 'bfloat16' }, null, 2)}\n`);
  const read: NamedTensor[] = [];
  for (const [name, stored] of tensors) read.push({ name, shape: stored.shape, data: await readTensor(stored) });
  await writeSafetensors(path.join(to, 'model.safetensors'), read, { format: 'pt' }, 'bfloat16');
}
