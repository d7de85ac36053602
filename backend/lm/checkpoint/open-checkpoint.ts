import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { parseDecoderConfig, type DecoderConfig } from './decoder-config.ts';
import { expectedTensors, isSuperfluous } from './decoder-weights.ts';
import { CheckpointError, quoted } from './errors.ts';
import { withoutFused } from './fused-tensors.ts';
import { readModelJson } from './read-model-json.ts';
import type { ListedTensor } from './safetensors-file.ts';
import type { StoredTensor } from './stored-tensor.ts';
import { tensorOfShape } from './tensor-of-shape.ts';
import { readWeightFiles, tensorsByName, type WeightFile } from './weight-files.ts';

/** A checked model folder: its geometry and the location of each weight. No weight is in memory. */
export interface Checkpoint {
  /** Absolute path, as given. */
  readonly folder: string;
  readonly config: DecoderConfig;
  /** Exactly the tensors that `expectedTensors` lists, in its order, each in the right shape. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /** A hash of the names, sizes, modification times and headers of the weight files. */
  readonly fingerprint: string;
}

/**
 * Opens a downloaded Hugging Face folder: config.json, an optional generation_config.json, and one or more safetensors files.
 * Reads and checks headers but not weights; `findNonFinite` checks those.
 * @throws UnsupportedModelError for a model that Conductor does not support
 * @throws CheckpointError for files that are missing, damaged or inconsistent
 */
export async function openCheckpoint(folder: string): Promise<Checkpoint> {
  const root = resolve(folder);
  const config = await readGeometry(root);
  const files = await readWeightFiles(root);
  return { folder: root, config, tensors: neededTensors(withoutFused(tensorsByName(files), config), config, root), fingerprint: fingerprintOf(files) };
}

/**
 * The geometry alone: the folder (absolute) needs no weights.
 * @throws UnsupportedModelError, CheckpointError
 */
export async function readGeometry(root: string): Promise<DecoderConfig> {
  const configJson = await readModelJson(root, 'config.json');
  if (configJson === undefined) {
    const message = `${root} has no config.json: name the folder of a model in Hugging Face's format.`;
    throw new CheckpointError({ kind: 'missing-file', file: join(root, 'config.json'), message });
  }
  return parseDecoderConfig(configJson, await readModelJson(root, 'generation_config.json'));
}

function neededTensors(
  listed: ReadonlyMap<string, ListedTensor>, config: DecoderConfig, folder: string,
): Map<string, StoredTensor> {
  const tensors = new Map<string, StoredTensor>();
  for (const { name, shape } of expectedTensors(config)) {
    const found = listed.get(name);
    if (found === undefined) {
      const message = `${folder} has no tensor ${quoted(name)}, which its config.json asks for: download the model again.`;
      throw new CheckpointError({ kind: 'missing-tensor', file: folder, tensor: name, message });
    }
    tensors.set(name, tensorOfShape(found, shape));
  }
  for (const { name, file } of listed.values()) {
    if (tensors.has(name) || isSuperfluous(name, config)) continue;
    // An unknown weight, such as a bias, means that this is a different model.
    const message = `${file} holds ${quoted(name)}, which a ${config.architecture} model does not have: choose another model.`;
    throw new CheckpointError({ kind: 'unexpected-tensor', file, tensor: name, message });
  }
  return tensors;
}

function fingerprintOf(files: readonly WeightFile[]): string {
  const hash = createHash('sha256');
  for (const line of files.map(({ name, fingerprint }) => `${name} ${fingerprint}\n`).sort()) hash.update(line);
  return hash.digest('hex');
}
