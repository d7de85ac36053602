import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseDecoderConfig } from '../../../backend/lm/checkpoint/decoder-config.ts';
import { expectedTensors } from '../../../backend/lm/checkpoint/decoder-weights.ts';
import { normals } from '../../../backend/lm/checkpoint/normals.ts';
import { writeSafetensors, type TensorToWrite } from '../../support/write-safetensors.ts';

const BUNDLED = new URL('../../../media/conductor-mini/', import.meta.url).pathname;

/** A random Qwen3 of two layers, an architecture that SkyRL trains on a CPU, with the tokenizer of the bundled model. */
const CONFIG = {
  architectures: ['Qwen3ForCausalLM'],
  model_type: 'qwen3',
  hidden_act: 'silu',
  vocab_size: 2048,
  hidden_size: 64,
  intermediate_size: 128,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 16,
  attention_bias: false,
  attention_dropout: 0,
  rms_norm_eps: 1e-6,
  rope_theta: 10_000,
  max_position_embeddings: 2048,
  tie_word_embeddings: true,
  use_sliding_window: false,
  eos_token_id: 2047,
  torch_dtype: 'float32',
};

/** Writes it into a folder (absolute), the same each time. */
export async function writeSmallQwen3(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const tensors = Object.fromEntries(expectedTensors(parseDecoderConfig(CONFIG)).map(({ name, shape }, index): [string, TensorToWrite] => {
    const count = shape.reduce((product, length) => product * length, 1);
    const isNorm = shape.length === 1;
    const data = isNorm ? new Float32Array(count).fill(1) : normals(count, index + 1).map((value) => value / 8);
    return [name, { type: 'F32', shape, data }];
  }));
  await writeFile(path.join(folder, 'config.json'), JSON.stringify(CONFIG, null, 2));
  await writeSafetensors(path.join(folder, 'model.safetensors'), tensors);
  for (const file of ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json']) await copyFile(path.join(BUNDLED, file), path.join(folder, file));
}
