import { type Body, Graph, type Op, type Tensor } from '../graph.ts';
import { describeType, type Dimension, type ElementType, GraphError, sameShape, type Shape, type TensorType } from '../tensor-type.ts';

/* Loops and branches, with which one `run` of onnxruntime can do a whole generation. They have no gradients. */

interface Loop {
  readonly body: Body;
  readonly steps: Dimension;
  readonly stateCount: number;
}

const LOOP: Op<Loop> = {
  name: 'loop',
  types: ([limit], { body, steps, stateCount }) => {
    const [goOn, ...outputs] = body.outputs;
    requireScalar('The limit of a loop', 'int64', limit!);
    requireScalar('Whether a loop goes on', 'bool', goOn!);
    return outputs.map((tensor, index): TensorType => (index < stateCount ? tensor : { element: tensor.element, shape: [steps, ...tensor.shape] }));
  },
  onnx: ({ body }) => ({ type: 'Loop', attributes: { body: { body } } }),
};

export interface LoopBody {
  /** bool[]: whether another iteration follows. */
  readonly goOn: Tensor;
  /** The state for the next iteration, with the same types as the initial state. */
  readonly state: readonly Tensor[];
  /** Outputs of every iteration, stacked along a new first axis. */
  readonly kept: readonly Tensor[];
}

export interface LoopStart {
  /** int64[]: the maximum number of iterations. */
  readonly limit: Tensor;
  readonly state: readonly Tensor[];
  /** The name of the number of iterations. */
  readonly steps: Dimension;
  /** The shapes, by index, of states whose shape changes between iterations. Sizes that change have names. */
  readonly shapes?: Readonly<Record<number, Shape>>;
}

/**
 * Runs `body` until its `goOn` is false or the limit is reached. State stays on the device between iterations.
 */
export function loop(
  g: Graph,
  { limit, state, steps, shapes = {} }: LoopStart,
  body: (b: Graph, iteration: Tensor, state: readonly Tensor[]) => LoopBody,
): { readonly state: readonly Tensor[]; readonly kept: readonly Tensor[] } {
  const inside = new Graph(g);
  const iteration = inside.input('iteration', 'int64', []);
  inside.input('goOn', 'bool', []);
  const parameters = state.map((tensor, index) => inside.input(`state${index}`, tensor.element, shapes[index] ?? tensor.shape));
  const result = body(inside, iteration, parameters);
  if (result.state.length !== state.length) {
    throw new GraphError(`A loop begins with ${state.length} tensors of state and goes on with ${result.state.length}.`);
  }
  result.state.forEach((tensor, index) => {
    const start = state[index] as Tensor;
    const fits = shapes[index] ? shapes[index].length === tensor.shape.length : sameShape(start.shape, tensor.shape);
    if (start.element !== tensor.element || !fits) {
      throw new GraphError(`State ${index} of a loop begins as ${describeType(start)} and goes on as ${describeType(tensor)}.`);
    }
  });
  const attributes: Loop = { body: bodyOf(inside, [result.goOn, ...result.state, ...result.kept]), steps, stateCount: state.length };
  const outputs = g.apply(LOOP, [limit, undefined, ...state], attributes);
  return { state: outputs.slice(0, state.length), kept: outputs.slice(state.length) };
}

interface Branch {
  readonly then: Body;
  readonly otherwise: Body;
  /** The shapes of the outputs, valid for both sides. */
  readonly shapes: readonly Shape[];
}

const BRANCH: Op<Branch> = {
  name: 'branch',
  types: ([condition], { then, otherwise, shapes }) => {
    requireScalar('The condition of a branch', 'bool', condition!);
    const given = ({ outputs }: Body): string => outputs.map(({ element, shape }) => `${element} of rank ${shape.length}`).join(', ');
    if (given(then) !== given(otherwise)) {
      throw new GraphError(`Both sides of a branch must give the same, not [${given(then)}] and [${given(otherwise)}].`);
    }
    return then.outputs.map(({ element }, index) => ({ element, shape: shapes[index]! }));
  },
  onnx: ({ then, otherwise }) => ({ type: 'If', attributes: { then_branch: { body: then }, else_branch: { body: otherwise } } }),
};

/** Computes only the chosen side. A size in which the sides differ gets a new name, because onnxruntime relies on the sizes in the graph. */
export function branch(
  g: Graph,
  condition: Tensor,
  then: (b: Graph) => readonly Tensor[],
  otherwise: (b: Graph) => readonly Tensor[],
): readonly Tensor[] {
  const side = (build: (b: Graph) => readonly Tensor[]): Body => {
    const graph = new Graph(g);
    return bodyOf(graph, build(graph));
  };
  const sides = { then: side(then), otherwise: side(otherwise) };
  const shapes = sides.then.outputs.map(({ shape }, index) => {
    const other = sides.otherwise.outputs[index]?.shape;
    return shape.map((size, axis) => (size === other?.[axis] ? size : g.newSize('either')));
  });
  return g.apply(BRANCH, [condition], { ...sides, shapes });
}

function bodyOf(graph: Graph, outputs: readonly Tensor[]): Body {
  if (!outputs.every((tensor) => graph.sees(tensor))) throw new GraphError('A body must return tensors that its graph can see.');
  return { graph, outputs };
}

function requireScalar(what: string, element: ElementType, type: TensorType): void {
  if (type.element !== element || type.shape.length > 0) throw new GraphError(`${what} is ${element}[], not ${describeType(type)}.`);
}
