import { type Graph, type Op, single, type Tensor } from '../graph.ts';
import { describeType, type Dimension, GraphError, normalAxis } from '../tensor-type.ts';
import { expand, reshape } from './shape.ts';

/* Elements looked up by index. Indices are int64 and never differentiated. */

const GATHER: Op<{ readonly axis: number }> = {
  name: 'gather',
  types: ([x, indices], { axis }) => {
    const at = normalAxis(axis, x!.shape.length);
    return [{ element: x!.element, shape: [...x!.shape.slice(0, at), ...indices!.shape, ...x!.shape.slice(at + 1)] }];
  },
  onnx: ({ axis }) => ({ type: 'Gather', attributes: { axis: { int: axis } } }),
  gradient: ({ g, inputs: [x, indices], attributes: { axis }, upstream }) => {
    if (normalAxis(axis, x!.shape.length) !== 0) throw new GraphError('gather is differentiated along its first axis only.');
    const zeros = expand(g, g.scalar(x!.element, 0), x!.shape);
    const places = reshape(g, indices!, [...indices!.shape, 1]);
    return [single(g.apply(SCATTER_ADD, [zeros, places, upstream], undefined)), undefined];
  },
};

/** Slices of `x` along an axis, in the order of the indices; the axis becomes those of the indices. */
export const gather = Object.assign(
  (g: Graph, x: Tensor, indices: Tensor, axis = 0): Tensor => single(g.apply(GATHER, [x, indices], { axis })),
  { op: GATHER },
);

/** Adds slices to rows of the first input; equal indices add up. */
const SCATTER_ADD: Op<void> = {
  name: 'scatterAdd',
  types: ([x]) => [x!],
  onnx: () => ({ type: 'ScatterND', attributes: { reduction: { text: 'add' } } }),
};

const GATHER_ELEMENTS: Op<{ readonly axis: number }> = {
  name: 'gatherElements',
  types: ([x, indices], { axis }) => {
    normalAxis(axis, x!.shape.length);
    if (x!.shape.length !== indices!.shape.length) throw new GraphError(`${describeType(indices!)} cannot index ${describeType(x!)} by element.`);
    return [{ element: x!.element, shape: indices!.shape }];
  },
  onnx: ({ axis }) => ({ type: 'GatherElements', attributes: { axis: { int: axis } } }),
  gradient: ({ g, inputs: [x, indices], attributes, upstream }) => {
    const zeros = expand(g, g.scalar(x!.element, 0), x!.shape);
    return [single(g.apply(SCATTER_ELEMENTS_ADD, [zeros, indices, upstream], attributes)), undefined];
  },
};

/** For each index the element that stands there along the axis, everything else in place. */
export const gatherElements = Object.assign(
  (g: Graph, x: Tensor, indices: Tensor, axis: number): Tensor => single(g.apply(GATHER_ELEMENTS, [x, indices], { axis })),
  { op: GATHER_ELEMENTS },
);

const SCATTER_ELEMENTS_ADD: Op<{ readonly axis: number }> = {
  name: 'scatterElementsAdd',
  types: ([x]) => [x!],
  onnx: ({ axis }) => ({ type: 'ScatterElements', attributes: { axis: { int: axis }, reduction: { text: 'add' } } }),
};

const RANGE: Op<{ readonly size: Dimension }> = {
  name: 'range',
  types: (_, { size }) => [{ element: 'int64', shape: [size] }],
  onnx: () => ({ type: 'Range' }),
};

/** 0, 1, … up to a size, int64. */
export function range(g: Graph, size: Dimension): Tensor {
  const limit = typeof size === 'number' ? g.scalar('int64', size) : reshape(g, g.size(size), []);
  return single(g.apply(RANGE, [g.scalar('int64', 0), limit, g.scalar('int64', 1)], { size }));
}
