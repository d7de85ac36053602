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
  ['another architecture', { model_type: 'llama' }, 'model_type'],
  ['no architecture', { model_type: undefined }, 'model_type'],
  ['a mixture of experts', { model_type: 'qwen3_moe' }, 'model_type'],
  ['experts', { num_experts: 8 }, 'num_experts'],
  ['another head', { architectures: ['Qwen2ForSequenceClassification'] }, 'architectures'],
  ['another activation', { hidden_act: 'gelu' }, 'hidden_act'],
  ['quantised weights', { quantization_config: { quant_method: 'gptq' } }, 'quantization_config'],
  ['a sliding window', { use_sliding_window: true }, 'use_sliding_window'],
  ['some layers with a sliding window', { layer_types: ['full_attention', 'sliding_attention'] }, 'layer_types'],
  ['YaRN in the old form', { rope_scaling: { type: 'yarn', factor: 4 } }, 'rope_scaling.type'],
  ['YaRN in the new form', { rope_parameters: { rope_type: 'yarn', rope_theta: 1e6, factor: 4 } }, 'rope_parameters.rope_type'],
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

test('refuses biases of a Qwen3', () => {
  expect(refusedField({ ...TINY_QWEN3, attention_bias: true })).toBe('attention_bias');
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
