import { type Graph, type Op, requireFloat, single, type Tensor } from '../graph.ts';
import { broadcastShapes, describeType, type Dimension, elementCount, GraphError, sameShape, type Shape } from '../tensor-type.ts';
import { cast, multiply, subtract } from './arithmetic.ts';
import { barrier } from './barrier.ts';
import { gather } from './indexing.ts';
import { slice, transpose } from './pieces.ts';
import { reshape, sumTo } from './shape.ts';

/* Matrix products. */

interface Gemm {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  /** Multiplies the product, not the bias. */
  readonly scale: number;
}

const GEMM: Op<Gemm> = {
  name: 'gemm',
  types: ([a, b, bias], { transposeA, transposeB }) => {
    requireFloat('gemm', a!);
    const [rows, inner] = transposeA ? [a!.shape[1], a!.shape[0]] : a!.shape;
    const [inner2, columns] = transposeB ? [b!.shape[1], b!.shape[0]] : b!.shape;
    if (a!.shape.length !== 2 || b!.shape.length !== 2 || inner !== inner2 || a!.element !== b!.element) {
      throw new GraphError(`${describeType(a!)} and ${describeType(b!)} cannot be multiplied.`);
    }
    const shape = [rows as Dimension, columns as Dimension];
    if (bias && (bias.element !== a!.element || !sameShape(broadcastShapes(bias.shape, shape), shape))) {
      throw new GraphError(`${describeType(bias)} is no bias for ${describeType({ element: a!.element, shape })}.`);
    }
    return [{ element: a!.element, shape }];
  },
  onnx: ({ transposeA, transposeB, scale }) => ({
    type: 'Gemm',
    attributes: { ...(transposeA && { transA: { int: 1 } }), ...(transposeB && { transB: { int: 1 } }), ...(scale !== 1 && { alpha: { float: scale } }) },
  }),
  gradient: ({ g, inputs: [a, b, bias], attributes: { transposeA, transposeB, scale }, upstream }) => [
    transposeA
      ? gemm(g, b!, upstream, { transposeA: transposeB, transposeB: true, scale })
      : gemm(g, upstream, b!, { transposeB: !transposeB, scale }),
    transposeB
      ? gemm(g, upstream, a!, { transposeA: true, transposeB: transposeA, scale })
      : gemm(g, a!, upstream, { transposeA: !transposeA, scale }),
    bias && sumTo(g, upstream, bias.shape),
  ],
};

/**
 * scale · A[M, K] · B[K, N] + bias; each matrix can be transposed first. The only form of a product that all devices have and that does not
 * copy the weight.
 */
export const gemm = Object.assign(
  (
    g: Graph, a: Tensor, b: Tensor, { transposeA = false, transposeB = false, scale = 1, bias }: Partial<Gemm> & { readonly bias?: Tensor } = {},
  ): Tensor => single(g.apply(GEMM, bias ? [a, b, bias] : [a, b], { transposeA, transposeB, scale })),
  { op: GEMM },
);

/** x[M, in] · weightᵀ + bias with a weight [out, in], as in checkpoints. */
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

/** A[…, M, K] · B[…, K, N], with the leading axes broadcast. */
export const matmul = Object.assign((g: Graph, a: Tensor, b: Tensor): Tensor => single(g.apply(MATMUL, [a, b], undefined)), { op: MATMUL });

const LINEAR_STORED: Op<void> = {
  name: 'linearStored',
  types: ([x, weight]) => {
    requireFloat('linearStored', x!);
    if (x!.shape.length !== 2 || weight!.shape.length !== 3 || weight!.shape[0] !== 1 || weight!.shape[2] !== x!.shape[1]) {
      throw new GraphError(`${describeType(weight!)} is no weight [1, out, in] for ${describeType(x!)}.`);
    }
    return [{ element: x!.element, shape: [1, x!.shape[0] as Dimension, weight!.shape[1] as Dimension] }];
  },
  onnx: () => ({ type: 'FusedMatMul', domain: 'com.microsoft', attributes: { transB: { int: 1 } } }),
  // The weight is frozen.
  gradient: ({ g, inputs: [x, weight], upstream }) => [
    reshape(g, matmul(g, upstream, weight!), x!.shape),
    undefined,
  ],
};

/**
 * x[M, in] · weightᵀ with a weight [1, out, in]. On a CPU, onnxruntime makes repacked copies of matrices only, so the third axis prevents
 * the copy. For products with many rows. Differentiable with respect to `x` only.
 */
export const linearStored = Object.assign(
  (g: Graph, x: Tensor, weight: Tensor): Tensor =>
    reshape(g, single(g.apply(LINEAR_STORED, [x, weight], undefined)), [x.shape[0] as Dimension, weight.shape[1] as Dimension]),
  { op: LINEAR_STORED },
);

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
  /** 4: computes with 8-bit integers, several times faster on a CPU. 0: computes in the type of `x`. */
  readonly accuracyLevel: 0 | 4;
}

/** The bytes of a row's zero points, which are as wide as its codes. */
const zeroPointBytes = (perRow: number, bits: number): number => Math.ceil((perRow * bits) / 8);

const MATMUL_BLOCKS: Op<BlockQuantized> = {
  name: 'linearQuantized',
  types: ([x, blocks, scales, zeroPoints], { rows, columns, bits, blockSize }) => {
    requireFloat('linearQuantized', x!);
    const perRow = Math.ceil(columns / blockSize);
    const fits = x!.shape.length === 2 && x!.shape[1] === columns
      && elementCount(scales!.shape) === rows * perRow && elementCount(blocks!.shape) === (rows * perRow * blockSize * bits) / 8
      && (zeroPoints === undefined || elementCount(zeroPoints.shape) === rows * zeroPointBytes(perRow, bits));
    if (!fits) {
      const types = [x, blocks, scales, ...(zeroPoints ? [zeroPoints] : [])].map((type) => describeType(type!)).join(', ');
      const parts = zeroPoints ? 'numbers, blocks, scales and zero points' : 'numbers, blocks and scales';
      throw new GraphError(`${types} are not ${parts} for a weight [${rows}, ${columns}] in ${bits} bits.`);
    }
    return [{ element: x!.element, shape: [x!.shape[0] as Dimension, rows] }];
  },
  onnx: ({ rows, columns, bits, blockSize, accuracyLevel }) => ({
    type: 'MatMulNBits',
    domain: 'com.microsoft',
    attributes: {
      K: { int: columns }, N: { int: rows }, bits: { int: bits }, block_size: { int: blockSize }, accuracy_level: { int: accuracyLevel },
    },
  }),
  // The weight is frozen. The barrier delays its unpacking; otherwise onnxruntime would unpack it while loading and keep it.
  gradient: ({ g, inputs: [, blocks, scales, zeroPoints], attributes, upstream }) => [
    gemm(g, upstream, unpack(g, barrier(g, blocks!, upstream), scales!, zeroPoints, attributes)),
    undefined,
    undefined,
    ...(zeroPoints ? [undefined] : []),
  ],
};

/** Dequantises blocks to the weight [rows, columns]. Uses a table of bytes, because CUDA has no kernel to split a byte. */
function unpack(g: Graph, blocks: Tensor, scales: Tensor, zeroPoints: Tensor | undefined, { rows, columns, bits, blockSize }: BlockQuantized): Tensor {
  const perRow = Math.ceil(columns / blockSize);
  const middle = 2 ** (bits - 1);
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  // Less the middle, as zero points are: exact in every type.
  const numbers = (bits === 8 ? bytes : bytes.flatMap((byte) => [byte & 15, byte >> 4])).map((code) => code - middle);
  const table = cast(g, g.constant('float32', [256, 8 / bits], numbers), scales.element);
  const numbersOf = (packed: Tensor, shape: Shape): Tensor => reshape(g, gather(g, table, cast(g, packed, 'int32')), shape);
  const codes = numbersOf(blocks, [rows, perRow, blockSize]);
  // Rows of an odd number of zero points end with half a byte that is unused.
  const zeros = zeroPoints && slice(g, numbersOf(zeroPoints, [rows, (zeroPointBytes(perRow, bits) * 8) / bits, 1]), 1, 0, perRow);
  const steps = zeros ? subtract(g, codes, zeros) : codes;
  const weight = reshape(g, multiply(g, steps, reshape(g, scales, [rows, perRow, 1])), [rows, perRow * blockSize]);
  return columns === perRow * blockSize ? weight : slice(g, weight, 1, 0, columns);
}

/**
 * x[M, in] · weightᵀ with the weight in blocks of 4 or 8 bits: `blocks` uint8[out, in / blockSize, blockSize · bits / 8], low half
 * first; `scales` [out · in / blockSize]; `zeroPoints` uint8[out, in / blockSize · bits / 8], packed likewise, or 2^(bits−1) for all blocks.
 * Differentiable with respect to `x` only.
 */
export const linearQuantized = Object.assign(
  (g: Graph, x: Tensor, { blocks, scales, zeroPoints }: BlocksOfWeight, attributes: BlockQuantized): Tensor =>
    single(g.apply(MATMUL_BLOCKS, [x, blocks, scales, ...(zeroPoints ? [zeroPoints] : [])], attributes)),
  { op: MATMUL_BLOCKS },
);

export interface BlocksOfWeight {
  readonly blocks: Tensor;
  readonly scales: Tensor;
  readonly zeroPoints?: Tensor | undefined;
}
