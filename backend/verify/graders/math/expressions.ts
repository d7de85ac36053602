import { ComputeEngine, type Expression } from '@cortex-js/compute-engine';
import { MIN_SIGNIFICANT_DIGITS, writtenNumber } from './rational.ts';
import type { Tolerance } from './tolerance.ts';

/** Digits of precision for constants. Different results of a task never agree in so many digits. */
const PRECISION_DIGITS = 60;

/** Tolerance for constants, relative to the expected value. Each function loses some of the 60 digits. */
const CONSTANT_TOLERANCE = 1e-25;

/** Tolerance for expressions with variables. The library computes some functions in double precision. */
const VARIABLE_TOLERANCE = 1e-9;

/** Sample values for variables, in turn: of both signs, below and above 1, without simple relations between them. */
const SAMPLE_VALUES = [
  0.7390851332, 1.9318516526, -1.3247179572, 2.6457513111, -0.5671432904, 3.3598856662, -2.2360679775, 0.1234567891,
];

const SAMPLES = 8;
const MIN_DEFINED_SAMPLES = 3;
const MAX_VARIABLES = 8;
const MAX_NESTING = 30;

/**
 * The allowed commands. The library knows more (assignments, random numbers, integrals, programs), but these do not occur in results, and
 * some change the library's state or do not terminate.
 */
const COMMANDS = new Set(
  (
    'frac sqrt cdot times div pi infty sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln exp binom lfloor ' +
    'rfloor lceil rceil alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta kappa lambda mu nu xi rho sigma tau ' +
    'phi varphi chi psi omega Gamma Delta Theta Lambda Phi Psi Omega overline min max gcd lcm mod pmod'
  ).split(' '),
);

/** Compares expressions with the library, for one comparison. */
export class Expressions {
  readonly tolerance: Tolerance | undefined;
  #library: ComputeEngine | undefined;

  constructor(tolerance: Tolerance | undefined) {
    this.tolerance = tolerance;
  }

  /** Whether two expressions have the same value for all values of their variables. False if that is unknown. */
  equal(one: string, other: string): boolean {
    const [a, b] = [this.#parse(one), this.#parse(other)];
    if (!a || !b) return false;
    if (a.isSame(b)) return true;
    const names = variablesOf(a, b);
    if (names.length > MAX_VARIABLES) return false;
    const zero = a.sub(b);
    if (names.length === 0) return this.#equalConstants(zero, a, b, [one, other]);
    let defined = 0;
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const values = this.#sample(names, sample);
      const [difference, scale] = [magnitude(zero.subs(values)), magnitude(b.subs(values))];
      if (difference === undefined || scale === undefined) continue;
      if (difference > VARIABLE_TOLERANCE * Math.max(scale, 1e-6)) return false;
      defined += 1;
    }
    return defined >= MIN_DEFINED_SAMPLES;
  }

  /** The real constant k with `one` = k · `other` for all values of their variables. Undefined if there is none. */
  constantFactor(one: string, other: string): number | undefined {
    const [a, b] = [this.#parse(one), this.#parse(other)];
    if (!a || !b) return undefined;
    const names = variablesOf(a, b);
    if (names.length === 0 || names.length > MAX_VARIABLES) return undefined;
    let factor: number | undefined;
    let defined = 0;
    for (let sample = 0; sample < SAMPLES; sample += 1) {
      const values = this.#sample(names, sample);
      const quotient = a.subs(values).div(b.subs(values)).N();
      if (!Number.isFinite(quotient.re) || !Number.isFinite(quotient.im)) continue;
      if (Math.abs(quotient.im) > VARIABLE_TOLERANCE || quotient.re === 0) return undefined;
      factor ??= quotient.re;
      if (Math.abs(quotient.re - factor) > VARIABLE_TOLERANCE * Math.abs(factor)) return undefined;
      defined += 1;
    }
    return defined >= MIN_DEFINED_SAMPLES ? factor : undefined;
  }

  #equalConstants(zero: Expression, a: Expression, b: Expression, written: readonly string[]): boolean {
    const exact = zero.evaluate();
    if (exact.isSame(0)) return true;
    const [difference, scale] = [magnitude(zero), magnitude(b)];
    if (difference === undefined || scale === undefined) return false;
    if (this.tolerance) return difference <= (scale > 1 ? this.tolerance.relative * scale : this.tolerance.absolute);
    // The library computes rational numbers exactly, so any difference is real.
    if (a.evaluate().isRational === true && b.evaluate().isRational === true) return false;
    const decimals = written.map((latex) => writtenNumber(latex)?.decimals).find((found) => found !== undefined);
    if (decimals && decimals.significant >= MIN_SIGNIFICANT_DIGITS) return difference <= 10 ** -decimals.places;
    return difference <= CONSTANT_TOLERANCE * Math.max(scale, Number.MIN_VALUE);
  }

  #parse(latex: string): Expression | undefined {
    if (!isPlainExpression(latex)) return undefined;
    this.#library ??= newLibrary();
    const expression = this.#library.parse(latex);
    return expression.isValid ? expression : undefined;
  }

  #sample(names: readonly string[], sample: number): Record<string, Expression> {
    this.#library ??= newLibrary();
    const library = this.#library;
    return Object.fromEntries(
      names.map((name, index) => [name, library.number(SAMPLE_VALUES[(sample + index * 3) % SAMPLE_VALUES.length] ?? 1)]),
    );
  }
}

function newLibrary(): ComputeEngine {
  const library = new ComputeEngine();
  library.precision = PRECISION_DIGITS;
  return library;
}

const variablesOf = (a: Expression, b: Expression): string[] => [...new Set([...a.unknowns, ...b.unknowns])].toSorted();

/** The absolute value of a complex constant; undefined if the constant has no value. */
function magnitude(expression: Expression): number | undefined {
  const value = expression.N();
  const size = Math.hypot(value.re, value.im);
  return Number.isFinite(size) ? size : undefined;
}

function isPlainExpression(latex: string): boolean {
  // Adjacent numbers are not a product, but `\log_2 8` is a logarithm.
  if (/(?<![_^\d.])\d[\d.]*\s+\d/.test(latex)) return false;
  if (latex === '' || !/^[\w\s+\-*/^_!|.,()[\]{}\\']+$/.test(latex)) return false;
  if ([...latex.matchAll(/\\([a-zA-Z]+|.)/gs)].some(([, command = '']) => !COMMANDS.has(command))) return false;
  let depth = 0;
  for (const character of latex) {
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    if (depth > MAX_NESTING || depth < 0) return false;
  }
  return depth === 0;
}
