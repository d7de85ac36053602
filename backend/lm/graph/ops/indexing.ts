import { type Graph, type Op, single, type Tensor } from '../graph.ts';
import { describeType, type Dimension, GraphError, normalAxis, type Shape, type TensorType } from '../tensor-type.ts';
import { cast } from './arithmetic.ts';
import { inverseOrder, transpose } from './pieces.ts';
import { expand, reshape } from './shape.ts';

/* Look-ups by index. Indices are int64 or int32 and have no gradients. */

const GATHER: Op<{ readonly axis: number }> = {
  name: 'gather',
  types: ([x, indices], { axis }) => {
    const at = normalAxis(axis, x!.shape.length);
    requireIndices('gather', indices!);
    return [{ element: x!.element, shape: [...x!.shape.slice(0, at), ...indices!.shape, ...x!.shape.slice(at + 1)] }];
  },
  onnx: ({ axis }) => ({ type: 'Gather', attributes: { axis: { int: axis } } }),
  gradient: ({ g, inputs: [x, indices], attributes: { axis }, upstream }) => {
    const at = normalAxis(axis, x!.shape.length);
    const order = withFirst(x!.shape.length, at, 1);
    // In float32: rows that are gathered often would lose sums in 16 bits, and onnxruntime's CUDA kernel does not add in bfloat16.
    const sums = x!.element === 'float64' ? 'float64' : 'float32';
    const zeros = expand(g, g.scalar(sums, 0), order.map((from) => x!.shape[from] as Dimension));
    const places = reshape(g, cast(g, indices!, 'int64'), [...indices!.shape, 1]);
    const slices = cast(g, transpose(g, upstream, withFirst(upstream.shape.length, at, indices!.shape.length)), sums);
    const scattered = single(g.apply(SCATTER_ADD, [zeros, places, slices], undefined));
    return [cast(g, transpose(g, scattered, inverseOrder(order)), x!.element), undefined];
  },
};

/** Slices of `x` along an axis, in the order of the indices. The axes of the indices replace that axis. */
export const gather = Object.assign(
  (g: Graph, x: Tensor, indices: Tensor, axis = 0): Tensor => single(g.apply(GATHER, [x, indices], { axis })),
  { op: GATHER },
);

/** The axes of a tensor, with `count` axes from `start` on moved to the front. */
function withFirst(rank: number, start: number, count: number): readonly number[] {
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  return [...axes.splice(start, count), ...axes];
}

/** Adds slices to rows of the first input. Slices with equal indices accumulate. */
const SCATTER_ADD: Op<void> = {
  name: 'scatterAdd',
  types: ([x]) => [x!],
  onnx: () => ({ type: 'ScatterND', attributes: { reduction: { text: 'add' } } }),
};

const GATHER_ELEMENTS: Op<{ readonly axis: number }> = {
  name: 'gatherElements',
  types: ([x, indices], { axis }) => {
    normalAxis(axis, x!.shape.length);
    requireIndices('gatherElements', indices!);
    if (x!.shape.length !== indices!.shape.length) throw new GraphError(`${describeType(indices!)} cannot index ${describeType(x!)} by element.`);
    return [{ element: x!.element, shape: indices!.shape }];
  },
  onnx: ({ axis }) => ({ type: 'GatherElements', attributes: { axis: { int: axis } } }),
  gradient: ({ g, inputs: [x, indices], attributes: { axis }, upstream }) => [
    scatterElements(g, upstream, indices!, axis, x!.shape),
    undefined,
  ],
};

/** For each index, the element at that position of the axis and at the index's own position in the other axes. */
export const gatherElements = Object.assign(
  (g: Graph, x: Tensor, indices: Tensor, axis: number): Tensor => single(g.apply(GATHER_ELEMENTS, [x, indices], { axis })),
  { op: GATHER_ELEMENTS },
);

const SCATTER_ELEMENTS_ADD: Op<{ readonly axis: number }> = {
  name: 'scatterElementsAdd',
  types: ([x]) => [x!],
  onnx: ({ axis }) => ({ type: 'ScatterElements', attributes: { axis: { int: axis }, reduction: { text: 'add' } } }),
};

/** The reverse of gatherElements: adds each element to zeros of `shape`, at the position of its index along the axis. */
export function scatterElements(g: Graph, elements: Tensor, indices: Tensor, axis: number, shape: Shape): Tensor {
  const zeros = expand(g, g.scalar(elements.element, 0), shape);
  return single(g.apply(SCATTER_ELEMENTS_ADD, [zeros, indices, elements], { axis }));
}

function requireIndices(op: string, indices: TensorType): void {
  if (indices.element !== 'int64' && indices.element !== 'int32') {
    throw new GraphError(`${op} needs whole numbers as indices, not ${describeType(indices)}.`);
  }
}

const RANGE: Op<{ readonly size: Dimension }> = {
  name: 'range',
  types: (_, { size }) => [{ element: 'int64', shape: [size] }],
  onnx: () => ({ type: 'Range' }),
};

/** int64[size]: 0, 1, … size − 1. */
export function range(g: Graph, size: Dimension): Tensor {
  const limit = typeof size === 'number' ? g.scalar('int64', size) : reshape(g, g.size(size), []);
  return single(g.apply(RANGE, [g.scalar('int64', 0), limit, g.scalar('int64', 1)], { size }));
}
