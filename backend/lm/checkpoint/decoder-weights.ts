import { ARCHITECTURES } from './architectures.ts';
import type { DecoderConfig } from './decoder-config.ts';

export interface ExpectedTensor {
  readonly name: string;
  readonly shape: readonly number[];
}

/** The linear layers of a decoder layer: their paths below `model.layers.N.` and the shapes of their weights, `[out, in]`. */
export function linearShapes(config: DecoderConfig) {
  const hidden = config.hiddenSize;
  const queries = config.attentionHeads * config.headSize;
  const keys = config.keyValueHeads * config.headSize;
  return {
    'self_attn.q_proj': [queries, hidden],
    'self_attn.k_proj': [keys, hidden],
    'self_attn.v_proj': [keys, hidden],
    'self_attn.o_proj': [hidden, queries],
    'mlp.gate_proj': [config.intermediateSize, hidden],
    'mlp.up_proj': [config.intermediateSize, hidden],
    'mlp.down_proj': [hidden, config.intermediateSize],
  } as const satisfies Record<string, readonly [number, number]>;
}

/** All tensors of a model with this geometry, named as in transformers' Llama, Qwen2 and the others, in the order of use. */
export function expectedTensors(config: DecoderConfig): ExpectedTensor[] {
  const { hiddenSize: hidden, headSize, vocabularySize } = config;
  const linear = linearShapes(config);
  const { normsOfOutputs } = ARCHITECTURES[config.architecture];
  const tensors: ExpectedTensor[] = [{ name: 'model.embed_tokens.weight', shape: [vocabularySize, hidden] }];
  for (let layer = 0; layer < config.layers; layer += 1) {
    const add = (name: string, shape: readonly number[]) => tensors.push({ name: `model.layers.${layer}.${name}`, shape });
    add('input_layernorm.weight', [hidden]);
    for (const path of ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'] as const) {
      add(`${path}.weight`, linear[path]);
      if (config.attentionBias) add(`${path}.bias`, [linear[path][0]]);
    }
    if (config.queryKeyNorm) {
      add('self_attn.q_norm.weight', [headSize]);
      add('self_attn.k_norm.weight', [headSize]);
    }
    add('self_attn.o_proj.weight', linear['self_attn.o_proj']);
    add('post_attention_layernorm.weight', [hidden]);
    if (normsOfOutputs) add('pre_feedforward_layernorm.weight', [hidden]);
    for (const path of ['mlp.gate_proj', 'mlp.up_proj', 'mlp.down_proj'] as const) add(`${path}.weight`, linear[path]);
    if (normsOfOutputs) add('post_feedforward_layernorm.weight', [hidden]);
  }
  tensors.push({ name: 'model.norm.weight', shape: [hidden] });
  if (!config.tiedEmbeddings) tensors.push({ name: 'lm_head.weight', shape: [vocabularySize, hidden] });
  return tensors;
}

/** Whether the model does not use this tensor, although some checkpoints contain it. */
export function isSuperfluous(name: string, config: DecoderConfig): boolean {
  if (name === 'lm_head.weight') return config.tiedEmbeddings;
  // Older versions of transformers stored this buffer, which can be computed from rope_theta.
  return /^model\.(?:layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq$/.test(name);
}
