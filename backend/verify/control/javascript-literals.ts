import { insertion, replacement, type Edit } from '../syntax/edits.ts';
import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { alteredPart, alteredTextPart, longestPart, type Comparison } from './altered-parts.ts';
import type { Dice } from './dice.ts';
import { otherNumber, otherText } from './likely-values.ts';

/** Matchers that no longer match if their argument is altered. */
const LIKE_THEIR_ARGUMENT = /^expect\.(?:objectContaining|arrayContaining|stringContaining)$/;

/** The edits of what a name stands for. */
export type FollowName = (name: Node, comparison: Comparison) => readonly Edit[] | undefined;

/** Calls that give another value for another first argument. */
const OF_THEIR_ARGUMENT = /^(?:Set|Map|Date|Uint8Array|Buffer\.from|Object\.freeze|BigInt|Number|String)$/;
/** Tags that leave the letters of a text as they are. */
const TAG_OF_TEXT = /^(?:dedent|outdent|stripIndent|String\.raw)$/;
/** Methods that keep all letters of a list or a text. */
const KEEPS_LETTERS = /^(?:join|trim|trimStart|trimEnd)$/;

/**
 * Replaces the literal that a node is or contains by another one of the same kind. Undefined if there is none.
 * @param follow edits what a name stands for; without it, names stay as they are
 */
export function alteredLiteral(node: Node, dice: Dice, comparison: Comparison = {}, follow?: FollowName): readonly Edit[] | undefined {
  const oneOf = (parts: readonly Node[], how: Comparison): readonly Edit[] | undefined =>
    alteredPart(parts, dice, (part) => alteredLiteral(part, dice, how, follow));
  switch (node.type) {
    case 'number': {
      const other = comparison.isContained === true ? undefined : otherNumber(node.text, dice, comparison.tolerance);
      return other === undefined ? undefined : [replacement(node, other)];
    }
    case 'unary_expression': {
      const argument = node.childForFieldName('argument');
      return argument?.type === 'number' && node.text.startsWith('-') ? alteredLiteral(argument, dice, comparison) : undefined;
    }
    case 'true':
    case 'null':
    case 'undefined':
      return comparison.isContained === true ? undefined : [replacement(node, 'false')];
    case 'false':
      return comparison.isContained === true ? undefined : [replacement(node, 'true')];
    case 'string':
    case 'template_string':
      return alteredText(node, dice, comparison);
    case 'array': {
      const parts = partsOf(node);
      if (comparison.areItemsContained === true) return oneOf(parts, { isContained: true });
      return parts.length === 0 ? [insertion(node.startIndex + 1, String(dice(10)))] : oneOf(parts, {});
    }
    case 'object': {
      // A spread could overwrite an altered value.
      const pairs = partsOf(node);
      if (pairs.length === 0) return [insertion(node.startIndex + 1, ` ${otherText('a', dice)}: ${dice(10)} `)];
      const isPlain = pairs.every(({ type }) => type !== 'spread_element');
      const values = isPlain ? pairs.map((pair) => (pair.type === 'pair' ? pair.childForFieldName('value') : pair)) : [];
      return oneOf(values.filter((value) => value !== null), {});
    }
    case 'parenthesized_expression':
    case 'as_expression':
    case 'satisfies_expression':
    case 'non_null_expression':
      return oneOf(partsOf(node).slice(0, 1), comparison);
    case 'binary_expression': {
      const sides = [node.childForFieldName('left'), node.childForFieldName('right')].filter((side) => side !== null);
      const texts = sides.filter(({ type }) => type === 'string' || type === 'template_string');
      return node.childForFieldName('operator')?.type === '+' ? oneOf(texts, comparison) : undefined;
    }
    case 'identifier':
    case 'shorthand_property_identifier':
    case 'member_expression':
    case 'subscript_expression':
      return follow?.(node, comparison);
    case 'new_expression': {
      const [first] = argumentsOf(node) ?? [];
      return first && OF_THEIR_ARGUMENT.test(node.childForFieldName('constructor')?.text ?? '') ? oneOf([first], {}) : undefined;
    }
    case 'call_expression':
      return alteredCall(node, comparison, (part, how) => alteredLiteral(part, dice, how, follow));
    default:
      return undefined;
  }
}

function alteredCall(call: Node, comparison: Comparison, alter: FollowName): readonly Edit[] | undefined {
  const called = call.childForFieldName('function');
  const list = call.childForFieldName('arguments');
  const name = called?.text ?? '';
  if (list?.type === 'template_string') return TAG_OF_TEXT.test(name) ? alter(list, comparison) : undefined;
  const [first] = argumentsOf(call) ?? [];
  if (LIKE_THEIR_ARGUMENT.test(name))
    return first && alter(first, { isContained: name.endsWith('stringContaining'), areItemsContained: name.endsWith('arrayContaining') });
  if (OF_THEIR_ARGUMENT.test(name)) return first && alter(first, {});
  const object = called?.childForFieldName('object');
  return object && KEEPS_LETTERS.test(called?.childForFieldName('property')?.text ?? '') ? alter(object, comparison) : undefined;
}

function alteredText(node: Node, dice: Dice, comparison: Comparison): readonly Edit[] | undefined {
  const longest = longestPart(node.namedChildren.filter((child): child is Node => child?.type === 'string_fragment'));
  if (longest) return alteredTextPart(longest, dice, comparison);
  return comparison.isContained ? undefined : [insertion(node.endIndex - 1, otherText('', dice))];
}

/** Undefined if arguments are spread, because their positions are then unknown. */
export function argumentsOf(call: Node): readonly Node[] | undefined {
  const list = call.childForFieldName('arguments');
  if (list?.type !== 'arguments') return undefined;
  const parts = partsOf(list);
  return parts.some(({ type }) => type === 'spread_element') ? undefined : parts;
}
