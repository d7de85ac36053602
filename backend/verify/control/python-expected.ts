import { type Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import type { Dice } from './dice.ts';
import type { Comparison } from './altered-parts.ts';
import { alteredLiteral, argumentsOf, plainOf } from './python-literals.ts';

/** How often the items of a list are drawn anew because one becomes another one. */
const MOST_TRIES = 20;

/** Where an assertion stands. */
export interface AssertionPlace {
  readonly definition: Node;
  /** The assertion without its message. */
  readonly asserted: Node;
  /** Literals that a name stands for, one for each round of a loop or for the call of a helper. */
  readonly bound: ReadonlyMap<string, readonly Node[]>;
}

/**
 * Finds the literals that expected values come from: the value itself, what a name is assigned, and columns of tables. They are altered
 * where they stand, so that the original is not in the process either.
 */
export class ExpectedValues {
  readonly #root: Node;
  readonly #dice: Dice;
  /** By the literal's position: tests may share it. */
  readonly #made = new Map<number, readonly Edit[] | undefined>();

  constructor(root: Node, dice: Dice) {
    this.#root = root;
    this.#dice = dice;
  }

  /** Whether a node is one of the file of tests. Of others nothing is altered. */
  isHere(node: Node): boolean {
    return isIn(node, this.#root);
  }

  /** The edits of a literal. */
  ofLiteral(node: Node, comparison: Comparison): readonly Edit[] | undefined {
    if (!this.isHere(node)) return undefined;
    if (!this.#made.has(node.startIndex)) this.#made.set(node.startIndex, alteredLiteral(node, this.#dice, comparison));
    return this.#made.get(node.startIndex);
  }

  /** The edits of the items of a list, none of which becomes what another item was. Undefined if one is no literal, or if chance wills it. */
  ofItems(items: readonly Node[]): readonly Edit[] | undefined {
    if (!items.every((item) => this.isHere(item))) return undefined;
    const own = new Set(items.map(({ text }) => text));
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const made = items.map((item) => this.#made.get(item.startIndex) ?? alteredLiteral(item, this.#dice, {}));
      if (made.length === 0 || made.some((edits) => edits === undefined)) return undefined;
      if (made.some((edits) => edits?.some(({ text }) => own.has(text)))) continue;
      for (const [index, { startIndex }] of items.entries()) this.#made.set(startIndex, made[index]);
      return made.flatMap((edits) => edits ?? []);
    }
    return undefined;
  }

  /** The edits of all literals that a name may stand for. Undefined if they are not known, or used for anything else in the test. */
  ofName(node: Node, place: AssertionPlace, comparison: Comparison): readonly Edit[] | undefined {
    const edits = this.literalsOf(node, place)?.map((literal) => this.ofLiteral(literal, comparison)) ?? [];
    return edits.length > 0 && edits.every((made) => made !== undefined) ? edits.flat() : undefined;
  }

  /** The literals that a name may stand for, also by other names. Undefined if they are not known, or used for anything else in the test. */
  literalsOf(node: Node, place: AssertionPlace, steps = 0): readonly Node[] | undefined {
    const name = plainOf(node);
    if (name.type !== 'identifier' || steps > MAX_STEPS || isUsedElsewhere(name, place)) return undefined;
    const { bound, definition } = place;
    const given = bound.get(name.text) ?? this.#columnOf(name.text, definition);
    if (given) return given;
    const own = assignedTo(name.text, definition.childForFieldName('body'));
    const isOfFile = !own && this.isHere(definition) && !isReachedElsewhere(name, definition, this.#root);
    const assigned = own ?? (isOfFile ? assignedTo(name.text, this.#root) : undefined);
    const [value, ...more] = assigned ?? [];
    const isName = value && more.length === 0 && plainOf(value).type === 'identifier' && value.text !== name.text;
    return isName ? this.literalsOf(value, { ...place, asserted: value }, steps + 1) : assigned;
  }

  /** The values of a parameter in the rows of `@pytest.mark.parametrize`. */
  #columnOf(name: string, definition: Node): readonly Node[] | undefined {
    const around = definition.parent?.type === 'decorated_definition' ? partsOf(definition.parent) : [];
    for (const decorator of around) {
      const call = decorator.type === 'decorator' ? partsOf(decorator)[0] : undefined;
      if (call?.type !== 'call' || !/\bparametrize$/.test(call.childForFieldName('function')?.text ?? '')) continue;
      const given = argumentsOf(call);
      const [names, table] = given?.positional ?? [];
      if (!given || !names || !table || given.keywords.has('indirect')) continue;
      const columns = namesIn(names);
      const column = columns.indexOf(name);
      if (column >= 0) return this.#cells(table, column, columns.length);
    }
    return undefined;
  }

  #cells(table: Node, column: number, width: number): readonly Node[] | undefined {
    const [named] = table.type === 'identifier' ? (assignedTo(table.text, this.#root) ?? []) : [table];
    return named && columnOf(named, column, width);
  }
}

/** Names that stand for other names. */
const MAX_STEPS = 8;

export const isIn = (node: Node, root: Node): boolean => node.tree.rootNode.id === root.id;

const isTable = ({ type }: Node): boolean => /^(?:list|tuple)$/.test(type);

/** The cells of a column of a table that is written out. A table of one column has no rows, only values. */
export function columnOf(table: Node, column: number, width: number): readonly Node[] | undefined {
  if (!isTable(table)) return undefined;
  const cells = partsOf(table).map((row) => {
    const isMarked = row.type === 'call' && /(?:^|\.)param$/.test(row.childForFieldName('function')?.text ?? '');
    const values = isMarked ? (argumentsOf(row)?.positional ?? []) : width === 1 ? [row] : isTable(row) ? partsOf(row) : [];
    return values.length === width ? values[column] : undefined;
  });
  return cells.every((cell) => cell !== undefined) && cells.length > 0 ? cells : undefined;
}

/** `'a, b'`, `('a', 'b')` and the pattern `a, b`: a, b. */
export function namesIn(names: Node): readonly string[] {
  if (names.type === 'string') return textOf(names).split(',').map((name) => name.trim()).filter((name) => name !== '');
  if (isTable(names)) return partsOf(names).map((name) => (name.type === 'string' ? textOf(name) : ''));
  return names.type === 'identifier' ? [names.text] : partsOf(names).map(({ type, text }) => (type === 'identifier' ? text : ''));
}

const textOf = (text: Node): string => text.children.filter((child) => child?.type === 'string_content').map((child) => child?.text).join('');

/** The value of the only assignment to a name among the statements of a block. */
function assignedTo(name: string, block: Node | null): readonly Node[] | undefined {
  const found = (block ? partsOf(block) : []).flatMap((statement) => {
    const [assignment] = statement.type === 'expression_statement' ? partsOf(statement) : [];
    const isThis = assignment?.type === 'assignment' && assignment.childForFieldName('left')?.text === name;
    return isThis ? (assignment.childForFieldName('right') ?? []) : [];
  });
  return found.length === 1 ? found : undefined;
}

/** A value that the test also computes with would be altered on both sides. */
function isUsedElsewhere(name: Node, { definition, asserted }: AssertionPlace): boolean {
  const body = definition.childForFieldName('body');
  let uses = 0;
  for (const node of body ? nodesIn(body) : []) {
    if (node.type !== 'identifier' || node.text !== name.text) continue;
    const isMessage = node.startIndex >= asserted.endIndex && node.endIndex <= (asserted.parent?.endIndex ?? 0);
    const { parent } = node;
    const isSet = parent !== null && /^(?:assignment|for_statement|pattern_list|tuple_pattern)$/.test(parent.type)
      && parent.childForFieldName('right')?.id !== node.id;
    if (!isMessage && !isSet) uses += 1;
  }
  return uses > 1;
}

/**
 * Whether what a file declares may reach the code under test by a fixture, a helper or another value of the file. What other tests do with it is
 * theirs. A helper may be called by any of them, so that all count.
 */
function isReachedElsewhere(name: Node, definition: Node, root: Node): boolean {
  const isTest = (node: Node): boolean => node.type === 'function_definition' && /^test/.test(node.childForFieldName('name')?.text ?? '');
  const isOfOtherTest = (node: Node): boolean => {
    for (let at: Node | null = node; at; at = at.parent) {
      const inner = at.type === 'decorated_definition' ? at.childForFieldName('definition') : at;
      if (inner && isTest(inner)) return inner.id !== definition.id && isTest(definition);
    }
    return false;
  };
  return [...nodesIn(root, (node) => node.id === definition.id)].some((node) => {
    if (node.type !== 'identifier' || node.text !== name.text || node.id === name.id) return false;
    const isAssigned = node.parent?.type === 'assignment' && node.parent.childForFieldName('left')?.id === node.id;
    const isKeyword = node.parent?.type === 'keyword_argument' && node.parent.childForFieldName('name')?.id === node.id;
    const isMember = node.parent?.type === 'attribute' && node.parent.childForFieldName('attribute')?.id === node.id;
    return !isAssigned && !isKeyword && !isMember && !isOfOtherTest(node);
  });
}
