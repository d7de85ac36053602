import { type Body, NOTHING, type Operation, type Tensor } from './graph.ts';
import type { OnnxNode } from './onnx-node.ts';

/** The ONNX form of an operation in a graph. */
export function onnxOf({ op, inputs, outputs, attributes }: Operation): OnnxNode<Body> {
  return op.onnx(attributes, inputs.map((input) => input ?? NOTHING), outputs);
}

/** The inputs from which an operation computes its outputs. */
export const forwardInputs = ({ op, inputs }: Operation): readonly (Tensor | undefined)[] => inputs.slice(0, op.forwardInputs);

/** The bodies of a loop or a branch; other operations have none. */
export function bodiesOf(operation: Operation): Body[] {
  return Object.values(onnxOf(operation).attributes ?? {}).flatMap((attribute) => ('body' in attribute ? [attribute.body] : []));
}
