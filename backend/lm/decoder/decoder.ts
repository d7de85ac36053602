import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import type { Graph, Tensor } from '../graph/graph.ts';
import { add, multiply, silu } from '../graph/ops/arithmetic.ts';
import { rmsNorm, rotary } from '../graph/ops/neural.ts';
import { transpose } from '../graph/ops/pieces.ts';
import { reshape } from '../graph/ops/shape.ts';
import type { Dimension } from '../graph/tensor-type.ts';
import type { DecoderWeights, ProductForm } from './weights.ts';

/*
 * Qwen2 and Qwen3, dense: the layers as the papers draw them (arXiv 2407.10671, 2505.09388). Activations are [tokens, features], all rows
 * of the batch one after another; only attention looks at them as [batch, heads, length, size].
 */

/** Queries, keys and values of one layer: [batch, heads or keyValueHeads, length, headSize], rotated to their positions. */
export interface Heads {
  readonly query: Tensor;
  readonly key: Tensor;
  readonly value: Tensor;
}

/** How the tokens of a pass see each other and those before them. */
export interface Pass {
  /** Rows of the batch, and tokens of each in this pass. */
  readonly batch: Dimension;
  readonly length: Dimension;
  /** batch · length. */
  readonly tokens: Dimension;
  /** int64[batch, length]. */
  readonly positions: Tensor;
  /** What each query attends to: [batch, heads, length, headSize]. */
  readonly attend: (g: Graph, heads: Heads, layer: number) => Tensor;
  readonly form: ProductForm;
}

export class Decoder {
  readonly config: DecoderConfig;
  readonly weights: DecoderWeights;
  readonly #rotation: RotaryTables;

  constructor(config: DecoderConfig, weights: DecoderWeights, rotation: RotaryTables) {
    this.config = config;
    this.weights = weights;
    this.#rotation = rotation;
  }

  /** ids[tokens] to hidden states [tokens, hiddenSize], before the last norm. */
  layers(g: Graph, ids: Tensor, pass: Pass): Tensor {
    let hidden = this.weights.embed(g, ids);
    for (let layer = 0; layer < this.config.layers; layer += 1) hidden = this.#layer(g, hidden, layer, pass);
    return hidden;
  }

  /** hidden[rows, hiddenSize] to float32 logits [rows, vocabularySize]. */
  logits(g: Graph, hidden: Tensor, form: ProductForm): Tensor {
    return this.weights.logits(g, this.#norm(g, hidden, 'model.norm.weight'), form);
  }

  #layer(g: Graph, x: Tensor, layer: number, pass: Pass): Tensor {
    const path = `model.layers.${layer}`;
    const attended = this.#attention(g, this.#norm(g, x, `${path}.input_layernorm.weight`), layer, pass);
    const residual = add(g, x, attended);
    return add(g, residual, this.#mlp(g, this.#norm(g, residual, `${path}.post_attention_layernorm.weight`), layer, pass));
  }

  #attention(g: Graph, x: Tensor, layer: number, pass: Pass): Tensor {
    const { attentionHeads, keyValueHeads, headSize } = this.config;
    const query = this.#heads(g, this.weights.project(g, x, layer, 'q_proj', pass.form), attentionHeads, pass);
    const key = this.#heads(g, this.weights.project(g, x, layer, 'k_proj', pass.form), keyValueHeads, pass);
    const value = this.#heads(g, this.weights.project(g, x, layer, 'v_proj', pass.form), keyValueHeads, pass);
    const heads: Heads = {
      query: this.#rotate(g, this.#headNorm(g, query, layer, 'q_norm'), pass),
      key: this.#rotate(g, this.#headNorm(g, key, layer, 'k_norm'), pass),
      value,
    };
    const attended = pass.attend(g, heads, layer);
    const together = pass.length === 1 ? attended : transpose(g, attended, [0, 2, 1, 3]);
    return this.weights.project(g, reshape(g, together, [pass.tokens, attentionHeads * headSize]), layer, 'o_proj', pass.form);
  }

  #mlp(g: Graph, x: Tensor, layer: number, { form }: Pass): Tensor {
    const gate = silu(g, this.weights.project(g, x, layer, 'gate_proj', form));
    const up = this.weights.project(g, x, layer, 'up_proj', form);
    return this.weights.project(g, multiply(g, gate, up), layer, 'down_proj', form);
  }

  #norm(g: Graph, x: Tensor, weight: string): Tensor {
    return rmsNorm(g, x, this.weights.tensor(weight), this.config.rmsNormEpsilon);
  }

  /** [tokens, heads · headSize] to [batch, heads, length, headSize]. */
  #heads(g: Graph, x: Tensor, heads: number, { batch, length }: Pass): Tensor {
    const { headSize } = this.config;
    if (length === 1) return reshape(g, x, [batch, heads, 1, headSize]);
    return transpose(g, reshape(g, x, [batch, length, heads, headSize]), [0, 2, 1, 3]);
  }

  /** Qwen3 only. */
  #headNorm(g: Graph, x: Tensor, layer: number, name: 'q_norm' | 'k_norm'): Tensor {
    return this.config.queryKeyNorm ? this.#norm(g, x, `model.layers.${layer}.self_attn.${name}.weight`) : x;
  }

  #rotate(g: Graph, x: Tensor, { positions }: Pass): Tensor {
    return rotary(g, x, positions, this.#rotation.cosine, this.#rotation.sine);
  }
}

/** Cosine and sine of position · θ^(−2i/headSize): [positions, headSize / 2] each. */
export interface RotaryTables {
  readonly cosine: Tensor;
  readonly sine: Tensor;
}

export function rotaryTables(root: Graph, { headSize, ropeTheta }: DecoderConfig, positions: number, compute: 'float32' | 'float16' | 'bfloat16'): RotaryTables {
  const half = headSize / 2;
  const cosine = new Float32Array(positions * half);
  const sine = new Float32Array(positions * half);
  for (let pair = 0; pair < half; pair += 1) {
    // In float32, as transformers has them: a table of float64 would differ from it by more than float32's own error at large positions.
    const frequency = Math.fround(1 / Math.fround(ropeTheta ** ((2 * pair) / headSize)));
    for (let position = 0; position < positions; position += 1) {
      const angle = Math.fround(position * frequency);
      cosine[position * half + pair] = Math.cos(angle);
      sine[position * half + pair] = Math.sin(angle);
    }
  }
  return { cosine: root.constant(compute, [positions, half], cosine), sine: root.constant(compute, [positions, half], sine) };
}
