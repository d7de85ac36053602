import type { ElementType } from './tensor-type.ts';

export type OnnxAttribute<Body> =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly text: string }
  | { readonly ints: readonly number[] }
  | { readonly body: Body };

/** An input that ONNX wants as a tensor and that is known when the graph is built: axes, shapes, bounds. */
export interface Operand {
  readonly element: ElementType;
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

/** How one operation is written in ONNX (opset 20, and `com.microsoft` 1). A `Body` is a graph inside an attribute. */
export interface OnnxNode<Body> {
  readonly type: string;
  readonly domain?: 'com.microsoft';
  readonly attributes?: Readonly<Record<string, OnnxAttribute<Body>>>;
  /** Follow the operation's own inputs. */
  readonly operands?: readonly Operand[];
}

export const int64s = (...values: readonly number[]): Operand => ({ element: 'int64', shape: [values.length], values });
