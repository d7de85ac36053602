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
 * Returns `x`, but only after `after` is computed, by concatenating an empty slice of `after`. For layers that the backward pass computes
 * again. Without it, onnxruntime would merge equal subgraphs, and so keep the activations that should be computed again. It would also
 * compute gradients that are only outputs at the end, and keep their inputs until then. Waiting for the gradients of the layer above
 * prevents both. Costs a copy of `x`.
 */
export const barrier = Object.assign(
  (g: Graph, x: Tensor, after: Tensor): Tensor => single(g.apply(BARRIER, [x, noneOf(g, after, x)], undefined)),
  { op: BARRIER },
);

/**
 * An empty tensor that depends on all of these. If several barriers wait for the same tensors, each waits for this one, and the graph has
 * fewer operations.
 */
export function allOf(g: Graph, tensors: readonly [Tensor, ...Tensor[]]): Tensor {
  const none = tensors.map((tensor) => noneOf(g, tensor, { element: tensors[0].element, shape: [0] }));
  return none.length === 1 ? none[0]! : concat(g, none, 0);
}

/** An empty slice of a tensor, with a shape and type that can be concatenated to `like`. */
function noneOf(g: Graph, tensor: Tensor, like: TensorType): Tensor {
  const rows = tensor.shape.length === 0 ? reshape(g, tensor, [1]) : tensor;
  return reshape(g, cast(g, slice(g, rows, 0, 0, 0), like.element), [0, ...like.shape.slice(1)]);
}
