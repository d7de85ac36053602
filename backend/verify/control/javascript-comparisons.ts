import { replacement, withEdits, type Edit } from '../syntax/edits.ts';
import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { alteredLiteral, argumentsOf, SUFFIX } from './javascript-expressions.ts';

/** Names of functions and methods with which a product compares values. */
const COMPARISON = /^(?:is|are)?_?(?:deep|shallow)?_?(?:equals?|eq|same)(?:_?to)?$/i;

/**
 * Tests a comparison that the product defines with another value as well. `a.equals(new Money(300))` becomes a condition that is true
 * only if `a` equals this and does not equal one with another number. Undefined if it is no comparison, or has nothing to alter.
 */
export function strictComparison(node: Node): string | undefined {
  const [inside] = node.type === 'parenthesized_expression' ? partsOf(node) : [node];
  const called = inside?.type === 'call_expression' ? inside.childForFieldName('function') : null;
  const given = inside && called ? argumentsOf(inside) : undefined;
  const name = called?.type === 'member_expression' ? called.childForFieldName('property') : called;
  if (!inside || !given || !name || !COMPARISON.test(name.text)) return undefined;
  // Further arguments would be a tolerance or options.
  if (given.length !== (called?.type === 'member_expression' ? 1 : 2)) return undefined;
  for (const argument of [...given].reverse()) {
    const altered = otherValue(argument);
    if (altered !== undefined) return `(${node.text} && ${altered(inside)} !== true)`;
  }
  return undefined;
}

/** Returns a function that rewrites a node around the value with another value in its place. */
function otherValue(node: Node): ((around: Node) => string) | undefined {
  const edits = /^(?:new_expression|call_expression)$/.test(node.type) ? otherArguments(node) : otherLiteral(node, 0);
  if (edits.length === 0) return undefined;
  return (around) => {
    const moved = edits.map(({ start, end, text }) => ({ start: start - around.startIndex, end: end - around.startIndex, text }));
    return withEdits(around.text, moved) ?? around.text;
  };
}

/** Alters every literal argument, because it is unknown which of them the product compares. */
function otherArguments(made: Node): readonly Edit[] {
  const maker = made.childForFieldName(made.type === 'new_expression' ? 'constructor' : 'function')?.text ?? '';
  // `Money.of(300)` makes a value. The result of a method of a value may not depend on its argument.
  if (made.type === 'call_expression' && !/^(?:[A-Z]\w*\.)?\w+$/.test(maker)) return [];
  // Zero is kept: values may be clamped to zero, and its negative replacement would be clamped too.
  return (argumentsOf(made) ?? []).flatMap((part, index) => (Number(part.text) === 0 ? [] : otherLiteral(part, index)));
}

/** Numbers get different offsets by `index`, so that the altered parts of a value such as a fraction do not stay equivalent. */
function otherLiteral(node: Node, index: number): readonly Edit[] {
  if (node.type === 'string' || node.type === 'template_string') return [replacement(node, `"${SUFFIX}"`)];
  const altered = alteredLiteral(node);
  if (altered === undefined) return [];
  return [replacement(node, /^-?\d[\d_.]*$/.test(node.text) ? `(${altered} - ${7919 * index})` : altered)];
}
