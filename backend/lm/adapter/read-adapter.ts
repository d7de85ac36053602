import { createHash } from 'node:crypto';
import { basename, join, resolve } from 'node:path';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { CheckpointError, quoted } from '../checkpoint/errors.ts';
import { locateModelFile } from '../checkpoint/model-file.ts';
import { readModelJson } from '../checkpoint/read-model-json.ts';
import { readTensor } from '../checkpoint/read-tensor.ts';
import { readSafetensorsHeader, storedTensor, type ListedTensor } from '../checkpoint/safetensors-file.ts';
import type { StoredTensor } from '../checkpoint/stored-tensor.ts';
import { parseAdapterConfig, type AdapterConfig } from './adapter-config.ts';
import { AdapterError } from './errors.ts';
import { withoutFusedPairs } from './fused-pairs.ts';
import { PROJECTION_PATHS, projectionSize, PROJECTIONS, type Projection } from './projections.ts';

/** The low-rank update of a projection: its weight becomes `weight + scaling · b · a`. */
export interface LoraPair {
  /** `[rank, in]`, row-major. */
  readonly a: Float32Array;
  /** `[out, rank]`, row-major. */
  readonly b: Float32Array;
}

/** A LoRA adapter in memory. */
export interface Adapter {
  /** The name of the folder, without its path. */
  readonly name: string;
  /** The absolute path; links are not resolved. */
  readonly folder: string;
  readonly rank: number;
  /** `alpha / rank`, or `alpha / √rank` with rank-stabilised LoRA. */
  readonly scaling: number;
  /** The projections that have a pair in at least one layer, in the order of `PROJECTIONS`. */
  readonly targets: readonly Projection[];
  /** One map for each decoder layer. A projection without a pair is unchanged. */
  readonly layers: readonly ReadonlyMap<Projection, LoraPair>[];
  /** A hash of rank, scaling and weights, for cache keys. */
  readonly version: string;
}

const CONFIG = 'adapter_config.json';
const WEIGHTS = 'adapter_model.safetensors';

/** An adapter without its weights. */
export interface AdapterOutline extends Omit<Adapter, 'layers'> {
  readonly parameters: number;
}

/**
 * Reads a PEFT folder for a model of this geometry. Checks everything else before it reads weights.
 * @throws AdapterError for an adapter that does not fit the model or is more than plain LoRA
 * @throws CheckpointError for files that are missing or damaged
 */
export async function readAdapter(folder: string, config: DecoderConfig): Promise<Adapter> {
  const layers = Array.from({ length: config.layers }, () => new Map<Projection, LoraPair>());
  const { parameters: _parameters, ...outline } = await outlineAdapter(folder, config, (layer, projection, pair) => {
    layers[layer]?.set(projection, pair);
  });
  return { ...outline, layers };
}

/**
 * Reads a whole adapter with only one pair of weights in memory, because an adapter of a high rank has gigabytes.
 * @throws the errors of `readAdapter`
 */
export async function outlineAdapter(
  folder: string, config: DecoderConfig, onPair?: (layer: number, projection: Projection, pair: LoraPair) => void,
): Promise<AdapterOutline> {
  const root = resolve(folder);
  const json = await readModelJson(root, CONFIG);
  if (json === undefined) throw missingFile(root, CONFIG);
  const adapterConfig = parseAdapterConfig(root, json);
  const file = await locateModelFile(root, WEIGHTS);
  if (file === undefined) throw missingFile(root, WEIGHTS);
  const { tensors } = await readSafetensorsHeader(file);
  const pairs = checkedPairs(root, withoutFusedPairs(tensors, config), adapterConfig, config);

  const hash = createHash('sha256').update(JSON.stringify(adapterConfig));
  let parameters = 0;
  for (const [layer, storedPairs] of pairs.entries()) {
    for (const [projection, { a, b }] of storedPairs) {
      const pair = { a: await readFinite(root, a), b: await readFinite(root, b) };
      hash.update(`${layer} ${projection} `).update(pair.a).update(pair.b);
      parameters += pair.a.length + pair.b.length;
      onPair?.(layer, projection, pair);
    }
  }
  return {
    name: basename(root),
    folder: root,
    ...adapterConfig,
    targets: PROJECTIONS.filter((projection) => pairs.some((layer) => layer.has(projection))),
    parameters,
    version: hash.digest('hex'),
  };
}

interface StoredPair {
  readonly a: StoredTensor;
  readonly b: StoredTensor;
}

/** The checked tensors of each pair, by layer and projection, in the order of `PROJECTIONS`. */
function checkedPairs(
  folder: string, tensors: readonly ListedTensor[], { rank }: AdapterConfig, config: DecoderConfig,
): Map<Projection, StoredPair>[] {
  const unread = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const take = (name: string, shape: readonly [number, number]): StoredTensor | undefined => {
    const tensor = unread.get(name);
    if (tensor === undefined) return undefined;
    unread.delete(name);
    if (tensor.shape.join() !== shape.join()) {
      const message =
        `${join(folder, WEIGHTS)}: ${quoted(name)} has the shape [${tensor.shape.join(', ')}], and rank ${rank} on this model ` +
        `asks for [${shape.join(', ')}]: choose an adapter that was trained for this model.`;
      throw new AdapterError({ folder, tensor: name, message });
    }
    return storedTensor(tensor);
  };

  const layers: Map<Projection, StoredPair>[] = [];
  for (let layer = 0; layer < config.layers; layer += 1) {
    const pairs = new Map<Projection, StoredPair>();
    for (const projection of PROJECTIONS) {
      const size = projectionSize(config, projection);
      const nameOf = (half: 'A' | 'B') => loraTensorName(layer, projection, half);
      const a = take(nameOf('A'), [rank, size.in]);
      const b = take(nameOf('B'), [size.out, rank]);
      if (a !== undefined && b !== undefined) pairs.set(projection, { a, b });
      else if (a !== undefined || b !== undefined) throw halfPair(folder, nameOf(a === undefined ? 'A' : 'B'));
    }
    layers.push(pairs);
  }
  const [left] = unread.keys();
  if (left !== undefined) {
    const message =
      `${join(folder, WEIGHTS)}: ${quoted(left)} belongs to no projection of this model's ${config.layers} layers: ` +
      'choose an adapter that was trained for this model.';
    throw new AdapterError({ folder, tensor: left, message });
  }
  if (tensors.length === 0) {
    throw new AdapterError({ folder, message: `${join(folder, WEIGHTS)} holds no weights: save the adapter again.` });
  }
  return layers;
}

/** PEFT's name for one half of a pair in adapter_model.safetensors. */
export function loraTensorName(layer: number, projection: Projection, half: 'A' | 'B'): string {
  return `base_model.model.model.layers.${layer}.${PROJECTION_PATHS[projection]}.lora_${half}.weight`;
}

async function readFinite(folder: string, stored: StoredTensor): Promise<Float32Array> {
  const values = await readTensor(stored);
  const index = values.findIndex((value) => !Number.isFinite(value));
  if (index === -1) return values;
  const message =
    `${join(folder, WEIGHTS)}: ${quoted(stored.name)} is not a finite number at index ${index}: go back to an earlier adapter.`;
  throw new AdapterError({ folder, tensor: stored.name, message });
}

function halfPair(folder: string, tensor: string): AdapterError {
  const message = `${join(folder, WEIGHTS)} lacks ${quoted(tensor)}, the other half of a pair: save the adapter again.`;
  return new AdapterError({ folder, tensor, message });
}

function missingFile(folder: string, name: string): CheckpointError {
  const message = `${folder} has no ${name}: name the folder of a LoRA adapter in PEFT's format.`;
  return new CheckpointError({ kind: 'missing-file', file: join(folder, name), message });
}
