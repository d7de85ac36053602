import { expect, test } from 'vitest';
import { parseDecoderConfig } from '../../../backend/lm/checkpoint/decoder-config.ts';
import { UnsupportedModelError } from '../../../backend/lm/checkpoint/errors.ts';
import { TINY_QWEN2, TINY_QWEN3 } from '../../support/tiny-checkpoint.ts';

/** Fields of Qwen2.5-0.5B's config.json as published (https://huggingface.co/Qwen/Qwen2.5-0.5B/blob/main/config.json). */
const QWEN25_HALF_BILLION = {
  architectures: ['Qwen2ForCausalLM'], attention_dropout: 0, bos_token_id: 151643, eos_token_id: 151643, hidden_act: 'silu',
  hidden_size: 896, initializer_range: 0.02, intermediate_size: 4864, max_position_embeddings: 32768, max_window_layers: 24,
  model_type: 'qwen2', num_attention_heads: 14, num_hidden_layers: 24, num_key_value_heads: 2, rms_norm_eps: 1e-6,
  rope_theta: 1000000, sliding_window: 32768, tie_word_embeddings: true, torch_dtype: 'bfloat16', use_cache: true,
  use_mrope: false, use_sliding_window: false, vocab_size: 151936,
};

const LLAMA3 = { rope_type: 'llama3', factor: 32, low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 8192 };

/** Fields of Llama-3.2-1B's config.json as published. */
const LLAMA_ONE_BILLION = {
  architectures: ['LlamaForCausalLM'], attention_bias: false, attention_dropout: 0, bos_token_id: 128000, eos_token_id: 128001, head_dim: 64,
  hidden_act: 'silu', hidden_size: 2048, initializer_range: 0.02, intermediate_size: 8192, max_position_embeddings: 131072, mlp_bias: false,
  model_type: 'llama', num_attention_heads: 32, num_hidden_layers: 16, num_key_value_heads: 8, pretraining_tp: 1, rms_norm_eps: 1e-5,
  rope_scaling: LLAMA3, rope_theta: 500000, tie_word_embeddings: true, torch_dtype: 'bfloat16', use_cache: true, vocab_size: 128256,
};

/** Those of Mistral-Nemo-Instruct-2407. */
const MISTRAL_NEMO = {
  architectures: ['MistralForCausalLM'], attention_dropout: 0, bos_token_id: 1, eos_token_id: 2, head_dim: 128, hidden_act: 'silu',
  hidden_size: 5120, initializer_range: 0.02, intermediate_size: 14336, max_position_embeddings: 1024000, model_type: 'mistral',
  num_attention_heads: 32, num_hidden_layers: 40, num_key_value_heads: 8, rms_norm_eps: 1e-5, rope_theta: 1000000, sliding_window: null,
  tie_word_embeddings: false, torch_dtype: 'bfloat16', use_cache: true, vocab_size: 131072,
};

/** Those of Phi-3-mini-4k-instruct. */
const PHI3_MINI = {
  architectures: ['Phi3ForCausalLM'], attention_dropout: 0, bos_token_id: 1, embd_pdrop: 0, eos_token_id: 32000, hidden_act: 'silu', hidden_size: 3072,
  initializer_range: 0.02, intermediate_size: 8192, max_position_embeddings: 4096, model_type: 'phi3', num_attention_heads: 32,
  num_hidden_layers: 32, num_key_value_heads: 32, original_max_position_embeddings: 4096, pad_token_id: 32000, resid_pdrop: 0, rms_norm_eps: 1e-5,
  rope_scaling: null, rope_theta: 10000, sliding_window: 2047, tie_word_embeddings: false, torch_dtype: 'bfloat16', use_cache: true,
  attention_bias: false, vocab_size: 32064,
};

/** Those of Phi-4-mini-instruct, with the factors of long texts that are not read made up. */
const PHI4_MINI = {
  ...PHI3_MINI, bos_token_id: 199999, eos_token_id: 199999, pad_token_id: 199999, max_position_embeddings: 131072, num_attention_heads: 24, num_key_value_heads: 8,
  partial_rotary_factor: 0.75, rope_scaling: { type: 'longrope', short_factor: new Array(48).fill(1), long_factor: new Array(48).fill(8) },
  sliding_window: 262144, tie_word_embeddings: true, vocab_size: 200064, mlp_bias: false, lm_head_bias: false,
};

/** Those of gemma-3-1b-it. */
const GEMMA3_ONE_BILLION = {
  architectures: ['Gemma3ForCausalLM'], attention_bias: false, attention_dropout: 0, attn_logit_softcapping: null, bos_token_id: 2,
  cache_implementation: 'hybrid', eos_token_id: [1, 106], final_logit_softcapping: null, head_dim: 256, hidden_activation: 'gelu_pytorch_tanh',
  hidden_size: 1152, initializer_range: 0.02, intermediate_size: 6912, max_position_embeddings: 32768, model_type: 'gemma3_text',
  num_attention_heads: 4, num_hidden_layers: 26, num_key_value_heads: 1, pad_token_id: 0, query_pre_attn_scalar: 256, rms_norm_eps: 1e-6,
  rope_local_base_freq: 10000, rope_scaling: null, rope_theta: 1000000, sliding_window: 512, sliding_window_pattern: 6, torch_dtype: 'bfloat16',
  use_cache: true, vocab_size: 262144,
};

/** The error's field, and that its sentence names file and field. */
function refusedField(config: unknown, generationConfig?: unknown): string {
  try {
    parseDecoderConfig(config, generationConfig);
  } catch (error) {
    if (!(error instanceof UnsupportedModelError)) throw error;
    expect(error.message).toContain(`${error.file}: ${error.field} `);
    expect(error.message.length).toBeLessThan(400);
    return error.field;
  }
  throw new Error('was not refused');
}

test('reads the form of transformers 4', () => {
  expect(parseDecoderConfig(QWEN25_HALF_BILLION)).toEqual({
    architecture: 'qwen2', vocabularySize: 151936, hiddenSize: 896, intermediateSize: 4864, layers: 24, attentionHeads: 14,
    keyValueHeads: 2, headSize: 64, rmsNormEpsilon: 1e-6, ropeTheta: 1e6, maximumPositions: 32768, tiedEmbeddings: true,
    attentionBias: true, queryKeyNorm: false, stopTokenIds: [151643],
  });
});

test('reads the form of transformers 5', () => {
  expect(parseDecoderConfig(TINY_QWEN3)).toEqual({
    architecture: 'qwen3', vocabularySize: 11, hiddenSize: 8, intermediateSize: 12, layers: 1, attentionHeads: 4,
    keyValueHeads: 2, headSize: 6, rmsNormEpsilon: 1e-6, ropeTheta: 1e6, maximumPositions: 64, tiedEmbeddings: true,
    attentionBias: false, queryKeyNorm: true, stopTokenIds: [9, 10],
  });
});

test('takes what a config leaves out as transformers does', () => {
  const config = parseDecoderConfig({
    ...TINY_QWEN2, tie_word_embeddings: undefined, num_key_value_heads: null, hidden_act: undefined, architectures: null,
    eos_token_id: null,
  });
  expect(config).toMatchObject({ tiedEmbeddings: false, keyValueHeads: 4, stopTokenIds: [] });
  const { head_dim: _size, ...withoutHeadSize } = TINY_QWEN3;
  expect(parseDecoderConfig(withoutHeadSize).headSize).toBe(128);
});

test.each([
  ['another architecture', { model_type: 'gemma2' }, 'model_type'],
  ['no architecture', { model_type: undefined }, 'model_type'],
  ['a mixture of experts', { model_type: 'qwen3_moe' }, 'model_type'],
  ['experts', { num_experts: 8 }, 'num_experts'],
  ['another head', { architectures: ['Qwen2ForSequenceClassification'] }, 'architectures'],
  ['another activation', { hidden_act: 'gelu' }, 'hidden_act'],
  ['quantised weights', { quantization_config: { quant_method: 'gptq' } }, 'quantization_config'],
  ['a sliding window', { use_sliding_window: true }, 'use_sliding_window'],
  ['some layers with a sliding window', { layer_types: ['full_attention', 'sliding_attention'] }, 'layer_types'],
  ['a rotation that follows the length', { rope_scaling: { type: 'dynamic', factor: 4 } }, 'rope_scaling.type'],
  ['the same in the new form', { rope_parameters: { rope_type: 'dynamic', rope_theta: 1e6, factor: 4 } }, 'rope_parameters.rope_type'],
  ['a rotation by a name of every object', { rope_parameters: { rope_type: 'toString', rope_theta: 1e6 } }, 'rope_parameters.rope_type'],
  ['YaRN without a factor', { rope_scaling: { type: 'yarn' } }, 'rope_scaling.factor'],
  ['YaRN with magnitudes for some parts', { rope_scaling: { type: 'yarn', factor: 4, mscale: 1 } }, 'rope_scaling.mscale'],
  ['YaRN with bounds that are no whole pairs', { rope_scaling: { type: 'yarn', factor: 4, truncate: false } }, 'rope_scaling.truncate'],
  ['a rotation of Llama 3 whose bounds are the wrong way round', { rope_scaling: { ...LLAMA3, high_freq_factor: 0.5 } }, 'rope_scaling.high_freq_factor'],
  ['a rotation for each kind of layer', { rope_parameters: { full_attention: { rope_theta: 1e6 } } }, 'rope_parameters'],
  ['a partial rotation', { partial_rotary_factor: 0.5 }, 'partial_rotary_factor'],
  ['attention in both directions', { is_causal: false }, 'is_causal'],
  ['no rotation', { rope_theta: undefined }, 'rope_theta'],
  ['a negative rotation', { rope_parameters: { rope_theta: -1 } }, 'rope_parameters.rope_theta'],
  ['no size', { hidden_size: undefined }, 'hidden_size'],
  ['a size in words', { intermediate_size: '12' }, 'intermediate_size'],
  ['a broken size', { vocab_size: 1.5 }, 'vocab_size'],
  ['more layers than any model', { num_hidden_layers: 1e9 }, 'num_hidden_layers'],
  ['no heads', { num_attention_heads: 0 }, 'num_attention_heads'],
  ['heads that do not divide the hidden size', { num_attention_heads: 6 }, 'num_attention_heads'],
  ['key-value heads that do not divide the heads', { num_key_value_heads: 3 }, 'num_key_value_heads'],
  ['an odd head', { head_dim: 5 }, 'head_dim'],
  ['no epsilon', { rms_norm_eps: undefined }, 'rms_norm_eps'],
  ['a stop token in words', { eos_token_id: '</s>' }, 'eos_token_id'],
])('refuses %s and names the field', (_what, change, field) => {
  expect(refusedField({ ...TINY_QWEN2, ...change })).toBe(field);
});

test.each([
  ['biases of a Qwen3', { ...TINY_QWEN3, attention_bias: true }, 'attention_bias'],
  ['biases of a Llama', { ...LLAMA_ONE_BILLION, attention_bias: true }, 'attention_bias'],
  ['biases of its other layers', { ...LLAMA_ONE_BILLION, mlp_bias: true }, 'mlp_bias'],
  ['a window that is none', { ...MISTRAL_NEMO, sliding_window: -1 }, 'sliding_window'],
  ['a Phi that rotates more than its heads', { ...PHI4_MINI, partial_rotary_factor: 1.5 }, 'partial_rotary_factor'],
  ['a Phi that rotates an odd part of its heads', { ...PHI4_MINI, partial_rotary_factor: 0.01 }, 'partial_rotary_factor'],
  ['a Phi with a factor for some pairs', { ...PHI4_MINI, rope_scaling: { type: 'longrope', short_factor: [1], long_factor: [1] } }, 'rope_scaling.short_factor'],
  ['a Phi without factors', { ...PHI4_MINI, rope_scaling: { type: 'longrope' } }, 'rope_scaling.short_factor'],
  ['a Gemma with another activation', { ...GEMMA3_ONE_BILLION, hidden_activation: 'gelu' }, 'hidden_activation'],
  ['a Gemma that bounds its scores', { ...GEMMA3_ONE_BILLION, attn_logit_softcapping: 50 }, 'attn_logit_softcapping'],
  ['a Gemma that sees in both directions', { ...GEMMA3_ONE_BILLION, use_bidirectional_attention: true }, 'use_bidirectional_attention'],
  ['a Gemma without a window', { ...GEMMA3_ONE_BILLION, sliding_window: null }, 'sliding_window'],
  ['a Gemma that does not say which layers slide', { ...GEMMA3_ONE_BILLION, sliding_window_pattern: undefined }, 'sliding_window_pattern'],
  ['a Gemma with a kind for some layers', { ...GEMMA3_ONE_BILLION, layer_types: ['full_attention'] }, 'layer_types'],
  ['a Gemma with unknown layers', { ...GEMMA3_ONE_BILLION, layer_types: new Array(26).fill('chunked_attention') }, 'layer_types'],
  ['a Gemma without a rotation of sliding layers', { ...GEMMA3_ONE_BILLION, rope_local_base_freq: undefined }, 'rope_local_base_freq'],
  ['a Gemma whose sliding layers stretch their rotation',
    { ...GEMMA3_ONE_BILLION, rope_parameters: { sliding_attention: { rope_type: 'linear', factor: 2, rope_theta: 1e4 } } }, 'rope_parameters.sliding_attention'],
  ['a Gemma that rotates a part of its heads in some layers',
    { ...GEMMA3_ONE_BILLION, rope_parameters: { sliding_attention: { rope_theta: 1e4, partial_rotary_factor: 0.5 } } }, 'rope_parameters.partial_rotary_factor'],
  ['a Gemma without a scale of scores', { ...GEMMA3_ONE_BILLION, query_pre_attn_scalar: undefined }, 'query_pre_attn_scalar'],
  ['a Phi with biases', { ...PHI3_MINI, attention_bias: true }, 'attention_bias'],
])('refuses %s', (_what, config, field) => {
  expect(refusedField(config)).toBe(field);
});

test('reads a Llama with its rotation for long texts', () => {
  expect(parseDecoderConfig(LLAMA_ONE_BILLION)).toMatchObject({
    architecture: 'llama', headSize: 64, ropeTheta: 500000, attentionBias: false, queryKeyNorm: false, tiedEmbeddings: true,
    ropeScaling: { type: 'llama3', factor: 32, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalPositions: 8192 },
  });
});

test('reads a Mistral, whose heads are not as large as its hidden size says', () => {
  expect(parseDecoderConfig(MISTRAL_NEMO)).toMatchObject({ architecture: 'mistral', headSize: 128, attentionHeads: 32, ropeTheta: 1e6 });
});

test('reads a Phi that rotates a part of its heads, as far as its factors for short texts go', () => {
  expect(parseDecoderConfig(PHI4_MINI)).toMatchObject({
    architecture: 'phi3', headSize: 128, rotarySize: 96, maximumPositions: 4096, tiedEmbeddings: true,
    ropeScaling: { type: 'longrope', originalPositions: 4096, magnitude: expect.closeTo(1.1902, 4) as number },
  });
  const { partial_rotary_factor, rope_scaling, ...newForm } = PHI4_MINI;
  expect(parseDecoderConfig({ ...newForm, rope_parameters: { ...rope_scaling, rope_type: 'longrope', partial_rotary_factor, rope_theta: 1e4 } })).toEqual(parseDecoderConfig(PHI4_MINI));
  expect(parseDecoderConfig(PHI3_MINI).rotarySize).toBeUndefined();
});

test('reads no more of a text than the window of an older Mistral or a Phi-3 shows its tokens', () => {
  expect(parseDecoderConfig({ ...MISTRAL_NEMO, max_position_embeddings: 32768, sliding_window: 4096 }).maximumPositions).toBe(4096);
  expect(parseDecoderConfig(PHI3_MINI)).toMatchObject({ architecture: 'phi3', headSize: 96, maximumPositions: 2047 });
  expect(parseDecoderConfig({ ...PHI3_MINI, sliding_window: 262144 }).maximumPositions).toBe(4096);
  expect(parseDecoderConfig(MISTRAL_NEMO).maximumPositions).toBe(1024000);
});

test('reads a Gemma 3, of whose layers each sixth sees all tokens', () => {
  const config = parseDecoderConfig(GEMMA3_ONE_BILLION);
  expect(config).toMatchObject({
    architecture: 'gemma3_text', headSize: 256, ropeTheta: 1e6, maximumPositions: 32768, tiedEmbeddings: true, queryKeyNorm: true, scoreFactor: 1 / 16,
    sliding: { window: 512, ropeTheta: 10000 }, stopTokenIds: [1, 106],
  });
  expect(config.sliding?.layers.flatMap((slides, layer) => (slides ? [] : [layer]))).toEqual([5, 11, 17, 23]);
});

test('reads a Gemma 3 in the form of transformers 5', () => {
  const { rope_theta: _theta, rope_local_base_freq: _local, sliding_window_pattern: _pattern, ...rest } = GEMMA3_ONE_BILLION;
  const full_attention = { rope_type: 'linear', factor: 8, rope_theta: 1e6 };
  const sliding_attention = { rope_type: 'default', rope_theta: 5000 };
  const layer_types = Array.from({ length: 26 }, (_, layer) => (layer === 1 ? 'full_attention' : 'sliding_attention'));
  const config = parseDecoderConfig({ ...rest, layer_types, rope_parameters: { full_attention, sliding_attention } });
  expect(config).toMatchObject({ ropeTheta: 1e6, ropeScaling: { type: 'linear', factor: 8 }, sliding: { ropeTheta: 5000 } });
  expect(config.sliding?.layers.indexOf(false)).toBe(1);
});

test('takes what YaRN leaves out as transformers does', () => {
  const { ropeScaling } = parseDecoderConfig({ ...TINY_QWEN2, rope_scaling: { type: 'yarn', factor: 4 } });
  expect(ropeScaling).toEqual({ type: 'yarn', factor: 4, fast: 32, slow: 1, originalPositions: 64, magnitude: 0.1 * Math.log(4) + 1 });
});

test.each([[null], ['text'], [[]], [1]])('refuses %j in place of a config', (config) => {
  expect(refusedField(config)).toBe('its content');
});

test('goes by the layer types where there are any, not by the window', () => {
  const config = { ...TINY_QWEN3, use_sliding_window: true, sliding_window: 16 };
  expect(parseDecoderConfig(config).architecture).toBe('qwen3');
});

test('prefers the rotation of the new form where a config has both', () => {
  expect(parseDecoderConfig({ ...TINY_QWEN2, rope_parameters: { rope_theta: 5e6 } }).ropeTheta).toBe(5e6);
});

test('takes the stop tokens of generation_config.json, one or several', () => {
  expect(parseDecoderConfig(TINY_QWEN2, { eos_token_id: [7, 10, 7] }).stopTokenIds).toEqual([7, 10]);
  expect(parseDecoderConfig(TINY_QWEN2, { eos_token_id: 7 }).stopTokenIds).toEqual([7]);
  expect(parseDecoderConfig(TINY_QWEN2, { temperature: 1 }).stopTokenIds).toEqual([10]);
  expect(refusedField(TINY_QWEN2, { eos_token_id: [-1] })).toBe('eos_token_id');
  expect(refusedField(TINY_QWEN2, [])).toBe('its content');
});
