import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openCheckpoint } from '../../../backend/lm/checkpoint/open-checkpoint.ts';
import { readTensor } from '../../../backend/lm/checkpoint/read-tensor.ts';
import { Graph, single, type Op, type Tensor } from '../../../backend/lm/graph/graph.ts';
import { float32s, Session } from '../../../backend/lm/graph/session.ts';
import {
  allocateQuantizedRows, dequantizeRows, quantizeRows, type BlockFormat,
} from '../../../backend/lm/quantize/block-quantize.ts';
import { openQuantized } from '../../../backend/lm/quantize/quantized-store.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { TINY_QWEN3, tinyTensors, writeTinyCheckpoint } from '../../support/tiny-checkpoint.ts';
import { gaussian } from './random-weights.ts';

/* onnxruntime itself says whether our layout is its own. */

interface Product {
  readonly rows: number;
  readonly columns: number;
  readonly format: BlockFormat;
  readonly accuracyLevel: 0 | 4;
}

const PRODUCT: Op<Product> = {
  name: 'product',
  types: ([x], { rows }) => [{ element: 'float32', shape: [x!.shape[0]!, rows] }],
  onnx: ({ rows, columns, format: { bits, blockSize }, accuracyLevel }) => ({
    type: 'MatMulNBits',
    domain: 'com.microsoft',
    attributes: {
      K: { int: columns },
      N: { int: rows },
      bits: { int: bits },
      block_size: { int: blockSize },
      accuracy_level: { int: accuracyLevel },
    },
  }),
};

interface Multiplication extends Product {
  /** Codes, scales and, if it has them, zero points, as constants or as ranges of a file. */
  readonly weight: (g: Graph) => readonly Tensor[];
  /** [tokens, columns] */
  readonly x: Float32Array;
  readonly repackWeights: boolean;
}

/** x · weightᵀ, [tokens, rows], as onnxruntime works it out. */
async function multiply({ weight, x, repackWeights, ...product }: Multiplication): Promise<Float32Array> {
  const g = new Graph();
  const y = single(g.apply(PRODUCT, [g.input('x', 'float32', ['tokens', product.columns]), ...weight(g)], product));
  const session = await Session.open(g, { y }, { device: 'cpu', threads: 1, repackWeights });
  try {
    const results = await session.run({ x: float32s([x.length / product.columns, product.columns], x) }, ['y']);
    return results.y.data as Float32Array;
  } finally {
    await session.close();
  }
}

function shapesOf(rows: number, columns: number, format: BlockFormat) {
  const perRow = Math.ceil(columns / format.blockSize);
  return { blocks: [rows, perRow, (format.blockSize * format.bits) / 8], scales: [rows, perRow], zeroPoints: [rows, Math.ceil(perRow / 2)] };
}

/** The same in float64, from the weights that the codes stand for. */
function multiplyExactly(x: Float32Array, weights: Float32Array, rows: number, columns: number): number[] {
  return Array.from({ length: (x.length / columns) * rows }, (_, index) => {
    const [token, row] = [Math.floor(index / rows), index % rows];
    let sum = 0;
    for (let column = 0; column < columns; column++) sum += x[token * columns + column]! * weights[row * columns + column]!;
    return sum;
  });
}

/** The largest difference, as a part of what the terms add up to without their signs: terms that cancel keep their rounding. */
function relativeError(found: Float32Array, x: Float32Array, weights: Float32Array, rows: number, columns: number): number {
  const expected = multiplyExactly(x, weights, rows, columns);
  const magnitudes = multiplyExactly(x.map(Math.abs), weights.map(Math.abs), rows, columns);
  return Math.max(...expected.map((value, index) => Math.abs(value - found[index]!) / magnitudes[index]!));
}

function randomQuantized(seed: number, rows: number, columns: number, format: BlockFormat) {
  const quantized = allocateQuantizedRows(rows, columns, format);
  // Blocks that lie on one side of 0 more than on the other, each in its own way.
  const shifts = gaussian(seed + 2, rows * columns);
  quantizeRows(gaussian(seed, rows * columns).map((weight, index) => weight + shifts[Math.floor(index / format.blockSize)]!), columns, format, quantized);
  const shape = shapesOf(rows, columns, format);
  const weight: Multiplication['weight'] = (g) => [
    g.constant('uint8', shape.blocks, quantized.blocks),
    g.constant('float32', shape.scales, quantized.scales),
    ...(quantized.zeroPoints ? [g.constant('uint8', shape.zeroPoints, quantized.zeroPoints)] : []),
  ];
  return { weight, weights: dequantizeRows(quantized, rows, columns, format) };
}

const shapes = {
  rows: fc.integer({ min: 1, max: 70 }),
  columns: fc.integer({ min: 1, max: 200 }),
  tokens: fc.constantFrom(1, 2, 17),
  bits: fc.constantFrom(4, 8) as fc.Arbitrary<4 | 8>,
  blockSize: fc.constantFrom(16, 32, 64, 128),
  seed: fc.nat(),
};

describe('the layout of MatMulNBits', () => {
  it.each([true, false])('is what onnxruntime multiplies with, any shape, weights repacked: %s', async (repackWeights) => {
    await fc.assert(fc.asyncProperty(fc.record(shapes), async ({ rows, columns, tokens, bits, blockSize, seed }) => {
      const format: BlockFormat = { bits, blockSize };
      const { weight, weights } = randomQuantized(seed, rows, columns, format);
      const x = gaussian(seed + 1, tokens * columns, 1);
      const found = await multiply({ weight, x, rows, columns, format, accuracyLevel: 0, repackWeights });
      expect(relativeError(found, x, weights, rows, columns)).toBeLessThan(1e-5);
    }), { numRuns: 60 });
  });

  it('is what onnxruntime multiplies with in 8-bit integers, up to their rounding', async () => {
    await fc.assert(fc.asyncProperty(fc.record(shapes), async ({ rows, columns, tokens, bits, blockSize, seed }) => {
      const format: BlockFormat = { bits, blockSize };
      const { weight, weights } = randomQuantized(seed, rows, columns, format);
      const x = gaussian(seed + 1, tokens * columns, 1);
      const found = await multiply({ weight, x, rows, columns, format, accuracyLevel: 4, repackWeights: true });
      // Activations are rounded to 1/127 of the largest in a block: each product is off by at most half of that.
      const exact = multiplyExactly(x, weights, rows, columns);
      exact.forEach((value, index) => {
        const [token, row] = [Math.floor(index / rows), index % rows];
        let bound = 1e-5;
        for (let from = 0; from < columns; from += blockSize) {
          const to = Math.min(from + blockSize, columns);
          const magnitudes = (values: Float32Array, start: number): number[] =>
            Array.from(values.subarray(start + from, start + to), Math.abs);
          const step = Math.max(...magnitudes(x, token * columns)) / 127;
          bound += (step / 2) * magnitudes(weights, row * columns).reduce((sum, magnitude) => sum + magnitude, 0) * 1.01;
        }
        expect(Math.abs(value - found[index]!)).toBeLessThanOrEqual(bound);
      });
    }), { numRuns: 60 });
  });

  it('is what onnxruntime finds in the cached file, at the places that are named', async () => {
    const folder = await temporaryFolder();
    await writeTinyCheckpoint(folder, TINY_QWEN3, tinyTensors(TINY_QWEN3, 'BF16'));
    const checkpoint = await openCheckpoint(folder);
    const storage = path.join(folder, 'storage');
    const { signal } = new AbortController();
    const { tensors } = await openQuantized(checkpoint, { storage, bits: 4, blockSize: 32, signal });
    for (const [name, { rows, columns, blocks, scales, zeroPoints, ...format }] of tensors) {
      const shape = shapesOf(rows, columns, format);
      const weight: Multiplication['weight'] = (g) => [
        g.weight('blocks', 'uint8', shape.blocks, blocks),
        g.weight('scales', 'float32', shape.scales, scales),
        ...(zeroPoints ? [g.weight('zeroPoints', 'uint8', shape.zeroPoints, zeroPoints)] : []),
      ];
      const expected = allocateQuantizedRows(rows, columns, format);
      quantizeRows(await readTensor(checkpoint.tensors.get(name)!), columns, format, expected);
      const weights = dequantizeRows(expected, rows, columns, format);
      const x = gaussian(1, columns, 1);
      const found = await multiply({ weight, x, rows, columns, format, accuracyLevel: 0, repackWeights: true });
      expect(relativeError(found, x, weights, rows, columns)).toBeLessThan(1e-5);
    }
  });
});
