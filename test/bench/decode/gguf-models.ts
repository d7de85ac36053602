import { open, rename } from 'node:fs/promises';
import path from 'node:path';
import { type Checkpoint, openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readChunks } from '../../../backend/lm/checkpoint/read-tensor.ts';
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
 * The checkpoint as a GGUF file in the cache, made at the first call: all of it float32, or with the codes and scales of
 * `quantized`, so that llama.cpp computes with the weights that our runtime computes with (its scales are float16).
 */
export async function ensureGguf(folder: string, cache: string, quantized?: Quantized): Promise<string> {
  const name = path.join(cache, `${path.basename(folder)}-${quantized ? 'q4_0' : 'f32'}.gguf`);
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
    else if (name === 'model.embed_tokens.weight') result.push(plain, quantizedTensor('output.weight', inFewBits));
    else result.push(quantizedTensor(plain.name, inFewBits));
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

function quantizedTensor(name: string, { blocks, scales, bits, blockSize, rows, columns }: QuantizedTensor): GgufTensor {
  if (blockSize !== BLOCK) throw new Error(`Q4_0 and Q8_0 have blocks of ${BLOCK}, not ${blockSize}.`);
  const count = (rows * columns) / BLOCK;
  const codeBytes = (BLOCK * bits) / 8;
  return {
    name,
    shape: [rows, columns],
    type: bits === 4 ? 'Q4_0' : 'Q8_0',
    byteLength: count * (2 + codeBytes),
    bytes: async function* () {
      const codes = await readRange(blocks);
      const factors = new Float32Array((await readRange(scales)).buffer);
      const target = new Uint8Array(count * (2 + codeBytes));
      const view = new DataView(target.buffer);
      for (let block = 0; block < count; block += 1) {
        const at = block * (2 + codeBytes);
        view.setFloat16(at, factors[block] as number, true);
        const source = codes.subarray(block * codeBytes, (block + 1) * codeBytes);
        const place = target.subarray(at + 2, at + 2 + codeBytes);
        if (bits === 4) halvesApart(source, place);
        else source.forEach((code, index) => { place[index] = code - 128; });
      }
      yield target;
    },
  };
}

/** Ours has neighbours in a byte; Q4_0 has the first half of the block in the lower bits, the second half in the upper. */
function halvesApart(source: Uint8Array, target: Uint8Array): void {
  const code = (index: number): number => ((source[index >> 1] as number) >> ((index & 1) * 4)) & 15;
  for (let index = 0; index < BLOCK / 2; index += 1) target[index] = code(index) | (code(index + BLOCK / 2) << 4);
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
