import { type Graph, type Op, single, type Tensor } from '../graph.ts';
import { int64s } from '../onnx-node.ts';
import { broadcastShapes, describeType, elementCount, GraphError, normalAxis, sameShape, type Shape } from '../tensor-type.ts';

/*
 * Reshape, expand and sum. Expand and sum are each other's gradients.
 */

/**
 * A shape as the int64 tensor that ONNX expects. Named sizes are read at run time. A size that no visible tensor has is inferred from the
 * others, if the operation supports that. The tensor is built in the outermost graph that has all sizes, so that the iterations of a loop
 * share it.
 */
export function shapeTensor(g: Graph, shape: Shape, { canInfer = true } = {}): Tensor {
  const found = shape.map((size) => (typeof size === 'number' ? size : (g.findSize(size) ?? UNKNOWN)));
  const ofThisBody = found.filter((size) => typeof size !== 'number' && size.scope === g && g.parent !== undefined);
  // If this size is inferred, the shape is built outside the body, once for all iterations.
  const inferred = canInfer && ofThisBody.length === 1 && !found.includes(UNKNOWN) ? ofThisBody[0] : undefined;
  const sizes = found.map((size) => (size === inferred ? UNKNOWN : size));
  if (sizes.filter((size) => size === UNKNOWN).length > 1) throw new GraphError(`Of [${shape.join(', ')}] more than one size is unknown.`);
  const named = sizes.filter((size) => typeof size !== 'number');
  if (named.length === 0) return g.constant('int64', [shape.length], sizes as number[]);
  const home = named.map(({ scope }) => scope).reduce((inner, scope) => (scope.isInside(inner) ? scope : inner));
  return home.once(`shape ${sizes.map((size, axis) => (size === UNKNOWN ? '?' : shape[axis])).join()}`, () =>
    single(home.apply(SHAPE, sizes.map((size) => (typeof size === 'number' ? home.constant('int64', [1], [size]) : size)), undefined)),
  );
}

/** ONNX infers this size from the number of elements. */
const UNKNOWN = -1;

const SHAPE: Op<void> = {
  name: 'shape',
  types: (sizes) => [{ element: 'int64', shape: [sizes.length] }],
  onnx: () => ({ type: 'Concat', attributes: { axis: { int: 0 } } }),
};

const RESHAPE: Op<{ readonly shape: Shape }> = {
  name: 'reshape',
  types: ([x], { shape }) => {
    const [before, after] = [elementCount(x!.shape), elementCount(shape)];
    if (before !== undefined && after !== undefined && before !== after) {
      throw new GraphError(`${describeType(x!)} cannot be reshaped to [${shape.join(', ')}].`);
    }
    return [{ element: x!.element, shape }];
  },
  onnx: () => ({ type: 'Reshape', attributes: { allowzero: { int: 1 } } }),
  gradient: ({ g, inputs: [x], upstream }) => [reshape(g, upstream, x!.shape)],
};

export const reshape = Object.assign(
  (g: Graph, x: Tensor, shape: Shape): Tensor =>
    sameShape(x.shape, shape) ? x : single(g.apply(RESHAPE, [x, shapeTensor(g, shape)], { shape })),
  { op: RESHAPE },
);

const EXPAND: Op<{ readonly shape: Shape }> = {
  name: 'expand',
  types: ([x], { shape }) => {
    if (!sameShape(broadcastShapes(x!.shape, shape), shape)) throw new GraphError(`${describeType(x!)} does not stretch to [${shape.join(', ')}].`);
    return [{ element: x!.element, shape }];
  },
  onnx: () => ({ type: 'Expand' }),
  gradient: ({ g, inputs: [x], upstream }) => [sumTo(g, upstream, x!.shape)],
};

/** Repeats along axes of size 1 up to `shape`. Visible tensors must have all its named sizes. */
export const expand = Object.assign(
  (g: Graph, x: Tensor, shape: Shape): Tensor => {
    if (sameShape(x.shape, shape)) return x;
    for (const size of shape) if (typeof size === 'string') g.size(size);
    return single(g.apply(EXPAND, [x, shapeTensor(g, shape, { canInfer: false })], { shape }));
  },
  { op: EXPAND },
);

export interface Reduction {
  readonly axes: readonly number[];
  /** Keeps the reduced axes with size 1. */
  readonly keep: boolean;
}

/** The shape after a reduction. */
export function reducedShape(shape: Shape, { axes, keep }: Reduction): Shape {
  const reduced = new Set(axes.map((axis) => normalAxis(axis, shape.length)));
  return keep ? shape.map((size, axis) => (reduced.has(axis) ? 1 : size)) : shape.filter((_, axis) => !reduced.has(axis));
}

const SUM: Op<Reduction> = {
  name: 'sum',
  types: ([x], reduction) => [{ element: x!.element, shape: reducedShape(x!.shape, reduction) }],
  onnx: ({ axes, keep }) => ({ type: 'ReduceSum', attributes: { keepdims: { int: keep ? 1 : 0 } }, operands: [int64s(...axes)] }),
  gradient: ({ g, inputs: [x], attributes: { axes }, upstream }) => {
    const kept = reshape(g, upstream, reducedShape(x!.shape, { axes, keep: true }));
    return [expand(g, kept, x!.shape)];
  },
};

/** The sum over axes; without axes, `x`. (In ONNX, no axes means all.) */
export const sum = Object.assign(
  (g: Graph, x: Tensor, axes: readonly number[], { keep = false } = {}): Tensor =>
    axes.length === 0 ? x : single(g.apply(SUM, [x], { axes, keep })),
  { op: SUM },
);

/** The reverse of a broadcast: sums over every axis that `shape` lacks or that has size 1 in it. */
export function sumTo(g: Graph, x: Tensor, shape: Shape): Tensor {
  if (sameShape(x.shape, shape)) return x;
  const added = x.shape.length - shape.length;
  const axes = x.shape.flatMap((size, axis) => (axis < added || (shape[axis - added] === 1 && size !== 1) ? [axis] : []));
  return reshape(g, sum(g, x, axes, { keep: true }), shape);
}
