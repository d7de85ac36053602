import type { OnnxNode } from './onnx-node.ts';
import { describeType, elementCount, GraphError, isFloat, type ElementType, type Shape, type TensorType } from './tensor-type.ts';

/*
 * A model is a graph of tensors and operations. This code only builds graphs; onnxruntime computes:
 *
 *     const g = new Graph();
 *     const x = g.input('x', 'float32', ['tokens', 896]);           a size is a number, or a name if the run determines it
 *     const y = rmsNorm(g, linear(g, x, weight), scale, 1e-6);      a function adds an operation and returns its output
 *     const [ofX] = gradients(g, lossOf(g, y), [x]);                the gradient is more operations
 *     const session = await Session.open(g, { y, ofX }, …);         encode-model.ts writes it as ONNX, onnxruntime runs it
 *
 * The operations are in ops/. Each is a constant with three rules (`Op`: its output types, its ONNX form and its gradient), followed by the
 * function that adds it to a graph.
 */

/** The bytes of a tensor in a file, row-major and little-endian, which onnxruntime reads. */
export interface FileRange {
  /** An absolute path with links resolved. */
  readonly file: string;
  readonly offset: number;
  readonly byteLength: number;
}

export type Origin =
  | { readonly kind: 'input'; readonly name: string }
  | { readonly kind: 'constant'; readonly values: ArrayLike<number> }
  | { readonly kind: 'weight'; readonly name: string; readonly range: FileRange }
  | { readonly kind: 'operation'; readonly operation: Operation };

/** A symbolic value in a graph, without numbers. */
export interface Tensor extends TensorType {
  readonly origin: Origin;
  readonly scope: Graph;
}

export interface GradientContext<Attributes> {
  readonly g: Graph;
  readonly inputs: readonly (Tensor | undefined)[];
  readonly outputs: readonly Tensor[];
  /** The gradient of the loss with respect to the first output on which it depends. */
  readonly upstream: Tensor;
  /** The gradient with respect to each output, or undefined if the loss does not depend on it. */
  readonly upstreams: readonly (Tensor | undefined)[];
  readonly attributes: Attributes;
}

/** A kind of operation: its output types, its ONNX form and its gradient. */
export interface Op<Attributes> {
  readonly name: string;
  /** The types of the outputs. Throws GraphError for invalid inputs. */
  types(inputs: readonly TensorType[], attributes: Attributes): readonly TensorType[];
  onnx(attributes: Attributes, inputs: readonly TensorType[], outputs: readonly TensorType[]): OnnxNode<Body>;
  /** The number of leading inputs from which the operation computes its outputs; by default all. The others are used only for gradients. */
  readonly forwardInputs?: number;
  /** The gradient with respect to each input, or undefined. Absent if the operation is not differentiable. */
  gradient?(context: GradientContext<Attributes>): readonly (Tensor | undefined)[];
}

/** A graph inside an operation: the body of a loop or one side of a branch. Its outputs are ordered. */
export interface Body {
  readonly graph: Graph;
  readonly outputs: readonly Tensor[];
}

export interface Operation {
  readonly op: Op<unknown>;
  readonly inputs: readonly (Tensor | undefined)[];
  readonly attributes: unknown;
  readonly outputs: readonly Tensor[];
  /** See `Graph.onHost`. */
  readonly onHost: boolean;
}

/**
 * A graph, or the body of a loop or branch: operations in the order in which they were applied. A body can use the tensors of the graphs
 * around it.
 */
export class Graph {
  readonly parent: Graph | undefined;
  readonly inputs: Tensor[] = [];
  readonly operations: Operation[] = [];
  readonly #built = new Map<string, Tensor>();
  #namedSizes = 0;
  #onHost = false;

  constructor(parent?: Graph) {
    this.parent = parent;
  }

  /** A value that is fed when the graph runs; in the body of a loop, a value from the loop. */
  input(name: string, element: ElementType, shape: Shape): Tensor {
    const tensor = this.#tensor({ element, shape }, { kind: 'input', name });
    this.inputs.push(tensor);
    return tensor;
  }

  constant(element: ElementType, shape: Shape, values: ArrayLike<number>): Tensor {
    if (elementCount(shape) !== values.length) throw new GraphError(`${values.length} values do not fill [${shape.join(', ')}].`);
    return this.#tensor({ element, shape }, { kind: 'constant', values });
  }

  scalar(element: ElementType, value: number): Tensor {
    return this.constant(element, [], [value]);
  }

  /** A constant tensor in a file, which onnxruntime reads. */
  weight(name: string, element: ElementType, shape: Shape, range: FileRange): Tensor {
    return this.#tensor({ element, shape }, { kind: 'weight', name, range });
  }

  apply<Attributes>(op: Op<Attributes>, inputs: readonly (Tensor | undefined)[], attributes: Attributes): readonly Tensor[] {
    for (const input of inputs) {
      if (input && !this.sees(input)) throw new GraphError(`${op.name} was given a tensor of another graph.`);
    }
    const types = op.types(inputs.map((input) => input ?? NOTHING), attributes);
    const operation: Operation = { op: op as Op<unknown>, inputs, attributes, outputs: [], onHost: this.#isOnHost && op !== (SIZE as Op<never>) };
    (operation as { outputs: readonly Tensor[] }).outputs = types.map((type) => this.#tensor(type, { kind: 'operation', operation }));
    this.operations.push(operation);
    return operation.outputs;
  }

  /**
   * The operations that `build` adds here, and those in the bodies that it adds, run on the host where a device wants that
   * (`DeviceFacts.usesHost`). Sizes are read where their tensor is: on the host, all of the tensor would be copied.
   */
  onHost<T>(build: () => T): T {
    const before = this.#onHost;
    this.#onHost = true;
    try {
      return build();
    } finally {
      this.#onHost = before;
    }
  }

  get #isOnHost(): boolean {
    return this.#onHost || (this.parent !== undefined && this.parent.#isOnHost);
  }

  /** Whether a tensor can be used here because it belongs to this graph or to one around it. */
  sees(tensor: Tensor): boolean {
    return this.isInside(tensor.scope);
  }

  /** Whether this is `graph` or a body in it. */
  isInside(graph: Graph): boolean {
    return this === graph || (this.parent !== undefined && this.parent.isInside(graph));
  }

  /** A unique name for a size. */
  newSize(stem: string): string {
    if (this.parent) return this.parent.newSize(stem);
    this.#namedSizes += 1;
    return `${stem} ${this.#namedSizes}`;
  }

  /** The value of a named size at run time, int64[1], read once from any visible tensor with that size. */
  size(name: string): Tensor {
    const size = this.findSize(name);
    if (!size) throw new GraphError(`No tensor in reach has a size named '${name}'.`);
    return size;
  }

  /** Like `size`, or undefined if no visible tensor has that size. */
  findSize(name: string): Tensor | undefined {
    const known = this.recall(`size ${name}`) ?? this.parent?.findSize(name);
    if (known) return known;
    for (const tensor of this.#ownTensors()) {
      const axis = tensor.shape.indexOf(name);
      if (axis >= 0) return this.once(`size ${name}`, () => single(this.apply(SIZE, [tensor], { axis })));
    }
    return undefined;
  }

  /** The tensor with this key in this graph or one around it; if there is none, builds it here. For tensors that many operations share. */
  once(key: string, build: () => Tensor): Tensor {
    const known = this.recall(key);
    if (known) return known;
    const built = build();
    this.#built.set(key, built);
    return built;
  }

  recall(key: string): Tensor | undefined {
    return this.#built.get(key) ?? (this.parent && this.parent.recall(key));
  }

  *#ownTensors(): Generator<Tensor> {
    yield* this.inputs;
    for (const operation of this.operations) yield* operation.outputs;
  }

  #tensor(type: TensorType, origin: Origin): Tensor {
    return { element: type.element, shape: type.shape, origin, scope: this };
  }
}

/** The type of an optional input that is absent. */
export const NOTHING: TensorType = { element: 'float32', shape: [] };

const SIZE: Op<{ readonly axis: number }> = {
  name: 'size',
  types: () => [{ element: 'int64', shape: [1] }],
  onnx: ({ axis }) => ({ type: 'Shape', attributes: { start: { int: axis }, end: { int: axis + 1 } } }),
};

/** The output of an operation with exactly one output. */
export function single(outputs: readonly Tensor[]): Tensor {
  const [tensor] = outputs;
  if (!tensor || outputs.length !== 1) throw new GraphError(`One output was expected, not ${outputs.length}.`);
  return tensor;
}

export function requireFloat(op: string, tensor: TensorType): void {
  if (!isFloat(tensor.element)) throw new GraphError(`${op} needs floating-point numbers, not ${describeType(tensor)}.`);
}
