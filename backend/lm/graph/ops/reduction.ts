import { type Graph, type Op, requireFloat, single, type Tensor } from '../graph.ts';
import { int64s } from '../onnx-node.ts';
import { describeType, type Dimension, GraphError, normalAxis } from '../tensor-type.ts';
import { cast, divide, equal, multiply } from './arithmetic.ts';
import { scatterElements } from './indexing.ts';
import { reducedShape, type Reduction, reshape, sum } from './shape.ts';

/* Maximum, argmax, cumulative sum and top-k. */

const LARGEST: Op<Reduction> = {
  name: 'largest',
  types: ([x], reduction) => [{ element: x!.element, shape: reducedShape(x!.shape, reduction) }],
  onnx: ({ axes, keep }) => ({ type: 'ReduceMax', attributes: { keepdims: { int: keep ? 1 : 0 } }, operands: [int64s(...axes)] }),
  // Equal maxima share the gradient equally.
  gradient: ({ g, inputs: [x], outputs: [y], attributes: { axes }, upstream }) => {
    const kept = reducedShape(x!.shape, { axes, keep: true });
    const isLargest = cast(g, equal(g, x!, reshape(g, y!, kept)), x!.element);
    return [multiply(g, isLargest, divide(g, reshape(g, upstream, kept), sum(g, isLargest, axes, { keep: true })))];
  },
};

/** The maximum over axes; without axes, `x`. */
export const largest = Object.assign(
  (g: Graph, x: Tensor, axes: readonly number[], { keep = false } = {}): Tensor =>
    axes.length === 0 ? x : single(g.apply(LARGEST, [x], { axes, keep })),
  { op: LARGEST },
);

const ARGMAX: Op<{ readonly axis: number }> = {
  name: 'argmax',
  types: ([x], { axis }) => [{ element: 'int64', shape: reducedShape(x!.shape, { axes: [axis], keep: true }) }],
  onnx: ({ axis }) => ({ type: 'ArgMax', attributes: { axis: { int: axis }, keepdims: { int: 1 } } }),
};

/** The index of the first maximum along an axis, which is kept with size 1. */
export const argmax = Object.assign((g: Graph, x: Tensor, axis: number): Tensor => single(g.apply(ARGMAX, [x], { axis })), { op: ARGMAX });

const CUMULATIVE_SUM: Op<{ readonly axis: number; readonly reverse: boolean }> = {
  name: 'cumulativeSum',
  types: ([x], { axis }) => {
    requireFloat('cumulativeSum', x!);
    normalAxis(axis, x!.shape.length);
    return [x!];
  },
  onnx: ({ axis, reverse }) => ({
    type: 'CumSum',
    attributes: { reverse: { int: reverse ? 1 : 0 } },
    operands: [{ element: 'int64', shape: [], values: [axis] }],
  }),
  gradient: ({ g, attributes: { axis, reverse }, upstream }) => [single(g.apply(CUMULATIVE_SUM, [upstream], { axis, reverse: !reverse }))],
};

/** The inclusive cumulative sum along an axis. */
export const cumulativeSum = Object.assign(
  (g: Graph, x: Tensor, axis: number): Tensor => single(g.apply(CUMULATIVE_SUM, [x], { axis, reverse: false })),
  { op: CUMULATIVE_SUM },
);

const TOP: Op<{ readonly count: number }> = {
  name: 'top',
  types: ([x], { count }) => {
    const last = normalAxis(-1, x!.shape.length);
    const size = x!.shape[last] as Dimension;
    if (typeof size === 'number' && count > size) throw new GraphError(`${describeType(x!)} has no ${count} elements along its last axis.`);
    const shape = x!.shape.with(last, count);
    return [{ element: x!.element, shape }, { element: 'int64', shape }];
  },
  onnx: ({ count }) => ({ type: 'TopK', attributes: { axis: { int: -1 }, largest: { int: 1 }, sorted: { int: 1 } }, operands: [int64s(count)] }),
  gradient: ({ g, inputs: [x], outputs: [, indices], upstream }) => [scatterElements(g, upstream, indices!, -1, x!.shape)],
};

/** The `count` largest elements of the last axis in descending order, and their indices. */
export const top = Object.assign(
  (g: Graph, x: Tensor, count: number): readonly [values: Tensor, indices: Tensor] => {
    const [values, indices] = g.apply(TOP, [x], { count });
    return [values!, indices!];
  },
  { op: TOP },
);
