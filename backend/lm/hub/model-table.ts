import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { expectedTensors } from '../checkpoint/decoder-weights.ts';

/** A model that is known to work as the Conductor. */
export interface TableModel {
  /** Its name on the hub. */
  readonly repo: string;
  readonly licence: 'Apache-2.0';
  readonly config: DecoderConfig;
  readonly parameters: number;
  /** Bytes of its bf16 weight files, without their headers of some tens of kB. */
  readonly downloadBytes: number;
}

/** All models are published in bf16. */
const STORED_BYTES = 2;

/** The common values of all models. Their stop tokens are the end of a turn and the end of a text. */
const SHARED = { rmsNormEpsilon: 1e-6, ropeTheta: 1e6, stopTokenIds: [151_645, 151_643] } as const;

/*
 * The geometry is that of each repository's config.json on the hub. Parameters and bytes are computed from it. For Qwen2.5-7B,
 * Qwen3-0.6B, Qwen3-1.7B, Qwen3-4B and Qwen3-8B, the bytes equal those of the published weight files (`metadata.total_size` of
 * the index, or the data of the single file).
 * Qwen2.5-3B-Instruct is excluded, because its licence (Qwen Research) forbids commercial use.
 */
export const MODEL_TABLE: readonly TableModel[] = [
  model('Qwen/Qwen2.5-0.5B-Instruct', qwen2({
    layers: 24, hiddenSize: 896, intermediateSize: 4_864, attentionHeads: 14, keyValueHeads: 2, headSize: 64,
    vocabularySize: 151_936, tiedEmbeddings: true,
  })),
  model('Qwen/Qwen3-0.6B', qwen3({
    layers: 28, hiddenSize: 1_024, intermediateSize: 3_072, attentionHeads: 16, tiedEmbeddings: true,
  }), { storesOutputLayer: true }),
  model('Qwen/Qwen2.5-1.5B-Instruct', qwen2({
    layers: 28, hiddenSize: 1_536, intermediateSize: 8_960, attentionHeads: 12, keyValueHeads: 2, headSize: 128,
    vocabularySize: 151_936, tiedEmbeddings: true,
  })),
  model('Qwen/Qwen3-1.7B', qwen3({
    layers: 28, hiddenSize: 2_048, intermediateSize: 6_144, attentionHeads: 16, tiedEmbeddings: true,
  }), { storesOutputLayer: true }),
  model('Qwen/Qwen3-4B', qwen3({
    layers: 36, hiddenSize: 2_560, intermediateSize: 9_728, attentionHeads: 32, tiedEmbeddings: true,
  })),
  model('Qwen/Qwen2.5-7B-Instruct', qwen2({
    layers: 28, hiddenSize: 3_584, intermediateSize: 18_944, attentionHeads: 28, keyValueHeads: 4, headSize: 128,
    vocabularySize: 152_064, tiedEmbeddings: false,
  })),
  model('Qwen/Qwen3-8B', qwen3({
    layers: 36, hiddenSize: 4_096, intermediateSize: 12_288, attentionHeads: 32, tiedEmbeddings: false,
  })),
];

/** `storesOutputLayer`: the files contain a second copy of the embedding table as the output layer. */
function model(repo: string, config: DecoderConfig, { storesOutputLayer = false } = {}): TableModel {
  const sizes = expectedTensors(config).map(({ shape }) => shape.reduce((product, length) => product * length, 1));
  const parameters = sizes.reduce((sum, size) => sum + size, 0);
  const stored = parameters + (storesOutputLayer ? config.vocabularySize * config.hiddenSize : 0);
  return { repo, licence: 'Apache-2.0', config, parameters, downloadBytes: stored * STORED_BYTES };
}

type Shared = keyof typeof SHARED | 'architecture' | 'maximumPositions' | 'attentionBias' | 'queryKeyNorm';

function qwen2(sizes: Omit<DecoderConfig, Shared>): DecoderConfig {
  return { ...SHARED, architecture: 'qwen2', maximumPositions: 32_768, attentionBias: true, queryKeyNorm: false, ...sizes };
}

/** All dense Qwen3 models of these sizes have 8 key-value heads of size 128 and the same vocabulary. */
function qwen3(sizes: Omit<DecoderConfig, Shared | 'keyValueHeads' | 'headSize' | 'vocabularySize'>): DecoderConfig {
  return {
    ...SHARED, architecture: 'qwen3', maximumPositions: 40_960, attentionBias: false, queryKeyNorm: true,
    keyValueHeads: 8, headSize: 128, vocabularySize: 151_936, ...sizes,
  };
}
