import { expect, it } from 'vitest';
import type { DecoderConfig } from '../../backend/lm/checkpoint/decoder-config.ts';
import { chunkTokens, scoredTokens } from '../../backend/lm/chunk-tokens.ts';

/** Qwen2.5 with 0.5 and with 7 billion weights. */
const SMALL: DecoderConfig = {
  architecture: 'qwen2', vocabularySize: 151_936, hiddenSize: 896, intermediateSize: 4_864, layers: 24,
  attentionHeads: 14, keyValueHeads: 2, headSize: 64, rmsNormEpsilon: 1e-6, ropeTheta: 1e6, maximumPositions: 32_768,
  tiedEmbeddings: true, attentionBias: true, queryKeyNorm: false, stopTokenIds: [151_645],
};
const LARGE: DecoderConfig = {
  ...SMALL, hiddenSize: 3_584, intermediateSize: 18_944, layers: 28, attentionHeads: 28, keyValueHeads: 4, headSize: 128,
  tiedEmbeddings: false,
};
const request = { device: 'cpu', weightBytes: 2e9, config: SMALL, rows: 1, maxTokens: 1_000, interactive: true } as const;

it('is shorter the longer a step takes: with larger weights, with more rows, and for somebody who waits', () => {
  expect(chunkTokens(request)).toBe(5);
  expect(chunkTokens({ ...request, weightBytes: 0.4e9 })).toBe(16);
  expect(chunkTokens({ ...request, interactive: false })).toBe(10);
  expect(chunkTokens({ ...request, interactive: false, rows: 64 })).toBe(4);
  expect(chunkTokens({ ...request, weightBytes: 28e9, config: LARGE })).toBe(1);
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
  expect(scoredTokens({ device: 'cpu', config: SMALL }).most).toBe(256);
  expect(scoredTokens({ device: 'cuda', config: LARGE }).most).toBe(8_192);
});
