import path from 'node:path';
import { openCheckpoint } from '../../lm/checkpoint/open-checkpoint.ts';
import { writeNarrowCheckpoint } from '../../lm/checkpoint/narrow-checkpoint.ts';
import { readTensor } from '../../lm/checkpoint/read-tensor.ts';
import { type NamedTensor, writeSafetensors } from '../../lm/checkpoint/write-safetensors.ts';

/**
 * Writes a model whose weights are the means of those of `folders` (absolute, at least one, all trained from one model), in bfloat16.
 * Its other files are those of the first. Source: "Model soups", arXiv 2203.05482. @throws RangeError if a weight is missing or has
 * another shape; CheckpointError, UnsupportedModelError, file system errors
 */
export async function writeMeanOfModels(folders: readonly string[], to: string): Promise<void> {
  const [first, ...others] = await Promise.all(folders.map((folder) => openCheckpoint(folder)));
  if (first === undefined) throw new RangeError('There is no model to take the mean of.');
  const means: NamedTensor[] = [];
  for (const [name, stored] of first.tensors) {
    const data = await readTensor(stored);
    for (const { tensors } of others) {
      const other = tensors.get(name);
      if (other === undefined || other.shape.join() !== stored.shape.join()) throw new RangeError(`The models differ in the shape of ${name}.`);
      const added = await readTensor(other);
      for (let index = 0; index < data.length; index += 1) data[index] = (data[index] as number) + (added[index] as number);
    }
    means.push({ name, shape: stored.shape, data: data.map((sum) => sum / folders.length) });
  }
  await writeNarrowCheckpoint(folders[0] as string, to);
  await writeSafetensors(path.join(to, 'model.safetensors'), means, { format: 'pt' }, 'bfloat16');
}
