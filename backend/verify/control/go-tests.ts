import { editedPart, insertion, replacement, type Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { alteredCall, alteredIf, alteredPanic, callIn, statementsOf, testParameter, type GoChecks } from './go-assertions.ts';
import { functionCalled } from './go-expected.ts';
import { librariesIn } from './go-library-names.ts';
import { GoValues } from './go-values.ts';
import { HelperCopies } from './helper-copies.ts';
import type { SourceFile, SourceTest, Title } from './source-test.ts';

/** Nesting of subtests. */
const MAX_DEPTH = 10;

/** The Go tests of a file with their subtests, and the methods of testify suites. */
export function goTests(root: Node, source: SourceFile): readonly SourceTest[] {
  return new GoTests(root, source).found();
}

class GoTests {
  readonly #root: Node;
  readonly #source: SourceFile;
  readonly #functions = new Map<string, Node>();
  readonly #checks: GoChecks;
  readonly #copies = new HelperCopies();
  readonly #values: GoValues;

  constructor(root: Node, source: SourceFile) {
    this.#root = root;
    this.#source = source;
    for (const node of partsOf(root)) {
      const name = node.type === 'function_declaration' ? node.childForFieldName('name')?.text : undefined;
      if (name !== undefined) this.#functions.set(name, node);
    }
    const tests = new Set([...nodesIn(root)].flatMap((node) => testParameter(node) ?? []));
    const usesTestify = /stretchr\/testify|alecthomas\/assert/.test(source.text);
    const libraries = librariesIn(source.text);
    this.#checks = { tests, usesTestify, libraries, owners: ownersIn(source.text), held: source.held, constants: constantsIn(root) };
    this.#values = new GoValues(root, this.#functions, this.#checks, source.dice);
  }

  found(): readonly SourceTest[] {
    return partsOf(this.#root).flatMap((node) => {
      const name = node.childForFieldName('name')?.text ?? '';
      const body = node.childForFieldName('body');
      if (!/^Test(?![a-z])/.test(name) || !body) return [];
      if (node.type === 'method_declaration') return this.#suiteMethod(node, name, body);
      const test = testParameterOf(node);
      return node.type === 'function_declaration' && test !== undefined ? [this.#test([name], body, test, 0)] : [];
    });
  }

  #test(title: Title, body: Node, test: string, depth: number): SourceTest {
    const runs = depth < MAX_DEPTH ? this.#runsIn(body) : [];
    // A function that receives the test may run subtests too.
    const isComplete = !this.#handsOn(body, test);
    const subtests = runs.flatMap(({ name, definition }) => {
      const [inner, parameter] = [definition.childForFieldName('body'), testParameterOf(definition)];
      const below = [...title, '/', ...name];
      if (!inner || parameter === undefined || (below.includes(undefined) && !isComplete)) return [];
      return [this.#test(below, inner, parameter, depth + 1)];
    });
    return {
      // Go numbers subtests with the same name.
      titles: depth === 0 ? [title] : [title, [...title, '#', undefined]],
      isSkipped: statementsOf(body).some((statement) => skipsHere(statement, test)),
      subtests,
      alter: () => this.#alter(body, `${test}.Error("altered")`),
    };
  }

  #suiteMethod(node: Node, name: string, body: Node): readonly SourceTest[] {
    const list = node.childForFieldName('receiver');
    const receiver = list && partsOf(list)[0]?.childForFieldName('name')?.text;
    if (!receiver || !/\bsuite\./.test(this.#source.text)) return [];
    return [{
      titles: [['Test', undefined, `/${name}`]],
      isSkipped: statementsOf(body).some((statement) => skipsHere(statement, `${receiver}.T()`)),
      alter: () => this.#alter(body, `${receiver}.T().Error("altered")`),
    }];
  }

  #alter(body: Node, failure: string): readonly Edit[] | undefined {
    if (body.hasError) return undefined;
    const byValue = this.#values.alter(body);
    if (byValue) return byValue;
    const { held } = this.#source;
    const asserted = this.#tried(body);
    const tried = asserted.length > 0 ? asserted : this.#panics(body);
    if (tried.length === 0) return undefined;
    // Deferred, so that it runs on every exit: a test may panic and recover.
    const start = ` ${held} := 0; defer func() { if ${held} == 0 { ${failure} } }();`;
    return [insertion(body.startIndex + 1, start), ...tried];
  }

  #tried(body: Node): readonly Edit[] {
    const runs = this.#runsIn(body).map(({ definition }) => definition);
    // What a function asserts for subtests is altered by what they give it, and is theirs.
    const subtests = new Set([...runs, ...runs.flatMap((run) => functionsCalledIn(run, body))].map(({ id }) => id));
    const edits: Edit[] = [];
    const leaves = new Set<number>();
    for (const node of nodesIn(body, ({ id }) => leaves.has(id))) {
      if (subtests.has(node.id)) leaves.add(node.id);
      if (leaves.has(node.id)) continue;
      const tried = alteredIf(node, this.#checks) ?? alteredCall(node, this.#checks) ?? this.#helperCall(node);
      if (!tried) continue;
      leaves.add(node.id);
      edits.push(...tried);
    }
    return edits;
  }

  #panics(body: Node): readonly Edit[] {
    const subtests = new Set(this.#runsIn(body).map(({ definition }) => definition.id));
    return [...nodesIn(body, ({ id }) => subtests.has(id))].flatMap((node) => (subtests.has(node.id) ? [] : (alteredPanic(node, this.#checks) ?? [])));
  }

  /** Calls the altered copy of a helper instead. The copy fails the test if none of its assertions held. */
  #helperCall(statement: Node): readonly Edit[] | undefined {
    const call = callIn(statement);
    const called = call?.childForFieldName('function');
    const helper = called?.type === 'identifier' ? functionCalled(called, this.#functions) : undefined;
    const copy = called && helper?.type === 'function_declaration' && this.#copies.of(helper, (found) => this.#copy(found));
    if (!call || !copy) return undefined;
    return [replacement(called, this.#nameOf(called.text)), insertion(statement.endIndex, `; ${this.#source.held}++`), ...copy];
  }

  #copy(helper: Node): readonly Edit[] | undefined {
    const [name, body, test] = [helper.childForFieldName('name'), helper.childForFieldName('body'), testParameterOf(helper)];
    if (!name || !body || test === undefined || helper.childForFieldName('result') || this.#runsIn(body).length > 0) return undefined;
    const edits = this.#alter(body, `${test}.Error("altered")`);
    const copy = edits && editedPart(this.#source.text, helper, [...edits, replacement(name, this.#nameOf(name.text))]);
    return copy && [insertion(helper.endIndex, `\n\n${copy.part}`), ...copy.outside];
  }

  /** The subtests that a function runs directly: their names and functions. */
  #runsIn(body: Node): readonly { readonly name: Title; readonly definition: Node }[] {
    const found: { name: Title; definition: Node }[] = [];
    const leaves = new Set<number>();
    for (const node of nodesIn(body, ({ id }) => leaves.has(id))) {
      const selector = node.type === 'call_expression' ? node.childForFieldName('function') : null;
      const list = selector?.childForFieldName('field')?.text === 'Run' ? node.childForFieldName('arguments') : null;
      const [name, run] = list ? partsOf(list) : [];
      const definition = run?.type === 'func_literal' ? run : run?.type === 'identifier' ? this.#functions.get(run.text) : undefined;
      if (!name || !definition || !this.#checks.tests.has(selector?.childForFieldName('operand')?.text ?? '')) continue;
      leaves.add(definition.id);
      found.push({ name: nameOf(name), definition });
    }
    return found;
  }

  #handsOn(body: Node, test: string): boolean {
    for (const node of nodesIn(body, ({ type }) => type === 'func_literal')) {
      const list = node.type === 'call_expression' ? node.childForFieldName('arguments') : null;
      const owner = node.childForFieldName('function')?.childForFieldName('operand')?.text ?? '';
      if (list && !this.#checks.owners.has(owner) && !this.#isLibrary(owner) && partsOf(list).some(({ text }) => text === test)) return true;
    }
    return false;
  }

  /** Whether a name is that of a package of assertions: it runs no subtests by itself. */
  #isLibrary(name: string): boolean {
    return this.#checks.libraries.size > 0 && /^(?:qt|quicktest|is|assert|check)$/.test(name);
  }

  #nameOf(helper: string): string {
    return `${this.#source.held}_${helper}`;
  }
}

/** The functions that `body` assigns to names and that are called in a part of it. */
function functionsCalledIn(part: Node, body: Node): readonly Node[] {
  return [...nodesIn(part)].flatMap((node) => {
    const called = node.type === 'call_expression' ? node.childForFieldName('function') : null;
    const definition = called?.type === 'identifier' ? functionCalled(called, new Map()) : undefined;
    return definition && body.startIndex < definition.startIndex && definition.endIndex < body.endIndex ? [definition] : [];
  });
}

function constantsIn(root: Node): ReadonlySet<string> {
  const specs = [...nodesIn(root)].filter(({ type }) => type === 'const_spec');
  return new Set(specs.flatMap((spec) => partsOf(spec).filter(({ type }) => type === 'identifier').map(({ text }) => text)));
}

/** The name of the first parameter that is a test. */
function testParameterOf(definition: Node): string | undefined {
  const list = definition.childForFieldName('parameters');
  return list ? partsOf(list).map(testParameter).find((name) => name !== undefined) : undefined;
}

/** `require := require.New(t)` makes an object with the functions of the package. In a suite the receiver has them. */
function ownersIn(text: string): GoChecks['owners'] {
  // The package of the same name by another author ends the test.
  const owners = new Map<string, 'goes on' | 'ends'>([['assert', text.includes('alecthomas/assert') ? 'ends' : 'goes on'], ['require', 'ends']]);
  for (const [, name = '', kind] of text.matchAll(/\b(\w+)\s*:?=\s*(assert|require)\.New\(/g))
    if (name !== 'assert' && name !== 'require') owners.set(name, kind === 'require' ? 'ends' : 'goes on');
  for (const [, name = ''] of text.matchAll(/^func \((\w+) \*?\w*Suite\w*\)/gim)) {
    owners.set(name, 'goes on');
    owners.set(`${name}.Assert()`, 'goes on');
    owners.set(`${name}.Require()`, 'ends');
  }
  return owners;
}

/** Go replaces spaces by underscores. A name with other special characters, or one that is computed, counts as unknown. */
function nameOf(node: Node): Title {
  const content = partsOf(node);
  const isText = /_string_literal$/.test(node.type) && content.every(({ type }) => /_string_literal_content$/.test(type));
  const text = content.map((part) => part.text).join('');
  return isText && /^[ -~]*$/.test(text) ? [text.replaceAll(' ', '_')] : [undefined];
}

function skipsHere(statement: Node, test: string): boolean {
  if (statement.type === 'expression_statement') return ['Skip(', 'Skipf(', 'SkipNow('].some((call) => statement.text.startsWith(`${test}.${call}`));
  if (statement.type !== 'if_statement') return false;
  const [condition, body] = [statement.childForFieldName('condition'), statement.childForFieldName('consequence')];
  const isOfMachine = /\b(?:testing\.Short\(\)|runtime\.|os\.)/.test(statement.childForFieldName('initializer')?.text ?? condition?.text ?? '');
  return isOfMachine && body !== null && statementsOf(body).some((inner) => skipsHere(inner, test));
}
