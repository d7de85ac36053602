import { type Graph, type Op, requireFloat, single, type Tensor } from '../graph.ts';
import { broadcastShapes, describeType, type Dimension, GraphError } from '../tensor-type.ts';
import { transpose } from './pieces.ts';
import { sumTo } from './shape.ts';

/* Products of matrices. */

interface Gemm {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

const GEMM: Op<Gemm> = {
  name: 'gemm',
  types: ([a, b], { transposeA, transposeB }) => {
    requireFloat('gemm', a!);
    const [rows, inner] = transposeA ? [a!.shape[1], a!.shape[0]] : a!.shape;
    const [inner2, columns] = transposeB ? [b!.shape[1], b!.shape[0]] : b!.shape;
    if (a!.shape.length !== 2 || b!.shape.length !== 2 || inner !== inner2 || a!.element !== b!.element) {
      throw new GraphError(`${describeType(a!)} and ${describeType(b!)} cannot be multiplied.`);
    }
    return [{ element: a!.element, shape: [rows as Dimension, columns as Dimension] }];
  },
  onnx: ({ transposeA, transposeB }) => ({
    type: 'Gemm',
    attributes: { ...(transposeA && { transA: { int: 1 } }), ...(transposeB && { transB: { int: 1 } }) },
  }),
  gradient: ({ g, inputs: [a, b, bias], attributes: { transposeA, transposeB }, upstream }) => [
    transposeA ? gemm(g, b!, upstream, { transposeA: transposeB, transposeB: true }) : gemm(g, upstream, b!, { transposeB: !transposeB }),
    transposeB ? gemm(g, upstream, a!, { transposeA: true, transposeB: transposeA }) : gemm(g, a!, upstream, { transposeA: !transposeA }),
    bias && sumTo(g, upstream, bias.shape),
  ],
};

/** A[M, K] · B[K, N] + bias, either matrix transposed first. The one form of a product that every device has, and that copies no weight. */
export const gemm = Object.assign(
  (g: Graph, a: Tensor, b: Tensor, { transposeA = false, transposeB = false, bias }: Partial<Gemm> & { readonly bias?: Tensor } = {}): Tensor =>
    single(g.apply(GEMM, bias ? [a, b, bias] : [a, b], { transposeA, transposeB })),
  { op: GEMM },
);

/** x[M, in] · weightᵀ + bias with a weight [out, in], as checkpoints store it. */
export const linear = (g: Graph, x: Tensor, weight: Tensor, bias?: Tensor): Tensor =>
  gemm(g, x, weight, { transposeB: true, ...(bias && { bias }) });

const MATMUL: Op<void> = {
  name: 'matmul',
  types: ([a, b]) => {
    requireFloat('matmul', a!);
    const [inner, inner2] = [a!.shape.at(-1), b!.shape.at(-2)];
    if (a!.shape.length < 2 || b!.shape.length < 2 || inner !== inner2 || a!.element !== b!.element) {
      throw new GraphError(`${describeType(a!)} and ${describeType(b!)} cannot be multiplied.`);
    }
    const batch = broadcastShapes(a!.shape.slice(0, -2), b!.shape.slice(0, -2));
    return [{ element: a!.element, shape: [...batch, a!.shape.at(-2) as Dimension, b!.shape.at(-1) as Dimension] }];
  },
  onnx: () => ({ type: 'MatMul' }),
  gradient: ({ g, inputs: [a, b], upstream }) => [
    sumTo(g, matmul(g, upstream, swapLast(g, b!)), a!.shape),
    sumTo(g, matmul(g, swapLast(g, a!), upstream), b!.shape),
  ],
};

/** A[…, M, K] · B[…, K, N], the leading axes stretched to each other. */
export const matmul = Object.assign((g: Graph, a: Tensor, b: Tensor): Tensor => single(g.apply(MATMUL, [a, b], undefined)), { op: MATMUL });

/** Swaps the last two axes. */
export function swapLast(g: Graph, x: Tensor): Tensor {
  const rank = x.shape.length;
  return transpose(g, x, Array.from({ length: rank }, (_, axis) => (axis < rank - 2 ? axis : 2 * rank - 3 - axis)));
}

interface BlockQuantized {
  readonly rows: number;
  readonly columns: number;
  readonly bits: 4 | 8;
  readonly blockSize: number;
  /** 4: products of 8-bit integers, several times faster on a CPU; 0: in the type of `x`. */
  readonly accuracyLevel: 0 | 4;
}

const MATMUL_BLOCKS: Op<BlockQuantized> = {
  name: 'linearQuantized',
  types: ([x], { rows, columns }) => {
    if (x!.shape.length !== 2 || x!.shape[1] !== columns) throw new GraphError(`${describeType(x!)} does not fit a weight [${rows}, ${columns}].`);
    return [{ element: x!.element, shape: [x!.shape[0] as Dimension, rows] }];
  },
  onnx: ({ rows, columns, bits, blockSize, accuracyLevel }) => ({
    type: 'MatMulNBits',
    domain: 'com.microsoft',
    attributes: { K: { int: columns }, N: { int: rows }, bits: { int: bits }, block_size: { int: blockSize }, accuracy_level: { int: accuracyLevel } },
  }),
};

/**
 * x[M, in] · weightᵀ with the weight in blocks of 4 or 8 bits: `blocks` uint8[out, in / blockSize, blockSize · bits / 8], low half
 * first, around a zero point of 2^(bits−1); `scales` [out · in / blockSize].
 */
export const linearQuantized = Object.assign(
  (g: Graph, x: Tensor, blocks: Tensor, scales: Tensor, attributes: BlockQuantized): Tensor =>
    single(g.apply(MATMUL_BLOCKS, [x, blocks, scales], attributes)),
  { op: MATMUL_BLOCKS },
);
