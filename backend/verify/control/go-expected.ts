import type { Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import type { Dice } from './dice.ts';
import { alteredLiteral, type GoComparison } from './go-literals.ts';

/** Where an assertion stands. */
export interface GoPlace {
  /** The statement that asserts. */
  readonly statement: Node;
  /** What the parameters of a helper stand for, by the call of it. */
  readonly bound: ReadonlyMap<string, Node>;
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
  /** By the literal's position: tests may share it. */
  readonly #made = new Map<number, readonly Edit[] | undefined>();

  constructor(dice: Dice) {
    this.#dice = dice;
  }

  ofLiteral(node: Node, comparison: GoComparison): readonly Edit[] | undefined {
    if (!this.#made.has(node.startIndex)) this.#made.set(node.startIndex, alteredLiteral(node, this.#dice, comparison));
    return this.#made.get(node.startIndex);
  }

  /** The edits of all literals that a name or a field may stand for. Undefined if they are not known, or used for anything else in the test. */
  ofName(node: Node, place: GoPlace, comparison: GoComparison): readonly Edit[] | undefined {
    const operand = node.type === 'selector_expression' ? node.childForFieldName('operand') : null;
    const field = node.childForFieldName('field')?.text;
    const found = operand?.type === 'identifier' && field !== undefined ? fieldsOf(literalsOf(operand.text, node, place), field)
      : node.type === 'identifier' ? literalsOf(node.text, node, place) : undefined;
    if (!found || isUsedElsewhere(node.text, place.statement)) return undefined;
    const edits = found.nodes.map((literal) => this.ofLiteral(literal, comparison));
    const made = edits.filter((each) => each !== undefined);
    // Each row of a table with subtests is a test of its own.
    if (made.length === 0 || (isSubtest(place.statement) && (!found.isWhole || made.length < edits.length))) return undefined;
    return made.flat();
  }
}

/** What a name stands for where it is used, by the nearest declaration around it. */
function literalsOf(name: string, use: Node, { bound }: GoPlace, depth = 0): Literals | undefined {
  for (let at: Node | null = use.parent, below: Node = use; at && depth < 5; below = at, at = at.parent) {
    if (at.type === 'function_declaration' && bound.has(name)) return one(bound.get(name));
    if (at.type === 'for_statement' && below.id === at.childForFieldName('body')?.id) {
      const values = valuesOf(at, name, (table) => tableOf(table, at ?? use, bound, depth));
      if (values) return { nodes: values, isWhole: true };
    }
    const declared = assignedIn(at, name).filter(({ text }) => text !== name);
    if (declared.length > 1) return undefined;
    if (declared.length === 1) return one(declared[0]);
  }
  return undefined;
}

const one = (node: Node | undefined): Literals | undefined => node && { nodes: [node], isWhole: true };

/** The composite literal that a loop goes over: written there, or assigned to a name. */
function tableOf(table: Node, at: Node, bound: GoPlace['bound'], depth: number): Node | undefined {
  if (table.type === 'composite_literal') return table;
  const [found] = table.type === 'identifier' ? (literalsOf(table.text, at, { statement: at, bound }, depth + 1)?.nodes ?? []) : [];
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
export function hasRounds(loop: Node, bound: GoPlace['bound']): boolean {
  const clause = partsOf(loop).find(({ type }) => type === 'range_clause');
  const right = clause?.childForFieldName('right');
  const body = right && tableOf(right, loop, bound, 0)?.childForFieldName('body');
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

/** Whether the statement stands in a function that a test runs as a subtest. */
function isSubtest(statement: Node): boolean {
  for (let at: Node | null = statement; at; at = at.parent) if (at.type === 'func_literal') return true;
  return false;
}

/** A value that the test also computes with would be altered on both sides. Other assertions and their messages may name it. */
function isUsedElsewhere(text: string, statement: Node): boolean {
  let definition: Node = statement;
  while (definition.parent && !/^(?:func_literal|function_declaration|method_declaration)$/.test(definition.type)) definition = definition.parent;
  const isSame = (node: Node): boolean => node.text === text && /^(?:identifier|selector_expression)$/.test(node.type);
  return [...nodesIn(definition)].filter(isSame).some((node) => {
    for (let at: Node | null = node, below = node; at && at.id !== definition.id; below = at, at = at.parent) {
      if (at.id === statement.id && below.id !== at.childForFieldName('initializer')?.id) return false;
      if (at.type === 'if_statement' && below.id === at.childForFieldName('condition')?.id) return false;
      if (at.type === 'if_statement' && below.id === at.childForFieldName('consequence')?.id) return false;
      if (at.type === 'parameter_declaration') return false;
      if (/^(?:short_var_declaration|var_spec|const_spec|range_clause)$/.test(at.type) && node.parent?.id === (at.childForFieldName('left')?.id ?? at.id)) return false;
      if (/^(?:assert|require)\.|\.(?:Error|Fatal|Log)f?\(/.test(at.text) && at.type === 'call_expression') return false;
    }
    return true;
  });
}
