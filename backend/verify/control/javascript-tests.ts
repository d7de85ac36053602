import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { JavaScriptBodies } from './javascript-body.ts';
import { isFunction } from './javascript-scopes.ts';
import { joinedTitles, type ImportedTree, type SourceFile, type SourceTest, type Title } from './source-test.ts';

const SUITES = new Set(['describe', 'suite', 'context', 'fdescribe', 'xdescribe', 'xcontext', 'ddescribe', 'xsuite']);
const TESTS = new Set(['it', 'test', 'tape', 'specify', 'fit', 'xit', 'xtest', 'xspecify', 'ftest']);
const HOOKS = /^(?:before|after|setup|teardown|suiteSetup|suiteTeardown|require|import|on)/;

/** Methods that call a function synchronously for each element. */
const ITERATIONS = new Set(['forEach', 'map', 'each', 'flatMap']);

const MAX_DEPTH = 50;

/** A known part of a title with this many characters identifies its test. */
const TELLING = 4;

/** A call that declares a test or a suite: `describe.each([1])('of %i', () => {})`. */
interface Declaration {
  readonly kind: 'suite' | 'test';
  readonly call: Node;
  /** The names before its arguments: `it`, `skip`. */
  readonly words: readonly string[];
  readonly title: Title;
  readonly callback: Node | undefined;
  readonly isSkipped: boolean;
  /** It passes if its callback fails. */
  readonly expectsFailure: boolean;
}

interface Place {
  /** The titles of the enclosing suites and tests. */
  readonly path: readonly Title[];
  readonly isSkipped: boolean;
  readonly depth: number;
  /** The parameter on which the enclosing test declares subtests: `t`. */
  readonly context: string | undefined;
}

/** The tests of vitest, jest, mocha and `node --test` in a file. */
export function javascriptTests(root: Node, source: SourceFile, imported: readonly ImportedTree[] = []): readonly SourceTest[] {
  return new JavaScriptTests(root, source, imported).found();
}

class JavaScriptTests {
  readonly #root: Node;
  readonly #source: SourceFile;
  readonly #bodies: JavaScriptBodies;
  /** Names that the file gives to an extended `test`. */
  readonly #extended: ReadonlySet<string>;
  /** False if functions of other files may declare tests. An unknown title may then be one of theirs. */
  readonly #isComplete: boolean;

  constructor(root: Node, source: SourceFile, imported: readonly ImportedTree[]) {
    this.#root = root;
    this.#source = source;
    this.#extended = new Set([...source.text.matchAll(/\b(\w+)\s*=\s*(?:\w+\.)?(?:test|it|base)\.extend\b/g)].map(([, name = '']) => name));
    const isTestCall = (node: Node): boolean => {
      const [context] = node.type === 'call_expression' ? wordsOf(node) : [];
      return context !== undefined && this.#declaration(node, context)?.callback !== undefined;
    };
    this.#bodies = new JavaScriptBodies({ ...source, root, imported, isTestCall });
    this.#isComplete = !this.#mayDeclareElsewhere();
  }

  found(): readonly SourceTest[] {
    return this.#testsIn(this.#root, { path: [], isSkipped: false, depth: 0, context: undefined });
  }

  /** Tests in a node, which is not itself a function. Any suite may call the functions that are only defined in it. */
  #testsIn(body: Node, place: Place): readonly SourceTest[] {
    if (place.depth > MAX_DEPTH) return [];
    const tests: SourceTest[] = [];
    const leaves = new Set<number>();
    for (const node of nodesIn(body, ({ id }) => leaves.has(id))) {
      const declaration = this.#declaration(node, place.context);
      if (declaration) {
        leaves.add(node.id);
        tests.push(...this.#declared(declaration, place));
      } else if (isFunction(node) && node.id !== body.id && !isCalledHere(node)) {
        leaves.add(node.id);
        const inner = node.childForFieldName('body');
        if (inner) tests.push(...this.#testsIn(inner, { ...place, path: [[undefined]], depth: place.depth + 1, context: undefined }));
      }
    }
    return tests;
  }

  #declared({ kind, title, callback, isSkipped, expectsFailure, words }: Declaration, place: Place): readonly SourceTest[] {
    const path = [...place.path, title];
    const parameters = callback?.childForFieldName('parameters');
    const [first] = parameters ? partsOf(parameters) : [callback?.childForFieldName('parameter')].filter((node) => node != null);
    const below: Place = {
      path,
      isSkipped: place.isSkipped || isSkipped,
      depth: place.depth + 1,
      context: kind === 'test' ? (first?.childForFieldName('pattern') ?? first)?.text : undefined,
    };
    const body = callback?.childForFieldName('body');
    const inside = body ? this.#testsIn(body, below) : [];
    if (kind === 'suite') return inside;
    const titles = [
      joinedTitles(path),
      // A test declared by a function may be outside of suites. A test with a computed title may be named like its suite.
      ...(path[0]?.[0] === undefined ? [joinedTitles(path.slice(1))] : []),
      ...(title.every((piece) => piece === undefined) ? [joinedTitles(place.path)] : []),
    ];
    const mayHaveDone = ['jest', 'mocha', 'jasmine'].includes(this.#source.runner) && !words.includes('each');
    const isKnown = this.#isComplete || title.some((piece) => piece !== undefined && piece.length >= TELLING);
    return [{
      titles,
      isSkipped: below.isSkipped || (body != null && partsOf(body).some(skipsHere)),
      subtests: inside,
      ...(callback && { body: callback }),
      alter: () => (callback && isKnown && !expectsFailure ? this.#bodies.alter(callback, { mayHaveDone }) : undefined),
    }];
  }

  #declaration(node: Node, context: string | undefined): Declaration | undefined {
    const called = node.type === 'call_expression' ? node.childForFieldName('function') : null;
    const list = called && node.childForFieldName('arguments');
    if (!called || list?.type !== 'arguments') return undefined;
    const words = wordsOf(called);
    const [base = '', next] = words;
    const isSubtest = context !== undefined && base === context && next === 'test' && words.length === 2;
    const kind = SUITES.has(base) ? 'suite' : isSubtest || TESTS.has(base) || this.#extended.has(base) ? 'test' : undefined;
    const [title, ...rest] = partsOf(list);
    // The results of `it.each(table)` and `it.skipIf(condition)` are called again.
    if (!kind || !title || (/^(?:each|for|skipIf|runIf|extend)$/.test(words.at(-1) ?? '') && called.type === 'member_expression')) return undefined;
    const callback = rest.find(isFunction);
    const isTable = words.includes('each') || words.includes('for');
    const options = rest.find(({ type }) => type === 'object')?.text ?? '';
    return {
      kind,
      call: node,
      words,
      title: titleOf(title, isTable),
      callback,
      expectsFailure: words.some((word) => /^fail(?:s|ing)?$/.test(word)) || /\b(?:fails|expectFailure)\s*:/.test(options),
      // A test with only a title is a todo.
      isSkipped: rest.length === 0
        || /^x/.test(base)
        || words.some((word) => /^(?:skip|todo|skipIf|runIf)$/.test(word))
        || /\b(?:skip|todo)\s*:(?!\s*false\b)/.test(options),
    };
  }

  #mayDeclareElsewhere(): boolean {
    const own = new Set<string>();
    for (const node of nodesIn(this.#root)) {
      const name = /^(?:function_declaration|variable_declarator)$/.test(node.type) ? node.childForFieldName('name') : null;
      if (name) own.add(name.text);
    }
    const isForeign = (name: string): boolean => !own.has(name) && !HOOKS.test(name);
    const seesForeign = (body: Node): boolean => {
      const leaves = new Set<number>();
      for (const node of nodesIn(body, ({ id }) => leaves.has(id))) {
        const declaration = this.#declaration(node, undefined);
        if (declaration || isFunction(node)) leaves.add(node.id);
        if (declaration?.kind === 'suite') {
          const inner = declaration.callback?.childForFieldName('body');
          if (!inner || seesForeign(inner)) return true;
        }
        const [call] = node.type === 'expression_statement' && !declaration ? partsOf(node) : [];
        const called = call?.type === 'call_expression' && !this.#declaration(call, undefined) ? call.childForFieldName('function') : null;
        if (called?.type === 'identifier' && isForeign(called.text)) return true;
      }
      return false;
    };
    return seesForeign(this.#root);
  }
}

/** `test.each(table)`: test, each. Empty if the expression is not built of names and their calls. */
function wordsOf(called: Node): readonly string[] {
  const words: string[] = [];
  let node: Node | null = called;
  while (node && words.length < 10) {
    if (node.type === 'identifier') return [node.text, ...words];
    if (node.type === 'member_expression') {
      words.unshift(node.childForFieldName('property')?.text ?? '');
      node = node.childForFieldName('object');
    } else node = node.type === 'call_expression' ? node.childForFieldName('function') : null;
  }
  return [];
}

/** Whether a function is called where it is defined: immediately or for each element of an array. */
function isCalledHere(node: Node): boolean {
  const parent = node.parent?.type === 'parenthesized_expression' ? node.parent.parent : node.parent;
  if (parent?.type === 'call_expression') return true;
  const call = parent?.type === 'arguments' ? parent.parent : null;
  return ITERATIONS.has(call?.childForFieldName('function')?.childForFieldName('property')?.text ?? '');
}

/** The title as the runner reports it. In tests of a table, the runner inserts values. */
function titleOf(node: Node, isTable: boolean): Title {
  const pieces = piecesOf(node);
  return isTable ? pieces.flatMap((piece) => (piece === undefined ? [piece] : withoutValues(piece))) : pieces;
}

function piecesOf(node: Node): Title {
  if (node.type === 'string' || node.type === 'template_string')
    return node.namedChildren.map((part) => {
      if (part?.type === 'string_fragment') return part.text;
      return part?.type === 'escape_sequence' ? unescaped(part.text) : undefined;
    });
  if (node.type === 'binary_expression' && node.childForFieldName('operator')?.type === '+') {
    const sides = [node.childForFieldName('left'), node.childForFieldName('right')];
    return sides.flatMap((side) => (side && /^(?:string|template_string|binary_expression)$/.test(side.type) ? piecesOf(side) : [undefined]));
  }
  return [undefined];
}

const withoutValues = (text: string): Title =>
  text.split(/%[sdifjoOcp#$]|\$[\w.#]+|%%/).flatMap((piece, index) => (index === 0 ? [piece] : [undefined, piece]));

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', '0': '\0', '\n': '' };

function unescaped(sequence: string): string {
  const code = /^\\(?:u\{([\da-f]+)\}|u([\da-f]{4})|x([\da-f]{2}))$/i.exec(sequence)?.slice(1).find((digits) => digits !== undefined);
  if (code !== undefined) return Number.parseInt(code, 16) <= 0x10_ff_ff ? String.fromCodePoint(Number.parseInt(code, 16)) : '';
  const rest = sequence.slice(1);
  return ESCAPES[rest] ?? rest;
}

/** `this.skip()` at the top level of a test, or under a condition on the environment. */
function skipsHere(statement: Node): boolean {
  if (statement.type === 'expression_statement') return /^(?:this|t|ctx|context|test)\.(?:skip|todo)\(/.test(statement.text);
  if (statement.type === 'statement_block') return partsOf(statement).some(skipsHere);
  if (statement.type !== 'if_statement') return false;
  const [condition, body] = [statement.childForFieldName('condition'), statement.childForFieldName('consequence')];
  return condition !== null && body !== null && /\b(?:process|os)\./.test(condition.text) && skipsHere(body);
}
