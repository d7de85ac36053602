import { type Graph, type Op, single, type Tensor } from '../graph.ts';
import { int64s } from '../onnx-node.ts';
import { describeType, type Dimension, GraphError, normalAxis } from '../tensor-type.ts';
import { add } from './arithmetic.ts';
import { expand } from './shape.ts';

/* Transposition, concatenation and slices. */

const TRANSPOSE: Op<{ readonly order: readonly number[] }> = {
  name: 'transpose',
  types: ([x], { order }) => {
    if (order.length !== x!.shape.length || new Set(order).size !== order.length) {
      throw new GraphError(`[${order.join(', ')}] is no order of the axes of ${describeType(x!)}.`);
    }
    return [{ element: x!.element, shape: order.map((axis) => x!.shape[axis] as Dimension) }];
  },
  onnx: ({ order }) => ({ type: 'Transpose', attributes: { perm: { ints: order } } }),
  gradient: ({ g, attributes: { order }, upstream }) => [transpose(g, upstream, inverseOrder(order))],
};

/** The inverse permutation of the axes. */
export const inverseOrder = (order: readonly number[]): readonly number[] => order.map((_, axis) => order.indexOf(axis));

/** Axis `i` of the result is axis `order[i]` of `x`. */
export const transpose = Object.assign(
  (g: Graph, x: Tensor, order: readonly number[]): Tensor => {
    const isSame = order.length === x.shape.length && order.every((axis, index) => axis === index);
    return isSame ? x : single(g.apply(TRANSPOSE, [x], { order: order.map((axis) => normalAxis(axis, x.shape.length)) }));
  },
  { op: TRANSPOSE },
);

const CONCAT: Op<{ readonly axis: number; readonly size: Dimension | undefined }> = {
  name: 'concat',
  types: (parts, { axis, size }) => {
    const [first] = parts;
    if (!first) throw new GraphError('concat needs at least one tensor.');
    const rank = first.shape.length;
    const at = normalAxis(axis, rank);
    for (const { element, shape } of parts) {
      const fits = shape.length === rank && shape.every((length, index) => index === at || length === first.shape[index]);
      if (element !== first.element || !fits) {
        throw new GraphError(`${describeType({ element, shape })} cannot be joined to ${describeType(first)} along axis ${axis}.`);
      }
    }
    const sizes = parts.map((part) => part.shape[at] as Dimension);
    const joined = sizes.every((length) => typeof length === 'number') ? sizes.reduce((a, b) => a + b) : (size ?? sizes.join('+'));
    return [{ element: first.element, shape: first.shape.map((length, index) => (index === at ? joined : length)) }];
  },
  onnx: ({ axis }) => ({ type: 'Concat', attributes: { axis: { int: axis } } }),
  gradient: ({ g, inputs, attributes: { axis }, upstream }) => {
    let start: Tensor | number = 0;
    return (inputs as readonly Tensor[]).map(({ shape }) => {
      const length = shape.at(axis) as Dimension;
      const piece = slice(g, upstream, axis, start, length);
      start = end(g, start, length);
      return piece;
    });
  },
};

/** Concatenates along an axis. `size` names the resulting size if it is not a number. */
export const concat = Object.assign(
  (g: Graph, parts: readonly Tensor[], axis: number, size?: Dimension): Tensor => single(g.apply(CONCAT, parts, { axis, size })),
  { op: CONCAT },
);

const SLICE: Op<{ readonly axis: number; readonly length: Dimension }> = {
  name: 'slice',
  types: ([x], { axis, length }) => {
    const at = normalAxis(axis, x!.shape.length);
    const size = x!.shape[at] as Dimension;
    if (typeof length === 'number' && typeof size === 'number' && length > size) {
      throw new GraphError(`${describeType(x!)} has no ${length} elements along axis ${axis}.`);
    }
    return [{ element: x!.element, shape: x!.shape.with(at, length) }];
  },
  // The inputs are x, start and end; the axis follows.
  onnx: ({ axis }) => ({ type: 'Slice', operands: [int64s(axis)] }),
  // Adds zeros on both sides. (Pad has no bfloat16 on CUDA.)
  gradient: ({ g, inputs: [x, start, stop], attributes: { axis }, upstream }) => {
    const at = normalAxis(axis, x!.shape.length);
    const zeros = expand(g, g.scalar(x!.element, 0), x!.shape);
    const before = single(g.apply(SLICE, [zeros, g.constant('int64', [1], [0]), start], { axis, length: g.newSize('before') }));
    const after = single(g.apply(SLICE, [zeros, stop, g.constant('int64', [1], [LAST])], { axis, length: g.newSize('after') }));
    return [concat(g, [before, upstream, after], axis, x!.shape[at] as Dimension), undefined, undefined];
  },
};

/** ONNX clamps an end beyond the last element. */
const LAST = 2 ** 31 - 1;

/** `length` elements of an axis from `start` on. `start` is an int64[1] if it is known only at run time. */
export const slice = Object.assign(
  (g: Graph, x: Tensor, axis: number, start: Tensor | number, length: Dimension): Tensor => {
    const size = x.shape.at(axis);
    if (typeof start === 'number' && (start < 0 || (typeof length === 'number' && typeof size === 'number' && start + length > size))) {
      throw new GraphError(`${length} elements from ${start} on are not in ${describeType(x)} along axis ${axis}.`);
    }
    const from = typeof start === 'number' ? g.constant('int64', [1], [start]) : start;
    const to = end(g, start, length);
    return single(g.apply(SLICE, [x, from, typeof to === 'number' ? g.constant('int64', [1], [to]) : to], { axis, length }));
  },
  { op: SLICE },
);

/** The elements of an axis from `start`, int64[1], to its end; their number is `length`. */
export const sliceRest = (g: Graph, x: Tensor, axis: number, start: Tensor, length: Dimension): Tensor =>
  single(g.apply(SLICE, [x, start, g.constant('int64', [1], [LAST])], { axis, length }));

/** `start` plus `length`. */
function end(g: Graph, start: Tensor | number, length: Dimension): Tensor | number {
  if (typeof start === 'number' && typeof length === 'number') return start + length;
  if (start === 0 && typeof length === 'string') return g.size(length);
  const from = typeof start === 'number' ? g.constant('int64', [1], [start]) : start;
  const by = typeof length === 'number' ? g.constant('int64', [1], [length]) : g.size(length);
  return add(g, from, by);
}
