import { expect, it } from 'vitest';
import { chunkTokens, scoredTokens } from '../../backend/lm/chunk-tokens.ts';
import { HALF_BILLION, SEVEN_BILLION } from './geometries.ts';

const request = { device: 'cpu', weightBytes: 2e9, config: HALF_BILLION, rows: 1, maxTokens: 1_000, interactive: true } as const;

it('is shorter the longer a step takes: with larger weights, with more rows, and for somebody who waits', () => {
  expect(chunkTokens(request)).toBe(5);
  expect(chunkTokens({ ...request, weightBytes: 0.4e9 })).toBe(16);
  expect(chunkTokens({ ...request, interactive: false })).toBe(10);
  expect(chunkTokens({ ...request, interactive: false, rows: 64 })).toBe(4);
  expect(chunkTokens({ ...request, weightBytes: 28e9, config: SEVEN_BILLION })).toBe(1);
});

it('is never longer than what is asked for', () => {
  for (const device of ['cpu', 'cuda'] as const) {
    for (const interactive of [true, false]) {
      expect(chunkTokens({ ...request, device, interactive, weightBytes: 1, maxTokens: 3 })).toBe(3);
    }
  }
});

it('is the whole of a batch on a GPU', () => {
  expect(chunkTokens({ ...request, device: 'cuda', rows: 64, interactive: false })).toBe(1_000);
  expect(chunkTokens({ ...request, device: 'cuda' })).toBe(16);
});

it('scores so many tokens at once that a run ends within seconds, or fills the machine', () => {
  expect(scoredTokens({ device: 'cpu', config: HALF_BILLION }).most).toBe(256);
  expect(scoredTokens({ device: 'cuda', config: SEVEN_BILLION }).most).toBe(8_192);
});
