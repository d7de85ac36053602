import { type Body, NOTHING, type Operation, type Tensor } from './graph.ts';
import type { OnnxNode } from './onnx-node.ts';

/** How an operation in a graph is written. */
export function onnxOf({ op, inputs, outputs, attributes }: Operation): OnnxNode<Body> {
  return op.onnx(attributes, inputs.map((input) => input ?? NOTHING), outputs);
}

/** The inputs that an operation computes with. */
export const forwardInputs = ({ op, inputs }: Operation): readonly (Tensor | undefined)[] => inputs.slice(0, op.forwardInputs);

/** The graphs inside an operation: of a loop or a branch. */
export function bodiesOf(operation: Operation): Body[] {
  return Object.values(onnxOf(operation).attributes ?? {}).flatMap((attribute) => ('body' in attribute ? [attribute.body] : []));
}
