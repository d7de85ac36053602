import { type Projection, PROJECTION_PATHS, projectionSize } from '../adapter/projections.ts';
import { type Architecture, ARCHITECTURES } from '../checkpoint/architectures.ts';
import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import type { StoredTensor } from '../checkpoint/stored-tensor.ts';
import { type ComputeType, type Device, type DeviceFacts, DEVICES } from '../device/devices.ts';
import type { Graph, Tensor } from '../graph/graph.ts';
import { add, cast, multiply } from '../graph/ops/arithmetic.ts';
import { gather } from '../graph/ops/indexing.ts';
import { gemm, linear, linearQuantized, linearStored } from '../graph/ops/linear.ts';
import type { Shape } from '../graph/tensor-type.ts';
import type { QuantizedTensor } from '../quantize/quantized-tensor.ts';

/**
 * How a product with an unquantised weight is computed on a CPU (docs/decisions/0006). Reproducible sampling needs a row's result to be
 * bitwise independent of the other rows. The `stored` form and fed weights ensure that only with at least two rows.
 * `repacked`: onnxruntime keeps a copy of the weight in the layout of its kernels, which takes more memory and is twice as fast for few rows.
 * Without `repackWeights` the stored form is used instead.
 * `stored`: the weight is read from its file as it is, which is as fast for hundreds of rows.
 */
export type ProductForm = 'repacked' | 'stored';

export interface WeightOptions {
  readonly device: Device;
  readonly compute: ComputeType;
  /** Whether the seven projections add the adapter that is fed at each run. */
  readonly adapters: boolean;
  readonly quantized?: ReadonlyMap<string, QuantizedTensor> | undefined;
  /** `plain`: without onnxruntime's fused attention. `fused`, the default: with it where the device has it. */
  readonly attention?: 'fused' | 'plain' | undefined;
  /** False by default. */
  readonly repackWeights?: boolean | undefined;
  /** Names of tensors that are fed as float32 at each run instead of being read from the checkpoint. */
  readonly trainable?: ReadonlySet<string> | undefined;
}

/** The names of a fed adapter's two matrices: a[rank, in] and b[out, rank], b already multiplied by the scaling. */
export const adapterInput = (layer: number, projection: Projection, side: 'a' | 'b'): string => `adapter.${layer}.${projection}.${side}`;

/**
 * The weights of a checkpoint as tensors of one graph. They are in the outermost graph, where every body can use them. On a CPU, weights to
 * repack are in the graph directly around the body that uses them, because onnxruntime repacks no others.
 */
export class DecoderWeights {
  readonly #root: Graph;
  readonly #checkpoint: Checkpoint;
  readonly #options: WeightOptions;

  constructor(root: Graph, checkpoint: Checkpoint, options: WeightOptions) {
    this.#root = root;
    this.#checkpoint = checkpoint;
    this.#options = options;
  }

  get #device(): DeviceFacts {
    return DEVICES[this.#options.device];
  }

  get #architecture(): Architecture {
    return ARCHITECTURES[this.#checkpoint.config.architecture];
  }

  get compute(): ComputeType {
    return this.#options.compute;
  }

  /** @param window how many tokens a token sees, itself included; undefined: all */
  hasFusedAttention(window: number | undefined): boolean {
    return this.#options.attention !== 'plain' && this.#device.hasFusedAttention(this.compute) && (window === undefined || this.#device.fusesWindows);
  }

  /** A tensor of the checkpoint in the compute type. */
  tensor(name: string): Tensor {
    return this.#trained(name) ?? this.#loaded(this.#root, name);
  }

  /** The weight of a norm, or in some architectures 1 + that. */
  norm(g: Graph, name: string): Tensor {
    if (!this.#architecture.normsAddOne) return this.tensor(name);
    const trained = this.#trained(name);
    const onePlus = (graph: Graph, weight: Tensor): Tensor => add(graph, weight, graph.scalar(weight.element, 1));
    return trained ? onePlus(g, trained) : this.#root.once(`1 + ${name}`, () => onePlus(this.#root, this.#loaded(this.#root, name)));
  }

  /** The embeddings of ids[tokens]: [tokens, hiddenSize]. Only these rows are converted to the compute type. */
  embed(g: Graph, ids: Tensor): Tensor {
    const name = 'model.embed_tokens.weight';
    const table = this.#trained(name) ?? this.#stored(this.#root, name);
    const look = (): Tensor => cast(g, gather(g, table, ids), this.compute);
    // The device may not have the type of the file.
    const rows = table.element === this.compute ? look() : g.onHost(look);
    if (!this.#architecture.scalesEmbeddings) return rows;
    return multiply(g, rows, g.scalar(this.compute, Math.sqrt(this.#checkpoint.config.hiddenSize)));
  }

  /** x[tokens, in] times the weight `name`[out, in], plus a bias[out]: [tokens, out]. */
  product(g: Graph, x: Tensor, name: string, form: ProductForm, bias?: Tensor): Tensor {
    const quantized = this.#options.quantized?.get(name);
    const trained = this.#trained(name);
    if (trained || (!quantized && !this.#device.repacksWeights)) return linear(g, x, trained ?? this.tensor(name), bias);
    if (!quantized && form === 'repacked' && this.#options.repackWeights) return linear(g, x, this.#loaded(around(g), name), bias);
    const product = quantized
      ? this.#quantizedProduct(g, x, name, quantized)
      : linearStored(g, x, this.#loaded(this.#root, name, [1]));
    return bias ? add(g, product, bias) : product;
  }

  /** One of the seven projections of a layer: x[tokens, in] to [tokens, out], with its bias and the adapter if there is one. */
  project(g: Graph, x: Tensor, layer: number, projection: Projection, form: ProductForm): Tensor {
    const path = `model.layers.${layer}.${PROJECTION_PATHS[projection]}`;
    const bias = this.#checkpoint.tensors.has(`${path}.bias`) ? this.tensor(`${path}.bias`) : undefined;
    const product = this.product(g, x, `${path}.weight`, form, bias);
    return this.#options.adapters ? this.#adapted(g, x, product, layer, projection) : product;
  }

  /** The logits of hidden[rows, hiddenSize] as float32[rows, vocabularySize]. */
  logits(g: Graph, hidden: Tensor, form: ProductForm): Tensor {
    const head = this.#checkpoint.config.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
    return cast(g, this.product(g, hidden, head, form), 'float32');
  }

  #adapted(g: Graph, x: Tensor, product: Tensor, layer: number, projection: Projection): Tensor {
    const { in: columns, out: rows } = projectionSize(this.#checkpoint.config, projection);
    // Each pair has its own rank, which is 0 if the adapter does not change the projection.
    const rank = `rank.${layer}.${projection}`;
    const a = this.#fed(adapterInput(layer, projection, 'a'), [rank, columns]);
    const b = this.#fed(adapterInput(layer, projection, 'b'), [rows, rank]);
    // Doubling and halving changes no bit, but avoids the special kernel for an unscaled product of a single row, which adds in another order
    // than the kernel for many rows.
    return gemm(g, gemm(g, x, a, { transposeB: true, scale: 2 }), b, { transposeB: true, scale: 0.5, bias: product });
  }

  #quantizedProduct(g: Graph, x: Tensor, name: string, { blocks, scales, zeroPoints, bits, blockSize, rows, columns }: QuantizedTensor): Tensor {
    const perRow = Math.ceil(columns / blockSize);
    const home = this.#device.repacksWeights ? around(g) : this.#root;
    const packed = home.once(`${name} blocks`, () => home.weight(`${name}.blocks`, 'uint8', [rows, perRow, (blockSize * bits) / 8], blocks));
    const scale = home.once(`${name} scales`, () => cast(home, home.weight(`${name}.scales`, 'float32', [rows * perRow], scales), this.compute));
    const zeros = zeroPoints && home.once(`${name} zero points`, () => home.weight(`${name}.zero_points`, 'uint8', [zeroPoints.byteLength], zeroPoints));
    const weight = { blocks: packed, scales: scale, zeroPoints: zeros };
    return linearQuantized(g, x, weight, { rows, columns, bits, blockSize, accuracyLevel: this.compute === 'float32' ? 4 : 0 });
  }

  #trained(name: string): Tensor | undefined {
    return this.#options.trainable?.has(name) ? this.#fed(name, this.#tensor(name).shape) : undefined;
  }

  #fed(name: string, shape: Shape): Tensor {
    return this.#root.once(`fed ${name}`, () => cast(this.#root, this.#root.input(name, 'float32', shape), this.compute));
  }

  #loaded(home: Graph, name: string, axes: readonly number[] = []): Tensor {
    const key = `${home === this.#root ? 'loaded' : 'repacked'} ${name} ${axes.length}`;
    return home.once(key, () => cast(home, this.#stored(home, name, axes), this.compute));
  }

  /** The tensor as in its file, with leading `axes`. */
  #stored(home: Graph, name: string, axes: readonly number[] = []): Tensor {
    const key = `${home === this.#root ? 'stored' : 'to repack'} ${name} ${axes.length}`;
    return home.once(key, () => {
      const { type, shape, file, offset, byteLength } = this.#tensor(name);
      return home.weight(name, type, [...axes, ...shape], { file, offset, byteLength });
    });
  }

  #tensor(name: string): StoredTensor {
    const stored = this.#checkpoint.tensors.get(name);
    if (!stored) throw new Error(`The checkpoint was opened without ${name}.`);
    return stored;
  }
}

const around = (body: Graph): Graph => body.parent ?? body;
