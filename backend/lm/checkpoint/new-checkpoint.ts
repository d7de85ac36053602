import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseDecoderConfig } from './decoder-config.ts';
import { expectedTensors } from './decoder-weights.ts';
import { normals } from './normals.ts';
import { type NamedTensor, writeSafetensors } from './write-safetensors.ts';

/** The geometry of a new Qwen2 model with tied embeddings. */
export interface NewCheckpoint {
  readonly vocabularySize: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly layers: number;
  readonly attentionHeads: number;
  readonly keyValueHeads: number;
  readonly maximumPositions: number;
  /** The token that ends a text. */
  readonly stopTokenId: number;
  /** The same seed gives the same weights. */
  readonly seed: number;
}

/** RoFormer's base (arXiv 2104.09864), for texts of some hundreds of tokens. Qwen2 has 1,000,000, for 32,768 tokens. */
const ROPE_THETA = 10_000;

/**
 * The standard deviation of the weights, with which a product with a normed vector has the vector's norm. transformers uses 0.02 for all
 * Qwen2 models, which fits a hidden size of 2,500. In a small model the attention would then start nearly uniform and learn lookups late.
 */
const deviationOf = (hiddenSize: number): number => 1 / Math.sqrt(hiddenSize);

/**
 * Writes a Qwen2 model without a tokenizer to a Hugging Face folder (absolute), which it creates if needed. The weights are normally
 * distributed, in float32. The weights of the two residual branches of a layer are divided by √(2 · layers), as in GPT-2, so that the
 * activations do not grow with depth.
 * @throws UnsupportedModelError for an invalid geometry; file system errors
 */
export async function writeNewCheckpoint(folder: string, geometry: NewCheckpoint): Promise<void> {
  const config = configOf(geometry);
  const tensors = newTensors(parseDecoderConfig(config), geometry.seed);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'config.json'), `${JSON.stringify(config, null, 2)}\n`);
  const generation = { eos_token_id: geometry.stopTokenId, pad_token_id: geometry.stopTokenId, do_sample: true, temperature: 1 };
  await writeFile(path.join(folder, 'generation_config.json'), `${JSON.stringify(generation, null, 2)}\n`);
  await writeSafetensors(path.join(folder, 'model.safetensors'), tensors, { format: 'pt' });
}

function configOf(geometry: NewCheckpoint) {
  return {
    architectures: ['Qwen2ForCausalLM'],
    model_type: 'qwen2',
    vocab_size: geometry.vocabularySize,
    hidden_size: geometry.hiddenSize,
    intermediate_size: geometry.intermediateSize,
    num_hidden_layers: geometry.layers,
    num_attention_heads: geometry.attentionHeads,
    num_key_value_heads: geometry.keyValueHeads,
    max_position_embeddings: geometry.maximumPositions,
    hidden_act: 'silu',
    initializer_range: deviationOf(geometry.hiddenSize),
    rms_norm_eps: 1e-6,
    rope_theta: ROPE_THETA,
    tie_word_embeddings: true,
    attention_dropout: 0,
    use_cache: true,
    use_sliding_window: false,
    eos_token_id: geometry.stopTokenId,
    torch_dtype: 'float32',
  };
}

function newTensors(config: ReturnType<typeof parseDecoderConfig>, seed: number): NamedTensor[] {
  return expectedTensors(config).map(({ name, shape }, index) => {
    const count = shape.reduce((a, b) => a * b, 1);
    if (/norm\.weight$/.test(name)) return { name, shape, data: new Float32Array(count).fill(1) };
    if (name.endsWith('.bias')) return { name, shape, data: new Float32Array(count) };
    const isAdded = /(?:o_proj|down_proj)\.weight$/.test(name);
    const deviation = deviationOf(config.hiddenSize) / (isAdded ? Math.sqrt(2 * config.layers) : 1);
    return { name, shape, data: normals(count, seed * 1_000_003 + index).map((value) => deviation * value) };
  });
}
