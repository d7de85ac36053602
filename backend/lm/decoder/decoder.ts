import type { Projection } from '../adapter/projections.ts';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { rotaryFrequencies, rotaryMagnitude } from '../checkpoint/rope-scaling.ts';
import type { ComputeType } from '../device/devices.ts';
import type { Graph, Tensor } from '../graph/graph.ts';
import { add, multiply, silu } from '../graph/ops/arithmetic.ts';
import { rmsNorm } from '../graph/ops/neural.ts';
import { reshape } from '../graph/ops/shape.ts';
import type { Dimension } from '../graph/tensor-type.ts';
import type { DecoderWeights, ProductForm } from './weights.ts';

/*
 * The layers of the dense Llama, Mistral, Phi-3, Qwen2 and Qwen3 models (arXiv 2407.21783, 2310.06825, 2404.14219, 2407.10671, 2505.09388).
 * Activations are [tokens, features], with the rows of the batch one after another; only attention knows where a row begins.
 */

/** Queries, keys and values of one layer before the rotation: [tokens, heads or keyValueHeads, headSize]. */
export interface Projected {
  readonly query: Tensor;
  readonly key: Tensor;
  readonly value: Tensor;
}

/** The attention of a pass, over its own tokens and earlier ones. Returns [tokens, heads, headSize]. */
export type Attend = (g: Graph, projected: Projected, layer: number) => Tensor;

/** Stores the result of a projection, or replaces it. */
export type OnProjected = (result: Tensor, layer: number, projection: Projection) => Tensor;

export interface Pass {
  readonly tokens: Dimension;
  readonly attend: Attend;
  readonly form: ProductForm;
  readonly onProjected?: OnProjected | undefined;
}

export class Decoder {
  readonly config: DecoderConfig;
  readonly weights: DecoderWeights;
  readonly rotation: RotaryTables;

  constructor(config: DecoderConfig, weights: DecoderWeights, rotation: RotaryTables) {
    this.config = config;
    this.weights = weights;
    this.rotation = rotation;
  }

  /** ids[tokens] to hidden states [tokens, hiddenSize], before the last norm. */
  layers(g: Graph, ids: Tensor, pass: Pass): Tensor {
    let hidden = this.weights.embed(g, ids);
    for (let layer = 0; layer < this.config.layers; layer += 1) hidden = this.layer(g, hidden, layer, pass);
    return hidden;
  }

  /** hidden[rows, hiddenSize] to float32 logits [rows, vocabularySize]. */
  logits(g: Graph, hidden: Tensor, form: ProductForm): Tensor {
    return this.weights.logits(g, this.#norm(g, hidden, 'model.norm.weight'), form);
  }

  /** One layer: x[tokens, hiddenSize] to [tokens, hiddenSize]. */
  layer(g: Graph, x: Tensor, layer: number, pass: Pass): Tensor {
    const path = `model.layers.${layer}`;
    const attended = this.#attention(g, this.#norm(g, x, `${path}.input_layernorm.weight`), layer, pass);
    const residual = add(g, x, attended);
    return add(g, residual, this.#mlp(g, this.#norm(g, residual, `${path}.post_attention_layernorm.weight`), layer, pass));
  }

  #attention(g: Graph, x: Tensor, layer: number, pass: Pass): Tensor {
    const { attentionHeads, keyValueHeads, headSize } = this.config;
    const { tokens } = pass;
    const heads = (projection: Projection, count: number): Tensor =>
      reshape(g, this.#project(g, x, layer, projection, pass), [tokens, count, headSize]);
    const attended = pass.attend(
      g,
      {
        query: this.#headNorm(g, heads('q_proj', attentionHeads), layer, 'q_norm'),
        key: this.#headNorm(g, heads('k_proj', keyValueHeads), layer, 'k_norm'),
        value: heads('v_proj', keyValueHeads),
      },
      layer,
    );
    return this.#project(g, reshape(g, attended, [tokens, attentionHeads * headSize]), layer, 'o_proj', pass);
  }

  #mlp(g: Graph, x: Tensor, layer: number, pass: Pass): Tensor {
    const gate = silu(g, this.#project(g, x, layer, 'gate_proj', pass));
    const up = this.#project(g, x, layer, 'up_proj', pass);
    return this.#project(g, multiply(g, gate, up), layer, 'down_proj', pass);
  }

  #project(g: Graph, x: Tensor, layer: number, projection: Projection, { form, onProjected }: Pass): Tensor {
    const result = this.weights.project(g, x, layer, projection, form);
    return onProjected ? onProjected(result, layer, projection) : result;
  }

  #norm(g: Graph, x: Tensor, weight: string): Tensor {
    return rmsNorm(g, x, this.weights.tensor(weight), this.config.rmsNormEpsilon);
  }

  /** Does nothing in architectures without query and key norms. */
  #headNorm(g: Graph, x: Tensor, layer: number, name: 'q_norm' | 'k_norm'): Tensor {
    return this.config.queryKeyNorm ? this.#norm(g, x, `model.layers.${layer}.self_attn.${name}.weight`) : x;
  }
}

/** Cosine and sine of position · frequency, times the magnitude: [positions, headSize / 2] each. */
export interface RotaryTables {
  readonly cosine: Tensor;
  readonly sine: Tensor;
}

export function rotaryTables(root: Graph, { headSize, ropeTheta, ropeScaling }: DecoderConfig, positions: number, compute: ComputeType): RotaryTables {
  const half = headSize / 2;
  const cosine = new Float32Array(positions * half);
  const sine = new Float32Array(positions * half);
  const magnitude = rotaryMagnitude(ropeScaling);
  for (const [pair, frequency] of rotaryFrequencies(headSize, ropeTheta, ropeScaling).entries()) {
    for (let position = 0; position < positions; position += 1) {
      const angle = Math.fround(position * frequency);
      cosine[position * half + pair] = magnitude * Math.cos(angle);
      sine[position * half + pair] = magnitude * Math.sin(angle);
    }
  }
  return { cosine: root.constant(compute, [positions, half], cosine), sine: root.constant(compute, [positions, half], sine) };
}
