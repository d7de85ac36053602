import { insertion, replacement, type Edit } from '../syntax/edits.ts';
import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { alteredPart, alteredTextPart, longestPart, type Comparison } from './altered-parts.ts';
import type { Dice } from './dice.ts';
import { otherNumber, otherText } from './likely-values.ts';

/** Calls whose value changes with their first argument. */
const LIKE_THEIR_ARGUMENT = /(?:^|\.)(?:approx|set|frozenset|tuple|list|dedent|cleandoc)$/;
/** Methods of texts whose result is another one for another text of the same length. */
const LIKE_THEIR_TEXT = /^(?:strip|lstrip|rstrip|lower|upper|encode|split|splitlines)$/;

/** An expression without calls that leave its value as telling: `textwrap.dedent(text).strip()`. */
export function plainOf(node: Node): Node {
  let at = node;
  for (let inner: Node | undefined = at; inner; inner = insideOf(at)) at = inner;
  return at;
}

function insideOf(node: Node): Node | undefined {
  const called = node.type === 'call' ? node.childForFieldName('function') : null;
  const given = called ? argumentsOf(node) : undefined;
  if (!called || !given || given.keywords.size > 0) return undefined;
  const isText = called.type === 'attribute' && given.positional.length === 0 && LIKE_THEIR_TEXT.test(called.childForFieldName('attribute')?.text ?? '');
  if (isText) return called.childForFieldName('object') ?? undefined;
  return /(?:^|\.)(?:dedent|cleandoc)$/.test(called.text) && given.positional.length === 1 ? given.positional[0] : undefined;
}

/** Replaces a literal, or one literal in it, by another one of the same kind. Undefined if there is none in it. */
export function alteredLiteral(node: Node, dice: Dice, comparison: Comparison = {}): readonly Edit[] | undefined {
  switch (node.type) {
    case 'integer':
    case 'float': {
      const other = otherNumber(node.text, dice, comparison.tolerance);
      return other === undefined ? undefined : [replacement(node, other)];
    }
    case 'unary_operator': {
      const argument = node.childForFieldName('argument');
      return argument && isNumber(argument) ? alteredLiteral(argument, dice, comparison) : undefined;
    }
    case 'true':
      return [replacement(node, 'False')];
    case 'false':
    case 'none':
      return [replacement(node, node.type === 'none' ? 'False' : 'True')];
    case 'string':
      return alteredText(node, dice, comparison);
    case 'concatenated_string':
    case 'parenthesized_expression':
      return oneOf(partsOf(node).slice(-1), dice, comparison);
    case 'binary_operator': {
      const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
      const texts = [left, right].filter((side) => side !== null && /^(?:string|concatenated_string)$/.test(side.type));
      return node.childForFieldName('operator')?.type === '+' ? oneOf(texts as Node[], dice, comparison) : undefined;
    }
    case 'list':
    case 'tuple':
    case 'set': {
      const parts = partsOf(node);
      const end = node.type === 'tuple' ? ',' : '';
      return parts.length === 0 ? [insertion(node.startIndex + 1, `${dice(10)}${end}`)] : oneOf(parts, dice, comparison);
    }
    case 'dictionary': {
      // Unpacking could overwrite an altered value.
      const pairs = partsOf(node);
      if (pairs.length === 0) return [insertion(node.startIndex + 1, `"${otherText('a', dice)}": ${dice(10)}`)];
      const values = pairs.some(({ type }) => type !== 'pair') ? [] : pairs.map((pair) => pair.childForFieldName('value'));
      return oneOf(values.filter((value) => value !== null), dice, comparison);
    }
    case 'call': {
      const plain = plainOf(node);
      if (plain.id !== node.id) return alteredLiteral(plain, dice, comparison);
      const [first] = argumentsOf(node)?.positional ?? [];
      const isKnown = LIKE_THEIR_ARGUMENT.test(node.childForFieldName('function')?.text ?? '');
      const tolerance = toleranceOf(node, comparison);
      return isKnown && first && tolerance !== 'unknown' ? alteredLiteral(first, dice, tolerance) : undefined;
    }
    default:
      return undefined;
  }
}

const oneOf = (parts: readonly Node[], dice: Dice, comparison: Comparison): readonly Edit[] | undefined =>
  alteredPart(parts, dice, (part) => alteredLiteral(part, dice, comparison));

function alteredText(node: Node, dice: Dice, comparison: Comparison): readonly Edit[] | undefined {
  const longest = longestPart(node.children.filter((child): child is Node => child?.type === 'string_content'));
  if (longest) return alteredTextPart(longest, dice, comparison);
  const end = node.children.findLast((child) => child?.type === 'string_end');
  return end && !comparison.isContained ? [insertion(end.startIndex, otherText('', dice))] : undefined;
}

export function isNumber(node: Node): boolean {
  if (node.type === 'integer' || node.type === 'float') return true;
  const argument = node.type === 'unary_operator' ? node.childForFieldName('argument') : null;
  return argument !== null && isNumber(argument);
}

/** The tolerance that a call asks for. A relative one below a half is met by no altered number. */
export function toleranceOf(call: Node, comparison: Comparison): Comparison | 'unknown' {
  let tolerance = /approx|almost|close/i.test(call.childForFieldName('function')?.text ?? '') ? 0 : comparison.tolerance;
  for (const [name, node] of argumentsOf(call)?.keywords ?? []) {
    const kind = TOLERANCES[name];
    if (kind === undefined) continue;
    const value = Number(node.text);
    if (!Number.isFinite(value) || (kind === 'relative' && value >= 0.4)) return 'unknown';
    if (kind !== 'relative') tolerance = (tolerance ?? 0) + (kind === 'absolute' ? value : 2 * 10 ** -value);
  }
  return tolerance === undefined ? comparison : { ...comparison, tolerance };
}

const TOLERANCES: Readonly<Record<string, 'absolute' | 'relative' | 'places'>> = {
  abs: 'absolute', delta: 'absolute', atol: 'absolute', rel: 'relative', rtol: 'relative', places: 'places', decimal: 'places',
};

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
