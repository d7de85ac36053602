import { open, rename } from 'node:fs/promises';
import path from 'node:path';
import { type Checkpoint, openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readChunks, readTensor } from '../../../backend/lm/checkpoint/read-tensor.ts';
import type { StoredTensor } from '../../../backend/lm/checkpoint/stored-tensor.ts';
import type { QuantizedTensor, StoredRange } from '../../../backend/lm/quantize/quantized-tensor.ts';
import { exists } from './checkpoint.ts';
import { CONFIG, sizeOf } from './geometry.ts';
import { type GgufTensor, type Metadata, writeGguf } from './gguf-writer.ts';

/** Names of a layer's tensors in llama.cpp, by their names in the checkpoint. */
const LAYER_NAMES: Readonly<Record<string, string>> = {
  'input_layernorm': 'attn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'post_attention_layernorm': 'ffn_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
};

const OUTER_NAMES: Readonly<Record<string, string>> = {
  'model.embed_tokens.weight': 'token_embd.weight',
  'model.norm.weight': 'output_norm.weight',
};

const METADATA: Metadata = {
  'general.architecture': { type: 'string', value: 'qwen2' },
  'general.name': { type: 'string', value: 'random' },
  'qwen2.vocab_size': { type: 'uint32', value: CONFIG.vocab_size },
  'qwen2.context_length': { type: 'uint32', value: CONFIG.max_position_embeddings },
  'qwen2.embedding_length': { type: 'uint32', value: CONFIG.hidden_size },
  'qwen2.block_count': { type: 'uint32', value: CONFIG.num_hidden_layers },
  'qwen2.feed_forward_length': { type: 'uint32', value: CONFIG.intermediate_size },
  'qwen2.attention.head_count': { type: 'uint32', value: CONFIG.num_attention_heads },
  'qwen2.attention.head_count_kv': { type: 'uint32', value: CONFIG.num_key_value_heads },
  'qwen2.attention.layer_norm_rms_epsilon': { type: 'float32', value: CONFIG.rms_norm_eps },
  'qwen2.rope.freq_base': { type: 'float32', value: CONFIG.rope_theta },
  // Only token ids are used, but node-llama-cpp asks for the words of some of them as it loads: any words do.
  'tokenizer.ggml.model': { type: 'string', value: 'gpt2' },
  'tokenizer.ggml.pre': { type: 'string', value: 'qwen2' },
  'tokenizer.ggml.tokens': { type: 'strings', value: Array.from({ length: CONFIG.vocab_size }, (_, id) => `<${id}>`) },
  'tokenizer.ggml.merges': { type: 'strings', value: [] },
};

type Quantized = ReadonlyMap<string, QuantizedTensor>;

/**
 * The checkpoint as a GGUF file in the cache, made at the first call: all of it float32, or each weight in as many bits as in `quantized`.
 */
export async function ensureGguf(folder: string, cache: string, quantized?: Quantized): Promise<string> {
  const name = path.join(cache, `${path.basename(folder)}-${quantized ? '4-bit' : 'f32'}.gguf`);
  if (await exists(name)) return name;
  const partial = `${name}.partial`;
  const file = await open(partial, 'w');
  try {
    await writeGguf(file, METADATA, ggufTensors(await openCheckpoint(folder), quantized));
  } finally {
    await file.close();
  }
  await rename(partial, name);
  return name;
}

function ggufTensors({ tensors }: Checkpoint, quantized: Quantized | undefined): GgufTensor[] {
  const result: GgufTensor[] = [];
  for (const [name, stored] of tensors) {
    const inFewBits = quantized?.get(name);
    const plain: GgufTensor = {
      name: ggufName(name), shape: stored.shape, type: 'F32', byteLength: sizeOf(stored.shape) * 4,
      bytes: () => readChunks(stored),
    };
    if (!inFewBits) result.push(plain);
    // The output layer is quantised, looking a token up is not: llama.cpp takes two tensors for that.
    else if (name === 'model.embed_tokens.weight') result.push(plain, eightBits('output.weight', inFewBits));
    else result.push(inFewBits.bits === 8 ? eightBits(plain.name, inFewBits) : fourBits(plain.name, stored));
  }
  return result;
}

function ggufName(name: string): string {
  const [, layer, middle, end] = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name) ?? [];
  const known = middle === undefined ? OUTER_NAMES[name] : `blk.${layer}.${LAYER_NAMES[middle]}.${end}`;
  if (!known) throw new Error(`${name} has no name in llama.cpp.`);
  return known;
}

/** Blocks of 32 weights in both: Q4_0 is a float16 scale and 16 bytes, Q8_0 a float16 scale and 32 bytes. */
const BLOCK = 32;

/** Our codes and scales as Q8_0. */
function eightBits(name: string, { blocks, scales, blockSize, rows, columns }: QuantizedTensor): GgufTensor {
  if (blockSize !== BLOCK) throw new Error(`Q8_0 has blocks of ${BLOCK}, not ${blockSize}.`);
  const count = (rows * columns) / BLOCK;
  return {
    name, shape: [rows, columns], type: 'Q8_0', byteLength: count * (2 + BLOCK),
    bytes: async function* () {
      const codes = await readRange(blocks);
      const factors = new Float32Array((await readRange(scales)).buffer);
      const target = new Uint8Array(count * (2 + BLOCK));
      const view = new DataView(target.buffer);
      for (let block = 0, at = 0; block < count; block += 1, at += 2 + BLOCK) {
        view.setFloat16(at, factors[block] as number, true);
        for (let index = 0; index < BLOCK; index += 1) target[at + 2 + index] = (codes[block * BLOCK + index] as number) - 128;
      }
      yield target;
    },
  };
}

/**
 * Q4_0 by llama.cpp's own rule: the weight of the largest magnitude becomes the code 0. It has no zero points, as ours has; the form of
 * llama.cpp that has them, Q4_1, is slower.
 */
function fourBits(name: string, stored: StoredTensor): GgufTensor {
  const count = sizeOf(stored.shape) / BLOCK;
  return {
    name, shape: stored.shape, type: 'Q4_0', byteLength: count * (2 + BLOCK / 2),
    bytes: async function* () {
      const weights = await readTensor(stored);
      const target = new Uint8Array(count * (2 + BLOCK / 2));
      const view = new DataView(target.buffer);
      for (let block = 0, at = 0; block < count; block += 1, at += 2 + BLOCK / 2) {
        const own = weights.subarray(block * BLOCK, (block + 1) * BLOCK);
        const scale = own.reduce((largest, weight) => (Math.abs(weight) > Math.abs(largest) ? weight : largest), 0) / -8;
        view.setFloat16(at, scale, true);
        const code = (index: number): number => (scale === 0 ? 8 : Math.min(15, Math.floor((own[index] as number) / scale + 8.5)));
        // The first half of the block is in the lower bits, the second half in the upper.
        for (let index = 0; index < BLOCK / 2; index += 1) target[at + 2 + index] = code(index) | (code(index + BLOCK / 2) << 4);
      }
      yield target;
    },
  };
}

async function readRange({ file, offset, byteLength }: StoredRange): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(byteLength);
  const handle = await open(file, 'r');
  try {
    for (let done = 0; done < byteLength;) done += (await handle.read(bytes, done, byteLength - done, offset + done)).bytesRead;
  } finally {
    await handle.close();
  }
  return bytes;
}
