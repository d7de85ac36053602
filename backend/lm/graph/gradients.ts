import type { Graph, Operation, Tensor } from './graph.ts';
import { bodiesOf } from './onnx-of.ts';
import { add } from './ops/arithmetic.ts';
import { expand } from './ops/shape.ts';
import { describeType, GraphError, sameShape } from './tensor-type.ts';

/**
 * Reverse mode: the gradient of the loss with respect to each of `wanted`. `result` is the loss itself, one number; or a tensor, of a layer
 * that is computed again for instance, with respect to which the loss's gradient is known: `upstream`.
 *
 * Walks the operations once, last to first, and asks each on the way from a wanted tensor to the result for its rule. The operations of
 * the gradients are added to `g`, which may be a body: then the way goes on in the graphs around it. Throws GraphError where an operation
 * on the way has no rule.
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

/** In the order in which they were applied. */
const operationsInReach = ({ parent, operations }: Graph): Operation[] => [...(parent ? operationsInReach(parent) : []), ...operations];

/** The wanted tensors and all that is computed from them. */
function dependents(operations: readonly Operation[], wanted: readonly Tensor[]): ReadonlySet<Tensor> {
  const reached = new Set(wanted);
  for (const operation of operations) {
    if (readBy(operation).some((tensor) => reached.has(tensor))) operation.outputs.forEach((output) => reached.add(output));
  }
  return reached;
}

/** What an operation is given, and what its bodies take from around them. */
function readBy(operation: Operation): Tensor[] {
  const inside = bodiesOf(operation).flatMap(({ graph, outputs }) => [...graph.operations.flatMap(readBy), ...outputs]);
  return [...operation.inputs.filter((input) => input !== undefined), ...inside];
}
