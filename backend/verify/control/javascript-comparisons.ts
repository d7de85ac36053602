import { replacement, withEdits, type Edit } from '../syntax/edits.ts';
import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { alteredLiteral, argumentsOf, SUFFIX } from './javascript-expressions.ts';

/** Functions and methods by which a product compares. */
const COMPARISON = /^(?:is|are)?_?(?:deep|shallow)?_?(?:equals?|eq|same)(?:_?to)?$/i;

/**
 * A comparison of the product's own that is asked for another value, too: `a.equals(new Money(300))` becomes what is true only where
 * `a` equals that, and is not said to equal one with another number. Undefined where it is no comparison, or with nothing to alter.
 */
export function strictComparison(node: Node): string | undefined {
  const [inside] = node.type === 'parenthesized_expression' ? partsOf(node) : [node];
  const called = inside?.type === 'call_expression' ? inside.childForFieldName('function') : null;
  const given = inside && called ? argumentsOf(inside) : undefined;
  const name = called?.type === 'member_expression' ? called.childForFieldName('property') : called;
  if (!inside || !given || !name || !COMPARISON.test(name.text)) return undefined;
  // What stands behind the compared values would be a tolerance or options.
  if (given.length !== (called?.type === 'member_expression' ? 1 : 2)) return undefined;
  for (const argument of [...given].reverse()) {
    const altered = otherValue(argument);
    if (altered !== undefined) return `(${node.text} && ${altered(inside)} !== true)`;
  }
  return undefined;
}

/** Writes a node that holds the value with another one in its place. */
function otherValue(node: Node): ((around: Node) => string) | undefined {
  const edits = /^(?:new_expression|call_expression)$/.test(node.type) ? otherArguments(node) : otherLiteral(node, 0);
  if (edits.length === 0) return undefined;
  return (around) => {
    const moved = edits.map(({ start, end, text }) => ({ start: start - around.startIndex, end: end - around.startIndex, text }));
    return withEdits(around.text, moved) ?? around.text;
  };
}

/** All that is written out: which of it is compared, and which of it may be left out, is not known. */
function otherArguments(made: Node): readonly Edit[] {
  const maker = made.childForFieldName(made.type === 'new_expression' ? 'constructor' : 'function')?.text ?? '';
  // `Money.of(300)` makes a value; what a method of a value makes of a number need not depend on it.
  if (made.type === 'call_expression' && !/^(?:[A-Z]\w*\.)?\w+$/.test(maker)) return [];
  // Zero may be where values end, so that everything below is zero, too.
  return (argumentsOf(made) ?? []).flatMap((part, index) => (Number(part.text) === 0 ? [] : otherLiteral(part, index)));
}

/** Numbers that differ otherwise from each other than the ones before did: of a fraction both parts are altered. */
function otherLiteral(node: Node, index: number): readonly Edit[] {
  if (node.type === 'string' || node.type === 'template_string') return [replacement(node, `"${SUFFIX}"`)];
  const altered = alteredLiteral(node);
  if (altered === undefined) return [];
  return [replacement(node, /^-?\d[\d_.]*$/.test(node.text) ? `(${altered} - ${7919 * index})` : altered)];
}
