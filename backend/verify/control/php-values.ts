import { replacement, type Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { byValue, Draws, LiteralEdits, opposite, oppositesOf, type Alteration } from './alteration.ts';
import { pick, type Dice } from './dice.ts';
import { anyNumber } from './likely-values.ts';
import { Mentions } from './mentions.ts';
import { argumentsOf, lineage, methodOf, parametersOf, type PhpClass } from './php-classes.ts';
import { alteredLiteral, elementKey, elementsOf, elementValue } from './php-literals.ts';

/** Errors that nothing in a test is likely to throw, and classes that nothing in one is likely to be of. */
const OTHER_ERRORS = ['PharException', 'UnhandledMatchError', 'ParseError', 'DOMException'];
const OTHER_CLASSES = ['SplFixedArray', 'SplTempFileObject', 'DateInterval', 'MultipleIterator'];

const OPPOSITES = oppositesOf(['assertTrue assertFalse', 'assertNull assertNotNull', 'assertEmpty assertNotEmpty', 'assertFileExists assertFileDoesNotExist']);

/** What is expected comes first. */
const COMPARES = /^assert(?:Equals|Same|EqualsCanonicalizing|EqualsIgnoringCase|Count|(?:Json|Xml)StringEquals(?:Json|Xml)String|StringEqualsStringIgnoringLineEndings)$/;
const CONTAINS = /^assert(?:Contains|ContainsEquals|StringContainsString|StringContainsStringIgnoringCase|StringStartsWith|StringEndsWith|ArrayHasKey|ObjectHasProperty)$|^expectExceptionMessage$/;

/** The test passes if an assertion fails, or may do so. */
const EXPECTS_FAILURES = /\b(?:AssertionFailedError|ExpectationFailedException|AssertionError)\b/;

/** Functions whose result is another text for another text of the same length, each with the place of that text among its arguments. */
const LIKE_THEIR_TEXT: ReadonlyMap<string, number> = new Map([['trim', 0], ['rtrim', 0], ['ltrim', 0], ['str_replace', 2]]);

const isScope = ({ type }: Node): boolean => /^(?:anonymous_function\w*|arrow_function|class_declaration|anonymous_class)$/.test(type);

/** A value with where it stands. */
interface Written {
  readonly node: Node;
  readonly place: Place;
}

/** Where a statement stands. */
interface Place {
  readonly body: Node;
  readonly owners: readonly PhpClass[];
  /** What variables stand for, with `$`: one value for each round of a loop. */
  readonly bound: ReadonlyMap<string, readonly Written[]>;
  /** Parameters of the test, with `$`, whose sets of data are computed. */
  readonly computed?: ReadonlySet<string>;
  /** Calls of helpers on the way here. */
  readonly depth: number;
}

const MAX_HELPERS = 3;
const MAX_STEPS = 8;

/** Alters one assertion of a test, which every run of the test reaches, in its place. Nothing is added. */
export class PhpValues {
  readonly #root: Node;
  readonly #dice: Dice;
  readonly #classes: readonly PhpClass[];
  readonly #draws: Draws;
  readonly #made = new LiteralEdits();

  constructor(root: Node, classes: readonly PhpClass[], dice: Dice) {
    this.#root = root;
    this.#dice = dice;
    this.#classes = classes;
    this.#draws = new Draws(dice, new Mentions(root.text, [...nodesIn(root)].filter(({ type }) => type === 'comment')));
  }

  /** Undefined if no assertion is certain to be reached, or none of them expects a value that is written out. @param sets the values of its parameters, for each run of the test */
  alter(method: Node, owner: PhpClass, sets: readonly ReadonlyMap<string, Node>[]): readonly Edit[] | undefined {
    const body = method.childForFieldName('body');
    if (!body || body.hasError || EXPECTS_FAILURES.test(body.text)) return undefined;
    const bound = new Map<string, readonly Written[]>();
    const computed = new Set(sets.length === 0 ? parametersOf(method) : []);
    const place: Place = { body, owners: lineage(owner, this.#classes), bound, computed, depth: 0 };
    for (const name of parametersOf(method)) {
      const values = sets.map((set) => set.get(name));
      // Of a set without it, the default counts.
      if (values.every((value) => value !== undefined)) bound.set(name, values.map((node) => ({ node, place: { ...place, bound: new Map() } })));
    }
    return this.#draws.of([...this.#alterations(body, place)]);
  }

  *#alterations(block: Node, place: Place): Generator<Alteration> {
    let hasExpected = false;
    for (const statement of partsOf(block)) {
      const [call] = statement.type === 'expression_statement' ? partsOf(statement) : [];
      const name = call?.childForFieldName('name')?.text ?? call?.childForFieldName('function')?.text ?? '';
      const isExpectation = name.startsWith('expectException');
      // What comes after it may not be reached.
      if (!hasExpected || isExpectation) {
        const found = call ? this.#ofCall(call, name, place) : undefined;
        if (found) yield* found;
        else if (statement.type === 'foreach_statement') yield* this.#ofLoop(statement, place);
      }
      hasExpected ||= isExpectation;
      const leaves = [...nodesIn(statement, isScope)].some(({ type }) => /^(?:return|break|continue|throw|goto|exit)_(?:statement|expression)$|^exit_statement$/.test(type));
      if (leaves || /\bmarkTest(?:Skipped|Incomplete)\s*\(|\b(?:exit|die)\b/.test(statement.text)) return;
    }
  }

  /** Undefined if it is no call of an assertion, nor of a helper. */
  #ofCall(call: Node, name: string, place: Place): readonly Alteration[] | undefined {
    const owner = call.childForFieldName('object')?.text ?? call.childForFieldName('scope')?.text;
    const given = argumentsOf(call);
    if (!/_call_expression$/.test(call.type) || !given) return undefined;
    const isOwn = owner !== undefined && /^(?:\$this|self|static|parent)$/.test(owner);
    if (!isOwn && owner !== undefined && !/^\\?(?:\w+\\)*(?:\w*Assert|TestCase)$/.test(owner)) return undefined;
    const helper = isOwn ? methodOf(place.owners, name) : undefined;
    if (helper) return this.#ofHelper(helper, given, place);
    const altered = this.#ofAssertion(call.childForFieldName('name') ?? call.childForFieldName('function'), name, given, place);
    return altered ? [altered] : undefined;
  }

  #ofAssertion(named: Node | null, name: string, [first, second, third]: readonly Node[], place: Place): Alteration | undefined {
    const other = OPPOSITES.get(name);
    // What a helper asserts is the same for all tests that call it.
    if (other !== undefined && named) return place.depth > 0 || !this.#isHere(named) ? undefined : opposite(replacement(named, other));
    if (!first) return undefined;
    if (name === 'expectException' || name === 'assertInstanceOf') return byValue(this.#otherClass(first, name === 'expectException' ? OTHER_ERRORS : OTHER_CLASSES, place));
    if (CONTAINS.test(name)) return byValue(this.#value(first, place, { isContained: true }));
    if (name === 'expectExceptionCode') return byValue(this.#value(first, place, {}));
    if (!second) return undefined;
    if (name === 'assertEqualsWithDelta') {
      const tolerance = Number(third?.text);
      return Number.isFinite(tolerance) ? byValue(this.#value(first, place, { tolerance })) : undefined;
    }
    const comparison = { byParts: /^assertEquals/.test(name) };
    if (!COMPARES.test(name)) return undefined;
    return byValue(this.#value(first, place, comparison) ?? this.#value(second, place, {}) ?? (name === 'assertSame' ? this.#numberFor(first, place) : undefined));
  }

  /** What is expected comes from data that are computed: a number, which nothing is likely to be the same as. */
  #numberFor(expected: Node, { computed, depth }: Place): readonly Edit[] | undefined {
    if (depth > 0 || expected.type !== 'variable_name' || !computed?.has(expected.text) || !this.#isHere(expected)) return undefined;
    return [replacement(expected, anyNumber(this.#dice))];
  }

  #otherClass(node: Node, others: readonly string[], place: Place): readonly Edit[] | undefined {
    const written = this.#resolved(node, place);
    return written && joined(written.map(({ node: found }) => {
      if (found.type !== 'class_constant_access_expression' || !/::\s*class$/i.test(found.text)) return undefined;
      return this.#once(found, () => {
        const other = pick(others.filter((each) => !found.text.includes(each)), this.#dice);
        return other === undefined ? undefined : [replacement(found, `\\${other}::class`)];
      });
    }));
  }

  #ofHelper(helper: Node, given: readonly Node[], place: Place): readonly Alteration[] | undefined {
    const body = helper.childForFieldName('body');
    if (!body || place.depth >= MAX_HELPERS || EXPECTS_FAILURES.test(body.text)) return undefined;
    const bound = new Map(parametersOf(helper).flatMap((name, index): [string, readonly Written[]][] => {
      const value = given[index];
      return value ? [[name, [{ node: value, place }]]] : [];
    }));
    const all = [...this.#alterations(body, { ...place, body, bound, depth: place.depth + 1 })];
    // A helper stays as it is, and what it is given is altered.
    return all.filter(({ edits }) => !this.#isHere(body) || edits.every(({ start, end }) => start >= body.endIndex || end <= body.startIndex));
  }

  /** A loop over an array that is written out and not empty. */
  *#ofLoop(loop: Node, place: Place): Generator<Alteration> {
    const [over, names, ...rest] = partsOf(loop);
    const body = rest.at(-1);
    const table = over && this.#resolved(over, place);
    if (table?.length !== 1 || !table[0] || !names || !body || table[0].node.type !== 'array_creation_expression') return;
    const { node: array, place: there } = table[0];
    const rows = elementsOf(array);
    if (rows.length === 0) return;
    const bound = new Map(place.bound);
    const bind = (target: Node | undefined, values: readonly (Node | undefined)[]): void => {
      if (target?.type === 'variable_name' && values.every((value) => value !== undefined)) bound.set(target.text, values.map((node) => ({ node, place: there })));
      if (target && /^(?:list_literal|array_creation_expression)$/.test(target.type))
        for (const [index, inner] of partsOf(target).entries()) bind(inner.type === 'array_element_initializer' ? partsOf(inner)[0] : inner, values.map((value) => cellOf(value, index)));
    };
    const [key, value] = names.type === 'pair' ? partsOf(names) : [undefined, names];
    bind(key, rows.map(elementKey));
    bind(value, rows.map(elementValue));
    yield* this.#alterations(body, { ...place, bound });
  }

  #value(node: Node, place: Place, comparison: Parameters<typeof alteredLiteral>[2]): readonly Edit[] | undefined {
    const written = this.#resolved(node, place);
    return written && joined(written.map(({ node: found }) => this.#once(found, () => alteredLiteral(found, this.#dice, comparison))));
  }

  /** Whether a node is one of the file of tests. Of others nothing is altered. */
  #isHere(node: Node): boolean {
    return node.tree.rootNode.id === this.#root.id;
  }

  #once(node: Node, make: () => readonly Edit[] | undefined): readonly Edit[] | undefined {
    return this.#isHere(node) ? this.#made.of(node, make) : undefined;
  }

  /** What a value is written as: itself, or what its name stands for. Undefined if that is not known, or used for anything else in the test. */
  #resolved(node: Node, place: Place, steps = 0): readonly Written[] | undefined {
    if (steps > MAX_STEPS) return undefined;
    if (node.type === 'class_constant_access_expression' && /^(?:self|static)\s*::\s*\w+$/.test(node.text) && !/class$/i.test(node.text)) {
      const constant = this.#constant(partsOf(node).at(-1)?.text ?? '', place);
      return constant && [{ node: constant, place }];
    }
    if (/_call_expression$/.test(node.type)) return this.#ofText(node, place, steps);
    if (node.type !== 'variable_name') return [{ node, place }];
    const name = node.text;
    const given = place.bound.get(name);
    const uses = [...nodesIn(place.body)].filter((used) => used.type === 'variable_name' && used.text === name && !isSet(used) && !isInMessage(used));
    if (uses.length !== 1) return undefined;
    const values = given ?? assignedTo(name, place.body)?.map((value) => ({ node: value, place }));
    const all = values?.map((value) => this.#resolved(value.node, value.place, steps + 1));
    return all?.every((found) => found !== undefined) ? all.flat() : undefined;
  }

  /** What a call is made of that leaves a text as telling, or a helper that does nothing else. */
  #ofText(call: Node, place: Place, steps: number): readonly Written[] | undefined {
    const name = call.childForFieldName('name')?.text ?? call.childForFieldName('function')?.text ?? '';
    const given = argumentsOf(call) ?? [];
    const text = call.type === 'function_call_expression' ? given[LIKE_THEIR_TEXT.get(name.replace(/^\\/, '')) ?? -1] : undefined;
    if (text) return this.#resolved(text, place, steps + 1);
    const isOwn = /^(?:\$this|self|static)$/.test(call.childForFieldName('object')?.text ?? call.childForFieldName('scope')?.text ?? '');
    const helper = isOwn ? methodOf(place.owners, name) : undefined;
    const body = helper?.childForFieldName('body');
    const [only, ...more] = body ? partsOf(body) : [];
    const [returned] = only?.type === 'return_statement' ? partsOf(only) : [];
    if (!helper || !body || !returned || more.length > 0 || place.depth >= MAX_HELPERS) return undefined;
    const bound = new Map(parametersOf(helper).flatMap((parameter, index): [string, readonly Written[]][] => (given[index] ? [[parameter, [{ node: given[index], place }]]] : [])));
    const found = this.#resolved(returned, { ...place, body, bound, depth: place.depth + 1 }, steps + 1);
    // A helper stays as it is.
    return found?.some(({ node }) => isWithin(node, body)) ? undefined : found;
  }

  /** The value of a constant of the class that is used once in the file. */
  #constant(name: string, { owners }: Place): Node | undefined {
    const uses = [...nodesIn(this.#root)].filter(({ type, text }) => type === 'class_constant_access_expression' && text.endsWith(`::${name}`));
    const elements = owners.flatMap(({ node }) => [...nodesIn(node)].filter((inner) => inner.type === 'const_element' && partsOf(inner)[0]?.text === name));
    return uses.length === 1 && elements.length === 1 ? partsOf(elements[0] ?? this.#root).at(-1) : undefined;
  }
}

const joined = (all: readonly (readonly Edit[] | undefined)[]): readonly Edit[] | undefined => (all.length > 0 && all.every((edits) => edits !== undefined) ? all.flat() : undefined);

const isWithin = (node: Node, outer: Node): boolean => node.tree.rootNode.id === outer.tree.rootNode.id && node.startIndex >= outer.startIndex && node.endIndex <= outer.endIndex;

const cellOf = (row: Node | undefined, index: number): Node | undefined => {
  const element = row?.type === 'array_creation_expression' ? elementsOf(row)[index] : undefined;
  return element && elementKey(element) === undefined ? elementValue(element) : undefined;
};

/** Whether a variable is set where it stands, and not used. */
function isSet(variable: Node): boolean {
  const { parent } = variable;
  if (parent?.type === 'assignment_expression') return parent.childForFieldName('left')?.id === variable.id;
  if (parent?.type === 'foreach_statement') return parent.namedChildren[0]?.id !== variable.id;
  return parent !== null && (/^(?:pair|list_literal)$/.test(parent.type) || (parent.type === 'array_element_initializer' && parent.parent?.parent?.type === 'foreach_statement'));
}

/** Whether a variable stands in the message of an assertion, which comes after the values. */
function isInMessage(variable: Node): boolean {
  for (let at: Node | null = variable; at; at = at.parent) {
    const list = at.type === 'argument' ? at.parent : null;
    if (/^assert/.test(list?.parent?.childForFieldName('name')?.text ?? '')) return partsOf(list ?? at).findIndex(({ id }) => id === at?.id) > 1;
  }
  return false;
}

/** The value of the only assignment to a variable, among the statements of a block. */
function assignedTo(name: string, body: Node): readonly Node[] | undefined {
  const all = [...nodesIn(body)].filter(({ type, namedChildren }) => /assignment_expression$/.test(type) && namedChildren[0]?.text === name);
  const [only, ...more] = all;
  const isStatement = only?.type === 'assignment_expression' && only.parent?.type === 'expression_statement' && only.parent.parent?.id === body.id;
  const value = only?.childForFieldName('right');
  return isStatement && value && more.length === 0 ? [value] : undefined;
}
