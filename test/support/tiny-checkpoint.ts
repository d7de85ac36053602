import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDecoderConfig } from '../../backend/lm/checkpoint/decoder-config.ts';
import { expectedTensors } from '../../backend/lm/checkpoint/decoder-weights.ts';
import { writeSafetensors, type TensorToWrite } from './write-safetensors.ts';

/** A Qwen2 of two layers, in the form of transformers 4. */
export const TINY_QWEN2 = {
  architectures: ['Qwen2ForCausalLM'],
  model_type: 'qwen2',
  hidden_act: 'silu',
  vocab_size: 11,
  hidden_size: 8,
  intermediate_size: 12,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-6,
  rope_theta: 10000,
  max_position_embeddings: 64,
  tie_word_embeddings: false,
  use_sliding_window: false,
  sliding_window: 32,
  max_window_layers: 2,
  eos_token_id: 10,
  torch_dtype: 'float32',
};

/** A Qwen3 of one layer, in the form of transformers 5. */
export const TINY_QWEN3 = {
  architectures: ['Qwen3ForCausalLM'],
  model_type: 'qwen3',
  hidden_act: 'silu',
  vocab_size: 11,
  hidden_size: 8,
  intermediate_size: 12,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 6,
  attention_bias: false,
  rms_norm_eps: 1e-6,
  rope_parameters: { rope_type: 'default', rope_theta: 1e6 },
  layer_types: ['full_attention'],
  max_position_embeddings: 64,
  tie_word_embeddings: true,
  eos_token_id: [9, 10],
  dtype: 'bfloat16',
};

/** Every tensor of a model, with values that tell where they stand: 0, 1/8, 2/8, … counted through all tensors, modulo 256. */
export function tinyTensors(config: unknown, type = 'F32'): Record<string, TensorToWrite> {
  let next = 0;
  return Object.fromEntries(expectedTensors(parseDecoderConfig(config)).map(({ name, shape }) => {
    const count = shape.reduce((product, length) => product * length, 1);
    return [name, { type, shape, data: Float32Array.from({ length: count }, () => (next++ % 256) / 8) }];
  }));
}

/** Writes a model's folder with one weight file. */
export async function writeTinyCheckpoint(
  folder: string, config: object = TINY_QWEN2, tensors: Readonly<Record<string, TensorToWrite>> = tinyTensors(config),
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  await writeSafetensors(join(folder, 'model.safetensors'), tensors);
}

/** Writes a model's folder with its tensors dealt out to shards in turn, and their index. @returns the index's weight_map. */
export async function writeShardedCheckpoint(
  folder: string,
  shards: number,
  config: object = TINY_QWEN2,
  tensors: Readonly<Record<string, TensorToWrite>> = tinyTensors(config),
): Promise<Record<string, string>> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  const weightMap: Record<string, string> = {};
  const files = new Map<string, Record<string, TensorToWrite>>();
  for (const [index, [name, tensor]] of Object.entries(tensors).entries()) {
    const file = `model-${String((index % shards) + 1).padStart(5, '0')}-of-${String(shards).padStart(5, '0')}.safetensors`;
    weightMap[name] = file;
    files.set(file, { ...files.get(file), [name]: tensor });
  }
  for (const [file, inside] of files) await writeSafetensors(join(folder, file), inside);
  await writeIndex(folder, weightMap);
  return weightMap;
}

export async function writeIndex(folder: string, weightMap: unknown): Promise<void> {
  await writeFile(join(folder, 'model.safetensors.index.json'), JSON.stringify({ metadata: {}, weight_map: weightMap }));
}
