/*
 * The geometry of Qwen2.5-0.5B, from its config.json on the Hugging Face hub (Qwen/Qwen2.5-0.5B). The weights are random:
 * speed does not depend on them, and nothing has to be downloaded.
 */

export const CONFIG = {
  architectures: ['Qwen2ForCausalLM'],
  model_type: 'qwen2',
  hidden_act: 'silu',
  hidden_size: 896,
  intermediate_size: 4864,
  num_hidden_layers: 24,
  num_attention_heads: 14,
  num_key_value_heads: 2,
  max_position_embeddings: 32768,
  rms_norm_eps: 1e-6,
  rope_theta: 1_000_000,
  use_sliding_window: false,
  attention_dropout: 0,
  initializer_range: 0.02,
  tie_word_embeddings: true,
  vocab_size: 151_936,
  torch_dtype: 'float32',
} as const;

export const HEAD_SIZE = CONFIG.hidden_size / CONFIG.num_attention_heads;

export interface TensorSpec {
  readonly name: string;
  readonly shape: readonly number[];
  readonly kind: 'matrix' | 'bias' | 'norm';
}

/** Every tensor of the checkpoint, in the order of the file. */
export function tensorSpecs(): TensorSpec[] {
  const { hidden_size: hidden, intermediate_size: inner, num_key_value_heads, num_hidden_layers, vocab_size } = CONFIG;
  const keyValue = num_key_value_heads * HEAD_SIZE;
  const specs: TensorSpec[] = [{ name: 'model.embed_tokens.weight', shape: [vocab_size, hidden], kind: 'matrix' }];
  const norm = (name: string): number => specs.push({ name: `${name}.weight`, shape: [hidden], kind: 'norm' });
  const matrix = (name: string, rows: number, columns: number): number =>
    specs.push({ name: `${name}.weight`, shape: [rows, columns], kind: 'matrix' });
  const bias = (name: string, rows: number): number => specs.push({ name: `${name}.bias`, shape: [rows], kind: 'bias' });
  for (let layer = 0; layer < num_hidden_layers; layer += 1) {
    const path = `model.layers.${layer}`;
    norm(`${path}.input_layernorm`);
    for (const [name, rows] of [['q_proj', hidden], ['k_proj', keyValue], ['v_proj', keyValue]] as const) {
      matrix(`${path}.self_attn.${name}`, rows, hidden);
      bias(`${path}.self_attn.${name}`, rows);
    }
    matrix(`${path}.self_attn.o_proj`, hidden, hidden);
    norm(`${path}.post_attention_layernorm`);
    matrix(`${path}.mlp.gate_proj`, inner, hidden);
    matrix(`${path}.mlp.up_proj`, inner, hidden);
    matrix(`${path}.mlp.down_proj`, hidden, inner);
  }
  norm('model.norm');
  return specs;
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((product, dimension) => product * dimension, 1);

/** Weights that one decoding step reads, the output layer's included. */
export const WEIGHTS = tensorSpecs().reduce((sum, { shape }) => sum + sizeOf(shape), 0);

/** Keys and values that one token leaves behind, over all layers. */
export const CACHE_VALUES_PER_TOKEN = 2 * CONFIG.num_hidden_layers * CONFIG.num_key_value_heads * HEAD_SIZE;
