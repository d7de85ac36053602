import { type Graph, type Op, single, type Tensor } from '../graph.ts';
import { describeType, GraphError, type TensorType } from '../tensor-type.ts';
import { cast } from './arithmetic.ts';
import { concat, slice } from './pieces.ts';
import { reshape } from './shape.ts';

const BARRIER: Op<void> = {
  name: 'barrier',
  types: ([x]) => {
    if (x!.shape.length === 0) throw new GraphError(`barrier needs an axis; ${describeType(x!)} has none.`);
    return [x!];
  },
  onnx: () => ({ type: 'Concat', attributes: { axis: { int: 0 } } }),
  gradient: ({ upstream }) => [upstream],
};

/**
 * `x`, but not before `after` is there: none of its elements is joined to it. For layers that are computed again in the backward pass.
 * onnxruntime would compute equal subgraphs once, which keeps what should be computed again, and would leave the gradients that only
 * an output needs for the end, which keeps what they are computed from. Waiting for the gradients of the layer above prevents both. Costs a
 * copy of `x`.
 */
export const barrier = Object.assign(
  (g: Graph, x: Tensor, after: Tensor): Tensor => single(g.apply(BARRIER, [x, noneOf(g, after, x)], undefined)),
  { op: BARRIER },
);

/**
 * A tensor without elements that is there once all of these are: for many barriers that wait for the same. Each has one tensor to wait for then,
 * and the graph fewer operations.
 */
export function allOf(g: Graph, tensors: readonly [Tensor, ...Tensor[]]): Tensor {
  const none = tensors.map((tensor) => noneOf(g, tensor, { element: tensors[0].element, shape: [0] }));
  return none.length === 1 ? none[0]! : concat(g, none, 0);
}

/** No elements of a tensor, in a shape and type that can be joined to those of `like`. */
function noneOf(g: Graph, tensor: Tensor, like: TensorType): Tensor {
  const rows = tensor.shape.length === 0 ? reshape(g, tensor, [1]) : tensor;
  return reshape(g, cast(g, slice(g, rows, 0, 0, 0), like.element), [0, ...like.shape.slice(1)]);
}
