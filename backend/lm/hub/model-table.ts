/** What a model's size follows from; the names are those of the checkpoint's configuration. */
export interface ModelGeometry {
  readonly architecture: 'qwen2' | 'qwen3';
  readonly layers: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly attentionHeads: number;
  readonly keyValueHeads: number;
  readonly headSize: number;
  readonly vocabularySize: number;
  /** The output layer is the embedding table. */
  readonly tiedEmbeddings: boolean;
}

/** A model that is known to work as the Conductor. */
export interface TableModel {
  /** Its name on the hub. */
  readonly repo: string;
  readonly licence: 'Apache-2.0';
  readonly geometry: ModelGeometry;
  readonly parameters: number;
  /** Bytes of its bf16 weight files, without their headers of some tens of kB. */
  readonly downloadBytes: number;
}

/** All are published as bf16. */
const STORED_BYTES = 2;

/*
 * Geometry as in each repository's config.json on the hub. Parameters and bytes are worked out from it; for Qwen2.5-7B, Qwen3-0.6B,
 * Qwen3-1.7B, Qwen3-4B and Qwen3-8B the bytes were compared with `metadata.total_size` of their weight files and are equal.
 * Qwen2.5-3B-Instruct is left out: its licence (Qwen Research) forbids commercial use.
 */
export const MODEL_TABLE: readonly TableModel[] = [
  model('Qwen/Qwen2.5-0.5B-Instruct', qwen2(24, 896, 4_864, 14, 2, 64, 151_936, true)),
  model('Qwen/Qwen3-0.6B', qwen3(28, 1_024, 3_072, 16, 151_936, true), { storesOutputLayer: true }),
  model('Qwen/Qwen2.5-1.5B-Instruct', qwen2(28, 1_536, 8_960, 12, 2, 128, 151_936, true)),
  model('Qwen/Qwen3-1.7B', qwen3(28, 2_048, 6_144, 16, 151_936, true), { storesOutputLayer: true }),
  model('Qwen/Qwen3-4B', qwen3(36, 2_560, 9_728, 32, 151_936, true)),
  model('Qwen/Qwen2.5-7B-Instruct', qwen2(28, 3_584, 18_944, 28, 4, 128, 152_064, false)),
  model('Qwen/Qwen3-8B', qwen3(36, 4_096, 12_288, 32, 151_936, false)),
];

/** Weights and biases of a Qwen2 or Qwen3 decoder: Qwen2 has biases on q, k and v, Qwen3 norms on the heads of q and k. */
export function parameterCount(geometry: ModelGeometry): number {
  const { architecture, layers, hiddenSize, intermediateSize, attentionHeads, keyValueHeads, headSize, vocabularySize } = geometry;
  const queryKeyValue = (attentionHeads + 2 * keyValueHeads) * headSize;
  const attention = hiddenSize * queryKeyValue + attentionHeads * headSize * hiddenSize;
  const extra = architecture === 'qwen2' ? queryKeyValue : 2 * headSize;
  const layer = attention + extra + 3 * hiddenSize * intermediateSize + 2 * hiddenSize;
  return layers * layer + hiddenSize + vocabularySize * hiddenSize * (geometry.tiedEmbeddings ? 1 : 2);
}

/** `storesOutputLayer`: the files hold the tied output layer a second time. */
function model(repo: string, geometry: ModelGeometry, { storesOutputLayer = false } = {}): TableModel {
  const parameters = parameterCount(geometry);
  const stored = parameters + (storesOutputLayer ? geometry.vocabularySize * geometry.hiddenSize : 0);
  return { repo, licence: 'Apache-2.0', geometry, parameters, downloadBytes: stored * STORED_BYTES };
}

function qwen2(
  layers: number, hiddenSize: number, intermediateSize: number, attentionHeads: number, keyValueHeads: number, headSize: number,
  vocabularySize: number, tiedEmbeddings: boolean,
): ModelGeometry {
  return {
    architecture: 'qwen2', layers, hiddenSize, intermediateSize, attentionHeads, keyValueHeads, headSize, vocabularySize, tiedEmbeddings,
  };
}

/** The dense Qwen3 models of these sizes all have 8 key-value heads of size 128. */
function qwen3(
  layers: number, hiddenSize: number, intermediateSize: number, attentionHeads: number, vocabularySize: number, tiedEmbeddings: boolean,
): ModelGeometry {
  return {
    architecture: 'qwen3', layers, hiddenSize, intermediateSize, attentionHeads, keyValueHeads: 8, headSize: 128, vocabularySize,
    tiedEmbeddings,
  };
}
