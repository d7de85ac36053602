import { type Graph, type Op, single, type Tensor } from '../graph.ts';

const DETACH: Op<void> = {
  name: 'detach',
  types: ([x]) => [x!],
  onnx: () => ({ type: 'Identity' }),
  gradient: () => [undefined],
};

/** `x` as a constant for gradients: no gradient flows back through it. */
export const detach = Object.assign((g: Graph, x: Tensor): Tensor => single(g.apply(DETACH, [x], undefined)), { op: DETACH });
