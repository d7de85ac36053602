import type { Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { LiteralEdits } from './alteration.ts';
import type { Dice } from './dice.ts';
import { isMessageOfTest } from './go-assertions.ts';
import { alteredLiteral, plainOf, type GoComparison } from './go-literals.ts';

/** Where an assertion stands, or where a helper is called. */
export interface GoPlace {
  readonly statement: Node;
  /** The helper that the statement is in, and what its parameters stand for. Undefined in a test. */
  readonly helper: GoHelper | undefined;
}

export interface GoHelper {
  /** Its declaration, or the function that is assigned to a name. */
  readonly definition: Node;
  readonly given: ReadonlyMap<string, Node>;
  /** Where it is called. */
  readonly from: GoPlace;
}

/** Cells of a table, and whether all rows have one. */
interface Literals {
  readonly nodes: readonly Node[];
  readonly isWhole: boolean;
}

/**
 * Finds the literals that expected values come from: the value itself, what a name is assigned, and the fields of tables. They are altered
 * where they stand, so that the original is not in the program either.
 */
export class GoExpected {
  readonly #dice: Dice;
  readonly #made = new LiteralEdits();

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  ofLiteral(node: Node, comparison: GoComparison): readonly Edit[] | undefined {
    return this.#made.of(node, () => alteredLiteral(node, this.#dice, comparison));
  }

  /** The edits of all literals that a name or a field may stand for. Undefined if they are not known, or used for anything else in the test. */
  ofName(node: Node, place: GoPlace, comparison: GoComparison): readonly Edit[] | undefined {
    const found = isNamed(plainOf(node)) ? standsFor(node, place) : undefined;
    if (!found) return undefined;
    const edits = found.nodes.map((literal) => this.ofLiteral(literal, comparison));
    const made = edits.filter((each) => each !== undefined);
    // Each row of a table with subtests is a test of its own.
    if (made.length === 0 || (isSubtest(place) && (!found.isWhole || made.length < edits.length))) return undefined;
    return made.flat();
  }
}

/** From an assertion back to a literal: through names, fields, and calls of helpers. */
const MAX_STEPS = 8;

const isNamed = (node: Node): boolean =>
  node.type === 'identifier' || (node.type === 'selector_expression' && node.childForFieldName('operand')?.type === 'identifier');

/** The literals that an expression comes from. Undefined if they are not known, or if a name on the way is used for anything else. */
function standsFor(expression: Node, place: GoPlace, steps = 0): Literals | undefined {
  const node = plainOf(expression);
  if (!isNamed(node)) return one(node);
  if (steps > MAX_STEPS || isUsedElsewhere(node.text, node, place.statement)) return undefined;
  const operand = node.type === 'selector_expression' ? node.childForFieldName('operand') : null;
  const field = node.childForFieldName('field')?.text;
  if (!operand || field === undefined) return literalsOf(node.text, node, place, { steps });
  return fieldsOf(literalsOf(operand.text, node, place, { steps, field }), field);
}

interface Following {
  readonly steps: number;
  /** The field that is asked of a struct. Other fields of it may be used for anything. */
  readonly field?: string | undefined;
  /** Whether what is found is gone over only, so that it may be used for anything. */
  readonly isTable?: boolean;
}

/** What a name stands for where it is used, by the nearest declaration around it. */
function literalsOf(name: string, use: Node, place: GoPlace, following: Following): Literals | undefined {
  if (following.steps > MAX_STEPS) return undefined;
  const next = { ...following, steps: following.steps + 1 };
  const { helper } = place;
  for (let at: Node | null = use.parent, below: Node = use; at; below = at, at = at.parent) {
    const given = at.id === helper?.definition.id ? helper.given.get(name) : undefined;
    if (given && helper) return follow(given, helper.from, next);
    if (at.type === 'for_statement' && below.id === at.childForFieldName('body')?.id) {
      const values = valuesOf(at, name, (table) => tableOf(table, { ...place, statement: at ?? use }, next.steps));
      if (values) return isUsedAround(following.field, name, use, { ...place, scope: at }) ? undefined : { nodes: values, isWhole: true };
    }
    const declared = assignedIn(at, name).filter((value) => plainOf(value).text !== name);
    const [value] = declared;
    if (declared.length > 1) return undefined;
    if (value && isUsedAround(following.field, name, use, { ...place, scope: at })) return undefined;
    if (value && ((following.field !== undefined && isGivenAway(name, at, use)) || (at.type === 'source_file' && isReachedElsewhere(name, at, use)))) return undefined;
    if (value) return follow(value, { ...place, statement: statementOf(value) }, next);
  }
  return undefined;
}

/** Goes on from what a name is assigned, or from what a helper is given. */
function follow(value: Node, place: GoPlace, { steps, field, isTable }: Following): Literals | undefined {
  const node = plainOf(value);
  if (!isNamed(node)) return one(node);
  if (field === undefined && isTable !== true) return standsFor(node, place, steps);
  if (node.type !== 'identifier' || (field !== undefined && isUsedElsewhere(`${node.text}.${field}`, node, place.statement))) return undefined;
  return literalsOf(node.text, node, place, { steps, field, ...(isTable !== undefined && { isTable }) });
}

/** The function that a name stands for where it is called: the one that is assigned around the call, `check := func(got, want int) { … }`, before one of the file. */
export function functionCalled(called: Node, functions: ReadonlyMap<string, Node>): Node | undefined {
  for (let at = called.parent; at; at = at.parent) {
    const parameters = at.childForFieldName('parameters');
    if (parameters && partsOf(parameters).some((parameter) => partsOf(parameter).some(({ type, text }) => type === 'identifier' && text === called.text))) return undefined;
    const [value, ...more] = assignedIn(at, called.text);
    if (value) return more.length === 0 && value.type === 'func_literal' ? value : undefined;
  }
  return functions.get(called.text);
}

/** The statement of a block that an expression is in. */
function statementOf(expression: Node): Node {
  let at = expression;
  while (at.parent && !/^(?:statement_list|source_file)$/.test(at.parent.type)) at = at.parent;
  return at;
}

const one = (node: Node | undefined): Literals | undefined => node && { nodes: [node], isWhole: true };

/** The composite literal that a loop goes over: written there, assigned to a name, or given to a helper. */
function tableOf(table: Node, place: GoPlace, steps: number): Node | undefined {
  if (table.type === 'composite_literal') return table;
  const [found] = table.type === 'identifier' ? (literalsOf(table.text, table, place, { steps: steps + 1, isTable: true })?.nodes ?? []) : [];
  return found?.type === 'composite_literal' ? found : undefined;
}

/** The elements that the second variable of `for _, name := range table` stands for. */
function valuesOf(loop: Node, name: string, find: (table: Node) => Node | undefined): readonly Node[] | undefined {
  const clause = partsOf(loop).find(({ type }) => type === 'range_clause');
  const [left, right] = [clause?.childForFieldName('left'), clause?.childForFieldName('right')];
  if (!left || !right || partsOf(left)[1]?.text !== name) return undefined;
  const body = find(right)?.childForFieldName('body');
  const elements = body ? partsOf(body).map((part) => part.childForFieldName('value') ?? part) : [];
  return elements.length > 0 ? elements : undefined;
}

/** Whether the loop goes over a table that is written out and has rows. */
export function hasRounds(loop: Node, helper: GoHelper | undefined): boolean {
  const clause = partsOf(loop).find(({ type }) => type === 'range_clause');
  const right = clause?.childForFieldName('right');
  const body = right && tableOf(right, { statement: loop, helper }, 0)?.childForFieldName('body');
  return body != null && partsOf(body).length > 0;
}

/** A field of each of these struct literals, by its name or by its position. */
function fieldsOf(rows: Literals | undefined, field: string): Literals | undefined {
  if (!rows) return undefined;
  const nodes = rows.nodes.flatMap((row) => {
    const body = bodyOf(row);
    const parts = body ? partsOf(body) : [];
    const keyed = parts.find((part) => part.childForFieldName('key')?.text === field)?.childForFieldName('value');
    if (keyed) return [keyed];
    const index = parts.some(({ type }) => type === 'keyed_element') ? -1 : fieldNames(row).indexOf(field);
    return parts[index] ?? [];
  });
  return { nodes, isWhole: nodes.length === rows.nodes.length };
}

function bodyOf(node: Node): Node | undefined {
  if (node.type === 'literal_value') return node;
  if (node.type === 'composite_literal') return node.childForFieldName('body') ?? undefined;
  const [inner] = /^(?:literal_element|unary_expression)$/.test(node.type) ? partsOf(node) : [];
  return inner && bodyOf(inner);
}

/** The fields of the struct type that is written at the table of this row, or declared in the file. */
function fieldNames(row: Node): readonly string[] {
  let at: Node | null = row;
  for (let type = at.childForFieldName('type'); at; at = at.parent, type = at?.childForFieldName('type') ?? null) {
    if (at.type !== 'composite_literal' || !type) continue;
    const named = [...nodesIn(type)].findLast((node) => node.type === 'type_identifier')?.text;
    const written = [...nodesIn(type)].find((node) => node.type === 'struct_type') ?? structNamed(row.tree.rootNode, named);
    const list = written && partsOf(written)[0];
    return (list ? partsOf(list) : []).flatMap((field) => partsOf(field).filter((part) => part.type === 'field_identifier').map(({ text }) => text));
  }
  return [];
}

const structNamed = (root: Node, name: string | undefined): Node | undefined =>
  [...nodesIn(root)].find((node) => node.type === 'type_spec' && node.childForFieldName('name')?.text === name)?.childForFieldName('type') ?? undefined;

/** The values given to a name by the statements of a block, the head of an `if`, or the declarations of a file. */
function assignedIn(scope: Node, name: string): readonly Node[] {
  const initializer = scope.childForFieldName('initializer');
  const statements = initializer ? [initializer] : partsOf(scope).flatMap((part) => (part.type === 'statement_list' ? partsOf(part) : [part]));
  return statements.flatMap((statement) => {
    const specs = /^(?:var|const)_declaration$/.test(statement.type) ? [...nodesIn(statement)].filter(({ type }) => /_spec$/.test(type)) : [statement];
    return specs.flatMap((spec) => {
      const isSpec = /_spec$/.test(spec.type);
      if (!isSpec && !/^(?:short_var_declaration|assignment_statement)$/.test(spec.type)) return [];
      const [left, right] = [spec.childForFieldName('left'), spec.childForFieldName(isSpec ? 'value' : 'right')];
      const names = isSpec ? partsOf(spec).filter(({ type }) => type === 'identifier') : left ? partsOf(left) : [];
      const index = names.findIndex(({ text }) => text === name);
      return index < 0 || !right ? [] : [partsOf(right)[index] ?? right];
    });
  });
}

/** Whether the statement, or the call of the helper that it is in, stands in a function that a test may run as a subtest. */
function isSubtest({ statement, helper }: GoPlace): boolean {
  for (let at: Node | null = statement; at && at.id !== helper?.definition.id; at = at.parent) if (at.type === 'func_literal') return true;
  return helper !== undefined && isSubtest(helper.from);
}

/** The function that a statement is in. */
function functionOf(statement: Node): Node {
  let at = statement;
  while (at.parent && !/^(?:func_literal|function_declaration|method_declaration)$/.test(at.type)) at = at.parent;
  return at;
}

/** Whether a name that is declared around the function of an assertion, such as that of a subtest, is used for anything else where it is declared. */
function isUsedAround(field: string | undefined, name: string, use: Node, { statement, scope }: GoPlace & { readonly scope: Node }): boolean {
  const inner = functionOf(statement);
  const isAround = scope.type !== 'source_file' && scope.startIndex < inner.startIndex && inner.endIndex <= scope.endIndex;
  return isAround && isUsedElsewhere(field === undefined ? name : `${name}.${field}`, use, statement, scope);
}

/** A value that the test also computes with would be altered on both sides. Other assertions and their messages may name it. */
function isUsedElsewhere(text: string, use: Node, statement: Node, definition = functionOf(statement)): boolean {
  const isSame = (node: Node): boolean => node.text === text && /^(?:identifier|selector_expression)$/.test(node.type);
  return [...nodesIn(definition)].filter(isSame).some((node) => {
    for (let at: Node | null = node, below = node; at && at.id !== definition.id; below = at, at = at.parent) {
      if (at.id === statement.id && below.id !== at.childForFieldName('initializer')?.id)
        return node.id !== use.id && below.id !== at.childForFieldName('consequence')?.id && isComputedWith(node, statement);
      if (at.type === 'if_statement' && below.id === at.childForFieldName('condition')?.id) return false;
      if (at.type === 'if_statement' && below.id === at.childForFieldName('consequence')?.id) return false;
      if (at.type === 'parameter_declaration') return false;
      if (/^(?:short_var_declaration|var_spec|const_spec|range_clause)$/.test(at.type) && node.parent?.id === (at.childForFieldName('left')?.id ?? at.id)) return false;
      // `want = strings.TrimSpace(want)`
      if (at.type === 'assignment_statement' && at.childForFieldName('left')?.text === text && partsOf(at.childForFieldName('right') ?? at).every((value) => plainOf(value).text === text)) return false;
      if (at.parent?.id !== statement.id && at.type === 'call_expression' && (isMessageOfTest(at) || ASSERTS.test(at.childForFieldName('function')?.text ?? ''))) return false;
    }
    return true;
  });
}

/**
 * Whether a struct is used as a whole, or by a method, in the scope of its declaration: what is made of it is made of all of its fields. Where
 * `use` is the struct itself, it is what a helper is given.
 */
function isGivenAway(name: string, scope: Node, use: Node): boolean {
  return [...nodesIn(scope)].some((node) => {
    const [parent, grandparent] = [node.parent, node.parent?.parent];
    if (node.type !== 'identifier' || node.text !== name || node.id === use.id || parent?.id === use.id) return false;
    if (parent?.type === 'selector_expression') return grandparent?.type === 'call_expression' && grandparent.childForFieldName('function')?.id === parent.id;
    const isDeclared = /^(?:short_var_declaration|assignment_statement)$/.test(grandparent?.type ?? '') && grandparent?.childForFieldName('left')?.id === parent?.id;
    const isKey = grandparent?.type === 'keyed_element' && grandparent.childForFieldName('key')?.id === parent?.id;
    return !isDeclared && !isKey && !/_spec$/.test(parent?.type ?? '');
  });
}

const TEST = /^(?:Test|Benchmark|Example|Fuzz)/;

/**
 * Whether what a file declares may reach the code under test by a function, a method or another declaration of the file. What other tests do with
 * it is theirs. A helper may be called by any of them, so that all count.
 */
function isReachedElsewhere(name: string, file: Node, use: Node): boolean {
  const declarations = partsOf(file);
  const own = declarations.find((declaration) => declaration.startIndex <= use.startIndex && use.endIndex <= declaration.endIndex);
  const isTest = (declaration: Node | undefined): boolean => declaration?.type === 'function_declaration' && TEST.test(declaration.childForFieldName('name')?.text ?? '');
  return declarations.filter((declaration) => declaration.id !== own?.id && !(isTest(own) && isTest(declaration))).some((declaration) =>
    [...nodesIn(declaration)].some((node) => node.type === 'identifier' && node.text === name && !isDeclaredName(node)));
}

/** The values of a `var` or `const` are in a list of their own, so that an identifier right below it is a name. */
const isDeclaredName = ({ parent }: Node): boolean => /_spec$/.test(parent?.type ?? '');

const ASSERTS = /^(?:assert|require)\./;

/** Functions that look at a value, and do not make the one that it is compared with. A project may have a package `maps` of its own. */
const LOOKS = /^(?:len|cap|(?:strings|bytes|slices|maps)\.(?:Contains\w*|Has[PS]\w+|(?:Last)?Index\w*|Count|Compare\w*)|(?:reflect|errors|cmp)\.\w+)$|Equal/;
/** They make a text of a value. Behind both sides of a comparison it is the assertion's message. */
const WRITES = /^(?:fmt|strings)\.\w+$/;
/** The arguments of an assertion before its message: the test, and two values. */
const BEFORE_MESSAGE = 3;

/** Whether a statement gives a value to a function, as in `equal(t, want, decode(encode(want)))`. Its own call does not count. */
function isComputedWith(node: Node, statement: Node): boolean {
  for (let at = node.parent; at && at.id !== statement.id; at = at.parent) {
    const called = at.type === 'call_expression' && at.parent?.id !== statement.id ? (at.childForFieldName('function')?.text ?? '') : undefined;
    if (called !== undefined && !LOOKS.test(called) && !(WRITES.test(called) && isMessage(at))) return true;
  }
  return false;
}

const isMessage = (call: Node): boolean => call.parent?.type === 'argument_list' && partsOf(call.parent).findIndex(({ id }) => id === call.id) >= BEFORE_MESSAGE;
