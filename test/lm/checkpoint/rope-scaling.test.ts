import { expect, test } from 'vitest';
import { type RopeScaling, rotaryFrequencies } from '../../../backend/lm/checkpoint/rope-scaling.ts';

/** Some of the 32 frequencies that transformers 5.23.0 computes (`ROPE_INIT_FUNCTIONS`) for a head of 64. */
const PAIRS = [0, 8, 12, 16, 20, 24, 31];

test.each<[string, number, RopeScaling, readonly number[]]>([
  [
    'Llama-3.2-1B', 500_000, { type: 'llama3', factor: 32, lowFrequencyFactor: 1, highFrequencyFactor: 4, originalPositions: 8192 },
    [1, 0.03760603070259094, 0.00729266507551074, 0.000429556705057621, 8.570255886297673e-6, 1.6619674170215148e-6, 9.418306490260875e-8],
  ],
  [
    'Qwen2.5 with YaRN as its page recommends', 1e6, { type: 'yarn', factor: 4, fast: 32, slow: 1, originalPositions: 32_768, magnitude: 1.14 },
    [1, 0.03162277862429619, 0.005154795479029417, 0.0005833333707414567, 4.4456985051510856e-5, 7.905693564680405e-6, 3.8498163235090033e-7],
  ],
  [
    'an eighth of each angle', 1e6, { type: 'linear', factor: 8 },
    [0.125, 0.0039528473280370235, 0.0007029266562312841, 0.0001250000059371814, 2.2228492525755428e-5, 3.9528467823402025e-6, 1.9249081617545016e-7],
  ],
  [
    'a factor for each pair', 10_000, { type: 'longrope', factors: Array.from({ length: 32 }, (_, pair) => 1 + 0.06 * pair), originalPositions: 4096, magnitude: 1.19 },
    [1, 0.06756756454706192, 0.01838533580303192, 0.005102040711790323, 0.001437398954294622, 0.00040983606595546007, 4.662662831833586e-5],
  ],
])('the rotation of %s is that of transformers', (_name, theta, scaling, expected) => {
  const frequencies = rotaryFrequencies(64, theta, scaling);
  PAIRS.forEach((pair, index) => expect(frequencies[pair]! / expected[index]!).toBeCloseTo(1, 6));
});
