import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';

/** Appended to strings. It has no special meaning in regular expressions and format strings. */
export const SUFFIX = '~altered';

/** Equal to nothing else. */
export const FRESH = `Symbol("${SUFFIX}")`;

/** Matchers that no longer match if their argument is altered. */
const LIKE_THEIR_ARGUMENT = /^expect\.(?:objectContaining|arrayContaining|stringContaining)$/;

/** Another value of the same type as this literal. */
export function alteredLiteral(node: Node): string | undefined {
  if (isNumber(node)) {
    const big = node.text.endsWith('n') ? 'n' : '';
    // Beyond any tolerance.
    return `(-(${node.text}) - 1000003${big})`;
  }
  switch (node.type) {
    case 'true':
      return 'false';
    case 'false':
      return 'true';
    case 'null':
    case 'undefined':
      return `"${SUFFIX}"`;
    case 'string':
    case 'template_string':
      return node.text.slice(0, -1) + SUFFIX + node.text.slice(-1);
    case 'array':
      return withAlteredPart(node, partsOf(node)) ?? `[${FRESH}, ${node.text.slice(1)}`;
    case 'object': {
      // A spread could overwrite an altered value.
      const pairs = partsOf(node);
      const isPlain = pairs.every(({ type }) => type !== 'spread_element');
      const values = isPlain ? pairs.map((pair) => (pair.type === 'pair' ? pair.childForFieldName('value') : null)) : [];
      return withAlteredPart(node, values.filter((value) => value !== null)) ?? `{ "${SUFFIX}": 1, ${node.text.slice(1)}`;
    }
    case 'parenthesized_expression':
    case 'as_expression':
    case 'satisfies_expression':
      return withAlteredPart(node, partsOf(node).slice(0, 1));
    case 'binary_expression': {
      const sides = [node.childForFieldName('left'), node.childForFieldName('right')].filter((side) => side !== null);
      const texts = sides.filter(({ type }) => type === 'string' || type === 'template_string');
      return node.childForFieldName('operator')?.type === '+' ? withAlteredPart(node, texts) : undefined;
    }
    case 'call_expression': {
      const [first] = argumentsOf(node) ?? [];
      const isKnown = LIKE_THEIR_ARGUMENT.test(node.childForFieldName('function')?.text ?? '');
      return isKnown && first ? withAlteredPart(node, [first]) : undefined;
    }
    default:
      return undefined;
  }
}

function isNumber(node: Node): boolean {
  if (node.type === 'number') return true;
  const argument = node.type === 'unary_expression' ? node.childForFieldName('argument') : null;
  return argument?.type === 'number' && node.text.startsWith('-');
}

/** Alters the first of these parts that can be altered. */
function withAlteredPart(node: Node, parts: readonly Node[]): string | undefined {
  for (const part of parts) {
    const altered = alteredLiteral(part);
    if (altered === undefined) continue;
    return node.text.slice(0, part.startIndex - node.startIndex) + altered + node.text.slice(part.endIndex - node.startIndex);
  }
  return undefined;
}

/** Undefined if arguments are spread, because their positions are then unknown. */
export function argumentsOf(call: Node): readonly Node[] | undefined {
  const list = call.childForFieldName('arguments');
  if (list?.type !== 'arguments') return undefined;
  const parts = partsOf(list);
  return parts.some(({ type }) => type === 'spread_element') ? undefined : parts;
}
