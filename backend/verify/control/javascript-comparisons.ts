import type { Node } from '../syntax/parse.ts';
import { partsOf } from '../syntax/nodes.ts';
import { byValue, type Alteration } from './alteration.ts';
import type { Dice } from './dice.ts';
import { alteredLiteral, argumentsOf } from './javascript-literals.ts';

/** Names of functions and methods with which a product compares values. */
const COMPARISON = /^(?:is|are)?_?(?:deep|shallow)?_?(?:equals?|eq|same)(?:_?to)?$/i;

/**
 * Compares with another value where the product defines the comparison: `a.equals(new Money(300))` with `new Money(340)`. Undefined if it
 * is no comparison, or has nothing to alter.
 */
export function strictComparison(node: Node, dice: Dice): Alteration | undefined {
  const [inside] = node.type === 'parenthesized_expression' ? partsOf(node) : [node];
  const called = inside?.type === 'call_expression' ? inside.childForFieldName('function') : null;
  const given = inside && called ? argumentsOf(inside) : undefined;
  const name = called?.type === 'member_expression' ? called.childForFieldName('property') : called;
  if (!inside || !given || !name || !COMPARISON.test(name.text)) return undefined;
  // Further arguments would be a tolerance or options.
  if (given.length !== (called?.type === 'member_expression' ? 1 : 2)) return undefined;
  for (const argument of [...given].reverse()) {
    const edits = /^(?:new_expression|call_expression)$/.test(argument.type) ? otherArguments(argument, dice) : alteredLiteral(argument, dice);
    if (edits && edits.length > 0) return byValue(edits);
  }
  return undefined;
}

/** Alters every literal argument, because it is unknown which of them the product compares. */
function otherArguments(made: Node, dice: Dice): ReturnType<typeof alteredLiteral> {
  const maker = made.childForFieldName(made.type === 'new_expression' ? 'constructor' : 'function')?.text ?? '';
  // `Money.of(300)` makes a value. The result of a method of a value may not depend on its argument.
  if (made.type === 'call_expression' && !/^(?:[A-Z]\w*\.)?\w+$/.test(maker)) return undefined;
  return (argumentsOf(made) ?? []).flatMap((part) => alteredLiteral(part, dice, /^-?[\d.]/.test(part.text) ? { tolerance: 0 } : {}) ?? []);
}
