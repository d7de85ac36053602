import { type Projection, PROJECTION_PATHS, projectionSize } from '../adapter/projections.ts';
import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import type { Graph, Tensor } from '../graph/graph.ts';
import { add, cast } from '../graph/ops/arithmetic.ts';
import { gather } from '../graph/ops/indexing.ts';
import { gemm, linear, linearQuantized, matmul, swapLast } from '../graph/ops/linear.ts';
import type { QuantizedTensor } from '../quantize/quantized-tensor.ts';

/** The types in which a decoder can compute. */
export type ComputeType = 'float32' | 'float16' | 'bfloat16';

/**
 * How a product with an unquantised weight is written. The numbers are the same; the speed is not (docs/decisions/0006).
 * `rows`: the activations are the rows, the weight may be repacked by onnxruntime: best for one or two rows on a CPU.
 * `columns`: the activations are the columns, the weight stays as it lies in its file: best for many rows on a CPU.
 */
export type ProductForm = 'rows' | 'columns';

export interface WeightOptions {
  readonly compute: ComputeType;
  /** Whether the seven projections add what an adapter, fed at each run, says. */
  readonly adapters: boolean;
  readonly quantized?: ReadonlyMap<string, QuantizedTensor> | undefined;
  /** Names of tensors that are fed as float32 at each run instead of being read from the checkpoint. */
  readonly trainable?: ReadonlySet<string> | undefined;
}

/** The names of a fed adapter's two matrices: a[rank, in] and b[out, rank], b already multiplied by the scaling. */
export const adapterInput = (layer: number, projection: Projection, side: 'a' | 'b'): string => `adapter.${layer}.${projection}.${side}`;

/** The weights of a checkpoint as tensors of one graph, each once. They live in the outermost graph; every body may use them. */
export class DecoderWeights {
  readonly #root: Graph;
  readonly #checkpoint: Checkpoint;
  readonly #options: WeightOptions;
  readonly #tensors = new Map<string, Tensor>();

  constructor(root: Graph, checkpoint: Checkpoint, options: WeightOptions) {
    this.#root = root;
    this.#checkpoint = checkpoint;
    this.#options = options;
  }

  get compute(): ComputeType {
    return this.#options.compute;
  }

  /** A tensor of the checkpoint in the type of computation. */
  tensor(name: string): Tensor {
    return this.#once(name, () => {
      if (this.#options.trainable?.has(name)) return cast(this.#root, this.#root.input(name, 'float32', this.#stored(name).shape), this.compute);
      return cast(this.#root, this.#asStored(name), this.compute);
    });
  }

  /** Rows of the embedding table for ids[tokens]: [tokens, hiddenSize]. Only the rows that are looked up are widened. */
  embed(g: Graph, ids: Tensor): Tensor {
    const name = 'model.embed_tokens.weight';
    const table = this.#options.trainable?.has(name) || this.#usedWhole(name) ? this.tensor(name) : this.#asStored(name);
    return cast(g, gather(g, table, ids), this.compute);
  }

  /** x[tokens, in] times the weight `name`[out, in], plus a bias[out]: [tokens, out]. */
  product(g: Graph, x: Tensor, name: string, form: ProductForm, bias?: Tensor): Tensor {
    const quantized = this.#options.quantized?.get(name);
    if (!quantized && form === 'rows') return linear(g, x, this.tensor(name), bias);
    const product = quantized ? this.#quantizedProduct(g, x, name, quantized) : swapLast(g, matmul(g, this.tensor(name), swapLast(g, x)));
    return bias ? add(g, product, bias) : product;
  }

  /** One of the seven projections of a layer: x[tokens, in] to [tokens, out], with its bias, and with the adapter where there is one. */
  project(g: Graph, x: Tensor, layer: number, projection: Projection, form: ProductForm): Tensor {
    const path = `model.layers.${layer}.${PROJECTION_PATHS[projection]}`;
    const bias = this.#checkpoint.tensors.has(`${path}.bias`) ? this.tensor(`${path}.bias`) : undefined;
    const product = this.product(g, x, `${path}.weight`, form, bias);
    return this.#options.adapters ? this.#adapted(g, x, product, layer, projection) : product;
  }

  /** The logits of hidden[rows, hiddenSize] as float32[rows, vocabularySize]. */
  logits(g: Graph, hidden: Tensor, form: ProductForm): Tensor {
    return cast(g, this.product(g, hidden, this.#headName, form), 'float32');
  }

  get #headName(): string {
    return this.#checkpoint.config.tiedEmbeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
  }

  /** Whether the output layer needs the table in the type of computation anyway. */
  #usedWhole(name: string): boolean {
    return name === this.#headName && !this.#options.quantized?.has(name);
  }

  #adapted(g: Graph, x: Tensor, product: Tensor, layer: number, projection: Projection): Tensor {
    const { in: columns, out: rows } = projectionSize(this.#checkpoint.config, projection);
    const a = this.#fed(adapterInput(layer, projection, 'a'), ['rank', columns]);
    const b = this.#fed(adapterInput(layer, projection, 'b'), [rows, 'rank']);
    return gemm(g, linear(g, x, a), b, { transposeB: true, bias: product });
  }

  #fed(name: string, shape: readonly (number | string)[]): Tensor {
    return this.#once(name, () => cast(this.#root, this.#root.input(name, 'float32', shape), this.compute));
  }

  #quantizedProduct(g: Graph, x: Tensor, name: string, { blocks, scales, bits, blockSize, rows, columns }: QuantizedTensor): Tensor {
    const perRow = Math.ceil(columns / blockSize);
    const packed = this.#once(`${name}.blocks`, () => this.#root.weight(`${name}.blocks`, 'uint8', [rows, perRow, (blockSize * bits) / 8], blocks));
    const scale = this.#once(`${name}.scales`, () =>
      cast(this.#root, this.#root.weight(`${name}.scales`, 'float32', [rows * perRow], scales), this.compute));
    return linearQuantized(g, x, packed, scale, { rows, columns, bits, blockSize, accuracyLevel: this.compute === 'float32' ? 4 : 0 });
  }

  #asStored(name: string): Tensor {
    return this.#once(`stored ${name}`, () => {
      const { type, shape, file, offset, byteLength } = this.#stored(name);
      return this.#root.weight(name, type, shape, { file, offset, byteLength });
    });
  }

  #stored(name: string) {
    const stored = this.#checkpoint.tensors.get(name);
    if (!stored) throw new Error(`The checkpoint was opened without ${name}.`);
    return stored;
  }

  #once(key: string, build: () => Tensor): Tensor {
    const known = this.#tensors.get(key);
    if (known) return known;
    const built = build();
    this.#tensors.set(key, built);
    return built;
  }
}
