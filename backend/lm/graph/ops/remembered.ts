import { type Graph, type Op, single, type Tensor } from '../graph.ts';
import { describeType, GraphError, sameShape } from '../tensor-type.ts';

const REMEMBERED: Op<void> = {
  name: 'remembered',
  types: ([kept, again]) => {
    if (kept!.element !== again!.element || !sameShape(kept!.shape, again!.shape)) {
      throw new GraphError(`${describeType(kept!)} was not kept from ${describeType(again!)}.`);
    }
    return [kept!];
  },
  onnx: () => ({ type: 'Identity' }),
  forwardInputs: 1,
  gradient: ({ upstream }) => [undefined, upstream],
};

/**
 * Returns `kept`, an earlier result of the same computation as `again`. Gradients flow to `again`, which is never computed. For results that
 * are expensive to compute again and small enough to keep.
 */
export const remembered = Object.assign(
  (g: Graph, kept: Tensor, again: Tensor): Tensor => single(g.apply(REMEMBERED, [kept, again], undefined)),
  { op: REMEMBERED },
);
