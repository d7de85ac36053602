import { expect, it } from 'vitest';
import { openCheckpoint } from '../../backend/lm/checkpoint/open-checkpoint.ts';
import { inspectCheckpoint } from '../../backend/lm/checkpoint/inspect.ts';
import { needsText, stillNeeded, weightsNeeds, weightsProblem } from '../../backend/lm/trained-weights.ts';
import { modelFolder } from '../golden/golden.ts';

const checkpoint = await openCheckpoint(modelFolder('qwen2-tiny'));

it('is told what it takes to train all weights, from the files alone', () => {
  const { parameters } = inspectCheckpoint(checkpoint);
  const { memoryBytes, diskBytes } = weightsNeeds(checkpoint);
  // Weights twice, gradients, their sum and two moments, in float32; texts on top.
  expect(memoryBytes).toBeGreaterThan(24 * parameters);
  expect(diskBytes).toBe(32 * parameters);
});

it('is refused where memory or disk lack, or where the model runs in fewer bits', () => {
  const needs = { memoryBytes: 12 * 2 ** 30, diskBytes: 16 * 2 ** 30 };
  const room = { memoryBytes: 16 * 2 ** 30, diskBytes: 20 * 2 ** 30 };
  expect(weightsProblem(needs, room, 'full')).toBeUndefined();
  expect(weightsProblem(needs, { ...room, memoryBytes: 8 * 2 ** 30 }, 'full')).toBe(`that takes ${needsText(needs)}, and 8.0 GB of memory are free`);
  expect(weightsProblem(needs, { ...room, diskBytes: 2 ** 30 }, 'full')).toContain('1.0 GB of disk are free');
  // A training that goes on has its checkpoint on the disk already.
  expect(weightsProblem(stillNeeded(needs, 6 * 2 ** 30), { ...room, diskBytes: 11 * 2 ** 30 }, 'full')).toBeUndefined();
  expect(weightsProblem(needs, room, '4-bit')).toBe('the model runs in 4 bits here, and only full weights can be trained');
});
