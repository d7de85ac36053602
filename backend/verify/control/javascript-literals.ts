import { insertion, replacement, type Edit } from '../syntax/edits.ts';
import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { alteredPart, alteredTextPart, longestPart, type Comparison } from './altered-parts.ts';
import type { Dice } from './dice.ts';
import { otherNumber, otherText } from './likely-values.ts';

/** Matchers that no longer match if their argument is altered. */
const LIKE_THEIR_ARGUMENT = /^expect\.(?:objectContaining|arrayContaining|stringContaining)$/;

/** Replaces a literal, or one in it, by another one of the same kind. Undefined if there is none in it. */
export function alteredLiteral(node: Node, dice: Dice, comparison: Comparison = {}): readonly Edit[] | undefined {
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
      return parts.length === 0 ? [insertion(node.startIndex + 1, String(dice(10)))] : oneOf(parts, dice, {});
    }
    case 'object': {
      // A spread could overwrite an altered value.
      const pairs = partsOf(node);
      if (pairs.length === 0) return [insertion(node.startIndex + 1, ` ${otherText('a', dice)}: ${dice(10)} `)];
      const isPlain = pairs.every(({ type }) => type !== 'spread_element');
      const values = isPlain ? pairs.map((pair) => (pair.type === 'pair' ? pair.childForFieldName('value') : null)) : [];
      return oneOf(values.filter((value) => value !== null), dice, {});
    }
    case 'parenthesized_expression':
    case 'as_expression':
    case 'satisfies_expression':
      return oneOf(partsOf(node).slice(0, 1), dice, comparison);
    case 'binary_expression': {
      const sides = [node.childForFieldName('left'), node.childForFieldName('right')].filter((side) => side !== null);
      const texts = sides.filter(({ type }) => type === 'string' || type === 'template_string');
      return node.childForFieldName('operator')?.type === '+' ? oneOf(texts, dice, comparison) : undefined;
    }
    case 'call_expression': {
      const [first] = argumentsOf(node) ?? [];
      const called = node.childForFieldName('function')?.text ?? '';
      const isOfText = called.endsWith('stringContaining');
      return LIKE_THEIR_ARGUMENT.test(called) && first ? alteredLiteral(first, dice, { isContained: isOfText }) : undefined;
    }
    default:
      return undefined;
  }
}

const oneOf = (parts: readonly Node[], dice: Dice, comparison: Comparison): readonly Edit[] | undefined =>
  alteredPart(parts, dice, (part) => alteredLiteral(part, dice, comparison));

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
