import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Graph, Op, Tensor } from '../../../backend/lm/graph/graph.ts';
import {
  add, and, cast, divide, equal, exponential, gelu, less, lessOrEqual, logarithm, maximum, minimum, multiply, negate, not, or, sigmoid, silu,
  squareRoot, subtract, where,
} from '../../../backend/lm/graph/ops/arithmetic.ts';
import { barrier } from '../../../backend/lm/graph/ops/barrier.ts';
import { detach } from '../../../backend/lm/graph/ops/detach.ts';
import { gather, gatherElements } from '../../../backend/lm/graph/ops/indexing.ts';
import { gemm, linear, linearQuantized, linearStored, matmul } from '../../../backend/lm/graph/ops/linear.ts';
import { groupedQueryAttention, logSoftmax, rmsNorm, rotary, softmax } from '../../../backend/lm/graph/ops/neural.ts';
import { concat, slice, transpose } from '../../../backend/lm/graph/ops/pieces.ts';
import { remembered } from '../../../backend/lm/graph/ops/remembered.ts';
import { argmax, cumulativeSum, largest, top } from '../../../backend/lm/graph/ops/reduction.ts';
import { expand, reshape, sum } from '../../../backend/lm/graph/ops/shape.ts';
import type { Dimension, Shape } from '../../../backend/lm/graph/tensor-type.ts';
import { Draft, LINEAR_IN_FLOAT32 } from './gradient-check.ts';

/*
 * The gradient of every operation against central differences, computed by onnxruntime's CPU kernels in float64. Two have no float64
 * kernel, RotaryEmbedding and MatMulNBits; both are linear in what they are differentiated by, so in float32 a difference over a
 * large step is as good (LINEAR_IN_FLOAT32).
 */

const SEEDS = [1, 2, 3, 4];

interface Check {
  readonly op: Op<never>;
  readonly of?: string;
  readonly inFloat32?: boolean;
  readonly build: (draft: Draft) => Tensor | readonly Tensor[];
}

type Unary = ((g: Graph, x: Tensor) => Tensor) & { readonly op: Op<never> };
type Binary = ((g: Graph, a: Tensor, b: Tensor) => Tensor) & { readonly op: Op<never> };
type Range = readonly [low: number, high: number];

const unary = (operation: Unary, range?: Range): Check => ({
  op: operation.op,
  build: (draft) => operation(draft.g, draft.variable(draft.sizes(draft.whole(1, 3)), range)),
});

/** Of a shape one that stretches to it: leading axes left out, sizes set to 1. */
function shrunk(draft: Draft, shape: Shape): Shape {
  return shape.slice(draft.whole(0, shape.length)).map((size) => (draft.random() < 0.3 ? 1 : size));
}

function operands(draft: Draft, range?: Range): [Tensor, Tensor] {
  const shape = draft.sizes(draft.whole(1, 3));
  const pair: [Shape, Shape] = [shape, shrunk(draft, shape)];
  if (draft.random() < 0.5) pair.reverse();
  return [draft.variable(pair[0]), draft.variable(pair[1], range)];
}

const binary = (operation: Binary, range?: Range): Check => ({
  op: operation.op,
  build: (draft) => {
    const [a, b] = operands(draft, range);
    return operation(draft.g, a, b);
  },
});

/** One tensor as both operands: a sum of two paths, and for minimum and maximum a tie everywhere. */
const square = (operation: Binary): Check => ({
  op: operation.op,
  of: 'a tensor and itself',
  build: (draft) => {
    const x = draft.variable(draft.sizes(2), [0.5, 2]);
    return operation(draft.g, x, x);
  },
});

/** Some axes, of which one may be counted from the end. */
function someAxes(draft: Draft, rank: number): number[] {
  const axes = Array.from({ length: rank }, (_, axis) => axis).filter(() => draft.random() < 0.5);
  return axes.map((axis) => (draft.random() < 0.3 ? axis - rank : axis));
}

const reduction = (operation: typeof sum | typeof largest): Check => ({
  op: operation.op,
  build: (draft) => {
    const rank = draft.whole(1, 3);
    const x = draft.variable(draft.sizes(rank));
    const keep = draft.random() < 0.5;
    const axes = [someAxes(draft, rank), [draft.whole(-rank, rank - 1)]] as const;
    return [operation(draft.g, x, axes[0], { keep }), operation(draft.g, x, axes[1], { keep: !keep })];
  },
});

/** Along every axis of a tensor of rank 3, the axis counted from either end. */
const alongAxes = (operation: (draft: Draft, x: Tensor, axis: number) => Tensor, op: Op<never>): Check => ({
  op,
  build: (draft) => {
    const x = draft.variable(draft.sizes(3));
    return [0, 1, 2].map((axis) => operation(draft, x, draft.random() < 0.5 ? axis : axis - 3));
  },
});

function product(draft: Draft, transposeA: boolean, transposeB: boolean): Tensor {
  const [rows, inner, columns] = [draft.size(), draft.size(), draft.size()];
  const a = draft.variable(transposeA ? [inner, rows] : [rows, inner]);
  const b = draft.variable(transposeB ? [columns, inner] : [inner, columns]);
  const bias = draft.variable(shrunk(draft, [rows, columns]));
  return gemm(draft.g, a, b, { transposeA, transposeB, scale: 2 * draft.random(), ...(draft.random() < 0.7 && { bias }) });
}

function quantized(draft: Draft, bits: 4 | 8, columns: number, hasZeroPoints = false): Tensor {
  const [rows, blockSize] = [draft.whole(1, 5), 16];
  const perRow = Math.ceil(columns / blockSize);
  const x = draft.variable([draft.size(), columns]);
  const blocks = draft.given('uint8', [rows, perRow, (blockSize * bits) / 8], () => draft.whole(0, 255));
  const scales = draft.given('float32', [rows * perRow], () => draft.random() / 2 ** (bits - 1));
  const zeroPoints = hasZeroPoints ? draft.given('uint8', [rows, Math.ceil((perRow * bits) / 8)], () => draft.whole(0, 255)) : undefined;
  return linearQuantized(draft.g, x, { blocks, scales, zeroPoints }, { rows, columns, bits, blockSize, accuracyLevel: 0 });
}

/** @param unrotated how many dimensions of each head stay as they are */
function rotated(draft: Draft, unrotated: number): Tensor {
  const [batch, sequence, half, known] = [draft.size(), draft.size(), draft.whole(1, 4), 7];
  const positions = draft.indices([batch, sequence], known);
  const angles = Array.from({ length: known * half }, () => draft.random() * 2 * Math.PI);
  const cosine = draft.given('float32', [known, half], (index) => Math.cos(angles[index]!));
  const sine = draft.given('float32', [known, half], (index) => Math.sin(angles[index]!));
  return rotary(draft.g, draft.variable([batch, draft.whole(1, 3), sequence, 2 * half + unrotated]), positions, cosine, sine);
}

const CHECKS: readonly Check[] = [
  binary(add), binary(subtract), binary(multiply), binary(divide, [0.5, 2]), binary(minimum), binary(maximum),
  square(add), square(subtract), square(multiply), square(divide), square(minimum), square(maximum),
  unary(negate), unary(exponential), unary(logarithm, [0.5, 3]), unary(squareRoot, [0.5, 3]), unary(sigmoid),
  unary(softmax), unary(logSoftmax),
  {
    op: sigmoid.op,
    of: 'the gate silu',
    build: (draft) => {
      const x = draft.variable(draft.sizes(2));
      // The second use of sigmoid(x) keeps onnxruntime from its fused kernel, which has no float64.
      return [silu(draft.g, x), sigmoid(draft.g, x)];
    },
  },
  {
    op: sigmoid.op,
    of: 'the gate gelu',
    build: (draft) => [gelu(draft.g, draft.variable(draft.sizes(2)))],
  },
  {
    op: where.op,
    build: (draft) => {
      const [a, b] = operands(draft);
      const condition = draft.given('bool', shrunk(draft, a.shape.length > b.shape.length ? a.shape : b.shape), () => draft.whole(0, 1));
      return where(draft.g, condition, a, b);
    },
  },
  {
    op: where.op,
    of: 'a condition that is computed from a variable',
    build: (draft) => {
      const [a, b] = operands(draft);
      return where(draft.g, less(draft.g, a, b), multiply(draft.g, a, a), b);
    },
  },
  {
    op: cast.op,
    of: 'another precision and back',
    inFloat32: true,
    build: (draft) => cast(draft.g, cast(draft.g, draft.variable(draft.sizes(2)), 'float64'), 'float32'),
  },
  {
    op: cast.op,
    of: 'a mask, which is a constant to the gradient',
    build: (draft) => {
      const { g } = draft;
      const x = draft.variable([draft.size(), draft.size()]);
      const isSmall = cast(g, less(g, x, g.scalar('float64', 0)), 'float64');
      return multiply(g, x, add(g, isSmall, cast(g, argmax(g, x, 1), 'float64')));
    },
  },
  {
    op: reshape.op,
    build: (draft) => {
      const [a, b, c] = [draft.size(), draft.whole(1, 3), draft.whole(1, 3)] as const;
      return reshape(draft.g, draft.variable([b, a, c]), draft.random() < 0.5 ? [a, 1, 1, b * c] : [b * c, a]);
    },
  },
  {
    op: expand.op,
    build: (draft) => {
      const shape = [draft.whole(2, 4), ...draft.sizes(2)];
      draft.numbers(shape);
      return expand(draft.g, draft.variable(shrunk(draft, shape.with(0, 1))), shape);
    },
  },
  reduction(sum), reduction(largest),
  {
    op: largest.op,
    of: 'equals',
    build: (draft) => {
      const x = draft.variable([1, draft.size()]);
      return largest(draft.g, concat(draft.g, [x, x, x], 0), [0]);
    },
  },
  alongAxes(({ g }, x, axis) => cumulativeSum(g, x, axis), cumulativeSum.op),
  {
    op: top.op,
    build: (draft) => {
      const size = draft.whole(1, 5);
      const [values, indices] = top(draft.g, draft.variable([draft.size(), size]), draft.whole(1, size));
      return [values, cast(draft.g, indices, 'float64')];
    },
  },
  {
    op: transpose.op,
    build: (draft) => {
      const x = draft.variable(draft.sizes(3));
      return [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [-1, 0, -2], [0, 1, 2]].map((order) => transpose(draft.g, x, order));
    },
  },
  {
    op: concat.op,
    build: (draft) => {
      const [axis, shape] = [draft.whole(-3, 2), draft.sizes(3)];
      const parts = Array.from({ length: draft.whole(1, 3) }, () => draft.variable(shape.with(axis, draft.size())));
      const joined = [...parts, parts[0]!];
      const size = joined.reduce((length, part) => length + draft.known(part.shape.at(axis) as Dimension), 0);
      const isKnown = joined.every((part) => typeof part.shape.at(axis) === 'number');
      return concat(draft.g, joined, axis, isKnown ? undefined : draft.named(size));
    },
  },
  {
    op: slice.op,
    build: (draft) => {
      const x = draft.variable(draft.sizes(3));
      return [-3, -2, -1, 0, 1, 2].map((axis) => {
        const size = x.shape.at(axis) as Dimension;
        const start = draft.whole(0, draft.known(size) - 1);
        const length = draft.whole(1, draft.known(size) - start);
        const from = draft.random() < 0.5 ? start : draft.given('int64', [1], () => start);
        return slice(draft.g, x, axis, from, draft.random() < 0.5 ? length : draft.namedInReach(length));
      });
    },
  },
  alongAxes((draft, x, axis) => {
    const indices = draft.indices(draft.sizes(draft.whole(0, 2)), draft.known(x.shape.at(axis)!));
    return gather(draft.g, x, indices, axis);
  }, gather.op),
  alongAxes((draft, x, axis) => {
    const indices = draft.indices(x.shape.with(axis, draft.size(6)), draft.known(x.shape.at(axis)!));
    return gatherElements(draft.g, x, indices, axis);
  }, gatherElements.op),
  ...[[false, false], [false, true], [true, false], [true, true]].map(([transposeA, transposeB]): Check => ({
    op: gemm.op,
    of: `${transposeA ? 'Aᵀ' : 'A'} · ${transposeB ? 'Bᵀ' : 'B'}`,
    build: (draft) => product(draft, transposeA!, transposeB!),
  })),
  {
    op: gemm.op,
    of: 'a weight as checkpoints store it',
    build: (draft) => {
      const [inner, columns] = [draft.size(), draft.size()];
      return linear(draft.g, draft.variable([draft.size(), inner]), draft.variable([columns, inner]), draft.variable([columns]));
    },
  },
  {
    op: matmul.op,
    build: (draft) => {
      const batch = draft.sizes(2);
      const [rows, inner, columns] = [draft.size(), draft.size(), draft.size()];
      const shapes = [[...batch, rows, inner], [...shrunk(draft, batch), inner, columns]] as const;
      return matmul(draft.g, draft.variable(shapes[0]), draft.variable(shapes[1]));
    },
  },
  {
    op: matmul.op,
    of: 'a tensor and itself',
    build: (draft) => {
      const size = draft.size();
      const x = draft.variable([draft.size(), size, size]);
      return matmul(draft.g, x, x);
    },
  },
  {
    op: linearStored.op,
    inFloat32: true,
    build: (draft) => {
      const [columns, rows] = [draft.size(), draft.size()];
      const weight = draft.given('float32', [1, rows, columns], () => draft.random() - 0.5);
      return linearStored(draft.g, draft.variable([draft.size(), columns]), weight);
    },
  },
  { op: linearQuantized.op, of: '4 bits', inFloat32: true, build: (draft) => quantized(draft, 4, 32) },
  { op: linearQuantized.op, of: '8 bits', inFloat32: true, build: (draft) => quantized(draft, 8, 32) },
  { op: linearQuantized.op, of: '4 bits with zero points', inFloat32: true, build: (draft) => quantized(draft, 4, 32, true) },
  { op: linearQuantized.op, of: '8 bits with zero points', inFloat32: true, build: (draft) => quantized(draft, 8, 32, true) },
  { op: linearQuantized.op, of: 'an odd number of blocks with zero points', inFloat32: true, build: (draft) => quantized(draft, 4, 40, true) },
  { op: linearQuantized.op, of: 'a last block that is cut off', inFloat32: true, build: (draft) => quantized(draft, 4, 24) },
  {
    op: rmsNorm.op,
    build: (draft) => {
      const size = draft.whole(2, 5);
      return rmsNorm(draft.g, draft.variable([...draft.sizes(draft.whole(0, 2)), draft.size(), size]), draft.variable([size]), 1e-3);
    },
  },
  { op: rotary.op, inFloat32: true, build: (draft) => rotated(draft, 0) },
  { op: rotary.op, of: 'a part of each head', inFloat32: true, build: (draft) => rotated(draft, draft.whole(1, 5)) },
  {
    op: barrier.op,
    build: (draft) => {
      const [x, y] = [draft.variable(draft.sizes(2)), draft.variable(draft.sizes(3))];
      const square = multiply(draft.g, y, y);
      return [barrier(draft.g, multiply(draft.g, x, x), square), square];
    },
  },
  {
    op: detach.op,
    build: (draft) => {
      const shape = draft.sizes(2);
      // Of what is detached a small step would say otherwise: gradients.test.ts.
      return [multiply(draft.g, draft.variable(shape), detach(draft.g, cast(draft.g, draft.indices(shape, 3), 'float64')))];
    },
  },
  {
    op: remembered.op,
    build: (draft) => {
      const x = draft.variable(draft.sizes(2));
      const square = (): Tensor => multiply(draft.g, x, x);
      return [multiply(draft.g, x, remembered(draft.g, square(), square()))];
    },
  },
];

/** Piecewise constant, made of whole numbers or truth values, or (grouped-query attention) for generation alone. */
const NOT_DIFFERENTIATED: readonly Op<never>[] = [
  equal.op, less.op, lessOrEqual.op, and.op, or.op, not.op, argmax.op, groupedQueryAttention.op,
];

const OPS_FOLDER = new URL('../../../backend/lm/graph/ops/', import.meta.url);

async function exportedOps(): Promise<Op<never>[]> {
  const modules = await Promise.all(readdirSync(OPS_FOLDER).map((file) => import(new URL(file, OPS_FOLDER).href) as Promise<object>));
  return modules.flatMap((module) => Object.values(module) as { op?: Op<never> }[]).flatMap(({ op }) => op ?? []);
}

describe('the table of operations', () => {
  it('has a check here for every gradient, and lists what is not differentiated', async () => {
    const checked = new Set(CHECKS.map(({ op }) => op));
    const listed = new Set(NOT_DIFFERENTIATED);
    const exported = await exportedOps();
    expect(exported.length).toBeGreaterThan(30);
    expect(exported.filter((op) => (op.gradient ? !checked.has(op) : !listed.has(op))).map(({ name }) => name)).toEqual([]);
    expect([...listed].filter((op) => op.gradient).map(({ name }) => name)).toEqual([]);
  });
});

describe('the gradient of every operation is what small steps say', () => {
  const named = CHECKS.map((check) => [check.of ? `${check.op.name}: ${check.of}` : check.op.name, check] as const);
  describe.each(named)('%s', (_, { op, inFloat32, build }) => {
    it.each(SEEDS)('seed %i', async (seed) => {
      const draft = inFloat32 ? new Draft(seed, LINEAR_IN_FLOAT32) : new Draft(seed);
      const outputs = [build(draft)].flat();
      expect(draft.g.operations.map((operation) => operation.op)).toContain(op);
      await draft.check(outputs);
    });
  });
});
