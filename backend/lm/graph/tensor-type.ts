/** The element types of tensors, with their usual names. */
export type ElementType = 'float32' | 'float64' | 'float16' | 'bfloat16' | 'int32' | 'int64' | 'uint8' | 'bool';

/** A size, or the name of a size that is known only at run time (`'batch'`). Equal names are equal sizes. */
export type Dimension = number | string;

export type Shape = readonly Dimension[];

export interface TensorType {
  readonly element: ElementType;
  readonly shape: Shape;
}

/** The graph was built incorrectly. This is a bug in the code, not a problem of the user's files. */
export class GraphError extends Error {
  override readonly name = 'GraphError';
}

export const isFloat = (element: ElementType): boolean => element.startsWith('float') || element === 'bfloat16';

export const sameShape = (a: Shape, b: Shape): boolean => a.length === b.length && a.every((size, axis) => size === b[axis]);

export const describeType = ({ element, shape }: TensorType): string => `${element}[${shape.join(', ')}]`;

/** Resolves negative axes: `-1` is the last axis, as in ONNX. */
export function normalAxis(axis: number, rank: number): number {
  const normal = axis < 0 ? axis + rank : axis;
  if (!Number.isInteger(axis) || normal < 0 || normal >= rank) throw new GraphError(`Axis ${axis} is outside a tensor of rank ${rank}.`);
  return normal;
}

/** The broadcast shape of two operands, by the rule of NumPy and ONNX. */
export function broadcastShapes(a: Shape, b: Shape): Shape {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, axis) => {
    const left = a[axis - (rank - a.length)] ?? 1;
    const right = b[axis - (rank - b.length)] ?? 1;
    if (left === right || right === 1) return left;
    if (left === 1) return right;
    throw new GraphError(`Shapes [${a.join(', ')}] and [${b.join(', ')}] do not fit together.`);
  });
}

/** The number of elements, or undefined if a size is known only at run time. */
export function elementCount(shape: Shape): number | undefined {
  let count = 1;
  for (const size of shape) {
    if (typeof size === 'string') return undefined;
    count *= size;
  }
  return count;
}
