import { Graph, type Op, type Tensor } from '../graph.ts';
import type { Body } from '../onnx-node.ts';
import { describeType, type Dimension, GraphError, sameShape, type TensorType } from '../tensor-type.ts';

/* Loops and branches: one `run` of onnxruntime can hold a whole generation. Neither is differentiated. */

interface Loop {
  readonly body: Body;
  readonly steps: Dimension;
  readonly stateCount: number;
}

const LOOP: Op<Loop> = {
  name: 'loop',
  types: (_, { body, steps, stateCount }) => {
    const [, ...outputs] = body.outputs;
    return outputs.map((tensor, index): TensorType => (index < stateCount ? tensor : { element: tensor.element, shape: [steps, ...tensor.shape] }));
  },
  onnx: ({ body }) => ({ type: 'Loop', attributes: { body: { body } } }),
};

export interface LoopBody {
  /** bool[]: whether another iteration follows. */
  readonly goOn: Tensor;
  /** What the next iteration begins with; of the same types as at the start. */
  readonly state: readonly Tensor[];
  /** Kept of every iteration, stacked along a new first axis. */
  readonly kept: readonly Tensor[];
}

/**
 * Runs `body` at most `limit` times (int64[]), at least once if `limit` is not 0. `steps` names how often it turned out to be. State stays on the device
 * between iterations.
 */
export function loop(
  g: Graph,
  { limit, state, steps }: { readonly limit: Tensor; readonly state: readonly Tensor[]; readonly steps: Dimension },
  body: (b: Graph, iteration: Tensor, state: readonly Tensor[]) => LoopBody,
): { readonly state: readonly Tensor[]; readonly kept: readonly Tensor[] } {
  const inside = new Graph(g);
  const iteration = inside.input('iteration', 'int64', []);
  inside.input('goOn', 'bool', []);
  const parameters = state.map((tensor, index) => inside.input(`state${index}`, tensor.element, tensor.shape));
  const result = body(inside, iteration, parameters);
  result.state.forEach((tensor, index) => {
    const start = state[index];
    if (!start || start.element !== tensor.element || !sameShape(start.shape, tensor.shape)) {
      throw new GraphError(`State ${index} of a loop begins as ${start && describeType(start)} and goes on as ${describeType(tensor)}.`);
    }
  });
  const attributes: Loop = { body: { graph: inside, outputs: [result.goOn, ...result.state, ...result.kept] }, steps, stateCount: state.length };
  const outputs = g.apply(LOOP, [limit, undefined, ...state], attributes);
  return { state: outputs.slice(0, state.length), kept: outputs.slice(state.length) };
}

interface Branch {
  readonly then: Body;
  readonly otherwise: Body;
}

const BRANCH: Op<Branch> = {
  name: 'branch',
  types: (_, { then, otherwise }) =>
    then.outputs.map((tensor, index) => {
      const other = otherwise.outputs[index];
      if (!other || other.element !== tensor.element || then.outputs.length !== otherwise.outputs.length) {
        throw new GraphError('Both sides of a branch must give the same types.');
      }
      return { element: tensor.element, shape: tensor.shape };
    }),
  onnx: ({ then, otherwise }) => ({ type: 'If', attributes: { then_branch: { body: then }, else_branch: { body: otherwise } } }),
};

/** Only the side that is chosen is computed. Shapes are those of `then`; where the other side differs, do not rely on them. */
export function branch(
  g: Graph,
  condition: Tensor,
  then: (b: Graph) => readonly Tensor[],
  otherwise: (b: Graph) => readonly Tensor[],
): readonly Tensor[] {
  const side = (build: (b: Graph) => readonly Tensor[]): Body => {
    const graph = new Graph(g);
    return { graph, outputs: build(graph) };
  };
  return g.apply(BRANCH, [condition], { then: side(then), otherwise: side(otherwise) });
}
