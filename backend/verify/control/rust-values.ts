import { insertion, replacement, type Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { alteredPart, alteredTextPart, longestPart } from './altered-parts.ts';
import { byValue, Draws, opposite, throughHelper, type Alteration } from './alteration.ts';
import type { Dice } from './dice.ts';
import { otherNumber, otherText } from './likely-values.ts';
import { Mentions } from './mentions.ts';
import { argumentsOf, attributesOf, isOfProject, isWrittenOut, type Argument } from './rust-assertions.ts';

/** Nesting of helpers that call helpers. */
const MAX_DEPTH = 5;

const isScope = ({ type }: Node): boolean => /^(?:closure_expression|async_block|function_item|macro_definition)$/.test(type);

/** What names stand for: the variables of a loop in each of its rounds, or the parameters of a helper. */
type Bound = ReadonlyMap<string, readonly Node[]>;

/**
 * Alters one assertion of a test, which every run of the test reaches, by another literal in the place of the one that is expected. Nothing
 * is added. Where nothing is expected by value, the opposite is asserted.
 */
export class RustValues {
  readonly #dice: Dice;
  readonly #functions: ReadonlyMap<string, Node | undefined>;
  readonly #draws: Draws;
  /** By the position of what is altered: tests may share it. */
  readonly #made = new Map<number, readonly Edit[] | undefined>();

  constructor(root: Node, functions: ReadonlyMap<string, Node | undefined>, dice: Dice) {
    this.#dice = dice;
    this.#functions = functions;
    this.#draws = new Draws(dice, new Mentions(root.text, [...nodesIn(root)].flatMap(prosesAt)));
  }

  /** Undefined if no assertion is certain to be reached. */
  alter(definition: Node): readonly Edit[] | undefined {
    return this.#draws.of(this.#alterations(definition, new Map(), 0));
  }

  #alterations(definition: Node, bound: Bound, depth: number): readonly Alteration[] {
    const body = definition.childForFieldName('body');
    // A panic that is caught does not fail the test.
    if (!body || body.hasError || /\bcatch_unwind\b|\bjoin\(\)/.test(body.text)) return [];
    return [...reached(body, bound)].flatMap(([node, names]) => {
      if (node.type === 'macro_invocation') return this.#ofMacro(node, body, names) ?? [];
      return depth < MAX_DEPTH ? this.#ofHelper(node, depth) : [];
    });
  }

  #ofMacro(macro: Node, body: Node, bound: Bound): Alteration | undefined {
    const named = macro.childForFieldName('macro');
    const [first, second] = argumentsOf(macro);
    const name = named?.text.split('::').at(-1)?.replace(/^debug_/, '');
    if (!named || !first) return undefined;
    const renamed = (from: string, to: string): Alteration => opposite({ start: named.endIndex - from.length, end: named.endIndex, text: to });
    if (name === 'assert_eq' && second) return this.#equality([second, first], body, bound) ?? renamed('eq', 'ne');
    if (name === 'assert_ne' && second) return renamed('ne', 'eq');
    if (name !== 'assert') return undefined;
    const sides = sidesOf(first);
    return (sides && this.#equality(sides, body, bound)) ?? opposite(insertion(first.startIndex, '!('), insertion(first.endIndex, ')'));
  }

  #equality(sides: readonly Argument[], body: Node, bound: Bound): Alteration | undefined {
    for (const { nodes } of sides) {
      const edits = isWrittenOut(nodes) ? this.#literal(nodes) : undefined;
      if (edits) return byValue(edits);
    }
    for (const { nodes: [only, ...others] } of sides) {
      if (only?.type !== 'identifier' || others.length > 0) continue;
      const found = isOnlyExpected(only.text, body) ? bound.get(only.text) : assignedTo(only.text, body);
      const edits = found?.map((node) => (isWrittenOut([node]) ? this.#literal([node]) : undefined)) ?? [];
      if (edits.length > 0 && edits.every((made) => made !== undefined)) return byValue(edits.flat());
    }
    return undefined;
  }

  /** Another literal. The project decides how values of its types compare, and may leave out some fields, so all literals of these are changed. */
  #literal(nodes: readonly Node[]): readonly Edit[] | undefined {
    const key = nodes[0]?.startIndex ?? -1;
    if (!this.#made.has(key)) {
      const literals = nodes.flatMap((node) => [...nodesIn(node)]);
      const all = isOfProject(nodes) ? literals.flatMap((node) => alteredLiteral(node, this.#dice) ?? []) : undefined;
      this.#made.set(key, all?.length === 0 ? undefined : (all ?? alteredPart(literals, this.#dice, (node) => alteredLiteral(node, this.#dice))));
    }
    return this.#made.get(key);
  }

  #ofHelper(call: Node, depth: number): readonly Alteration[] {
    const [called, list] = [call.childForFieldName('function'), call.childForFieldName('arguments')];
    const helper = called?.type === 'identifier' ? this.#functions.get(called.text) : undefined;
    const parameters = helper?.childForFieldName('parameters');
    if (!helper || !parameters || !list || /^(?:pub )?async\b/.test(helper.text)) return [];
    const given = partsOf(list);
    const names = partsOf(parameters).map((parameter) => parameter.childForFieldName('pattern')?.text ?? '');
    const bound = new Map(names.flatMap((name, index) => (given[index] ? [[name, [given[index]]] as const] : [])));
    return throughHelper(helper, this.#alterations(helper, bound, depth + 1));
  }
}

/** The macros and calls of a block that run whenever the block does, with what the variables of their loops stand for. */
function* reached(block: Node, bound: Bound): Generator<readonly [node: Node, bound: Bound]> {
  for (const statement of partsOf(block)) {
    if (isOptional(statement)) continue;
    const node = statement.type === 'expression_statement' ? partsOf(statement)[0] : statement;
    if (node && /^(?:macro_invocation|call_expression)$/.test(node.type)) yield [node, bound];
    const body = node?.childForFieldName('body');
    const rounds = node?.type === 'for_expression' ? roundsOf(node) : undefined;
    if (body && rounds) yield* reached(body, new Map([...bound, ...rounds]));
    if (node?.type === 'block') yield* reached(node, bound);
    if (mayLeave(statement)) return;
  }
}

/** Whether a statement is compiled on some machines alone, or with some features: `#[cfg(feature = "bytes")]`. */
const isOptional = (statement: Node): boolean => attributesOf(statement).some((text) => /^#\[\s*cfg/.test(text));

/** Whether the statements after this one may be left out, other than by a failure. */
const mayLeave = (statement: Node): boolean => [...nodesIn(statement, isScope)].some((node) =>
  !isScope(node) && (/^(?:break|continue)_expression$/.test(node.type) || (node.type === 'return_expression' && !/^return Err\b/.test(node.text)) || /\bexit\($/.test(node.text)));

/** The values of a loop's variables, if it goes over an array that is written out. */
function roundsOf(loop: Node): Bound | undefined {
  const [pattern, value] = [loop.childForFieldName('pattern'), loop.childForFieldName('value')];
  const table = value?.type === 'reference_expression' ? value.childForFieldName('value') : value;
  if (!pattern || table?.type !== 'array_expression' || partsOf(table).length === 0) return undefined;
  if (pattern.type === 'identifier') return new Map([[pattern.text, partsOf(table)]]);
  if (pattern.type !== 'tuple_pattern') return new Map();
  return new Map(partsOf(pattern).map(({ text }, index) => [text, partsOf(table).flatMap((row) => partsOf(row)[index] ?? [])]));
}

/** Whether a name stands in a block for what is expected alone: as a side of a comparison, or in a message. What the code is given as well, as in a round trip, would be altered on both sides. */
function isOnlyExpected(name: string, body: Node): boolean {
  const uses = [...nodesIn(body)].filter(({ type, text }) => type === 'identifier' && text === name);
  const allowed = [...nodesIn(body)].flatMap((node) => (node.type === 'for_expression' ? (node.childForFieldName('pattern') ?? []) : node.type === 'macro_invocation' ? expectedIn(node) : []));
  return uses.every(({ startIndex }) => allowed.some((place) => place.startIndex <= startIndex && startIndex < place.endIndex));
}

/** Where an assertion compares a name by itself, and its message. */
function expectedIn(macro: Node): readonly Pick<Argument, 'startIndex' | 'endIndex'>[] {
  const name = assertionOf(macro);
  if (name === undefined) return [];
  const [first, second, ...others] = argumentsOf(macro);
  const sides = [...(name === 'assert' ? ((first && sidesOf(first)) ?? []) : [first, second])].filter((side) => side !== undefined);
  const message = [...(name === 'assert' && second ? [second] : []), ...others];
  return [...sides.filter(({ nodes }) => nodes.filter(({ isNamed }) => isNamed).length === 1 && nodes.at(-1)?.type === 'identifier'), ...message];
}

/** The name of a macro of the language that asserts. */
const assertionOf = (macro: Node): string | undefined => /^(?:\w+::)?(?:debug_)?(assert(?:_eq|_ne)?)$/.exec(macro.childForFieldName('macro')?.text ?? '')?.[1];

/** The value of the only `let` of a name that is used once. */
function assignedTo(name: string, body: Node): readonly Node[] | undefined {
  const uses = [...nodesIn(body)].filter(({ type, text }) => type === 'identifier' && text === name);
  const declared = partsOf(body).filter((node) => node.type === 'let_declaration' && node.childForFieldName('pattern')?.text === name);
  const value = declared[0]?.childForFieldName('value');
  return uses.length === 2 && declared.length === 1 && value ? [value] : undefined;
}

/** The sides of a condition that is one comparison. */
function sidesOf({ nodes, startIndex, text }: Argument): readonly Argument[] | undefined {
  if (nodes.some((node) => node.text === '&&' || node.text === '||')) return undefined;
  const at = nodes.findIndex((node) => node.text === '==');
  const [left, right] = [nodes.slice(0, at), nodes.slice(at + 1)].map((side) => {
    const [first, last] = [side[0], side.at(-1)];
    return first && last && { nodes: side, startIndex: first.startIndex, endIndex: last.endIndex, text: text.slice(first.startIndex - startIndex, last.endIndex - startIndex) };
  });
  return at > 0 && left && right ? [right, left] : undefined;
}

/**
 * Whether another number in its place might not compile, or give the same value. rustc calculates with numbers that are written out, and a sum, a shift or
 * a quotient of others can be out of bounds. So can an index, and the length of an array is a part of its type. Of bits that are set, some may be set twice.
 */
function mustStay(number: Node): boolean {
  const [before, after] = [number.previousSibling, number.nextSibling];
  const isAfterValue = (node: Node | null | undefined): boolean => /[\w)\]]$/.test(node?.previousSibling?.text ?? '');
  const isIndex = before?.text === '[' && after?.text === ']' && (number.parent?.type === 'index_expression' || isAfterValue(number.parent));
  const isNegated = before?.text === '-' && !isAfterValue(before);
  return isIndex || (before?.text === ';' && after?.text === ']') || OPERATOR.test(after?.text ?? '') || (!isNegated && OPERATOR.test(before?.text ?? ''));
}

const OPERATOR = /^(?:[-+*/%|&^]|<<|>>)$/;

function alteredLiteral(node: Node, dice: Dice): readonly Edit[] | undefined {
  switch (node.type) {
    case 'integer_literal':
    case 'float_literal': {
      const [, digits = '', suffix = ''] = /^((?:0[xob][\da-f_]+?)|[\d_.]+(?:e[+-]?\d+)?)(_?[iuf](?:8|16|32|64|128|size))?$/i.exec(node.text) ?? [];
      const other = mustStay(node) ? undefined : otherNumber(digits, dice);
      return digits === '' || other === undefined ? undefined : [replacement(node, other + suffix)];
    }
    case 'boolean_literal':
      return [replacement(node, node.text === 'true' ? 'false' : 'true')];
    case 'char_literal':
      return /^'[a-z\d]'$/i.test(node.text) ? [replacement(node, `'${otherText(node.text.charAt(1), dice)}'`)] : undefined;
    case 'string_literal':
    case 'raw_string_literal': {
      const longest = longestPart(partsOf(node).filter(({ type }) => type === 'string_content'));
      if (longest) return alteredTextPart(longest, dice, {});
      return node.text.endsWith('""') ? [insertion(node.endIndex - 1, otherText('', dice))] : undefined;
    }
    default:
      return undefined;
  }
}

/** Whether a comment documents a type or a part of one. What the type derives may read its text, so altering it could change a result. */
function documentsType(comment: Node): boolean {
  if (!comment.namedChildren.some((part) => part?.type === 'doc_comment')) return false;
  if (/^(?:enum_variant|field_declaration)_list$/.test(comment.parent?.type ?? '')) return true;
  let documented = comment.nextNamedSibling;
  while (documented && (documented.isExtra || documented.type === 'attribute_item')) documented = documented.nextNamedSibling;
  return /^(?:struct|enum|union)_item$/.test(documented?.type ?? '');
}

/** Comments, and the texts of the messages of assertions. */
function prosesAt(node: Node): readonly Node[] {
  if (/^(?:line|block)_comment$/.test(node.type)) return documentsType(node) ? [] : [node];
  if (node.type !== 'macro_invocation' || !/\bassert(?:_eq|_ne)?$/.test(node.childForFieldName('macro')?.text ?? '')) return [];
  const count = node.childForFieldName('macro')?.text.endsWith('assert') ? 1 : 2;
  return argumentsOf(node).slice(count).flatMap(({ nodes }) => nodes.filter(({ type }) => type === 'string_literal'));
}
