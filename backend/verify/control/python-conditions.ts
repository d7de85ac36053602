import { insertion, replacement } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { byValue, mayStandIn, opposite, type Alteration } from './alteration.ts';
import type { Dice } from './dice.ts';
import { anyNumber } from './likely-values.ts';
import type { AssertionPlace, ExpectedValues } from './python-expected.ts';
import type { Comparison } from './altered-parts.ts';

/** Names of values that are designed to equal anything, such as `mock.ANY`. */
const EQUALS_ANYTHING = /(?:^|\.)(?:ANY|Any\w*|anything|Always\w*|Is[A-Z]\w*)(?:\(|$)/;

/** A test class whose objects equal anything. */
const DEFINES_SUCH = /\b__eq__\s*=\s*lambda\b[^:]*:\s*True\b|\bdef __eq__\([^)]*\)[^:]*:\s*(?:("|')[^\n]*\1\s*)?return True\b/;

/** Whether a file defines values that equal anything, and thus also an altered value. */
export const definesSuch = (text: string): boolean => DEFINES_SUCH.test(text);

/** Operators with their opposites. Each pair is false for a value that agrees to everything, whichever of the two is asked. */
const OPPOSITES: Readonly<Record<string, string>> = {
  '==': '!=', '!=': '==', '<': '>=', '>=': '<', '>': '<=', '<=': '>', 'in': 'not in', 'not in': 'in', 'is': 'is not', 'is not': 'is',
};

/** Alters the conditions of assertions. */
export class PythonConditions {
  readonly #values: ExpectedValues;
  readonly #dice: Dice;
  /** False if the file defines values that equal anything, and thus also an altered value. */
  readonly #comparesHonestly: boolean;

  constructor(text: string, values: ExpectedValues, dice: Dice) {
    this.#values = values;
    this.#dice = dice;
    this.#comparesHonestly = !definesSuch(text);
  }

  /** Makes a condition false with honest code, whether or not it holds as it is. */
  altered(node: Node, place: AssertionPlace): Alteration | undefined {
    switch (node.type) {
      case 'parenthesized_expression': {
        const [inner] = partsOf(node);
        return inner && this.altered(inner, place);
      }
      case 'boolean_operator':
        return this.#junction(node, place);
      case 'comparison_operator':
        return this.#comparison(node, place) ?? negated(node);
      case 'true': case 'false': case 'none': case 'integer': case 'string': case 'tuple':
        // This asserts nothing.
        return undefined;
      default:
        return negated(node);
    }
  }

  /** For an `and` one side has to be altered, for an `or` both. */
  #junction(node: Node, place: AssertionPlace): Alteration | undefined {
    const sides = [node.childForFieldName('left'), node.childForFieldName('right')].map((side) => side && this.altered(side, place));
    const known = sides.filter((side) => side != null);
    if (node.childForFieldName('operator')?.type !== 'or') return known.find(({ isByValue }) => isByValue) ?? known[0];
    if (known.length < 2) return undefined;
    return mayStandIn(known, node.tree.rootNode.text) ? negated(node) : { edits: known.flatMap(({ edits }) => edits), isByValue: known.every(({ isByValue }) => isByValue) };
  }

  #comparison(node: Node, place: AssertionPlace): Alteration | undefined {
    const [left, right, ...more] = partsOf(node);
    const operator = operatorOf(node);
    if (!left || !right || !operator || more.length > 0) return undefined;
    if (operator.text === '==') return this.equality(left, right, place) ?? negated(node);
    if (operator.text === 'in') {
      const contained = this.containment(left, right, place);
      if (contained) return contained;
    }
    if (operator.text === 'is' && /^(?:true|false)$/.test(right.type)) return byValue(this.#values.ofLiteral(right, {}));
    const other = OPPOSITES[operator.text];
    return other === undefined ? undefined : opposite({ start: operator.start, end: operator.end, text: other });
  }

  /** Expects another value on either side. Without a literal to alter, any number is expected instead. */
  equality(left: Node, right: Node, place: AssertionPlace, comparison: Comparison = {}): Alteration | undefined {
    if (!this.#areComparable(left, right)) return undefined;
    for (const side of [right, left]) {
      const edits = this.#values.ofLiteral(side, comparison);
      if (edits) return byValue(edits);
    }
    for (const side of [right, left]) {
      const edits = this.#values.ofName(side, place, comparison);
      if (edits) return byValue(edits);
    }
    if (comparison.tolerance !== undefined || isWritten(left) === isWritten(right) && isWritten(left)) return undefined;
    // The value of the code under test stays.
    const replaced = isCalled(right) && !isCalled(left) ? left : right;
    return this.#values.isHere(replaced) ? byValue([replacement(replaced, anyNumber(this.#dice))]) : undefined;
  }

  /** Looks for another text, or in another list that is written out. A project's own containers may be meant to contain everything. */
  containment(item: Node, container: Node, place: AssertionPlace): Alteration | undefined {
    if (!this.#areComparable(item, container)) return undefined;
    if (/^(?:list|tuple|set)$/.test(container.type)) return byValue(this.#values.ofItems(partsOf(container)));
    const edits = this.#values.ofLiteral(item, { isContained: true }) ?? this.#values.ofName(item, place, { isContained: true });
    return item.type === 'string' || item.type === 'identifier' ? byValue(edits) : undefined;
  }

  #areComparable(...sides: readonly Node[]): boolean {
    return this.#comparesHonestly && !sides.some(({ text }) => EQUALS_ANYTHING.test(text));
  }
}

const isCalled = (node: Node): boolean => [...nodesIn(node)].some(({ type }) => type === 'call');
const isWritten = ({ type }: Node): boolean => /^(?:integer|float|string|true|false|none|list|tuple|dictionary|set)$/.test(type);

function operatorOf(comparison: Node): { readonly text: string; readonly start: number; readonly end: number } | undefined {
  const signs = comparison.children.filter((child) => child && !child.isNamed);
  const [first, last] = [signs[0], signs.at(-1)];
  if (!first || !last) return undefined;
  const text = comparison.text.slice(first.startIndex - comparison.startIndex, last.endIndex - comparison.startIndex).replaceAll(/\s+/g, ' ');
  return { text, start: first.startIndex, end: last.endIndex };
}

/** The opposite of a condition. */
export function negated(node: Node): Alteration {
  if (node.type === 'not_operator') {
    const argument = node.childForFieldName('argument');
    if (argument) return opposite({ start: node.startIndex, end: argument.startIndex, text: '' });
  }
  const isPlain = /^(?:call|identifier|attribute|subscript|parenthesized_expression|await)$/.test(node.type);
  return opposite(insertion(node.startIndex, isPlain ? 'not ' : 'not ('), ...(isPlain ? [] : [insertion(node.endIndex, ')')]));
}
