import type { Graph, Tensor } from './graph.ts';
import type { ElementType } from './tensor-type.ts';

export type OnnxAttribute =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly text: string }
  | { readonly ints: readonly number[] }
  | { readonly body: Body };

/** A graph inside an attribute: the body of a loop, a branch. Its outputs are named in order. */
export interface Body {
  readonly graph: Graph;
  readonly outputs: readonly Tensor[];
}

/** An input that ONNX wants as a tensor and that is known when the graph is built: axes, shapes, bounds. */
export interface Operand {
  readonly element: ElementType;
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

/** How one operation is written in ONNX (opset 20, and `com.microsoft` 1). */
export interface OnnxNode {
  readonly type: string;
  readonly domain?: 'com.microsoft';
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  /** Follow the operation's own inputs. */
  readonly operands?: readonly Operand[];
}

export const int64s = (...values: readonly number[]): Operand => ({ element: 'int64', shape: [values.length], values });
