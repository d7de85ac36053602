import type { Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { Draws, throughHelper, type Alteration } from './alteration.ts';
import { Mentions } from './mentions.ts';
import { calledIn, expectsErrors, isFailure, PythonAssertions, type Call } from './python-assertions.ts';
import { PythonConditions } from './python-conditions.ts';
import { columnOf, ExpectedValues, namesIn, type AssertionPlace } from './python-expected.ts';
import type { SourceFile } from './source-test.ts';

/** A test that expects assertions to fail, or compares with a value that equals anything, is not certain to fail when altered. */
const EXPECTS_FAILURES = /\bsuppress\s*\(|(?<!\braise )\bAssertionError\b|\bfailureException\b|\bANY\b/;

/** Nesting of helpers that call helpers. */
const MAX_DEPTH = 5;

const isScope = ({ type }: Node): boolean => /^(?:function_definition|lambda|class_definition)$/.test(type);

/** Finds a helper function of the file by the name and receiver of its call. Helpers may contain a test's assertions. */
export type FindHelper = (name: string, owner: string, from: Node) => Node | undefined;

type Bound = ReadonlyMap<string, readonly Node[]>;

/** Alters functions of one file as described in `alter-expectations.ts`. */
export class PythonBodies {
  readonly #findHelper: FindHelper;
  readonly #assertions: PythonAssertions;
  readonly #values: ExpectedValues;
  readonly #draws: Draws;
  /** By the function's position: classes may inherit a test. */
  readonly #chosen = new Map<number, readonly Edit[] | undefined>();

  constructor(root: Node, source: SourceFile, findHelper: FindHelper) {
    const values = new ExpectedValues(root, source.dice);
    this.#values = values;
    this.#findHelper = findHelper;
    this.#assertions = new PythonAssertions(new PythonConditions(source.text, values, source.dice), values, source.dice);
    this.#draws = new Draws(source.dice, new Mentions(source.text, prosesIn(root)));
  }

  /** Edits that alter one assertion, which of them is left to chance. Undefined if there is none that is certain to be reached. */
  alter(definition: Node): readonly Edit[] | undefined {
    const key = definition.startIndex;
    if (!this.#chosen.has(key)) this.#chosen.set(key, this.#choose(definition));
    return this.#chosen.get(key);
  }

  #choose(definition: Node): readonly Edit[] | undefined {
    return this.#draws.of(this.#alterations(definition, new Map(), 0));
  }

  #alterations(definition: Node, bound: Bound, depth: number): readonly Alteration[] {
    const body = definition.childForFieldName('body');
    if (!body || body.hasError || EXPECTS_FAILURES.test(body.text)) return [];
    if ([...nodesIn(body, isScope)].some(({ type }) => type === 'yield')) return [];
    return [...reached(body, bound)].flatMap(([statement, inLoop]) => {
      const own = this.#assertions.altered(statement, { definition, bound: inLoop });
      return own ? [own] : depth < MAX_DEPTH ? this.#ofHelper(statement, { definition, asserted: statement, bound: inLoop }, depth) : [];
    });
  }

  /**
   * The assertions of a helper, which are altered for all tests that call it. In a helper of another file nothing is altered, but what it is
   * given is.
   */
  #ofHelper(statement: Node, place: AssertionPlace, depth: number): readonly Alteration[] {
    const call = calledIn(statement);
    const helper = call && this.#findHelper(call.name, call.owner, statement);
    if (!call || !helper) return [];
    const found = this.#alterations(helper, this.#givenTo(helper, call, place), depth + 1);
    return this.#values.isHere(helper) ? throughHelper(helper, found) : found.filter(({ isByValue }) => isByValue);
  }

  /** What a call gives, by the helper's names for it. */
  #givenTo(helper: Node, { positional, keywords, owner }: Call, place: AssertionPlace): Bound {
    const list = helper.childForFieldName('parameters');
    const names = (list ? partsOf(list) : []).map((parameter) => (parameter.type === 'identifier' ? parameter : partsOf(parameter)[0])?.text ?? '');
    const isMethod = owner !== '' && /^(?:self|cls)$/.test(names[0] ?? '');
    const given = names.slice(isMethod ? 1 : 0).map((name, index) => [name, positional[index] ?? keywords.get(name)] as const);
    return new Map(given.flatMap(([name, value]) => (value ? [[name, this.#values.literalsOf(value, place) ?? [value]] as const] : [])));
  }
}

/** The statements of a block that run whenever the block does, with the literals that the variables of their loops stand for. */
function* reached(block: Node, bound: Bound): Generator<readonly [statement: Node, bound: Bound]> {
  for (const statement of partsOf(block)) {
    yield [statement, bound];
    const body = statement.childForFieldName('body');
    if (body && statement.type === 'with_statement' && !expectsErrors(statement)) yield* reached(body, bound);
    const handler = statement.type === 'try_statement' ? handlerOf(statement) : undefined;
    if (handler) yield* reached(handler, bound);
    const rounds = statement.type === 'for_statement' ? roundsOf(statement) : undefined;
    if (body && rounds) yield* reached(body, new Map([...bound, ...rounds]));
    if (mayLeave(statement)) return;
  }
}

/** Errors that a failing assertion raises, too. */
const CATCHES_FAILURES = /^except\s*:|\b(?:Base)?Exception\b|\bAssertionError\b/;

/**
 * The block of the only `except` clause of a `try` statement, if every run that passes comes through it: without the error, the test fails
 * in the `else` clause, or at the end of the block that is tried.
 */
function handlerOf(statement: Node): Node | undefined {
  const parts = partsOf(statement);
  const [handler, ...more] = parts.filter(({ type }) => /^except(?:_group)?_clause$/.test(type));
  const tried = statement.childForFieldName('body');
  const otherwise = parts.find(({ type }) => type === 'else_clause')?.childForFieldName('body');
  if (!handler || more.length > 0 || !tried || parts.some(({ type }) => type === 'finally_clause') || mayLeave(tried)) return undefined;
  const last = partsOf(otherwise ?? tried).at(-1);
  if (!last || !isFailure(last) || (!otherwise && CATCHES_FAILURES.test(handler.text.split('\n')[0] ?? ''))) return undefined;
  return partsOf(handler).find(({ type }) => type === 'block');
}

/** The values of a loop's variables, if it goes over a list that is written out. Undefined if it may have no round. */
function roundsOf(loop: Node): Bound | undefined {
  const [names, table] = [loop.childForFieldName('left'), loop.childForFieldName('right')];
  if (!names || !table) return undefined;
  if (/^range\((?:[1-9]\d*|[01], ?(?:[2-9]|[1-9]\d+))\)$/.test(table.text)) return new Map();
  if (!/^(?:list|tuple)$/.test(table.type) || partsOf(table).length === 0) return undefined;
  const columns = namesIn(names);
  return new Map(columns.flatMap((name, index) => {
    const cells = name === '' ? undefined : columnOf(table, index, columns.length);
    return cells ? [[name, cells] as const] : [];
  }));
}

/** Whether the statements after this one may be left out, other than by a failure. */
function mayLeave(statement: Node): boolean {
  for (const { type, id, text } of nodesIn(statement, (node) => isScope(node))) {
    if (/^(?:return_statement|break_statement|continue_statement)$/.test(type)) return true;
    if (type === 'raise_statement' && id === statement.id) return true;
    if (type === 'call' && /\b(?:exit|_exit|skip|skipTest|xfail)\(/.test(text)) return true;
  }
  return false;
}

/** Comments, and texts that are statements of their own or messages of an assertion. Where a file reads docstrings, those are what it tests. */
function prosesIn(root: Node): readonly Node[] {
  const readsDocstrings = /\b__doc__\b|\bgetdoc\(/.test(root.text);
  return [...nodesIn(root)].filter((node) => {
    if (node.type === 'comment') return true;
    if (node.type !== 'string') return false;
    const { parent } = node;
    if (parent?.type === 'expression_statement') return !readsDocstrings;
    if (parent?.type === 'assert_statement') return partsOf(parent)[1]?.id === node.id;
    const list = parent?.type === 'keyword_argument' ? parent.parent : parent;
    const name = list?.type === 'argument_list' ? list.parent?.childForFieldName('function')?.text : undefined;
    if (name === undefined || !/\bassert[A-Z]\w*$/.test(name) || !list) return false;
    return parent?.type === 'keyword_argument' ? /^msg\b/.test(parent.text) : partsOf(list).findIndex(({ id }) => id === node.id) >= 2;
  });
}
