import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { Graph, Tensor } from '../../../backend/lm/graph/graph.ts';
import {
  add, divide, exponential, logarithm, multiply, negate, sigmoid, squareRoot, subtract,
} from '../../../backend/lm/graph/ops/arithmetic.ts';
import { gather } from '../../../backend/lm/graph/ops/indexing.ts';
import { matmul, swapLast } from '../../../backend/lm/graph/ops/linear.ts';
import { logSoftmax, rmsNorm, softmax } from '../../../backend/lm/graph/ops/neural.ts';
import { concat, slice, transpose } from '../../../backend/lm/graph/ops/pieces.ts';
import { cumulativeSum } from '../../../backend/lm/graph/ops/reduction.ts';
import { expand, reshape, sum } from '../../../backend/lm/graph/ops/shape.ts';
import { Draft } from './gradient-check.ts';

/*
 * Expressions of random form: each operation takes any of the tensors before it, so tensors have several uses, and some have none.
 * All tensors are [rows, 3] with a named size. Operations with kinks are left out, and those with poles are kept from them: each operation
 * by itself is checked in op-gradients.test.ts, here it is how they meet.
 */

type Step = (draft: Draft, a: Tensor, b: Tensor) => Tensor;

const aboveOne = (g: Graph, x: Tensor): Tensor => add(g, multiply(g, x, x), g.scalar('float64', 1));

/** Into −1 … 1, so that long expressions stay within what differences resolve. */
const bounded = (g: Graph, x: Tensor): Tensor => divide(g, x, squareRoot(g, aboveOne(g, x)));

const STEPS: Readonly<Record<string, Step>> = {
  add: ({ g }, a, b) => add(g, a, b),
  subtract: ({ g }, a, b) => subtract(g, a, b),
  multiply: ({ g }, a, b) => multiply(g, a, b),
  divide: ({ g }, a, b) => divide(g, a, aboveOne(g, b)),
  negate: ({ g }, a) => negate(g, a),
  sigmoid: ({ g }, a) => sigmoid(g, a),
  exponential: ({ g }, a) => exponential(g, bounded(g, a)),
  logarithm: ({ g }, a) => logarithm(g, aboveOne(g, a)),
  softmax: ({ g }, a) => softmax(g, a),
  logSoftmax: ({ g }, a) => logSoftmax(g, bounded(g, a)),
  rmsNorm: ({ g }, a, b) => rmsNorm(g, a, reshape(g, slice(g, b, 0, 0, 1), [3]), 0.5),
  cumulativeSum: ({ g }, a) => cumulativeSum(g, a, 0),
  products: ({ g }, a, b) => matmul(g, softmax(g, matmul(g, bounded(g, a), swapLast(g, bounded(g, b)))), b),
  stretchedRow: ({ g }, a, b) => add(g, a, slice(g, b, 0, 0, 1)),
  stretchedColumn: ({ g }, a, b) => multiply(g, a, sum(g, bounded(g, b), [1], { keep: true })),
  repeated: ({ g }, a, b) => add(g, expand(g, slice(g, a, 1, 1, 1), a.shape), b),
  turned: ({ g }, a) => transpose(g, reshape(g, a, [3, a.shape[0]!]), [1, 0]),
  rotatedColumns: ({ g }, a, b) => concat(g, [slice(g, a, 1, 1, 2), slice(g, b, 1, 0, 1)], 1),
  lookedUpColumns: (draft, a) => gather(draft.g, a, draft.indices([3], 3), 1),
};

const expression = fc.record({
  seed: fc.integer(),
  rows: fc.integer({ min: 1, max: 3 }),
  leaves: fc.integer({ min: 1, max: 3 }),
  steps: fc.array(
    fc.record({ step: fc.constantFrom(...Object.keys(STEPS)), a: fc.nat(), b: fc.nat() }),
    { minLength: 1, maxLength: 10 },
  ),
});

describe('the gradient of any expression', () => {
  it('is what small steps say', async () => {
    await fc.assert(
      fc.asyncProperty(expression, async ({ seed, rows, leaves, steps }) => {
        const draft = new Draft(seed);
        const size = draft.named(rows);
        const tensors = Array.from({ length: leaves }, () => draft.variable([size, 3]));
        const pick = (choice: number): Tensor => tensors[choice % tensors.length]!;
        for (const { step, a, b } of steps) tensors.push(bounded(draft.g, STEPS[step]!(draft, pick(a), pick(b))));
        await draft.check(tensors.slice(-2));
      }),
      { numRuns: 60 },
    );
  });
});
