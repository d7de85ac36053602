import { join } from 'node:path';
import { CheckpointError, quoted } from './errors.ts';
import { locateModelFile } from './model-file.ts';
import { readModelJson } from './read-model-json.ts';
import { readSafetensorsHeader, type ListedTensor, type SafetensorsFile } from './safetensors-file.ts';

const SINGLE = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';

export interface WeightFile extends SafetensorsFile {
  /** The file's name in the folder; `file` is the path with links resolved. */
  readonly name: string;
}

/**
 * Reads the headers of a model's weight files: `model.safetensors`, or the shards of `model.safetensors.index.json`. If both
 * exist, the single file is used, as in transformers.
 * @throws CheckpointError
 */
export async function readWeightFiles(folder: string): Promise<WeightFile[]> {
  const single = await locateModelFile(folder, SINGLE);
  if (single !== undefined) return [{ ...(await readSafetensorsHeader(single)), name: SINGLE }];
  const index = await readModelJson(folder, INDEX);
  if (index === undefined) {
    const message = `${folder} has neither ${SINGLE} nor ${INDEX}: choose a model whose weights are in the safetensors format.`;
    throw new CheckpointError({ kind: 'missing-file', file: join(folder, SINGLE), message });
  }
  const files: WeightFile[] = [];
  // Sequentially, so that an error in the first file is reported before the others are read.
  for (const [name, tensors] of tensorsByFile(index, join(folder, INDEX))) files.push(await readShard(folder, name, tensors));
  return files;
}

async function readShard(folder: string, name: string, expected: ReadonlySet<string>): Promise<WeightFile> {
  const path = join(folder, name);
  const file = await locateModelFile(folder, name);
  if (file === undefined) {
    const message = `${path} is missing, and ${INDEX} names it: download the model again.`;
    throw new CheckpointError({ kind: 'missing-file', file: path, message });
  }
  const shard = await readSafetensorsHeader(file);
  const found = new Set(shard.tensors.map((tensor) => tensor.name));
  const missing = [...expected].find((tensor) => !found.has(tensor));
  if (missing !== undefined) {
    const message = `${path} does not hold ${quoted(missing)}, and ${INDEX} says so: download the model again.`;
    throw new CheckpointError({ kind: 'missing-tensor', file: path, tensor: missing, message });
  }
  const unexpected = [...found].find((tensor) => !expected.has(tensor));
  if (unexpected !== undefined) {
    const message = `${path} holds ${quoted(unexpected)}, which ${INDEX} does not place there: download the model again.`;
    throw new CheckpointError({ kind: 'unexpected-tensor', file: path, tensor: unexpected, message });
  }
  return { ...shard, name };
}

function tensorsByFile(index: unknown, file: string): Map<string, Set<string>> {
  const files = new Map<string, Set<string>>();
  for (const [tensor, name] of Object.entries(weightMap(index, file))) {
    if (typeof name !== 'string') throw malformed(file, `names no file for ${quoted(tensor)}`);
    const tensors = files.get(name);
    if (tensors === undefined) files.set(name, new Set([tensor]));
    else tensors.add(tensor);
  }
  if (files.size === 0) throw malformed(file, 'names no files');
  return files;
}

function weightMap(index: unknown, file: string): object {
  const map = typeof index === 'object' && index !== null && 'weight_map' in index ? index.weight_map : undefined;
  if (typeof map === 'object' && map !== null && !Array.isArray(map)) return map;
  throw malformed(file, 'has no weight_map');
}

function malformed(file: string, problem: string): CheckpointError {
  return new CheckpointError({ kind: 'malformed', file, message: `${file} ${problem}: download the model again.` });
}

/** All tensors of a model's files by name. Shards agree with the index, which names each tensor once. */
export function tensorsByName(files: readonly SafetensorsFile[]): Map<string, ListedTensor> {
  return new Map(files.flatMap(({ tensors }) => tensors.map((tensor) => [tensor.name, tensor])));
}
