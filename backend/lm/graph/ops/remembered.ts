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
 * `kept`, which has the numbers of `again` from an earlier time that the same was computed: to a gradient it is `again`, but nobody computes
 * that. For what is too dear to be computed again with its layer, and small enough to be kept.
 */
export const remembered = Object.assign(
  (g: Graph, kept: Tensor, again: Tensor): Tensor => single(g.apply(REMEMBERED, [kept, again], undefined)),
  { op: REMEMBERED },
);
