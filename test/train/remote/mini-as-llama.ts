import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readTensor } from '../../../backend/lm/checkpoint/read-tensor.ts';
import { type NamedTensor, writeSafetensors } from '../../../backend/lm/checkpoint/write-safetensors.ts';

/**
 * Copies a Qwen2 model's folder (absolute) as a Llama in float32, which SkyRL's JAX back end trains. The two compute the same but for Qwen2's
 * biases of q, k and v, which are left out: those of our small models are small, and the plans that they write stay plans.
 */
export async function writeMiniAsLlama(from: string, to: string): Promise<void> {
  const { tensors } = await openCheckpoint(from);
  await mkdir(to, { recursive: true });
  for (const file of ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json']) await copyFile(path.join(from, file), path.join(to, file));
  const config = JSON.parse(await readFile(path.join(from, 'config.json'), 'utf8')) as object;
  const asLlama = { ...config, architectures: ['LlamaForCausalLM'], model_type: 'llama', attention_bias: false, mlp_bias: false, torch_dtype: 'float32' };
  await writeFile(path.join(to, 'config.json'), JSON.stringify(asLlama, null, 2));
  const read: NamedTensor[] = [];
  for (const [name, stored] of tensors) if (!name.endsWith('.bias')) read.push({ name, shape: stored.shape, data: await readTensor(stored) });
  await writeSafetensors(path.join(to, 'model.safetensors'), read, { format: 'pt' });
}
