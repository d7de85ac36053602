import { type Graph, type Op, requireFloat, single, type Tensor } from '../graph.ts';
import { describeType, type Dimension, GraphError } from '../tensor-type.ts';
import { add, divide, exponential, multiply, negate, squareRoot, subtract } from './arithmetic.ts';
import { sum, sumTo } from './shape.ts';

/* Parts of a decoder with their own onnxruntime kernels. */

const SOFTMAX: Op<void> = {
  name: 'softmax',
  types: ([x]) => {
    requireFloat('softmax', x!);
    return [x!];
  },
  onnx: () => ({ type: 'Softmax', attributes: { axis: { int: -1 } } }),
  // dx = y ∘ (dy − Σ dy ∘ y)
  gradient: ({ g, outputs: [y], upstream }) => [
    multiply(g, y!, subtract(g, upstream, sum(g, multiply(g, upstream, y!), [-1], { keep: true }))),
  ],
};

/** Over the last axis. */
export const softmax = Object.assign((g: Graph, x: Tensor): Tensor => single(g.apply(SOFTMAX, [x], undefined)), { op: SOFTMAX });

const LOG_SOFTMAX: Op<void> = {
  name: 'logSoftmax',
  types: SOFTMAX.types,
  onnx: () => ({ type: 'LogSoftmax', attributes: { axis: { int: -1 } } }),
  // dx = dy − eʸ · Σ dy
  gradient: ({ g, outputs: [y], upstream }) => [
    subtract(g, upstream, multiply(g, exponential(g, y!), sum(g, upstream, [-1], { keep: true }))),
  ],
};

/** Over the last axis. Use it in float32, because CUDA has no bfloat16 kernel. */
export const logSoftmax = Object.assign((g: Graph, x: Tensor): Tensor => single(g.apply(LOG_SOFTMAX, [x], undefined)), { op: LOG_SOFTMAX });

const RMS_NORM: Op<{ readonly epsilon: number }> = {
  name: 'rmsNorm',
  types: ([x, weight]) => {
    requireFloat('rmsNorm', x!);
    if (weight!.shape.length !== 1 || weight!.shape[0] !== x!.shape.at(-1)) {
      throw new GraphError(`${describeType(weight!)} is no weight for the last axis of ${describeType(x!)}.`);
    }
    if (typeof x!.shape.at(-1) !== 'number') throw new GraphError(`rmsNorm needs the size of the last axis of ${describeType(x!)}.`);
    return [x!];
  },
  onnx: ({ epsilon }) => ({ type: 'SimplifiedLayerNormalization', attributes: { axis: { int: -1 }, epsilon: { float: epsilon } } }),
  // With r = 1/√(mean x² + ε) and d = dy ∘ w: dx = r·d − x·r³·mean(d ∘ x), dw = Σ dy ∘ x·r.
  gradient: ({ g, inputs: [x, weight], attributes: { epsilon }, upstream }) => {
    const size = g.scalar(x!.element, x!.shape.at(-1) as number);
    const mean = (values: Tensor): Tensor => divide(g, sum(g, values, [-1], { keep: true }), size);
    const root = squareRoot(g, add(g, mean(multiply(g, x!, x!)), g.scalar(x!.element, epsilon)));
    const normal = divide(g, x!, root);
    const weighted = multiply(g, upstream, weight!);
    return [
      divide(g, subtract(g, weighted, multiply(g, normal, mean(multiply(g, weighted, normal)))), root),
      sumTo(g, multiply(g, upstream, normal), weight!.shape),
    ];
  },
};

/** x / √(mean x² + ε) · weight over the last axis (Zhang and Sennrich, arXiv 1910.07467). */
export const rmsNorm = Object.assign(
  (g: Graph, x: Tensor, weight: Tensor, epsilon: number): Tensor => single(g.apply(RMS_NORM, [x, weight], { epsilon })),
  { op: RMS_NORM },
);

/** Of a rotation of the first dimensions of each head. */
interface PartialRotation {
  readonly size: number;
  readonly heads: number;
}

const ROTARY: Op<PartialRotation | undefined> = {
  name: 'rotary',
  types: ([x, positions, cosine, sine]) => {
    requireFloat('rotary', x!);
    const fits = x!.shape.length === 4 && positions!.shape.length === 2 && cosine!.shape.length === 2 && sine!.shape.length === 2;
    if (!fits) throw new GraphError(`rotary needs [batch, heads, sequence, size], not ${describeType(x!)}.`);
    return [x!];
  },
  onnx: (part) => ({
    type: 'RotaryEmbedding', domain: 'com.microsoft',
    attributes: { interleaved: { int: 0 }, ...(part && { rotary_embedding_dim: { int: part.size }, num_heads: { int: part.heads } }) },
  }),
  // The gradient of a rotation is the inverse rotation.
  gradient: ({ g, inputs: [, positions, cosine, sine], upstream }) => {
    return [rotary(g, upstream, positions!, cosine!, negate(g, sine!)), undefined, undefined, undefined];
  },
};

/**
 * Rotary position embedding: rotates the pairs (i, i + size/2) of the first `size` dimensions of x[batch, heads, sequence, …] by the angles of
 * its positions[batch, sequence] (Su et al., arXiv 2104.09864, not interleaved). `cosine` and `sine` are tables [positions, size/2].
 */
export const rotary = Object.assign(
  (g: Graph, x: Tensor, positions: Tensor, cosine: Tensor, sine: Tensor): Tensor =>
    single(g.apply(ROTARY, [x, positions, cosine, sine], partOf(x, cosine))),
  { op: ROTARY },
);

function partOf({ shape }: Tensor, cosine: Tensor): PartialRotation | undefined {
  const size = 2 * (cosine.shape[1] as number);
  return size === shape[3] ? undefined : { size, heads: shape[1] as number };
}

interface GroupedAttention {
  readonly heads: number;
  readonly keyValueHeads: number;
  readonly batch: Dimension;
  readonly length: Dimension;
  /** How many tokens a token sees, itself included; all by default. */
  readonly window?: number | undefined;
  /** The factor of the scores; 1/√size by default. */
  readonly scale?: number | undefined;
}

const GROUPED_QUERY_ATTENTION: Op<GroupedAttention> = {
  name: 'groupedQueryAttention',
  types: ([query, key], { keyValueHeads, batch, length }) => {
    requireFloat('groupedQueryAttention', query!);
    const size = (key!.shape.at(-1) as number) / keyValueHeads;
    const cache = { element: key!.element, shape: [batch, keyValueHeads, length, size] };
    return [query!, cache, cache];
  },
  onnx: ({ heads, keyValueHeads, window, scale }) => ({
    type: 'GroupQueryAttention',
    domain: 'com.microsoft',
    attributes: {
      num_heads: { int: heads }, kv_num_heads: { int: keyValueHeads }, do_rotary: { int: 1 },
      ...(window !== undefined && { local_window_size: { int: window } }),
      ...(scale !== undefined && { scale: { float: scale } }),
    },
  }),
};

/**
 * Causal attention of query[batch, length, heads · size] over key and value [batch, length, keyValueHeads · size], without earlier tokens
 * (Ainslie et al., arXiv 2305.13245). The kernel applies the rotation. Rows are padded on the right: `lastIndex` int32[batch] is the index of
 * each row's last token, `total` int32[] is the length. Also returns the rotated keys and the values as [batch, keyValueHeads, length, size].
 * It has no gradient, and no float32 on CUDA.
 */
export const groupedQueryAttention = Object.assign(
  (
    g: Graph,
    { query, key, value }: { readonly query: Tensor; readonly key: Tensor; readonly value: Tensor },
    { lastIndex, total, cosine, sine }: { readonly lastIndex: Tensor; readonly total: Tensor; readonly cosine: Tensor; readonly sine: Tensor },
    attributes: GroupedAttention,
  ): { readonly output: Tensor; readonly key: Tensor; readonly value: Tensor } => {
    // The fourth and fifth input are a KV cache, which prompts do not have.
    const inputs = [query, key, value, undefined, undefined, lastIndex, total, cosine, sine];
    const [output, presentKey, presentValue] = g.apply(GROUPED_QUERY_ATTENTION, inputs, attributes);
    return { output: output!, key: presentKey!, value: presentValue! };
  },
  { op: GROUPED_QUERY_ATTENTION },
);
