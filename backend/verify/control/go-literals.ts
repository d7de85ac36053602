import { insertion, replacement, type Edit } from '../syntax/edits.ts';
import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { alteredPart, alteredTextPart, longestPart, type Comparison } from './altered-parts.ts';
import type { Dice } from './dice.ts';
import { otherNumber, otherText } from './likely-values.ts';

export interface GoComparison extends Comparison {
  /** The project decides what is equal and may leave out some fields, so all literals of a value are changed. */
  readonly isOwn?: boolean;
}

const TYPES = /^(?:u?int(?:8|16|32|64)?|float(?:32|64)|byte|rune|string|bool|time\.Duration|big\.NewInt)$/;

/** Functions whose result is another one for another text of the same length. */
const LIKE_THEIR_ARGUMENT = /^(?:strings\.(?:TrimSpace|ToLower|ToUpper)|heredoc\.Doc|(?:\w+\.)?[dD]edent|string)$/;

/** An expression without the parts around it that keep its value apart from others: parentheses, conversions, `strings.TrimSpace`. */
export function plainOf(node: Node): Node {
  let at = node;
  for (;;) {
    const list = at.type === 'call_expression' && LIKE_THEIR_ARGUMENT.test(at.childForFieldName('function')?.text ?? '') ? at.childForFieldName('arguments') : null;
    const parts = list ? partsOf(list) : /^(?:parenthesized_expression|expression_list)$/.test(at.type) ? partsOf(at) : at.type === 'type_conversion_expression' ? partsOf(at).slice(-1) : [];
    const [inner] = parts;
    if (!inner || parts.length > 1) return at;
    at = inner;
  }
}

/** Replaces a literal, or one literal in it, by another one of the same kind. Undefined if there is none in it. */
export function alteredLiteral(node: Node, dice: Dice, comparison: GoComparison = {}): readonly Edit[] | undefined {
  switch (node.type) {
    case 'int_literal':
    case 'float_literal': {
      const other = comparison.isContained ? undefined : otherNumber(node.text, dice, comparison.tolerance);
      return other === undefined ? undefined : [replacement(node, other)];
    }
    case 'true':
    case 'false':
      return comparison.isContained ? undefined : [replacement(node, node.type === 'true' ? 'false' : 'true')];
    case 'rune_literal':
      return /^'[a-z\d]'$/i.test(node.text) ? [replacement(node, `'${otherText(node.text.charAt(1), dice)}'`)] : undefined;
    case 'interpreted_string_literal':
    case 'raw_string_literal': {
      const longest = longestPart(partsOf(node).filter(({ type }) => type.endsWith('_content')));
      if (longest) return alteredTextPart(longest, dice, comparison);
      return comparison.isContained ? undefined : [insertion(node.endIndex - 1, otherText('', dice))];
    }
    case 'unary_expression':
      return /^[-&]/.test(node.text) ? several(partsOf(node), dice, comparison) : undefined;
    case 'composite_literal':
      return several([node.childForFieldName('body')].filter((body) => body !== null), dice, comparison);
    case 'literal_value':
      return several(partsOf(node).map((part) => part.childForFieldName('value') ?? part).filter(({ type }) => type !== 'keyed_element'), dice, comparison);
    case 'literal_element':
    case 'parenthesized_expression':
    case 'expression_list':
      return partsOf(node).length === 1 ? several(partsOf(node), dice, comparison) : undefined;
    case 'type_conversion_expression':
      return several(partsOf(node).slice(-1), dice, comparison);
    case 'binary_expression': {
      // `5 * time.Second`, `"a" + "b"`.
      const sides = partsOf(node).filter(({ type }) => /_literal$/.test(type));
      return /^[*+]$/.test(node.childForFieldName('operator')?.text ?? '') ? several(sides.slice(0, 1), dice, comparison) : undefined;
    }
    case 'call_expression': {
      const list = node.childForFieldName('arguments');
      const name = node.childForFieldName('function')?.text ?? '';
      return (TYPES.test(name) || LIKE_THEIR_ARGUMENT.test(name)) && list ? several(partsOf(list), dice, comparison) : undefined;
    }
    default:
      return undefined;
  }
}

function several(parts: readonly Node[], dice: Dice, comparison: GoComparison): readonly Edit[] | undefined {
  if (!comparison.isOwn) return alteredPart(parts, dice, (part) => alteredLiteral(part, dice, comparison));
  const edits = parts.flatMap((part) => alteredLiteral(part, dice, comparison) ?? []);
  return edits.length > 0 ? edits : undefined;
}
