import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bfloat16Bits, float16Bits } from '../../../backend/lm/graph/half-precision.ts';
import { widen } from '../../../backend/lm/checkpoint/widen.ts';

// The reference, on a Node that has it.
const { Float16Array: HalfArray } = globalThis as unknown as { Float16Array: new (values: readonly number[]) => { buffer: ArrayBuffer } };

describe('half precision', () => {
  it('gives every pattern of 16 bits back', () => {
    for (const [type, bitsOf] of [['float16', float16Bits], ['bfloat16', bfloat16Bits]] as const) {
      const patterns = Uint16Array.from({ length: 65_536 }, (_, bits) => bits);
      const values = new Float32Array(patterns.length);
      widen(type, new Uint8Array(patterns.buffer), values, 0);
      values.forEach((value, bits) => { if (!Number.isNaN(value)) expect(bitsOf(value)).toBe(bits); });
    }
  });

  it('rounds any number as Float16Array does', () => {
    const near = fc.double({ min: -70_000, max: 70_000, noNaN: true });
    fc.assert(fc.property(fc.oneof(near, fc.double({ noNaN: true }), near.map((value) => value * 2 ** -20)), (value) => {
      expect(float16Bits(value)).toBe(new Uint16Array(new HalfArray([value]).buffer)[0]);
    }), { numRuns: 5_000 });
  });

  it('keeps what is no number', () => {
    expect([float16Bits(Number.NaN), bfloat16Bits(Number.NaN)]).toEqual([0x7e00, 0x7fc0]);
  });
});
