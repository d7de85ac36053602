import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import type { Body, FileRange, Graph, Operation, Tensor } from './graph.ts';
import { bfloat16Bits, float16Bits } from './half-precision.ts';
import type { OnnxAttribute, OnnxNode } from './onnx-node.ts';
import { bodiesOf, forwardInputs, onnxOf } from './onnx-of.ts';
import { ONNX_ELEMENT_TYPES } from './ops/arithmetic.ts';
import { type ElementType, GraphError, type TensorType } from './tensor-type.ts';

/*
 * Encodes a graph as an ONNX model. Field numbers are those of onnx.proto3 (IR version 10).
 */

/** The newest opset in which onnxruntime 1.30 runs all our operations on CUDA. */
const OPSET = 20;
const IR_VERSION = 10;

/**
 * Graph inputs and outputs keep their names. Operations that no output depends on are left out.
 * @param onHostNode called with the name of each node that belongs on the host
 */
export function encodeModel(graph: Graph, outputs: Readonly<Record<string, Tensor>>, onHostNode: (name: string) => void = () => {}): Uint8Array {
  const names = new Names();
  for (const [name, tensor] of Object.entries(outputs)) names.alias(tensor, name);
  const writer = new BinaryWriter();
  writer.uint32(tag(1, WireType.Varint)).int64(IR_VERSION);
  writer.uint32(tag(2, WireType.LengthDelimited)).string('conductor');
  message(writer, 8, (opset) => opset.uint32(tag(2, WireType.Varint)).int64(OPSET));
  message(writer, 8, (opset) => {
    opset.uint32(tag(1, WireType.LengthDelimited)).string('com.microsoft');
    opset.uint32(tag(2, WireType.Varint)).int64(1);
  });
  const model: Body = { graph, outputs: Object.values(outputs) };
  message(writer, 7, (inner) => new ModelWriter(names, new Live(model), onHostNode).graph(inner, 'conductor', model));
  return writer.finish();
}

const tag = (field: number, wire: WireType): number => ((field << 3) | wire) >>> 0;

function message(writer: BinaryWriter, field: number, write: (inner: BinaryWriter) => void): void {
  writer.uint32(tag(field, WireType.LengthDelimited)).fork();
  write(writer);
  writer.join();
}

function text(writer: BinaryWriter, field: number, value: string): void {
  writer.uint32(tag(field, WireType.LengthDelimited)).string(value);
}

/** The names of tensors, unique in the whole model: a body may not shadow a name of the graph around it. */
class Names {
  readonly #names = new Map<Tensor, string>();
  readonly #taken = new Set<string>();
  #next = 0;

  of(tensor: Tensor): string {
    let name = this.#names.get(tensor);
    if (name === undefined) {
      name = this.#unused(tensor);
      this.#take(name);
      this.#names.set(tensor, name);
    }
    return name;
  }

  alias(tensor: Tensor, name: string): void {
    if (tensor.origin.kind !== 'operation') throw new GraphError(`The output '${name}' is not computed.`);
    if (this.#names.has(tensor)) throw new GraphError(`A tensor cannot be two outputs ('${name}' is the second).`);
    this.#names.set(tensor, name);
    this.#take(name);
  }

  fresh(stem: string): string {
    const name = this.#numbered(stem);
    this.#take(name);
    return name;
  }

  /** Inputs keep their names, because they are fed by name. The first use of a weight keeps its name, to make the model readable. */
  #unused({ origin, scope }: Tensor): string {
    if (origin.kind === 'operation') return this.#numbered(origin.operation.op.name);
    if (origin.kind === 'constant') return this.#numbered('constant');
    const keepsName = origin.kind === 'weight' ? !this.#taken.has(origin.name) : !scope.parent;
    return keepsName ? origin.name : this.#numbered(origin.name);
  }

  #numbered(stem: string): string {
    let name;
    do {
      this.#next += 1;
      name = `${stem}_${this.#next}`;
    } while (this.#taken.has(name));
    return name;
  }

  #take(name: string): void {
    if (this.#taken.has(name)) throw new GraphError(`Two tensors of the model are named '${name}'.`);
    this.#taken.add(name);
  }
}

/** The operations and leaves (constants, weights) that the outputs of a model need, by graph. */
class Live {
  readonly #operations = new Map<Graph, Operation[]>();
  readonly #used = new Set<Tensor>();
  readonly #leaves = new Map<Graph, Tensor[]>();

  constructor(model: Body) {
    this.#visit(model);
  }

  operations(graph: Graph): readonly Operation[] {
    return this.#operations.get(graph) ?? [];
  }

  leaves(graph: Graph): readonly Tensor[] {
    return this.#leaves.get(graph) ?? [];
  }

  /** Visits operations backwards, so that an operation comes after all that need it. */
  #visit({ graph, outputs }: Body): void {
    outputs.forEach((tensor) => this.#use(tensor));
    const live: Operation[] = [];
    for (const operation of graph.operations.toReversed()) {
      if (!operation.outputs.some((output) => this.#used.has(output))) continue;
      live.push(operation);
      bodiesOf(operation).forEach((body) => this.#visit(body));
      forwardInputs(operation).forEach((input) => input && this.#use(input));
    }
    this.#operations.set(graph, live.reverse());
  }

  #use(tensor: Tensor): void {
    if (this.#used.has(tensor)) return;
    this.#used.add(tensor);
    if (tensor.origin.kind !== 'constant' && tensor.origin.kind !== 'weight') return;
    const leaves = this.#leaves.get(tensor.scope);
    if (leaves) leaves.push(tensor);
    else this.#leaves.set(tensor.scope, [tensor]);
  }
}

/** Writes graphs with their initializers, nodes, inputs, outputs and intermediate tensors. */
class ModelWriter {
  readonly #names: Names;
  readonly #live: Live;
  readonly #onHostNode: (name: string) => void;

  constructor(names: Names, live: Live, onHostNode: (name: string) => void) {
    this.#names = names;
    this.#live = live;
    this.#onHostNode = onHostNode;
  }

  graph(writer: BinaryWriter, name: string, { graph, outputs }: Body): void {
    for (const leaf of this.#live.leaves(graph)) message(writer, 5, (initializer) => this.#leaf(initializer, leaf));
    for (const operation of this.#live.operations(graph)) this.#operation(writer, operation);
    const outputNames = outputs.map((tensor, index) => this.#computedHere(writer, graph, tensor, outputs.indexOf(tensor) < index));
    text(writer, 2, name);
    for (const input of graph.inputs) message(writer, 11, (value) => writeValueInfo(value, this.#names.of(input), input));
    outputs.forEach((tensor, index) => message(writer, 12, (value) => writeValueInfo(value, outputNames[index] as string, tensor)));
    this.#between(writer, graph, outputs);
  }

  /**
   * Writes the shapes of intermediate tensors. For each new tensor, onnxruntime searches the list of free buffers for one of the same shape.
   * If it cannot infer shapes, that list keeps growing, and a training pass of 24 layers takes 33 s of CPU time to load instead of 5 s.
   */
  #between(writer: BinaryWriter, graph: Graph, outputs: readonly Tensor[]): void {
    for (const tensor of this.#live.operations(graph).flatMap((operation) => operation.outputs)) {
      if (!outputs.includes(tensor)) message(writer, 13, (value) => writeValueInfo(value, this.#names.of(tensor), tensor));
    }
  }

  /** A node of the graph itself must compute each output, so other tensors pass through an Identity node. */
  #computedHere(writer: BinaryWriter, graph: Graph, tensor: Tensor, again: boolean): string {
    if (tensor.origin.kind === 'operation' && tensor.scope === graph && !again) return this.#names.of(tensor);
    const output = this.#names.fresh('same');
    message(writer, 1, (node) => this.#node(node, { type: 'Identity' }, [this.#names.of(tensor)], [output]));
    return output;
  }

  #operation(writer: BinaryWriter, operation: Operation): void {
    const onnx = onnxOf(operation);
    const operands = (onnx.operands ?? []).map((operand) => {
      const name = this.#names.fresh('operand');
      message(writer, 5, (initializer) => writeTensor(initializer, name, operand, operand.values));
      return name;
    });
    const inputs = forwardInputs(operation).map((input) => (input ? this.#names.of(input) : ''));
    const outputs = operation.outputs.map((output) => this.#names.of(output));
    if (operation.onHost) this.#onHostNode(outputs[0] as string);
    message(writer, 1, (node) => this.#node(node, onnx, [...inputs, ...operands], outputs));
  }

  #node(writer: BinaryWriter, { type, domain, attributes = {} }: OnnxNode<Body>, inputs: readonly string[], outputs: readonly string[]): void {
    inputs.forEach((name) => text(writer, 1, name));
    outputs.forEach((name) => text(writer, 2, name));
    text(writer, 3, outputs[0] as string);
    text(writer, 4, type);
    for (const [name, attribute] of Object.entries(attributes)) message(writer, 5, (inner) => this.#attribute(inner, name, attribute));
    if (domain) text(writer, 7, domain);
  }

  #attribute(writer: BinaryWriter, name: string, attribute: OnnxAttribute<Body>): void {
    text(writer, 1, name);
    const type = (code: number): BinaryWriter => writer.uint32(tag(20, WireType.Varint)).int32(code);
    if ('float' in attribute) {
      writer.uint32(tag(2, WireType.Bit32)).float(attribute.float);
      type(1);
    } else if ('int' in attribute) {
      writer.uint32(tag(3, WireType.Varint)).int64(attribute.int);
      type(2);
    } else if ('text' in attribute) {
      text(writer, 4, attribute.text);
      type(3);
    } else if ('body' in attribute) {
      message(writer, 6, (inner) => this.graph(inner, name, attribute.body));
      type(5);
    } else {
      for (const value of attribute.ints) writer.uint32(tag(8, WireType.Varint)).int64(value);
      type(7);
    }
  }

  #leaf(writer: BinaryWriter, tensor: Tensor): void {
    const { origin } = tensor;
    const name = this.#names.of(tensor);
    if (origin.kind === 'weight') writeExternalTensor(writer, name, tensor, origin.range);
    else if (origin.kind === 'constant') writeTensor(writer, name, tensor, origin.values);
  }
}

function writeHead(writer: BinaryWriter, name: string, { element, shape }: TensorType): void {
  for (const size of shape) {
    if (typeof size === 'string') throw new GraphError(`'${name}' cannot be stored: its size '${size}' is not known.`);
    writer.uint32(tag(1, WireType.Varint)).int64(size);
  }
  writer.uint32(tag(2, WireType.Varint)).int32(ONNX_ELEMENT_TYPES[element]);
  text(writer, 8, name);
}

function writeTensor(writer: BinaryWriter, name: string, type: TensorType, values: ArrayLike<number>): void {
  writeHead(writer, name, type);
  writer.uint32(tag(9, WireType.LengthDelimited)).bytes(rawBytes(type.element, values));
}

/** onnxruntime reads the bytes itself, relative to the folder `/` that `Session` sets, so the path loses its leading slash. */
function writeExternalTensor(writer: BinaryWriter, name: string, type: TensorType, { file, offset, byteLength }: FileRange): void {
  writeHead(writer, name, type);
  for (const [key, value] of [['location', file.replace(/^\//, '')], ['offset', `${offset}`], ['length', `${byteLength}`]] as const) {
    message(writer, 13, (entry) => {
      text(entry, 1, key);
      text(entry, 2, value);
    });
  }
  writer.uint32(tag(14, WireType.Varint)).int32(1);
}

function rawBytes(element: ElementType, values: ArrayLike<number>): Uint8Array {
  const array = typedArray(element, values);
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

function typedArray(element: ElementType, values: ArrayLike<number>): ArrayBufferView<ArrayBuffer> {
  switch (element) {
    case 'float32': return Float32Array.from(values);
    case 'float64': return Float64Array.from(values);
    case 'int32': return Int32Array.from(values);
    case 'int64': return BigInt64Array.from(Array.from(values, BigInt));
    case 'uint8': case 'bool': return Uint8Array.from(values);
    case 'float16': return Uint16Array.from(values, float16Bits);
    case 'bfloat16': return Uint16Array.from(values, bfloat16Bits);
  }
}

function writeValueInfo(writer: BinaryWriter, name: string, { element, shape }: TensorType): void {
  text(writer, 1, name);
  message(writer, 2, (type) => message(type, 1, (tensor) => {
    tensor.uint32(tag(1, WireType.Varint)).int32(ONNX_ELEMENT_TYPES[element]);
    message(tensor, 2, (dimensions) => {
      for (const size of shape) {
        message(dimensions, 1, (dimension) => {
          if (typeof size === 'number') dimension.uint32(tag(1, WireType.Varint)).int64(size);
          else text(dimension, 2, size);
        });
      }
    });
  }));
}
