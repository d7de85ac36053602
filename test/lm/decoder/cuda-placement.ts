import type { Graph, Operation, Tensor } from '../../../backend/lm/graph/graph.ts';
import { bodiesOf, onnxOf } from '../../../backend/lm/graph/onnx-of.ts';
import { elementCount } from '../../../backend/lm/graph/tensor-type.ts';
import { CUDA_KERNELS, type Kernel, type Slot } from './cuda-kernels.ts';

/*
 * Where onnxruntime will run the nodes of a graph on CUDA, and what is copied between the two memories: a model of
 * `GetCpuPreferredNodes` (core/framework/fallback_cpu_capability.cc), which moves nodes that only compute with shapes to the CPU, graph by
 * graph. What the optimisers do first is left out, so there can be fewer nodes and copies, not more.
 */

export interface Placed {
  readonly operation: Operation;
  readonly graph: Graph;
  /** As in CUDA_KERNELS. */
  readonly type: string;
  readonly kernel: Kernel | undefined;
  readonly onCpu: boolean;
}

export interface Copy {
  readonly from: 'device' | 'host';
  readonly tensor: Tensor;
  readonly graph: Graph;
  /** What needs it on the other side. */
  readonly reader: string;
}

/** Constants of at most so many elements may be on either side. */
const SMALL = 100;

export function allOperations(graph: Graph): { readonly operation: Operation; readonly graph: Graph }[] {
  return graph.operations.flatMap((operation) => [
    { operation, graph },
    ...bodiesOf(operation).flatMap((body) => allOperations(body.graph)),
  ]);
}

export function operatorOf(operation: Operation): string {
  const { type, domain } = onnxOf(operation);
  return domain ? `${domain}.${type}` : type;
}

export const slotOf = (slots: readonly Slot[], index: number, variadic = false): Slot | undefined =>
  slots[index] ?? (variadic ? slots.at(-1) : undefined);

/** The nodes of a graph and of the bodies in it. */
export function placeNodes(graph: Graph): Placed[] {
  const own = placeOwn(graph);
  return own.flatMap((placed) => [placed, ...bodiesOf(placed.operation).flatMap((body) => placeNodes(body.graph))]);
}

function placeOwn(graph: Graph): Placed[] {
  const onCpu = new Set<Tensor>();
  return graph.operations.map((operation): Placed => {
    const type = operatorOf(operation);
    const kernel = CUDA_KERNELS[type];
    const moved = !kernel || movesToCpu(graph, operation, kernel, onCpu);
    operation.outputs.forEach((output, index) => {
      if (moved || (kernel && slotOf(kernel.outputs, index)?.onCpu)) onCpu.add(output);
    });
    return { operation, graph, type, kernel, onCpu: moved };
  });
}

function movesToCpu(graph: Graph, { inputs }: Operation, kernel: Kernel, onCpu: ReadonlySet<Tensor>): boolean {
  if (!inputs.some((input) => input && onCpu.has(input))) return false;
  return inputs.every((input, index) => {
    if (!input) return true;
    if (input.element === 'float16' || input.element === 'bfloat16') return false;
    const isSmallConstant = input.origin.kind === 'constant' && (elementCount(input.shape) ?? Infinity) <= SMALL;
    if (isSmallConstant || graph.inputs.includes(input)) return true;
    return onCpu.has(input) && !slotOf(kernel.inputs, index, kernel.variadic)?.onCpu;
  });
}

/** What a loop's body copies in each iteration: tensors that it makes on one side and reads on the other, each once. */
export function copiesIn(graph: Graph, placed: readonly Placed[]): Copy[] {
  const own = placed.filter((node) => node.graph === graph);
  const hostMade = new Set<Tensor>();
  for (const { operation, kernel, onCpu } of own) {
    operation.outputs.forEach((output, index) => {
      if (onCpu || (kernel && slotOf(kernel.outputs, index)?.onCpu)) hostMade.add(output);
    });
  }
  const copies = new Map<Tensor, Copy>();
  for (const { operation, kernel, onCpu, type } of own) {
    operation.inputs.forEach((tensor, index) => {
      if (!tensor || tensor.origin.kind !== 'operation' || tensor.scope !== graph) return;
      const wantedOnHost = onCpu || Boolean(kernel && slotOf(kernel.inputs, index, kernel.variadic)?.onCpu);
      if (wantedOnHost === hostMade.has(tensor)) return;
      copies.set(tensor, { from: wantedOnHost ? 'device' : 'host', tensor, graph, reader: `${type} input ${index}` });
    });
  }
  return [...copies.values()];
}
