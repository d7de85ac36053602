import type { Graph, Operation, Tensor } from './graph.ts';
import { bodiesOf } from './onnx-of.ts';
import { add } from './ops/arithmetic.ts';
import { expand } from './ops/shape.ts';
import { describeType, GraphError, sameShape } from './tensor-type.ts';

/**
 * Reverse-mode differentiation: the gradient of the loss with respect to each of `wanted`. `result` is the loss, a scalar, or a tensor whose
 * gradient, `upstream`, is known, such as the output of a layer that is computed again.
 *
 * Walks the operations once from last to first and applies the gradient rule of each one between a wanted tensor and the result. Adds the
 * operations of the gradients to `g`. If `g` is a body, the walk continues in the graphs around it. Throws GraphError if an operation on the
 * path has no gradient rule.
 */
export function gradients(g: Graph, result: Tensor, wanted: readonly Tensor[], upstream: Tensor = g.scalar(result.element, 1)): Tensor[] {
  if (!sameShape(upstream.shape, result.shape) || upstream.element !== result.element) {
    throw new GraphError(`${describeType(upstream)} is no gradient of ${describeType(result)}.`);
  }
  const operations = operationsInReach(g);
  const onTheWay = dependents(operations, wanted);
  const sums = new Map<Tensor, Tensor>([[result, upstream]]);
  for (const operation of operations.reverse()) {
    const { op, inputs, outputs, attributes } = operation;
    const upstreams = outputs.map((output) => sums.get(output));
    const [first = upstreams.find((gradient) => gradient !== undefined)] = upstreams;
    if (!first || !readBy(operation).some((tensor) => onTheWay.has(tensor))) continue;
    if (!op.gradient) throw new GraphError(`${op.name} has no gradient.`);
    op.gradient({ g, inputs, outputs, upstream: first, upstreams, attributes }).forEach((gradient, index) => {
      const input = inputs[index];
      if (!gradient || !input || !onTheWay.has(input)) return;
      const sum = sums.get(input);
      sums.set(input, sum ? add(g, sum, gradient) : gradient);
    });
  }
  return wanted.map((tensor) => sums.get(tensor) ?? expand(g, g.scalar(tensor.element, 0), tensor.shape));
}

/** The operations of a graph and the graphs around it, in the order in which they were applied. */
const operationsInReach = ({ parent, operations }: Graph): Operation[] => [...(parent ? operationsInReach(parent) : []), ...operations];

/** The wanted tensors and all tensors computed from them. */
function dependents(operations: readonly Operation[], wanted: readonly Tensor[]): ReadonlySet<Tensor> {
  const reached = new Set(wanted);
  for (const operation of operations) {
    if (readBy(operation).some((tensor) => reached.has(tensor))) operation.outputs.forEach((output) => reached.add(output));
  }
  return reached;
}

/** The inputs of an operation, and all tensors that its bodies use. */
function readBy(operation: Operation): Tensor[] {
  const inside = bodiesOf(operation).flatMap(({ graph, outputs }) => [...graph.operations.flatMap(readBy), ...outputs]);
  return [...operation.inputs.filter((input) => input !== undefined), ...inside];
}
