import { isPathOfTest, isPathOfTestSource } from '../files/protected-paths.ts';
import { toPlainText } from '../files/text-file.ts';
import { languageOf, type Language } from '../syntax/language.ts';
import { nodesIn } from '../syntax/nodes.ts';
import { withTrees, type Node } from '../syntax/parse.ts';
import { importsOf, isImport, type Imported } from './imported-names.ts';
import type { FileEdit } from './patch.ts';

/*
 * Tests that are added to a file that has some. Those that are there were written by somebody else and judge, so they stay to the letter, and
 * nothing that is added may reach into them: no hook, no second definition of a name that they use, no decorator in front of them.
 */

/**
 * Whether an edit adds a file of tests or their data, or tests to a file that has some, and does nothing else. `configuration`: as of
 * `protectedReason`.
 */
export async function addsTests(edit: FileEdit, configuration?: readonly RegExp[]): Promise<boolean> {
  return isPathOfTest(edit.path, configuration) && (await whyItChangesTests(edit)) === undefined;
}

/** The edits of which `addsTests` is true. */
export async function addedTests(edits: readonly FileEdit[], configuration?: readonly RegExp[]): Promise<ReadonlySet<FileEdit>> {
  const added = new Set<FileEdit>();
  for (const edit of edits) if (await addsTests(edit, configuration)) added.add(edit);
  return added;
}

/**
 * Why an edit of a file of tests does more than add tests, as one sentence; undefined if it adds some and leaves all that is there as it is.
 */
export async function whyItChangesTests({ path, before, after }: Pick<FileEdit, 'path' | 'before' | 'after'>): Promise<string | undefined> {
  if (before === null) return undefined;
  const language = languageOf(path);
  if (!language || after === null || !isPathOfTestSource(path)) return `${STAY}.`;
  const texts = [before, after].map((text) => `${toPlainText(text).trimEnd()}\n`);
  const found = await withTrees(texts, language, ([was, is]) => {
    if (!was || !is || was.hasError || is.hasError) return { why: `${STAY}, and this one cannot be parsed.` };
    return { why: new Addition(language, was).whyNot(was, is) };
  });
  return found ? found.why : `${STAY}, and this one is too long to be compared.`;
}

const STAY = 'Tests that are there stay as they are';

/** What stands in a file or a suite: an item with the attributes before it. */
interface Unit {
  readonly node: Node;
  readonly text: string;
  readonly lead: string;
}

const isComment = ({ type }: Node): boolean => /comment$/.test(type);

function unitsOf(container: Node): { readonly units: readonly Unit[]; readonly imports: readonly Imported[] } {
  const units: Unit[] = [];
  const imports: Imported[] = [];
  let lead = '';
  for (const node of container.namedChildren) {
    if (!node) continue;
    if (node.type === 'attribute_item') lead += `${node.text}\n`;
    else if (lead === '' && isImport(node)) imports.push(...importsOf(node));
    else {
      units.push({ node, text: lead + node.text.trimEnd(), lead });
      lead = '';
    }
  }
  return { units, imports };
}

/** The comparison of one file with itself and more. */
class Addition {
  readonly #language: Language;
  readonly #usedInFile: ReadonlySet<string>;

  constructor(language: Language, file: Node) {
    this.#language = language;
    this.#usedInFile = identifiersIn(file);
  }

  /** Whether all of one container is in another one, in the same order, and what else is there may be added. */
  whyNot(was: Node, is: Node): string | undefined {
    const [old, now] = [unitsOf(was), unitsOf(is)];
    const used = identifiersIn(was);
    let next = 0;
    const added: Unit[] = [];
    for (const unit of old.units) {
      let inner: string | undefined;
      const at = now.units.findIndex((other, index) => {
        if (index < next) return false;
        if (other.text === unit.text) return true;
        const suites = sameSuite(unit, other);
        if (!suites) return false;
        const why = this.whyNot(...suites);
        inner ??= why;
        return why === undefined;
      });
      if (at < 0) return inner ?? `${STAY}, and the change alters what stands ${lineOf(unit.node)}. New ones may be added beside them.`;
      added.push(...now.units.slice(next, at));
      next = at + 1;
    }
    added.push(...now.units.slice(next));
    return this.#whyNotImported(old.imports, now.imports, used) ?? added.map((unit) => this.#whyNotAdded(unit, was, used)).find((why) => why !== undefined);
  }

  #whyNotImported(old: readonly Imported[], now: readonly Imported[], used: ReadonlySet<string>): string | undefined {
    const missing = old.find((one) => !now.some(({ what }) => what === one.what));
    if (missing) return `${STAY}, and the change takes away what they import: ${shown(missing.what)}.`;
    const added = now.filter((one) => !old.some(({ what }) => what === one.what));
    const blind = added.find(({ name }) => name === undefined);
    if (blind) return `To a file of tests only imports that name what they import may be added, not ${shown(blind.what)}.`;
    return clash(added.flatMap(({ name }) => name ?? []).find((name) => used.has(name)));
  }

  #whyNotAdded({ node, lead }: Unit, container: Node, used: ReadonlySet<string>): string | undefined {
    if (isComment(node)) return PRAGMA.test(node.text) ? notAdded(node) : undefined;
    const { inner, decorators } = unwrapped(node);
    if (ACTS_ON_OTHERS.test(lead + decorators) || ACTS_ON_OTHERS.test(inner.childForFieldName('name') ? modifiersOf(inner) : '')) return notAdded(node);
    if (inner.type === 'call_expression') return isTestCall(inner, container) ? undefined : notAdded(node);
    if (inner.type === 'macro_invocation') return macrosIn(container).has(macroOf(inner)) ? undefined : notAdded(node);
    if (inner.type === 'impl_item') return clash([...identifiersIn(inner.childForFieldName('type') ?? inner)].find((name) => this.#usedInFile.has(name)));
    const receiver = inner.childForFieldName('receiver');
    if (receiver) return clash([...identifiersIn(receiver)].find((name) => used.has(name)));
    const names = DEFINES.has(inner.type) ? namesOf(inner) : [];
    if (names.length === 0 || names.some((name) => RESERVED.test(name))) return notAdded(node);
    // A method may be called by a class that inherits it, or take the place of one that is inherited.
    const isMember = this.#language === 'python' && container.parent?.type === 'class_definition' && !names.every((name) => name.startsWith('test'));
    return clash(names.find((name) => (isMember ? this.#usedInFile : used).has(name)));
  }
}

const lineOf = (node: Node): string => `at line ${node.startPosition.row + 1}`;
const shown = (text: string): string => `"${text.replaceAll(/\s+/g, ' ').slice(0, 80)}"`;
const notAdded = (node: Node): string => `To a file of tests only tests and what they need may be added, nothing that acts on the others: ${shown(node.text)}.`;
const clash = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : `What is added to a file of tests needs a name of its own: "${name}" is used there already.`;

/** What a comment tells the compiler or the runner about the whole file. */
const PRAGMA = /^\/\/(?:go:|\s*\+build\b)|@(?:vitest|jest)-|@ts-nocheck/;
/** Decorators, attributes and annotations by which a function runs around other tests. */
const ACTS_ON_OTHERS = /\bautouse\b|\bctor\b|\bdtor\b|\bmacro_(?:use|export)\b|@(?:Before|After|BeforeEach|AfterEach|BeforeAll|AfterAll|BeforeClass|AfterClass|RegisterExtension|Rule|ClassRule)\b/;
/** Functions and variables that a runner looks for by name. */
const RESERVED = /^(?:_|init|main|TestMain|load_tests|set_?up\w*|tear_?down\w*|pytest\w*|collect_ignore\w*|__\w+__|before\w*|after\w*)$/i;

const DEFINES = new Set([
  'function_definition', 'function_declaration', 'generator_function_declaration', 'method_declaration', 'function_item', 'class_definition', 'class_declaration',
  'struct_item', 'enum_item', 'mod_item', 'const_item', 'static_item', 'type_item', 'type_declaration', 'interface_declaration', 'type_alias_declaration',
  'enum_declaration', 'record_declaration', 'lexical_declaration', 'variable_declaration', 'var_declaration', 'const_declaration', 'field_declaration', 'assignment',
]);

function unwrapped(node: Node): { readonly inner: Node; readonly decorators: string } {
  const inner = node.childForFieldName('declaration') ?? node.childForFieldName('definition') ?? (node.type === 'expression_statement' ? (node.namedChildren.find((child) => child && !isComment(child)) ?? node) : node);
  const decorators = node.namedChildren.flatMap((child) => (child?.type === 'decorator' ? [child.text] : [])).join('\n');
  return { inner: inner.type === 'await_expression' ? (inner.namedChildren[0] ?? inner) : inner, decorators };
}

const modifiersOf = (node: Node): string => node.namedChildren.find((child) => child?.type === 'modifiers')?.text ?? '';

/** The names that a definition binds around it. */
function namesOf(node: Node): string[] {
  if (node.type === 'assignment') {
    const left = node.childForFieldName('left');
    return left?.type === 'identifier' ? [left.text] : [];
  }
  const own = node.childForFieldName('name');
  if (own) return [own.text];
  const names: string[] = [];
  for (const child of nodesIn(node, ({ type }) => /^(?:block|statement_block|class_body|arrow_function|call_expression|literal_value)$/.test(type))) {
    if (!/(?:declarator|_spec|type_alias)$/.test(child.type)) continue;
    for (const name of child.childrenForFieldName('name')) if (name?.isNamed) names.push(...identifiersIn(name));
  }
  return names;
}

function identifiersIn(node: Node): Set<string> {
  const names = new Set<string>();
  for (const child of nodesIn(node)) if (child.namedChildCount === 0 && /identifier/.test(child.type)) names.add(child.text);
  return names;
}

const macroOf = (node: Node): string => node.childForFieldName('macro')?.text ?? '';
const macrosIn = (container: Node): Set<string> => new Set(container.namedChildren.flatMap((child) => {
  const inner = child && unwrapped(child).inner;
  return inner?.type === 'macro_invocation' ? [macroOf(inner)] : [];
}));

/** The bodies of two suites that differ in what is in them alone. */
function sameSuite(was: Unit, is: Unit): readonly [Node, Node] | undefined {
  const [old, now] = [suiteBody(was.node), suiteBody(is.node)];
  if (!old || !now || was.lead !== is.lead) return undefined;
  const around = (node: Node, body: Node): string => `${node.text.slice(0, body.startIndex - node.startIndex)}\0${node.text.slice(body.endIndex - node.startIndex)}`;
  return around(was.node, old).trimEnd() === around(is.node, now).trimEnd() ? [old, now] : undefined;
}

const SUITE = /^(?:x|f)?(?:describe|suite|context)\b/;
const TEST = /^(?:it|test|specify|describe|suite|context|bench)(?:\.(?:each|for|concurrent|sequential|serial|skip|todo|fails|failing|cb|describe|suite|it|test))*$/;
const HOOK = /(?:^|\.)(?:before|after|beforeEach|afterEach|beforeAll|afterAll|setup|teardown|hooks?|on|mock|doMock|unmock|spyOn|use|onFinish|stub\w*)$/i;

/** The body of a class, a module or a suite of JavaScript. The body of a test is none. */
function suiteBody(node: Node): Node | null {
  const { inner } = unwrapped(node);
  switch (inner.type) {
    case 'class_definition':
    case 'class_declaration':
    case 'mod_item':
      return inner.childForFieldName('body');
    case 'call_expression': {
      if (!SUITE.test(calleeOf(inner)) && !/\.(?:describe|suite)$/.test(calleeOf(inner))) return null;
      const body = functionIn(inner)?.childForFieldName('body');
      return body?.type === 'statement_block' ? body : null;
    }
    default:
      return null;
  }
}

/** The function that a call is for: `it` of `it.each(rows)(…)`. */
function calleeOf(call: Node): string {
  const called = call.childForFieldName('function');
  return called?.type === 'call_expression' ? calleeOf(called) : (called?.text ?? '');
}

const argumentsOf = (call: Node): readonly Node[] => call.childForFieldName('arguments')?.namedChildren.filter((child): child is Node => child !== null && !isComment(child)) ?? [];
/** Some runners take options or a time limit after the function. */
const functionIn = (call: Node): Node | undefined => argumentsOf(call).findLast(({ type }) => type === 'arrow_function' || type.startsWith('function'));

/** `it('…', () => …)`, or a function of the project's own that is called in the same way among the tests that are there. */
function isTestCall(call: Node, container: Node): boolean {
  const callee = calleeOf(call);
  if (/\.only\b/.test(callee) || HOOK.test(callee)) return false;
  if (TEST.test(callee)) return true;
  if (!functionIn(call) || !/string$/.test(argumentsOf(call)[0]?.type ?? '')) return false;
  return container.namedChildren.some((child) => {
    const inner = child && unwrapped(child).inner;
    return inner?.type === 'call_expression' && calleeOf(inner) === callee && functionIn(inner) !== undefined;
  });
}
