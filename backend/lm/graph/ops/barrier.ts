import { type Graph, type Op, single, type Tensor } from '../graph.ts';
import { describeType, GraphError } from '../tensor-type.ts';
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
 * `x`, but not before all of `after` is there: none of their elements is joined to it. For layers that are computed again in the backward
 * pass. onnxruntime would compute equal subgraphs once, which keeps what should be computed again, and would leave the gradients that only
 * an output needs for the end, which keeps what they are computed from. Waiting for the gradients of the layer above prevents both. Costs a
 * copy of `x`.
 */
export const barrier = Object.assign(
  (g: Graph, x: Tensor, after: readonly Tensor[]): Tensor =>
    after.length === 0 ? x : single(g.apply(BARRIER, [x, ...after.map((tensor) => noneOf(g, tensor, x))], undefined)),
  { op: BARRIER },
);

/**
 * A tensor without elements that is there once all of these are: for many barriers that wait for the same, so that each has one tensor to wait
 * for. onnxruntime takes more than twice as long to load twice as many operations.
 */
export function allOf(g: Graph, [first, ...others]: readonly [Tensor, ...Tensor[]]): Tensor {
  const like = slice(g, first.shape.length === 0 ? reshape(g, first, [1]) : first, 0, 0, 0);
  const flat = reshape(g, like, [0]);
  return others.length === 0 ? flat : concat(g, [flat, ...others.map((tensor) => noneOf(g, tensor, flat))], 0);
}

/** No elements of a tensor, in a shape and type that can be joined to `x`. */
function noneOf(g: Graph, tensor: Tensor, x: Tensor): Tensor {
  const rows = tensor.shape.length === 0 ? reshape(g, tensor, [1]) : tensor;
  return reshape(g, cast(g, slice(g, rows, 0, 0, 0), x.element), [0, ...x.shape.slice(1)]);
}
