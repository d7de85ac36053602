import type { DecoderConfig } from './decoder-config.ts';
import type { Checkpoint } from './open-checkpoint.ts';
import type { StoredType } from './stored-tensor.ts';

/** The output of `conductor model inspect`. */
export interface ModelSummary {
  readonly folder: string;
  readonly architecture: DecoderConfig['architecture'];
  /** The number of parameters, without stored tensors that are not used. */
  readonly parameters: number;
  /** The types of the stored weights, sorted by bytes, largest first. */
  readonly types: readonly StoredType[];
  readonly weightBytes: number;
  readonly shards: number;
  readonly tiedEmbeddings: boolean;
  /** In tokens. */
  readonly contextLength: number;
  readonly vocabularySize: number;
  readonly layers: number;
  readonly hiddenSize: number;
  readonly attentionHeads: number;
  readonly keyValueHeads: number;
  readonly headSize: number;
  readonly stopTokenIds: readonly number[];
}

export function inspectCheckpoint({ folder, config, tensors }: Checkpoint): ModelSummary {
  const bytesByType = new Map<StoredType, number>();
  const files = new Set<string>();
  let parameters = 0;
  for (const { type, shape, file, byteLength } of tensors.values()) {
    parameters += shape.reduce((product, length) => product * length, 1);
    bytesByType.set(type, (bytesByType.get(type) ?? 0) + byteLength);
    files.add(file);
  }
  const byBytes = [...bytesByType].sort(([, one], [, other]) => other - one);
  return {
    folder,
    architecture: config.architecture,
    parameters,
    types: byBytes.map(([type]) => type),
    weightBytes: byBytes.reduce((sum, [, bytes]) => sum + bytes, 0),
    shards: files.size,
    tiedEmbeddings: config.tiedEmbeddings,
    contextLength: config.maximumPositions,
    vocabularySize: config.vocabularySize,
    layers: config.layers,
    hiddenSize: config.hiddenSize,
    attentionHeads: config.attentionHeads,
    keyValueHeads: config.keyValueHeads,
    headSize: config.headSize,
    stopTokenIds: config.stopTokenIds,
  };
}
