import { mkdir, open, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { randomNumbers } from '../decode/random.ts';

/*
 * Checkpoints with the geometry of Qwen2.5-0.5B, -3B and -7B (their config.json on the Hugging Face hub, Qwen/Qwen2.5-0.5B and so on)
 * and random weights in bfloat16: speed does not depend on them, and nothing has to be downloaded.
 */

export const MODELS = {
  '0.5b': {
    hidden_size: 896, intermediate_size: 4864, num_hidden_layers: 24, num_attention_heads: 14, num_key_value_heads: 2,
    vocab_size: 151_936, tie_word_embeddings: true,
  },
  '3b': {
    hidden_size: 2048, intermediate_size: 11_008, num_hidden_layers: 36, num_attention_heads: 16, num_key_value_heads: 2,
    vocab_size: 151_936, tie_word_embeddings: true,
  },
  '7b': {
    hidden_size: 3584, intermediate_size: 18_944, num_hidden_layers: 28, num_attention_heads: 28, num_key_value_heads: 4,
    vocab_size: 152_064, tie_word_embeddings: false,
  },
  /** For trying the script: the same form, nothing in size. */
  'tiny': {
    hidden_size: 128, intermediate_size: 256, num_hidden_layers: 2, num_attention_heads: 2, num_key_value_heads: 1,
    vocab_size: 4096, tie_word_embeddings: true,
  },
} as const;
export type ModelName = keyof typeof MODELS;

export const isModelName = (name: string): name is ModelName => name in MODELS;

const COMMON = {
  architectures: ['Qwen2ForCausalLM'], model_type: 'qwen2', hidden_act: 'silu', max_position_embeddings: 32_768, rms_norm_eps: 1e-6,
  rope_theta: 1_000_000, use_sliding_window: false, attention_dropout: 0, initializer_range: 0.02, torch_dtype: 'bfloat16',
} as const;

const SHARDS = 4;
const SPARE_BYTES = 1e9;
/** Written at once; random values repeat after this many bytes, each tensor beginning elsewhere in them. */
const POOL_BYTES = 32 * 2 ** 20;

interface TensorSpec {
  readonly name: string;
  readonly shape: readonly number[];
}

export function tensorsOf(model: ModelName): TensorSpec[] {
  const { hidden_size: hidden, intermediate_size: inner, num_hidden_layers, vocab_size, tie_word_embeddings } = MODELS[model];
  const keyValue = (hidden / MODELS[model].num_attention_heads) * MODELS[model].num_key_value_heads;
  const specs: TensorSpec[] = [{ name: 'model.embed_tokens.weight', shape: [vocab_size, hidden] }];
  for (let layer = 0; layer < num_hidden_layers; layer += 1) {
    const add = (name: string, ...shape: number[]): number => specs.push({ name: `model.layers.${layer}.${name}`, shape });
    add('input_layernorm.weight', hidden);
    for (const [name, rows] of [['q_proj', hidden], ['k_proj', keyValue], ['v_proj', keyValue]] as const) {
      add(`self_attn.${name}.weight`, rows, hidden);
      add(`self_attn.${name}.bias`, rows);
    }
    add('self_attn.o_proj.weight', hidden, hidden);
    add('post_attention_layernorm.weight', hidden);
    add('mlp.gate_proj.weight', inner, hidden);
    add('mlp.up_proj.weight', inner, hidden);
    add('mlp.down_proj.weight', hidden, inner);
  }
  specs.push({ name: 'model.norm.weight', shape: [hidden] });
  if (!tie_word_embeddings) specs.push({ name: 'lm_head.weight', shape: [vocab_size, hidden] });
  return specs;
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** A Hugging Face folder, made at the first call. */
export async function ensureModel(model: ModelName, cache: string): Promise<string> {
  const folder = path.join(cache, `qwen2.5-${model}-random-bf16`);
  if (await exists(folder)) return folder;
  const specs = tensorsOf(model);
  await mkdir(cache, { recursive: true });
  await requireSpace(cache, specs.reduce((sum, { shape }) => sum + 2 * sizeOf(shape), 0));
  const partial = `${folder}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial);
  await writeFile(path.join(partial, 'config.json'), JSON.stringify({ ...COMMON, ...MODELS[model] }, null, 2));
  const shards = split(specs, SHARDS);
  const nameOf = (shard: number): string => `model-0000${shard + 1}-of-0000${shards.length}.safetensors`;
  const pool = randomBfloat16(POOL_BYTES);
  await Promise.all(shards.map((some, shard) => writeShard(path.join(partial, nameOf(shard)), some, pool, shard)));
  const weightMap = Object.fromEntries(shards.flatMap((some, shard) => some.map(({ name }) => [name, nameOf(shard)])));
  const index = { metadata: { total_size: specs.reduce((sum, { shape }) => sum + 2 * sizeOf(shape), 0) }, weight_map: weightMap };
  await writeFile(path.join(partial, 'model.safetensors.index.json'), JSON.stringify(index));
  await rename(partial, folder);
  return folder;
}

const exists = (name: string): Promise<boolean> => stat(name).then(() => true, () => false);

async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const gigabytes = (count: number): string => `${(count / 1e9).toFixed(1)} GB`;
  if (bavail * bsize < bytes + SPARE_BYTES) {
    const free = gigabytes(bavail * bsize);
    throw new Error(`The weights take ${gigabytes(bytes)} and ${folder} has ${free} free: name another folder with CACHE.`);
  }
}

/** Into parts of about the same size, in order. */
function split(specs: readonly TensorSpec[], parts: number): TensorSpec[][] {
  const total = specs.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
  const shards: TensorSpec[][] = Array.from({ length: parts }, () => []);
  let before = 0;
  for (const spec of specs) {
    shards[Math.min(parts - 1, Math.floor((before / total) * parts))]?.push(spec);
    before += sizeOf(spec.shape);
  }
  return shards.filter((shard) => shard.length > 0);
}

/** Uniform numbers with the standard deviation of Qwen's initialisation, by the upper halves of float32. */
function randomBfloat16(bytes: number): Buffer {
  const random = randomNumbers(1);
  const amplitude = COMMON.initializer_range * Math.sqrt(3);
  const float = new Float32Array(1);
  const halves = new Uint16Array(float.buffer);
  const values = new Uint16Array(bytes / 2);
  for (let i = 0; i < values.length; i += 1) {
    float[0] = (2 * random() - 1) * amplitude;
    values[i] = halves[1] as number;
  }
  return Buffer.from(values.buffer);
}

/** 1 in bfloat16. */
const ONE = 0x3f80;

async function writeShard(name: string, specs: readonly TensorSpec[], pool: Buffer, shard: number): Promise<void> {
  let offset = 0;
  const entries = specs.map(({ name: tensor, shape }) => {
    const from = offset;
    offset += 2 * sizeOf(shape);
    return [tensor, { dtype: 'BF16', shape, data_offsets: [from, offset] }] as const;
  });
  const json = JSON.stringify({ __metadata__: { format: 'pt' }, ...Object.fromEntries(entries) });
  // Padded so that the values are aligned.
  const header = Buffer.from(json.padEnd(Math.ceil((8 + json.length) / 64) * 64 - 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const file = await open(name, 'w');
  try {
    await file.write(length);
    await file.write(header);
    let at = (shard * 2_345_678) % pool.length;
    for (const { name: tensor, shape } of specs) {
      if (tensor.includes('norm')) {
        await file.write(Buffer.from(new Uint16Array(sizeOf(shape)).fill(ONE).buffer));
        continue;
      }
      // An odd stride through the pool, so that no two layers begin at the same place.
      at = (at + 2 * 1_000_003) % pool.length;
      for (let left = 2 * sizeOf(shape); left > 0;) {
        const bytes = Math.min(left, pool.length - at);
        await file.write(pool, at, bytes);
        left -= bytes;
        at = (at + bytes) % pool.length;
      }
    }
  } finally {
    await file.close();
  }
}
