import type { Node } from '../syntax/parse.ts';
import { partsOf } from '../syntax/nodes.ts';

/** Appended to strings. It has no special meaning in regular expressions and number formats. */
export const SUFFIX = '~altered';

/** Names of values that are designed to equal anything, such as `mock.ANY`. */
const EQUALS_ANYTHING = /(?:^|\.)(?:ANY|Any\w*|anything|Always\w*|Is[A-Z]\w*)(?:\(|$)/;

/** A test class whose objects equal anything. */
const DEFINES_SUCH = /\b__eq__\s*=\s*lambda\b[^:]*:\s*True\b|\bdef __eq__\([^)]*\)[^:]*:\s*(?:("|')[^\n]*\1\s*)?return True\b/;

/** Alters conditions and values of one file. */
export class PythonExpressions {
  /** False if the file defines values that equal anything, and thus also an altered value. */
  readonly #comparesHonestly: boolean;

  constructor(text: string) {
    this.#comparesHonestly = !DEFINES_SUCH.test(text);
  }

  /** Turns a condition into one that is false if the code is honest. */
  condition(node: Node): string {
    return this.#byValue(node) ?? `not (${node.text})`;
  }

  /** Whether these values can be compared with altered ones. */
  areComparable(...sides: readonly Node[]): boolean {
    return this.#comparesHonestly && !sides.some(({ text }) => EQUALS_ANYTHING.test(text));
  }

  /**
   * Replaces compared values by other values. A value that equals everything still passes; with honest values the condition is false,
   * whether or not the original holds.
   */
  #byValue(node: Node): string | undefined {
    if (node.type === 'parenthesized_expression') {
      const inner = partsOf(node)[0];
      const altered = inner && this.#byValue(inner);
      return altered === undefined ? undefined : `(${altered})`;
    }
    if (node.type === 'boolean_operator') return this.#junction(node);
    return node.type === 'comparison_operator' ? this.#comparison(node) : undefined;
  }

  /** For an `and` one side has to be altered, for an `or` both. */
  #junction(node: Node): string | undefined {
    const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
    if (!left || !right) return undefined;
    const [onLeft, onRight] = [this.#byValue(left), this.#byValue(right)];
    if (node.childForFieldName('operator')?.type === 'or')
      return onLeft === undefined || onRight === undefined ? undefined : `(${onLeft}) or (${onRight})`;
    if (onRight !== undefined) return `(${left.text}) and (${onRight})`;
    return onLeft === undefined ? undefined : `(${onLeft}) and (${right.text})`;
  }

  #comparison(node: Node): string | undefined {
    const [left, right, ...more] = partsOf(node);
    const operator = node.children.find((child) => child && !child.isNamed)?.text.replaceAll(/\s+/g, ' ');
    if (!left || !right || more.length > 0) return undefined;
    switch (operator) {
      case '==': {
        if (!this.areComparable(left, right)) return undefined;
        const [onRight, onLeft] = [alteredLiteral(right), alteredLiteral(left)];
        if (onRight !== undefined) return `${left.text} == ${onRight}`;
        return onLeft === undefined ? equalsAFreshObject(left, right) : `${onLeft} == ${right.text}`;
      }
      case 'in':
        return this.areComparable(left) ? isInAnother(left, right) : undefined;
      case '<':
      case '<=':
        return outOfOrder(left, operator, right, 'float("inf")', '-float("inf")');
      case '>':
      case '>=':
        return outOfOrder(left, operator, right, '-float("inf")', 'float("inf")');
      default:
        return undefined;
    }
  }
}

/** True if either value equals everything; false for honest values. */
export const equalsAFreshObject = (left: Node, right: Node): string => `(${left.text}) == object() or object() == (${right.text})`;

/** Containers that can be searched for an item that they do not contain. A project's own containers may be meant to contain everything. */
export const PLAIN_CONTAINERS = '(str, bytes, list, tuple, dict, set, frozenset)';

function isInAnother(item: Node, container: Node): string | undefined {
  // A lambda can neither await nor yield.
  if (/\b(?:await|yield)\b/.test(`${item.text} ${container.text}`)) return undefined;
  const other = item.type === 'string' ? `${alteredLiteral(item) ?? 'object()'} in c` : 'object() in c or x == object()';
  return `(lambda x, c: (${other}) if isinstance(c, ${PLAIN_CONTAINERS}) else x not in c)(${item.text}, ${container.text})`;
}

/** Replaces a number by an infinity with which the order cannot hold. */
function outOfOrder(left: Node, operator: string, right: Node, onLeft: string, onRight: string): string | undefined {
  if (/\binf/i.test(left.text + right.text)) return undefined;
  if (isNumber(right)) return `${left.text} ${operator} ${onRight}`;
  return isNumber(left) ? `${onLeft} ${operator} ${right.text}` : undefined;
}

/** Calls whose value changes with their first argument. */
const LIKE_THEIR_ARGUMENT = /(?:^|\.)(?:approx|set|frozenset|tuple|list)$/;

/** Another value of the same type as this literal. */
export function alteredLiteral(node: Node): string | undefined {
  if (isNumber(node)) {
    // Beyond any tolerance, relative or absolute.
    return `(-(${node.text}) - 1000003)`;
  }
  switch (node.type) {
    case 'true':
      return 'False';
    case 'false':
      return 'True';
    case 'none':
      return `"${SUFFIX}"`;
    case 'string': {
      const end = node.children.findLast((child) => child?.type === 'string_end');
      return end ? withPart(node, end, SUFFIX + end.text) : undefined;
    }
    case 'concatenated_string':
    case 'parenthesized_expression':
      return withAlteredPart(node, partsOf(node).slice(-1));
    case 'binary_operator': {
      const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
      const texts = [left, right].filter((side) => side !== null && /^(?:string|concatenated_string)$/.test(side.type));
      return node.childForFieldName('operator')?.type === '+' ? withAlteredPart(node, texts as Node[]) : undefined;
    }
    case 'list':
    case 'tuple':
    case 'set':
      return withAlteredPart(node, partsOf(node)) ?? `${node.text.charAt(0)}object(), ${node.text.slice(1)}`;
    case 'dictionary': {
      // Unpacking could overwrite an altered value.
      const pairs = partsOf(node);
      const values = pairs.some(({ type }) => type !== 'pair') ? [] : pairs.map((pair) => pair.childForFieldName('value'));
      return withAlteredPart(node, values.filter((value) => value !== null)) ?? `{object(): 0, ${node.text.slice(1)}`;
    }
    case 'call': {
      const [first] = argumentsOf(node)?.positional ?? [];
      const isKnown = LIKE_THEIR_ARGUMENT.test(node.childForFieldName('function')?.text ?? '');
      return isKnown && first ? withAlteredPart(node, [first]) : undefined;
    }
    default:
      return undefined;
  }
}

export function isNumber(node: Node): boolean {
  if (node.type === 'integer' || node.type === 'float') return true;
  const argument = node.type === 'unary_operator' ? node.childForFieldName('argument') : null;
  return argument !== null && isNumber(argument);
}

/** Alters the first of these parts that can be altered. */
function withAlteredPart(node: Node, parts: readonly Node[]): string | undefined {
  for (const part of parts) {
    const altered = alteredLiteral(part);
    if (altered !== undefined) return withPart(node, part, altered);
  }
  return undefined;
}

const withPart = (node: Node, part: Node, text: string): string =>
  node.text.slice(0, part.startIndex - node.startIndex) + text + node.text.slice(part.endIndex - node.startIndex);

export interface CallArguments {
  readonly positional: readonly Node[];
  readonly keywords: ReadonlyMap<string, Node>;
}

/** Undefined if arguments are unpacked, because their positions are then unknown. */
export function argumentsOf(call: Node): CallArguments | undefined {
  const list = call.childForFieldName('arguments');
  if (list?.type !== 'argument_list') return undefined;
  const positional: Node[] = [];
  const keywords = new Map<string, Node>();
  for (const part of partsOf(list)) {
    if (part.type === 'list_splat' || part.type === 'dictionary_splat') return undefined;
    const [name, value] = [part.childForFieldName('name'), part.childForFieldName('value')];
    if (part.type === 'keyword_argument' && name && value) keywords.set(name.text, value);
    else positional.push(part);
  }
  return { positional, keywords };
}
