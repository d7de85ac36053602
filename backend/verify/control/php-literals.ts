import { insertion, replacement, type Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { alteredPart, alteredTextPart, longestPart, type Comparison } from './altered-parts.ts';
import type { Dice } from './dice.ts';
import { otherNumber, otherText } from './likely-values.ts';

const isText = ({ type }: Node): boolean => /^(?:string|encapsed_string|heredoc|nowdoc)$/.test(type);

interface PhpComparison extends Comparison {
  /** Two objects are equal where their properties are. */
  readonly byParts?: boolean;
}

/** Replaces a literal, or one literal in it, by another one of the same kind. Undefined if there is none in it. */
export function alteredLiteral(node: Node, dice: Dice, comparison: PhpComparison = {}): readonly Edit[] | undefined {
  const oneOf = (parts: readonly Node[]): readonly Edit[] | undefined => alteredPart(parts, dice, (part) => alteredLiteral(part, dice, comparison));
  if (isText(node)) return alteredText(node, dice, comparison);
  switch (node.type) {
    case 'integer':
    case 'float': {
      const other = otherNumber(node.text, dice, comparison.tolerance);
      return other === undefined || comparison.isContained ? undefined : [replacement(node, other)];
    }
    case 'unary_op_expression':
      return /^[-+]\s*[\d.]/.test(node.text) ? oneOf(partsOf(node)) : undefined;
    case 'boolean':
      return [replacement(node, /^true$/i.test(node.text) ? 'false' : 'true')];
    case 'null':
      // With ==, as `assertEquals` compares, null is equal to false.
      return [replacement(node, 'true')];
    case 'parenthesized_expression':
      return oneOf(partsOf(node));
    case 'binary_expression': {
      const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
      return node.childForFieldName('operator')?.text === '.' ? oneOf([left, right].filter((side) => side !== null)) : undefined;
    }
    case 'array_creation_expression': {
      const values = valuesOf(node);
      if (values?.length === 0) return comparison.isContained ? undefined : [insertion(node.endIndex - 1, String(dice(10)))];
      return values && oneOf(values);
    }
    case 'object_creation_expression': {
      // What is equal by its parts. A flag may change nothing of them.
      const given = comparison.byParts ? partsOf(node).filter(({ type }) => type === 'arguments').flatMap((list) => partsOf(list)) : [];
      const values = given.flatMap((argument) => partsOf(argument).slice(-1)).filter((value) => isText(value) || /^(?:integer|float)$/.test(value.type));
      return oneOf(values);
    }
    default:
      return undefined;
  }
}

function alteredText(node: Node, dice: Dice, comparison: Comparison): readonly Edit[] | undefined {
  const longest = longestPart([...nodesIn(node)].filter(({ type }) => type === 'string_content' || type === 'nowdoc_string'));
  if (longest) return alteredTextPart(longest, dice, comparison);
  return comparison.isContained || !/^(?:string|encapsed_string)$/.test(node.type) ? undefined : [insertion(node.endIndex - 1, otherText('', dice))];
}

/** The elements of an array that is written out. */
export const elementsOf = (array: Node): readonly Node[] => partsOf(array).filter(({ type }) => type === 'array_element_initializer');

/** The values of an array; undefined if one is unpacked or a reference. */
function valuesOf(array: Node): readonly Node[] | undefined {
  const values = elementsOf(array).map(elementValue);
  return values.every((value) => value !== undefined) ? values : undefined;
}

export const elementKey = (element: Node): Node | undefined => (partsOf(element).length > 1 ? partsOf(element)[0] : undefined);

export function elementValue(element: Node): Node | undefined {
  const value = partsOf(element).at(-1);
  return value === undefined || /^(?:variadic_unpacking|by_ref)$/.test(value.type) || element.text.startsWith('...') ? undefined : value;
}

/** The text of a string without expressions and escapes. */
export function plainText(node: Node | undefined): string | undefined {
  if (node?.type !== 'string' && node?.type !== 'encapsed_string') return undefined;
  const parts = partsOf(node);
  return parts.every(({ type }) => type === 'string_content') ? parts.map(({ text }) => text).join('') : undefined;
}
