import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allocateQuantizedRows, dequantizeRows, NonFiniteWeightError, quantizeRows, type BlockFormat, type QuantizedRows,
} from '../../../backend/lm/quantize/block-quantize.ts';
import { gaussian, heavyTailed } from './random-weights.ts';

function quantize(weights: Float32Array, columns: number, format: BlockFormat): QuantizedRows {
  const quantized = allocateQuantizedRows(weights.length / columns, columns, format);
  quantizeRows(weights, columns, format, quantized);
  return quantized;
}

function roundTrip(weights: Float32Array, columns: number, format: BlockFormat): Float32Array {
  return dequantizeRows(quantize(weights, columns, format), weights.length / columns, columns, format);
}

function squaredError(weights: Float32Array, approximations: ArrayLike<number>): number {
  return weights.reduce((sum, weight, index) => sum + (weight - approximations[index]!) ** 2, 0);
}

/** The weights rounded in the plainest way: levels that just span each block and 0 or, with 8 bits, its largest magnitude as the code 127. */
function plainRoundTrip(weights: Float32Array, columns: number, { bits, blockSize }: BlockFormat): Float32Array {
  const rounded = new Float32Array(weights.length);
  for (let start = 0; start < weights.length; start += columns) {
    for (let from = start; from < start + columns; from += blockSize) {
      const to = Math.min(from + blockSize, start + columns);
      const [low, high] = [Math.min(0, ...weights.subarray(from, to)), Math.max(0, ...weights.subarray(from, to))];
      const scale = bits === 4 ? (high - low) / 15 : Math.max(-low, high) / 127;
      const zero = bits === 4 ? Math.round(-low / scale) : 0;
      for (let i = from; i < to; i++) rounded[i] = scale === 0 ? 0 : (Math.round(weights[i]! / scale + zero) - zero) * scale;
    }
  }
  return rounded;
}

const formats: fc.Arbitrary<BlockFormat> = fc.record({ bits: fc.constantFrom(4, 8), blockSize: fc.constantFrom(16, 32, 64) });
const weight = fc.oneof(fc.constantFrom(0, 1, -1), fc.double({ min: -1e3, max: 1e3, noNaN: true }));

/** Rows and columns, and weights of any magnitude that a model may have; many of them 0, many equal. */
const matrices = fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 150 })).chain(([rows, columns]) =>
  fc.record({
    columns: fc.constant(columns),
    weights: fc
      .array(weight, { minLength: rows * columns, maxLength: rows * columns })
      // What is that small comes out as 0 and says nothing about rounding.
      .map((values) => Float32Array.from(values, (value) => (Math.abs(value) < 1e-9 ? 0 : value))),
  }),
);

describe('quantizing blocks', () => {
  it('is never worse than plain rounding, in any block', () => {
    fc.assert(fc.property(formats, matrices, (format, { weights, columns }) => {
      const ours = roundTrip(weights, columns, format);
      const plain = plainRoundTrip(weights, columns, format);
      for (let start = 0; start < weights.length; start += columns) {
        for (let from = start; from < start + columns; from += format.blockSize) {
          const to = Math.min(from + format.blockSize, start + columns);
          const block = weights.subarray(from, to);
          const power = block.reduce((sum, weight) => sum + weight * weight, 0);
          // The slack is what rounding a scale to float32 may cost.
          const bound = squaredError(block, plain.subarray(from, to)) + 1e-6 * power;
          expect(squaredError(block, ours.subarray(from, to))).toBeLessThanOrEqual(bound);
        }
      }
    }));
  });

  it('gives each weight the nearest of the values that its block can express', () => {
    fc.assert(fc.property(formats, matrices, (format, { weights, columns }) => {
      const { scales, zeroPoints } = quantize(weights, columns, format);
      const approximations = roundTrip(weights, columns, format);
      const perRow = Math.ceil(columns / format.blockSize);
      weights.forEach((weight, index) => {
        const [row, place] = [Math.floor(index / columns), Math.floor((index % columns) / format.blockSize)];
        const zero = zeroPoints ? (zeroPoints[row * Math.ceil(perRow / 2) + (place >> 1)]! >> ((place & 1) * 4)) & 15 : 128;
        const values = Array.from({ length: 2 ** format.bits }, (_, code) => (code - zero) * scales[row * perRow + place]!);
        const smallest = values.reduce((least, value) => Math.min(least, Math.abs(weight - value)), Infinity);
        expect(Math.abs(weight - approximations[index]!)).toBeLessThanOrEqual(smallest + 1e-5 * Math.abs(weight));
      });
    }), { numRuns: 30 });
  });

  it('keeps what it can express exactly', () => {
    for (const lowest of [0, -3, -8, -15]) {
      const four = Float32Array.from({ length: 32 }, (_, index) => ((index % 16) + lowest) * 0.25);
      expect(roundTrip(four, 32, { bits: 4, blockSize: 32 })).toEqual(four);
    }
    const eight = Float32Array.from({ length: 256 }, (_, index) => (index - 128) * 0.5);
    expect(roundTrip(eight, 256, { bits: 8, blockSize: 256 })).toEqual(eight);
  });

  it('keeps zeros, a lone weight, and the tiniest ones without dividing by zero', () => {
    for (const bits of [4, 8] as const) {
      expect(roundTrip(new Float32Array(40), 40, { bits, blockSize: 32 })).toEqual(new Float32Array(40));
      expect(roundTrip(Float32Array.of(-3), 1, { bits, blockSize: 32 })).toEqual(Float32Array.of(-3));
      const tiniest = roundTrip(Float32Array.of(1e-45, -1e-45), 2, { bits, blockSize: 16 });
      expect(tiniest.every((value) => Math.abs(value) < 1e-43)).toBe(true);
    }
  });

  it('pads the last block of a row with zeros', () => {
    const { blocks, zeroPoints } = quantize(Float32Array.of(1, 1, 1, -1, -1, -1), 3, { bits: 4, blockSize: 16 });
    expect([...blocks]).toEqual([0xff, 0x0f, ...new Array<number>(6).fill(0), 0, 0xf0, ...new Array<number>(6).fill(0xff)]);
    expect([...zeroPoints!]).toEqual([0, 15]);
    const { blocks: bytes } = quantize(Float32Array.of(1, 1, 1), 3, { bits: 8, blockSize: 16 });
    expect([...bytes.subarray(3)]).toEqual(new Array(13).fill(128));
  });

  it.each([
    ['Gaussian', gaussian, 0.0774, 0.0051],
    ['heavy-tailed', heavyTailed, 0.0935, 0.0073],
  ] as const)('has the error that zero points and a search for the scale make possible, on %s weights', (_, random, ofFour, ofEight) => {
    const columns = 896;
    const weights = random(11, 400 * columns);
    const deviation = Math.sqrt(squaredError(weights, new Float32Array(weights.length)));
    const errorOf = (approximations: Float32Array): number => Math.sqrt(squaredError(weights, approximations)) / deviation;
    const four: BlockFormat = { bits: 4, blockSize: 32 };
    expect(errorOf(roundTrip(weights, columns, four))).toBeLessThan(ofFour);
    expect(errorOf(roundTrip(weights, columns, four))).toBeLessThan(0.98 * errorOf(plainRoundTrip(weights, columns, four)));
    expect(errorOf(roundTrip(weights, columns, { bits: 8, blockSize: 32 }))).toBeLessThan(ofEight);
  });

  it('has less error in the columns that count more', () => {
    const [columns, format] = [64, { bits: 4, blockSize: 32 } as const];
    const weights = gaussian(5, 200 * columns);
    const importance = Float32Array.from({ length: columns }, (_, column) => (column % 8 === 3 ? 50 : 1));
    const target = allocateQuantizedRows(200, columns, format);
    quantizeRows(weights, columns, format, target, importance);
    const counted = (approximations: Float32Array): number =>
      weights.reduce((sum, weight, index) => sum + importance[index % columns]! * (weight - approximations[index]!) ** 2, 0);
    expect(counted(dequantizeRows(target, 200, columns, format))).toBeLessThan(0.75 * counted(roundTrip(weights, columns, format)));
  });

  it.each([Number.NaN, Infinity, -Infinity])('refuses %s and says where it stands', (value) => {
    const weights = new Float32Array(3 * 50).fill(1);
    weights[137] = value;
    const refusal = expect.objectContaining({ name: NonFiniteWeightError.name, index: 137 }) as Error;
    expect(() => quantize(weights, 50, { bits: 4, blockSize: 32 })).toThrow(refusal);
  });

  it('fills the same storage again, with fewer rows', () => {
    const format: BlockFormat = { bits: 4, blockSize: 16 };
    const target = allocateQuantizedRows(3, 20, format);
    quantizeRows(gaussian(1, 60), 20, format, target);
    const two = gaussian(2, 40);
    quantizeRows(two, 20, format, target);
    expect(dequantizeRows(target, 2, 20, format)).toEqual(roundTrip(two, 20, format));
  });
});
