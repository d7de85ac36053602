import { type GradientContext, type Graph, type Op, requireFloat, single, type Tensor } from '../graph.ts';
import { broadcastShapes, describeType, GraphError, isFloat, type ElementType } from '../tensor-type.ts';
import { sumTo } from './shape.ts';

/*
 * Elementwise operations. Operands are broadcast to a common shape (broadcastShapes); gradients are summed over broadcast axes.
 */

type Gradient = (context: GradientContext<void>) => readonly (Tensor | undefined)[];

function unary(name: string, onnx: string, gradient: Gradient) {
  const op: Op<void> = {
    name,
    types: ([x]) => {
      requireFloat(name, x!);
      return [x!];
    },
    onnx: () => ({ type: onnx }),
    gradient,
  };
  return Object.assign((g: Graph, x: Tensor): Tensor => single(g.apply(op, [x], undefined)), { op });
}

function binary(name: string, onnx: string, gradient?: Gradient) {
  const op: Op<void> = {
    name,
    types: ([a, b]) => {
      if (a!.element !== b!.element) throw new GraphError(`${name} needs one type, not ${describeType(a!)} and ${describeType(b!)}.`);
      return [{ element: a!.element, shape: broadcastShapes(a!.shape, b!.shape) }];
    },
    onnx: () => ({ type: onnx }),
    ...(gradient && { gradient }),
  };
  return Object.assign((g: Graph, a: Tensor, b: Tensor): Tensor => single(g.apply(op, [a, b], undefined)), { op });
}

export const add = binary('add', 'Add', ({ g, inputs: [a, b], upstream }) => [sumTo(g, upstream, a!.shape), sumTo(g, upstream, b!.shape)]);

export const subtract = binary('subtract', 'Sub', ({ g, inputs: [a, b], upstream }) => [
  sumTo(g, upstream, a!.shape),
  sumTo(g, negate(g, upstream), b!.shape),
]);

export const multiply = binary('multiply', 'Mul', ({ g, inputs: [a, b], upstream }) => [
  sumTo(g, multiply(g, upstream, b!), a!.shape),
  sumTo(g, multiply(g, upstream, a!), b!.shape),
]);

// d(a/b) = da/b − (a/b)·db/b
export const divide = binary('divide', 'Div', ({ g, inputs: [a, b], outputs: [quotient], upstream }) => {
  const share = divide(g, upstream, b!);
  return [sumTo(g, share, a!.shape), sumTo(g, negate(g, multiply(g, share, quotient!)), b!.shape)];
});

export const minimum = binary('minimum', 'Min', ({ g, inputs: [a, b], upstream }) =>
  toTheChosen(g, upstream, [a!, lessOrEqual(g, a!, b!)], [b!, lessOrEqual(g, b!, a!)]));
export const maximum = binary('maximum', 'Max', ({ g, inputs: [a, b], upstream }) =>
  toTheChosen(g, upstream, [a!, lessOrEqual(g, b!, a!)], [b!, lessOrEqual(g, a!, b!)]));

export const negate = unary('negate', 'Neg', ({ g, upstream }) => [negate(g, upstream)]);
export const exponential = unary('exponential', 'Exp', ({ g, outputs: [y], upstream }) => [multiply(g, upstream, y!)]);
export const logarithm = unary('logarithm', 'Log', ({ g, inputs: [x], upstream }) => [divide(g, upstream, x!)]);
export const squareRoot = unary('squareRoot', 'Sqrt', ({ g, outputs: [y], upstream }) => [
  divide(g, upstream, multiply(g, g.scalar(y!.element, 2), y!)),
]);

// σ' = σ·(1 − σ)
export const sigmoid = unary('sigmoid', 'Sigmoid', ({ g, outputs: [y], upstream }) => [
  multiply(g, multiply(g, upstream, y!), subtract(g, g.scalar(y!.element, 1), y!)),
]);

/** x·σ(x) (Elfwing et al., arXiv 1702.03118), the activation of the decoders' gates. */
export const silu = (g: Graph, x: Tensor): Tensor => multiply(g, x, sigmoid(g, x));

/** The tanh approximation of GELU, x/2 · (1 + tanh(√(2/π)·(x + 0.044715·x³))) (Hendrycks and Gimpel, arXiv 1606.08415), as x·σ(2·√(2/π)·…). */
export function gelu(g: Graph, x: Tensor): Tensor {
  const scalar = (value: number): Tensor => g.scalar(x.element, value);
  const factor = 2 * Math.sqrt(2 / Math.PI);
  const slope = add(g, multiply(g, multiply(g, x, x), scalar(0.044715 * factor)), scalar(factor));
  return multiply(g, x, sigmoid(g, multiply(g, x, slope)));
}

const WHERE: Op<void> = {
  name: 'where',
  types: ([condition, a, b]) => {
    if (condition!.element !== 'bool' || a!.element !== b!.element) {
      throw new GraphError(`where needs a bool and two of one type, not ${[condition, a, b].map((type) => describeType(type!)).join(', ')}.`);
    }
    return [{ element: a!.element, shape: broadcastShapes(condition!.shape, broadcastShapes(a!.shape, b!.shape)) }];
  },
  onnx: () => ({ type: 'Where' }),
  gradient: ({ g, inputs: [condition, a, b], upstream }) => [
    undefined,
    sumTo(g, keepWhere(g, condition!, upstream), a!.shape),
    sumTo(g, keepWhere(g, not(g, condition!), upstream), b!.shape),
  ],
};

/** `a` where the condition is true, else `b`. */
export const where = Object.assign(
  (g: Graph, condition: Tensor, a: Tensor, b: Tensor): Tensor => single(g.apply(WHERE, [condition, a, b], undefined)),
  { op: WHERE },
);

const CAST: Op<{ readonly to: ElementType }> = {
  name: 'cast',
  types: ([x], { to }) => [{ element: to, shape: x!.shape }],
  onnx: ({ to }) => ({ type: 'Cast', attributes: { to: { int: ONNX_ELEMENT_TYPES[to] } } }),
  // Values cast from integers or booleans, such as masks, are constants for the gradient.
  gradient: ({ g, inputs: [x], upstream }) => [isFloat(x!.element) ? cast(g, upstream, x!.element) : undefined],
};

/** Converts to another element type. Adds no operation if `x` already has that type. */
export const cast = Object.assign(
  (g: Graph, x: Tensor, to: ElementType): Tensor => (x.element === to ? x : single(g.apply(CAST, [x], { to }))),
  { op: CAST },
);

/** TensorProto.DataType of ONNX. */
export const ONNX_ELEMENT_TYPES: Readonly<Record<ElementType, number>> = {
  float32: 1, uint8: 2, int32: 6, int64: 7, bool: 9, float16: 10, float64: 11, bfloat16: 16,
};

function comparison(name: string, onnx: string) {
  const op: Op<void> = {
    name,
    types: ([a, b]) => {
      if (a!.element !== b!.element) throw new GraphError(`${name} needs one type, not ${describeType(a!)} and ${describeType(b!)}.`);
      return [{ element: 'bool', shape: broadcastShapes(a!.shape, b!.shape) }];
    },
    onnx: () => ({ type: onnx }),
  };
  return Object.assign((g: Graph, a: Tensor, b: Tensor): Tensor => single(g.apply(op, [a, b], undefined)), { op });
}

export const equal = comparison('equal', 'Equal');
export const less = comparison('less', 'Less');
export const lessOrEqual = comparison('lessOrEqual', 'LessOrEqual');
export const and = comparison('and', 'And');
export const or = comparison('or', 'Or');

const NOT: Op<void> = { name: 'not', types: ([x]) => [x!], onnx: () => ({ type: 'Not' }) };
export const not = Object.assign((g: Graph, x: Tensor): Tensor => single(g.apply(NOT, [x], undefined)), { op: NOT });

type Choice = readonly [operand: Tensor, isChosen: Tensor];

/** Equal operands share the gradient equally, as in PyTorch and as a central difference gives at such a kink. */
function toTheChosen(g: Graph, upstream: Tensor, [a, isA]: Choice, [b, isB]: Choice): [Tensor, Tensor] {
  const share = where(g, and(g, isA, isB), multiply(g, upstream, g.scalar(upstream.element, 0.5)), upstream);
  return [sumTo(g, keepWhere(g, isA, share), a.shape), sumTo(g, keepWhere(g, isB, share), b.shape)];
}

const keepWhere = (g: Graph, condition: Tensor, x: Tensor): Tensor => where(g, condition, x, g.scalar(x.element, 0));
