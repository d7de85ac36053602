import type { ElementType } from './tensor-type.ts';

export type OnnxAttribute<Body> =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly text: string }
  | { readonly ints: readonly number[] }
  | { readonly body: Body };

/** A constant that ONNX expects as an input tensor, such as axes, shapes or bounds. */
export interface Operand {
  readonly element: ElementType;
  readonly shape: readonly number[];
  readonly values: readonly number[];
}

/** The ONNX form of an operation (opset 20 and `com.microsoft` 1). A `Body` is a graph inside an attribute. */
export interface OnnxNode<Body> {
  readonly type: string;
  readonly domain?: 'com.microsoft';
  readonly attributes?: Readonly<Record<string, OnnxAttribute<Body>>>;
  /** These follow the operation's own inputs. */
  readonly operands?: readonly Operand[];
}

export const int64s = (...values: readonly number[]): Operand => ({ element: 'int64', shape: [values.length], values });
