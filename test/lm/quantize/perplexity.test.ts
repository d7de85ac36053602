import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { perplexity, perplexityChange } from '../../../backend/lm/quantize/perplexity.ts';

const logprobs = fc.double({ min: -20, max: 0, noNaN: true });

describe('perplexity', () => {
  it('is the number of words among which a model guesses evenly', () => {
    const even = Math.log(1 / 50);
    expect(perplexity([[even, even], [even]])).toBeCloseTo(50, 9);
    expect(perplexity([[0, 0]])).toBe(1);
  });

  it('weighs each token the same, in whichever sequence it stands', () => {
    fc.assert(fc.property(fc.array(logprobs, { minLength: 2, maxLength: 40 }), fc.nat(), (tokens, at) => {
      const cut = at % tokens.length;
      expect(perplexity([tokens.slice(0, cut), tokens.slice(cut)])).toBeCloseTo(perplexity([tokens]), 6);
    }));
  });

  it.each([Number.NaN, 0.5, Infinity])('refuses %s as a log-probability', (value) => {
    expect(() => perplexity([[-1, value]])).toThrow(RangeError);
  });

  it('refuses no tokens at all', () => {
    expect(() => perplexity([[], []])).toThrow(RangeError);
  });
});

describe('the change of perplexity', () => {
  it('is nothing, and certain, between equal runs', () => {
    const run = [[-1, -2, -0.25]];
    expect(perplexityChange(run, run)).toMatchObject({ relativeChange: 0, standardError: 0, tokens: 3 });
  });

  it('is what the perplexities themselves say', () => {
    fc.assert(fc.property(fc.array(fc.tuple(logprobs, logprobs), { minLength: 1, maxLength: 50 }), (pairs) => {
      const { before, after, relativeChange } = perplexityChange([pairs.map(([old]) => old)], [pairs.map(([, now]) => now)]);
      expect(after / before).toBeCloseTo(1 + relativeChange, 6 - Math.ceil(Math.log10(1 + Math.abs(relativeChange))));
    }));
  });

  it('is the more certain the more tokens agree', () => {
    const noisy = (count: number) => {
      const after = Array.from({ length: count }, (_, index) => (index % 2 ? -1.9 : -2.2));
      return perplexityChange([after.map(() => -2)], [after]);
    };
    expect(noisy(10).relativeChange).toBeCloseTo(Math.expm1(0.05), 9);
    expect(noisy(1000).standardError).toBeLessThan(noisy(10).standardError / 9);
    expect(noisy(1000).relativeChange).toBeGreaterThan(2 * noisy(1000).standardError);
    expect(noisy(4).relativeChange).toBeLessThan(2 * noisy(4).standardError);
  });

  it.each([[[[-1]], [[-1], [-1]]], [[[-1, -1]], [[-1]]]])('refuses runs over different tokens: %j and %j', (before, after) => {
    expect(() => perplexityChange(before, after)).toThrow(RangeError);
  });
});
