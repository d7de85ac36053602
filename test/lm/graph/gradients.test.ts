import { describe, expect, it } from 'vitest';
import { encodeModel } from '../../../backend/lm/graph/encode-model.ts';
import { gradients } from '../../../backend/lm/graph/gradients.ts';
import { Graph, type Op, single, type Tensor } from '../../../backend/lm/graph/graph.ts';
import {
  add, cast, exponential, less, lessOrEqual, maximum, minimum, multiply, negate, silu, where,
} from '../../../backend/lm/graph/ops/arithmetic.ts';
import { allOf, barrier } from '../../../backend/lm/graph/ops/barrier.ts';
import { branch, loop } from '../../../backend/lm/graph/ops/control.ts';
import { detach } from '../../../backend/lm/graph/ops/detach.ts';
import { gather, gatherElements, range } from '../../../backend/lm/graph/ops/indexing.ts';
import { linear, matmul, swapLast } from '../../../backend/lm/graph/ops/linear.ts';
import { logSoftmax, rmsNorm, softmax } from '../../../backend/lm/graph/ops/neural.ts';
import { concat, slice, transpose } from '../../../backend/lm/graph/ops/pieces.ts';
import { argmax } from '../../../backend/lm/graph/ops/reduction.ts';
import { remembered } from '../../../backend/lm/graph/ops/remembered.ts';
import { reshape, sum } from '../../../backend/lm/graph/ops/shape.ts';
import { bools, float32s, type Values } from '../../../backend/lm/graph/session.ts';
import { GraphError } from '../../../backend/lm/graph/tensor-type.ts';
import { evaluate, numbersOf } from './evaluate.ts';
import { Draft } from './gradient-check.ts';
import { readModel } from './read-onnx.ts';

const total = (g: Graph, x: Tensor): Tensor => sum(g, x, x.shape.map((_, axis) => axis));

describe('gradients', () => {
  it('add up over all ways from a tensor to the loss', async () => {
    const g = new Graph();
    const x = g.input('x', 'float32', [2]);
    const square = multiply(g, x, x);
    const [gradient] = gradients(g, total(g, add(g, multiply(g, square, x), square)), [x]);
    expect(await numbersOf(g, gradient!, { x: float32s([2], [2, 3]) })).toEqual([3 * 4 + 4, 3 * 9 + 6]);
  });

  it('are given of what was computed too, and of what the loss is computed from in turn', async () => {
    const g = new Graph();
    const x = g.input('x', 'float32', []);
    const y = multiply(g, x, x);
    const [ofX, ofY] = gradients(g, multiply(g, y, y), [x, y]);
    const feeds = { x: float32s([], [3]) };
    expect(await numbersOf(g, ofY!, feeds)).toEqual([18]);
    expect(await numbersOf(g, ofX!, feeds)).toEqual([108]);
  });

  it('are 0 for what the loss does not depend on, in its shape', async () => {
    const g = new Graph();
    const [x, other] = [g.input('x', 'float32', []), g.input('other', 'float32', ['n', 2])];
    exponential(g, other);
    const [gradient] = gradients(g, negate(g, x), [other]);
    expect(gradient).toMatchObject({ element: 'float32', shape: ['n', 2] });
    expect(await numbersOf(g, gradient!, { x: float32s([], [3]), other: float32s([1, 2], [1, 2]) })).toEqual([0, 0]);
  });

  it('are not asked of operations off the way: what has none may stand beside it', async () => {
    const g = new Graph();
    const x = g.input('x', 'float32', [3]);
    const noGradient: Op<void> = { name: 'noGradient', types: ([type]) => [type!], onnx: () => ({ type: 'Identity' }) };
    const beside = single(g.apply(noGradient, [g.constant('float32', [3], [1, 2, 3])], undefined));
    const picked = gather(g, x, argmax(g, x, 0));
    const [gradient] = gradients(g, total(g, multiply(g, add(g, beside, x), picked)), [x]);
    expect(await numbersOf(g, gradient!, { x: float32s([3], [1, 5, 2]) })).toEqual([5, 5 + 6 + 8, 5]);
    const onTheWay = single(g.apply(noGradient, [x], undefined));
    expect(() => gradients(g, total(g, onTheWay), [x])).toThrow('noGradient has no gradient.');
    expect(gradients(g, total(g, onTheWay), [picked])).toHaveLength(1);
  });

  it('are refused where a loop or a branch takes a wanted tensor from around it', () => {
    const g = new Graph();
    const [x, condition] = [g.input('x', 'float32', []), g.input('c', 'bool', [])];
    const { kept } = loop(g, { limit: g.scalar('int64', 2), state: [], steps: 'steps' }, (b) => ({
      goOn: b.constant('bool', [], [1]), state: [], kept: [multiply(b, x, x)],
    }));
    expect(() => gradients(g, total(g, kept[0]!), [x])).toThrow('loop has no gradient.');
    const [chosen] = branch(g, condition, () => [x], (b) => [b.scalar('float32', 0)]);
    expect(() => gradients(g, chosen!, [x])).toThrow(GraphError);
  });

  it('of a loss inside a branch go on in the graph around it', async () => {
    const g = new Graph();
    const [x, training] = [g.input('x', 'float32', [2]), g.input('training', 'bool', [])];
    const outside = multiply(g, x, x);
    const [gradient] = branch(
      g,
      training,
      (b) => gradients(b, total(b, multiply(b, outside, x)), [x]),
      (b) => [b.constant('float32', [2], [0, 0])],
    );
    expect(await numbersOf(g, gradient!, { x: float32s([2], [1, 2]), training: bools([], [1]) })).toEqual([3, 12]);
    expect(await numbersOf(g, gradient!, { x: float32s([2], [1, 2]), training: bools([], [0]) })).toEqual([0, 0]);
  });

  it('share a tie of minimum and maximum equally, as PyTorch does', async () => {
    const g = new Graph();
    const [a, b] = [g.input('a', 'float32', [3]), g.input('b', 'float32', [3])];
    const feeds = { a: float32s([3], [1, 2, 3]), b: float32s([3], [2, 2, 2]) };
    const [ofMinimum] = gradients(g, total(g, minimum(g, a, b)), [a]);
    const [, ofMaximum] = gradients(g, total(g, maximum(g, a, b)), [a, b]);
    expect(await numbersOf(g, ofMinimum!, feeds)).toEqual([1, 0.5, 0]);
    expect(await numbersOf(g, ofMaximum!, feeds)).toEqual([1, 0.5, 0]);
  });
});

describe('a detached tensor', () => {
  it('is a constant to the gradient, whatever it was computed from', async () => {
    const g = new Graph();
    const x = g.input('x', 'float32', [3]);
    const loss = sum(g, multiply(g, x, detach(g, multiply(g, x, x))), [0]);
    const [ofX] = gradients(g, loss, [x]);
    expect(await numbersOf(g, ofX!, { x: float32s([3], [1, 2, 3]) })).toEqual([1, 4, 9]);
  });
});

describe('a tensor that is there once all of some are', () => {
  it('has no elements, of whatever shapes and types they are', async () => {
    const g = new Graph();
    const x = g.input('x', 'float32', [2, 3]);
    const after = allOf(g, [x, sum(g, x, [0, 1]), cast(g, x, 'int64')]);
    expect(after).toMatchObject({ element: 'float32', shape: [0] });
    const feeds = { x: float32s([2, 3], [1, 2, 3, 4, 5, 6]) };
    expect(await numbersOf(g, after, feeds)).toEqual([]);
    expect(await numbersOf(g, barrier(g, x, after), feeds)).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

describe('a remembered tensor', () => {
  it('has the numbers that were kept, and the gradient of what would have been computed again', async () => {
    const g = new Graph();
    const [x, kept] = [g.input('x', 'float32', [2]), g.input('kept', 'float32', [2])];
    const y = remembered(g, kept, multiply(g, multiply(g, x, x), g.scalar('float32', 0.5)));
    const [ofX, ofKept] = gradients(g, sum(g, multiply(g, y, y), [0]), [x, kept]);
    const feeds = { x: float32s([2], [2, 3]), kept: float32s([2], [10, 20]) };
    // 2 · kept · x
    expect(await numbersOf(g, ofX!, feeds)).toEqual([40, 120]);
    expect(await numbersOf(g, ofKept!, feeds)).toEqual([0, 0]);
  });

  it('is not computed again, and has one shape and type', () => {
    const g = new Graph();
    const [x, kept] = [g.input('x', 'float32', [2]), g.input('kept', 'float32', [2])];
    const model = readModel(encodeModel(g, { y: remembered(g, kept, exponential(g, x)) }));
    expect(model.nodes.map(({ type }) => type)).toEqual(['Identity']);
    expect(() => remembered(g, kept, g.input('longer', 'float32', [3]))).toThrow('float32[2] was not kept from float32[3].');
  });
});

describe('gradients from a gradient that is known', () => {
  it('are those of the loss that it belongs to, whatever it was computed from', async () => {
    const g = new Graph();
    const x = g.input('x', 'float32', [2]);
    const square = multiply(g, x, x);
    const [gradient] = gradients(g, square, [x], exponential(g, multiply(g, x, g.scalar('float32', 0))));
    expect(await numbersOf(g, gradient!, { x: float32s([2], [2, 3]) })).toEqual([4, 6]);
  });

  it('must have its shape; without one, a loss is one number', () => {
    const g = new Graph();
    const x = g.input('x', 'float32', [2]);
    expect(() => gradients(g, negate(g, x), [x], g.scalar('float32', 1))).toThrow('float32[] is no gradient of float32[2].');
    expect(() => gradients(g, negate(g, x), [x])).toThrow(GraphError);
  });
});

describe('gradients of whole networks are what small steps say', () => {
  it('of a perceptron with two layers and a cross-entropy', async () => {
    const draft = new Draft(11);
    const { g } = draft;
    const batch = draft.named(3);
    const x = draft.variable([batch, 4]);
    const hidden = silu(g, linear(g, x, draft.variable([5, 4]), draft.variable([5])));
    const logprobs = logSoftmax(g, linear(g, hidden, draft.variable([3, 5]), draft.variable([3])));
    await draft.check([gatherElements(g, logprobs, draft.indices([batch, 1], 3), 1)]);
  });

  it('of a decoder layer: normalised, attending causally in groups of heads, gated', async () => {
    const draft = new Draft(12);
    const { g } = draft;
    const [batch, length, size, heads, shared, headSize] = [draft.named(2), draft.named(3), 6, 4, 2, 3] as const;
    const x = draft.variable([batch, length, size]);
    const normal = (rows: Tensor): Tensor => rmsNorm(g, rows, draft.variable([size], [0.5, 1.5]), 1e-6);
    const project = (rows: Tensor, columns: number): Tensor => {
      const flat = reshape(g, rows, ['tokens', rows.shape.at(-1)!]);
      return linear(g, flat, draft.variable([columns, rows.shape.at(-1) as number], [-0.7, 0.7]), draft.variable([columns]));
    };
    const split = (rows: Tensor, count: number): Tensor => transpose(g, reshape(g, rows, [batch, length, count, headSize]), [0, 2, 1, 3]);

    const rows = normal(x);
    const query = reshape(g, split(project(rows, heads * headSize), heads), [batch, shared, heads / shared, length, headSize]);
    const [key, value] = [0, 1].map(() => {
      return reshape(g, split(project(rows, shared * headSize), shared), [batch, shared, 1, length, headSize]);
    });
    const places = range(g, length);
    const seen = lessOrEqual(g, reshape(g, places, [1, length]), reshape(g, places, [length, 1]));
    const scores = multiply(g, matmul(g, query, swapLast(g, key!)), g.scalar('float64', headSize ** -0.5));
    const weights = softmax(g, where(g, seen, scores, g.scalar('float64', -1e30)));
    const byHead = reshape(g, matmul(g, weights, value!), [batch, heads, length, headSize]);
    const attended = reshape(g, transpose(g, byHead, [0, 2, 1, 3]), [batch, length, heads * headSize]);
    const after = add(g, x, reshape(g, project(attended, size), [batch, length, size]));

    const gated = normal(after);
    const inner = multiply(g, silu(g, project(gated, 7)), project(gated, 7));
    await draft.check([add(g, after, reshape(g, project(inner, size), [batch, length, size]))]);
  });

  it("of PPO's clipped objective: ratios of probabilities within bounds", async () => {
    const draft = new Draft(13);
    const { g } = draft;
    const tokens = draft.named(12);
    const ratio = exponential(g, add(g, draft.variable([tokens], [-1, 1]), draft.numbers([tokens], [-0.3, 0.3])));
    const clipped = minimum(g, maximum(g, ratio, g.scalar('float64', 0.8)), g.scalar('float64', 1.2));
    const advantage = draft.numbers([tokens]);
    await draft.check([minimum(g, multiply(g, ratio, advantage), multiply(g, clipped, advantage))]);
  });

  it('of tensors that are cut, masked and joined again', async () => {
    const draft = new Draft(14);
    const { g } = draft;
    const length = draft.named(5);
    const x = draft.variable([length, 4]);
    const halves = [slice(g, x, 1, 0, 2), slice(g, x, 1, 2, 2)] as const;
    const mask = cast(g, less(g, halves[0], g.scalar('float64', 0)), 'float64');
    await draft.check([concat(g, [multiply(g, halves[1], mask), halves[0], multiply(g, halves[0], halves[1])], 1)]);
  });
});

describe('a barrier', () => {
  it('before each layer that is computed again leaves the gradients of the whole as they are', async () => {
    const draft = new Draft(15);
    const g = new Graph();
    const numbers = (rows: number): Values => float32s([rows, 8], Array.from({ length: rows * 8 }, () => draft.random() - 0.5));
    const x = g.input('x', 'float32', ['n', 8]);
    const weights = ['w0', 'w1', 'w2'].map((name) => g.input(name, 'float32', [8, 8]));
    const feeds = { x: numbers(3), w0: numbers(8), w1: numbers(8), w2: numbers(8) };

    const layer = (rows: Tensor, weight: Tensor): Tensor => add(g, rows, silu(g, linear(g, rows, weight)));
    const inputs = [x];
    for (const weight of weights) inputs.push(layer(inputs.at(-1)!, weight));
    const result = inputs.pop()!;
    const whole = gradients(g, total(g, multiply(g, result, result)), weights);

    let upstream = multiply(g, result, g.scalar('float32', 2));
    const layered: Tensor[] = [];
    for (const weight of weights.toReversed()) {
      const again = barrier(g, inputs.pop()!, allOf(g, [upstream, ...layered.slice(0, 1)]));
      const [ofInput, ofWeight] = gradients(g, layer(again, weight), [again, weight], upstream);
      layered.unshift(ofWeight!);
      upstream = ofInput!;
    }
    const outputs = Object.fromEntries([...whole, ...layered].map((tensor, index) => [`d${index}`, tensor]));
    const values = Object.values(await evaluate(g, outputs, feeds)).map(({ data }) => Array.from(data as Float32Array));
    const [expected, found] = [values.slice(0, 3).flat(), values.slice(3).flat()];
    found.forEach((value, index) => expect(value).toBeCloseTo(expected[index]!, 4));
    expect(Math.max(...expected.map(Math.abs))).toBeGreaterThan(1);
  });

  it('takes a tensor of any type and shape to wait for, and nothing of it', async () => {
    const g = new Graph();
    const x = g.input('x', 'float32', ['n', 2]);
    const feeds = { x: float32s([2, 2], [1, 2, 3, 4]), y: float32s([2, 3, 2], new Array(12).fill(9)) };
    for (const after of [g.scalar('int64', 7), g.input('y', 'float32', ['m', 3, 'n']), less(g, x, g.scalar('float32', 0))]) {
      const held = barrier(g, x, after);
      expect(held.shape).toEqual(['n', 2]);
      expect(await numbersOf(g, held, feeds)).toEqual([1, 2, 3, 4]);
    }
  });
});
