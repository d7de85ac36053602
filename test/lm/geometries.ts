import type { DecoderConfig } from '../../backend/lm/checkpoint/decoder-config.ts';

/** The published geometry of Qwen2.5-7B. */
export const SEVEN_BILLION: DecoderConfig = {
  architecture: 'qwen2',
  vocabularySize: 152064,
  hiddenSize: 3584,
  intermediateSize: 18944,
  layers: 28,
  attentionHeads: 28,
  keyValueHeads: 4,
  headSize: 128,
  rmsNormEpsilon: 1e-6,
  ropeTheta: 1e6,
  maximumPositions: 32768,
  tiedEmbeddings: false,
  attentionBias: true,
  queryKeyNorm: false,
  stopTokenIds: [151645],
};

/** That of Qwen2.5-0.5B. */
export const HALF_BILLION: DecoderConfig = {
  ...SEVEN_BILLION,
  vocabularySize: 151936,
  hiddenSize: 896,
  intermediateSize: 4864,
  layers: 24,
  attentionHeads: 14,
  keyValueHeads: 2,
  headSize: 64,
  tiedEmbeddings: true,
};
