import { Expressions } from './expressions.ts';
import { withoutSpaces } from './normal-latex.ts';
import { sameWrittenNumber, writtenNumber } from './rational.ts';
import { mathValue, type MathValue } from './structure.ts';
import type { Tolerance } from './tolerance.ts';

/**
 * Whether two results (LaTeX in normal form) mean the same. Synchronous. Hostile input can make it run without limit, so it runs in a
 * process that can be killed.
 */
export function sameMath(expected: string, given: string, tolerance: Tolerance | undefined): boolean {
  return new Comparison(tolerance).same(mathValue(expected), mathValue(given));
}

/** One comparison with its own library state, so that no expression affects later comparisons. */
class Comparison {
  readonly #expressions: Expressions;

  constructor(tolerance: Tolerance | undefined) {
    this.#expressions = new Expressions(tolerance);
  }

  same(expected: MathValue, given: MathValue): boolean {
    const [one, other] = withoutNames(expected, given);
    switch (one.kind) {
      case 'leaf':
        return other.kind === 'leaf' && this.#sameLeaf(one.latex, other.latex);
      case 'tuple':
        return other.kind === 'tuple' && one.brackets === other.brackets && this.#sameInOrder(one.items, other.items);
      case 'set':
        return other.kind === 'set' && this.#sameInAnyOrder(one.items, other.items);
      case 'union':
        return other.kind === 'union' && this.#sameInAnyOrder(one.items, other.items);
      case 'matrix':
        return (
          other.kind === 'matrix' &&
          one.rows.length === other.rows.length &&
          one.rows.every((row, index) => this.#sameInOrder(row, other.rows[index] ?? []))
        );
      case 'relation':
        return other.kind === 'relation' && this.#sameRelation(one, other);
    }
  }

  #sameInOrder(ones: readonly MathValue[], others: readonly MathValue[]): boolean {
    return ones.length === others.length && ones.every((one, index) => this.same(one, others[index] ?? one));
  }

  #sameInAnyOrder(ones: readonly MathValue[], others: readonly MathValue[]): boolean {
    if (ones.length !== others.length) return false;
    const left = [...others];
    return ones.every((one) => {
      const found = left.findIndex((other) => this.same(one, other));
      if (found >= 0) left.splice(found, 1);
      return found >= 0;
    });
  }

  #sameRelation(one: Relation, other: Relation): boolean {
    const [a, b] = [pointingLeft(one), pointingLeft(other)];
    if (a.signs.join() !== b.signs.join()) return false;
    if (a.sides.every((side, index) => this.#sameLeaf(side, b.sides[index] ?? ''))) return true;
    if (a.sides.length !== 2) return false;
    const [left, right] = [difference(a), difference(b)];
    const factor = this.#expressions.constantFactor(left, right);
    if (factor === undefined) return false;
    // Multiplying by a negative number reverses an inequality, but not an equation.
    return a.signs[0] === '=' || a.signs[0] === '\\neq' || factor > 0;
  }

  #sameLeaf(one: string, other: string): boolean {
    if (withoutSpaces(one) === withoutSpaces(other)) return true;
    const percent = [one, other].map((latex) => latex.endsWith('%'));
    if (percent.includes(true)) return this.#samePercent(one, other);
    const [a, b] = [writtenNumber(one), writtenNumber(other)];
    if (a && b && sameWrittenNumber(a, b)) return true;
    if (a && b && !this.#expressions.tolerance) return false;
    const words = [one, other].map(plainWords);
    if (words.some((text) => text !== undefined)) return words[0] === words[1];
    return this.#expressions.equal(one, other);
  }

  /** Some authors write `50%` for 50, others for 0.5. */
  #samePercent(one: string, other: string): boolean {
    const [a, b] = [one, other].map((latex) => latex.replace(/%$/, '').trim()) as [string, string];
    if (this.#sameLeaf(a, b)) return true;
    if (one.endsWith('%') && other.endsWith('%')) return false;
    return one.endsWith('%')
      ? this.#sameLeaf(`\\frac{${a}}{100}`, b) || this.#sameLeaf(hundredth(a), b)
      : this.#samePercent(other, one);
  }
}

type Relation = Extract<MathValue, { kind: 'relation' }>;

const hundredth = (number: string): string => {
  const written = writtenNumber(number);
  return written ? `\\frac{${written.numerator}}{${written.denominator * 100n}}` : number;
};

/** If one result is `x = 5`, `f(x) = 5` or `5 + 5 = 10` and the other only 5 or 10, leaves out the name. */
function withoutNames(one: MathValue, other: MathValue): readonly [MathValue, MathValue] {
  if (one.kind === 'relation' && other.kind === 'relation') {
    const values = [namedValue(one), namedValue(other)];
    const names = [one, other].map(({ sides }) => withoutSpaces(sides[0] ?? ''));
    if (values[0] !== undefined && values[1] !== undefined && names[0] === names[1])
      return [mathValue(values[0]), mathValue(values[1])];
    return [one, other];
  }
  if (one.kind === 'relation') return [valueOf(one) ?? one, other];
  if (other.kind === 'relation') return [one, valueOf(other) ?? other];
  return [one, other];
}

const valueOf = (relation: Relation): MathValue | undefined => {
  const value = namedValue(relation);
  return value === undefined ? undefined : mathValue(value);
};

/** `x`, `\theta_1`, `f'(x, y)`, `\text{area}`, `\angle ABC`. */
const NAME = new RegExp(
  `^(?:${[
    String.raw`\\?[a-zA-Z]+(?:_\{?\w+\}?)?'*(?:\s*\(\s*[a-zA-Z](?:\s*,\s*[a-zA-Z])*\s*\))?`,
    String.raw`\\text\{[^{}]*\}`,
    String.raw`\\angle\s*[A-Z]+`,
  ].join('|')})$`,
);

/** The last side of a chain of equalities whose first side is a name. */
function namedValue({ signs, sides }: Relation): string | undefined {
  const isChain = signs.every((sign) => sign === '=' || sign === '\\approx');
  if (!isChain || !NAME.test(sides[0] ?? '')) return undefined;
  const lastExact = signs.lastIndexOf('=');
  return lastExact < 0 ? sides[1] : sides[lastExact + 1];
}

/** `a > b` as `b < a`. */
function pointingLeft(relation: Relation): Relation {
  const { signs, sides } = relation;
  if (!signs.every((sign) => sign === '>' || sign === '\\geq')) return relation;
  const turned = signs.map((sign) => (sign === '>' ? '<' : '\\leq'));
  return { kind: 'relation', signs: turned.toReversed(), sides: sides.toReversed() };
}

const difference = ({ sides: [left = '', right = ''] }: Relation): string => `(${left})-(${right})`;

/** Words, for comparing as text; undefined for mathematics. */
function plainWords(latex: string): string | undefined {
  const text = latex.replaceAll(/\\text\{([^{}]*)\}/g, ' $1 ').trim();
  const isText = latex.includes('\\text{') || /^[a-zA-Z]{3,}(?:[\s-]+[a-zA-Z]+)*$/.test(text);
  if (!isText && !/^\(?[A-Z]\)?$/.test(text)) return undefined;
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
