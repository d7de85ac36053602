import type { Projection } from '../adapter/projections.ts';
import { type Architecture, ARCHITECTURES } from '../checkpoint/architectures.ts';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { type RopeScaling, rotaryFrequencies, rotaryMagnitude } from '../checkpoint/rope-scaling.ts';
import type { ComputeType } from '../device/devices.ts';
import type { Graph, Tensor } from '../graph/graph.ts';
import { add, gelu, multiply, silu } from '../graph/ops/arithmetic.ts';
import { rmsNorm } from '../graph/ops/neural.ts';
import { reshape } from '../graph/ops/shape.ts';
import type { Dimension } from '../graph/tensor-type.ts';
import type { DecoderWeights, ProductForm } from './weights.ts';

/*
 * The layers of the dense Gemma 3, Llama, Mistral, Phi-3, Qwen2 and Qwen3 models (arXiv 2503.19786, 2407.21783, 2310.06825, 2404.14219, 2407.10671,
 * 2505.09388).
 * Activations are [tokens, features], with the rows of the batch one after another; only attention knows where a row begins.
 */

/** Queries, keys and values of one layer before the rotation: [tokens, heads or keyValueHeads, headSize]. */
export interface Projected {
  readonly query: Tensor;
  readonly key: Tensor;
  readonly value: Tensor;
  readonly sight: Sight;
}

/** What the tokens of a layer see: how far back, and by which rotation. */
export interface Sight {
  readonly rotation: RotaryTable;
  /** How many tokens, itself included; all by default. */
  readonly window?: number | undefined;
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

  get #architecture(): Architecture {
    return ARCHITECTURES[this.config.architecture];
  }

  /** One layer: x[tokens, hiddenSize] to [tokens, hiddenSize]. */
  layer(g: Graph, x: Tensor, layer: number, pass: Pass): Tensor {
    const norm = (of: Tensor, place: string): Tensor => this.#norm(g, of, `model.layers.${layer}.${place}_layernorm.weight`);
    const attended = this.#attention(g, norm(x, 'input'), layer, pass);
    if (!this.#architecture.normsOfOutputs) {
      const residual = add(g, x, attended);
      return add(g, residual, this.#mlp(g, norm(residual, 'post_attention'), layer, pass));
    }
    const residual = add(g, x, norm(attended, 'post_attention'));
    return add(g, residual, norm(this.#mlp(g, norm(residual, 'pre_feedforward'), layer, pass), 'post_feedforward'));
  }

  sight(layer: number): Sight {
    const { sliding } = this.config;
    if (!sliding?.layers[layer]) return { rotation: this.rotation };
    // No text is longer than the tables, so a window as long hides nothing.
    const longest = this.rotation.cosine.shape[0] as number;
    return { rotation: this.rotation.ofSliding!, window: sliding.window < longest ? sliding.window : undefined };
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
        sight: this.sight(layer),
      },
      layer,
    );
    return this.#project(g, reshape(g, attended, [tokens, attentionHeads * headSize]), layer, 'o_proj', pass);
  }

  #mlp(g: Graph, x: Tensor, layer: number, pass: Pass): Tensor {
    const activate = this.#architecture.activation === 'gelu_pytorch_tanh' ? gelu : silu;
    const gate = activate(g, this.#project(g, x, layer, 'gate_proj', pass));
    const up = this.#project(g, x, layer, 'up_proj', pass);
    return this.#project(g, multiply(g, gate, up), layer, 'down_proj', pass);
  }

  #project(g: Graph, x: Tensor, layer: number, projection: Projection, { form, onProjected }: Pass): Tensor {
    const result = this.weights.project(g, x, layer, projection, form);
    return onProjected ? onProjected(result, layer, projection) : result;
  }

  #norm(g: Graph, x: Tensor, weight: string): Tensor {
    return rmsNorm(g, x, this.weights.norm(g, weight), this.config.rmsNormEpsilon);
  }

  /** Does nothing in architectures without query and key norms. */
  #headNorm(g: Graph, x: Tensor, layer: number, name: 'q_norm' | 'k_norm'): Tensor {
    return this.config.queryKeyNorm ? this.#norm(g, x, `model.layers.${layer}.self_attn.${name}.weight`) : x;
  }
}

/** Cosine and sine of position · frequency, times the magnitude: [positions, rotated dimensions / 2] each. */
export interface RotaryTable {
  readonly cosine: Tensor;
  readonly sine: Tensor;
}

export interface RotaryTables extends RotaryTable {
  /** Of sliding layers, where a model has them. */
  readonly ofSliding?: RotaryTable | undefined;
}

export function rotaryTables(root: Graph, config: DecoderConfig, positions: number, compute: ComputeType): RotaryTables {
  const { headSize, rotarySize = headSize, ropeTheta, ropeScaling, sliding } = config;
  const table = (theta: number, scaling?: RopeScaling): RotaryTable => rotaryTable(root, rotaryFrequencies(rotarySize, theta, scaling), rotaryMagnitude(scaling), positions, compute);
  return { ...table(ropeTheta, ropeScaling), ofSliding: sliding && table(sliding.ropeTheta) };
}

function rotaryTable(root: Graph, frequencies: Float32Array, magnitude: number, positions: number, compute: ComputeType): RotaryTable {
  const half = frequencies.length;
  const cosine = new Float32Array(positions * half);
  const sine = new Float32Array(positions * half);
  for (const [pair, frequency] of frequencies.entries()) {
    for (let position = 0; position < positions; position += 1) {
      const angle = Math.fround(position * frequency);
      cosine[position * half + pair] = magnitude * Math.cos(angle);
      sine[position * half + pair] = magnitude * Math.sin(angle);
    }
  }
  return { cosine: root.constant(compute, [positions, half], cosine), sine: root.constant(compute, [positions, half], sine) };
}
