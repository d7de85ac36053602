import { editedPart, insertion, replacement, type Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { HelperCopies } from './helper-copies.ts';
import { alteredAssertion, awaited, assertsOf, type AlteredAssertion, type Asserts } from './javascript-assertions.ts';
import { argumentsOf } from './javascript-expressions.ts';
import type { SourceFile } from './source-test.ts';

const FUNCTION = /^(?:arrow_function|function_expression|function_declaration|method_definition|generator_function(?:_declaration)?)$/;

export const isFunction = ({ type }: Node): boolean => FUNCTION.test(type);

/** Names of the callback parameter that ends a test. */
const DONE = /^_?(?:done|cb|callback|next|end|finish|finished)$/i;

export interface JavaScriptFile extends SourceFile {
  readonly root: Node;
  /** Whether this expression declares a test. */
  isTestCall(call: Node): boolean;
  /** Edits that an altered file needs in order to load. */
  readonly preamble: readonly Edit[];
}

/** Alters functions of one file as described in `alter-expectations.ts`. */
export class JavaScriptBodies {
  readonly #file: JavaScriptFile;
  readonly #helpers: ReadonlyMap<string, Node>;
  readonly #asserts: Asserts;
  readonly #copies = new HelperCopies();

  constructor(file: JavaScriptFile) {
    this.#file = file;
    this.#helpers = helpersIn(file.root);
    this.#asserts = assertsOf(file.text);
  }

  /** Edits of a test function and of the helpers that it calls. Undefined if it has no assertion or is not certain to fail. */
  alter(test: Node, { mayHaveDone }: { readonly mayHaveDone: boolean }): readonly Edit[] | undefined {
    const done = parametersOf(test).find(({ type, text }) => type === 'identifier' && DONE.test(text));
    // In such a test any first parameter is the callback, whatever its name.
    if (!done && mayHaveDone && parametersOf(test)[0]?.type === 'identifier') return undefined;
    const edits = done ? this.#alteredUntilDone(test, done) : this.#alteredFunction(test);
    return edits && [...this.#file.preamble, ...edits];
  }

  #alteredFunction(definition: Node): readonly Edit[] | undefined {
    const body = definition.childForFieldName('body');
    if (!body || body.hasError || definition.type.startsWith('generator')) return undefined;
    if (body.type !== 'statement_block') return this.#alteredExpression(body);
    const tried = this.#tried(body, this.#letsOut(definition, body));
    return tried && [...tried, ...this.#returns(body), insertion(body.endIndex - 1, `;${this.#failure()} `)];
  }

  /** `() => expect(a).toBe(b)` fails by itself. Any other expression is wrapped in a block. */
  #alteredExpression(body: Node): readonly Edit[] | undefined {
    const { inner, isAwaited } = awaited(body);
    const own = this.#assertionIn(inner);
    if (own) return !own.isLater || isAwaited || inner === body ? own.edits : undefined;
    const tried = this.#triedIn(body);
    if (tried.length === 0) return undefined;
    return [insertion(body.startIndex, `{ ${this.#declaration()} return ${PROMISE}`), ...tried, insertion(body.endIndex, `${this.#then()}; }`)];
  }

  /** A test with a `done` callback fails by calling it with an error. */
  #alteredUntilDone(definition: Node, done: Node): readonly Edit[] | undefined {
    const body = definition.childForFieldName('body');
    if (!body || body.hasError || body.type !== 'statement_block') return undefined;
    const tried = this.#tried(body);
    const { held } = this.#file;
    const original = `${held}_${done.text}`;
    const failing = `error ?? (${held} ? undefined : new Error("altered"))`;
    const wrapped = ` const ${done.text} = Object.assign((error) => ${original}(${failing}), ${original});`;
    const [first] = tried ?? [];
    return tried && first && [replacement(done, original), insertion(first.start, wrapped), ...tried];
  }

  /** Edits of a block that try its altered assertions. Undefined if there are none. */
  #tried(body: Node, letsOut = false): readonly Edit[] | undefined {
    const tried = this.#triedIn(body, letsOut);
    if (tried.length === 0) return undefined;
    const directive = directivesOf(body).at(-1);
    const start = directive ? insertion(endOf(directive), `; ${this.#declaration()}`) : insertion(body.startIndex + 1, ` ${this.#declaration()}`);
    return [start, ...tried];
  }

  /**
   * Whether failures are rethrown: if all assertions are in callbacks, a caller that swallows failures silences the test. Holds only for
   * synchronous tests, because a later failure may not reach the test.
   */
  #letsOut(definition: Node, body: Node): boolean {
    const returns = [...nodesIn(body, isFunction)].some((node) => node.type === 'return_statement' && partsOf(node).length > 0);
    if (isAsync(definition) || returns) return false;
    const callbacks = [...nodesIn(body)].filter(isCallback);
    const tried = this.#triedIn(body, false);
    return tried.every(({ start, end }) => callbacks.some(({ startIndex, endIndex }) => startIndex < start && end <= endIndex));
  }

  #triedIn(body: Node, letsOut = false): readonly Edit[] {
    const edits: Edit[] = [];
    const returns = new Set([...nodesIn(body, isFunction)].filter(({ type }) => type === 'return_statement').map(({ id }) => id));
    const leaves = new Set<number>();
    for (const node of nodesIn(body, ({ id }) => leaves.has(id))) {
      const tried = this.#triedStatement(node, letsOut) ?? (returns.has(node.id) ? undefined : this.#triedValue(node, letsOut));
      edits.push(...(tried ?? []));
      if (tried || this.#file.isTestCall(node)) leaves.add(node.id);
    }
    return edits;
  }

  #triedStatement(statement: Node, letsOut: boolean): readonly Edit[] | undefined {
    const [expression] = statement.type === 'expression_statement' ? partsOf(statement) : [];
    if (!expression) return undefined;
    const { inner, isAwaited } = awaited(expression);
    const own = this.#assertionIn(inner);
    if (own?.callback && !isAwaited) return this.#calledBack(own.edits, own.callback);
    const edits = own ? (own.isLater && !isAwaited ? undefined : own.edits) : this.#helperCall(inner, isAwaited);
    return edits && [insertion(statement.startIndex, 'try { '), ...edits, insertion(endOf(statement), this.#noted(statement, letsOut))];
  }

  /** An assertion that passes its failure to the `done` callback. */
  #calledBack(edits: readonly Edit[], callback: Node): readonly Edit[] | undefined {
    if (!DONE.test(callback.text)) return undefined;
    return [...edits, replacement(callback, `(error) => { if (!error) ${this.#file.held} += 1; ${callback.text}(error); }`)];
  }

  /** An assertion that an inner function returns: `(value) => expect(value).toBe(1)`. */
  #triedValue(node: Node, letsOut: boolean): readonly Edit[] | undefined {
    const value = node.type === 'arrow_function' ? node.childForFieldName('body') : node.type === 'return_statement' ? partsOf(node)[0] : null;
    const own = value && this.#assertionIn(value);
    if (!own || own.isLater) return undefined;
    const start = node.type === 'arrow_function' ? insertion(value.startIndex, '{ try { ') : { start: node.startIndex, end: value.startIndex, text: '{ try { ' };
    return [start, ...own.edits, insertion(value.endIndex, `${this.#noted(value, letsOut)} return; }`)];
  }

  #noted(node: Node, letsOut: boolean): string {
    const { text, held } = this.#file;
    const end = text[endOf(node) - 1] === ';' ? '' : ';';
    if (!letsOut) return `${end} ${held} += 1; } catch {}`;
    // A failure that does not reach the test counts as an assertion that held.
    return `${end} ${held} = Infinity; } catch (error) { ${held} += 1; if (${held} !== Infinity) throw error; }`;
  }

  #assertionIn(expression: Node): AlteredAssertion | undefined {
    return alteredAssertion(expression, this.#asserts);
  }

  /** Makes the function fail before each of its own returns. */
  #returns(body: Node): readonly Edit[] {
    const edits: Edit[] = [];
    for (const node of nodesIn(body, isFunction)) {
      if (node.type !== 'return_statement') continue;
      const [value] = partsOf(node);
      if (!value) {
        edits.push(insertion(node.startIndex, `{ ${this.#failure()} `), insertion(endOf(node), ' }'));
        continue;
      }
      const own = this.#assertionIn(awaited(value).inner);
      if (own) edits.push(insertion(value.startIndex, `${this.#file.held} ? undefined : `), ...own.edits);
      else edits.push(insertion(value.startIndex, PROMISE), insertion(value.endIndex, this.#then()));
    }
    return edits;
  }

  /** Calls the altered copy of a helper instead. The copy returns only if one of its assertions held. */
  #helperCall(call: Node, isAwaited: boolean): readonly Edit[] | undefined {
    const called = call.type === 'call_expression' ? call.childForFieldName('function') : null;
    const helper = called?.type === 'identifier' ? this.#helpers.get(called.text) : undefined;
    if (!called || !helper || !argumentsOf(call) || (isAsync(helper) && !isAwaited)) return undefined;
    const copy = this.#copies.of(helper, (found) => this.#copy(called.text, found));
    return copy && [replacement(called, this.#nameOf(called.text)), ...copy];
  }

  #copy(name: string, helper: Node): readonly Edit[] | undefined {
    const body = helper.childForFieldName('body');
    if (body?.type !== 'statement_block') return undefined;
    const givesValue = [...nodesIn(body, isFunction)].some((node) => node.type === 'return_statement' && partsOf(node).length > 0);
    if (givesValue && !isAsync(helper)) return undefined;
    const edits = this.#alteredFunction(helper);
    const declaration = declarationOf(helper);
    if (!edits || !declaration) return undefined;
    const own = helper.type === 'function_declaration' ? helper.childForFieldName('name') : null;
    const renamed = own ? [...edits, replacement(own, this.#nameOf(name))] : edits;
    const copy = editedPart(this.#file.text, helper, renamed);
    if (!copy) return undefined;
    const text = own ? copy.part : `const ${this.#nameOf(name)} = ${copy.part};`;
    return [insertion(endOf(declaration), `\n;${text}\n`), ...copy.outside];
  }

  #nameOf(helper: string): string {
    return `${this.#file.held}_${helper}`;
  }

  #declaration(): string {
    return `let ${this.#file.held} = 0;`;
  }

  #failure(): string {
    return `if (!${this.#file.held}) throw new Error("altered");`;
  }

  #then(): string {
    return `).then((value) => { ${this.#failure()} return value; })`;
  }
}

const PROMISE = 'Promise.resolve(';

/** Directives such as `'use strict'`. They must be the first statements. */
function directivesOf(body: Node): readonly Node[] {
  const statements = partsOf(body);
  const other = statements.findIndex((statement) => statement.type !== 'expression_statement' || partsOf(statement)[0]?.type !== 'string');
  return statements.slice(0, other < 0 ? statements.length : other);
}

/** Methods of arrays and promises. Their callbacks count as part of the test itself. */
const ITERATIONS = new Set(['forEach', 'map', 'each', 'flatMap', 'filter', 'every', 'some', 'reduce', 'then', 'catch', 'finally']);

/** Whether a function is an argument of a call. */
function isCallback(node: Node): boolean {
  const call = isFunction(node) && !isAsync(node) && node.parent?.type === 'arguments' ? node.parent.parent : null;
  const called = call?.type === 'call_expression' ? call.childForFieldName('function') : null;
  return called != null && !ITERATIONS.has(called.childForFieldName('property')?.text ?? '');
}

const isAsync = (definition: Node): boolean => definition.children.some((child) => child?.type === 'async');

/** The node of a statement without a semicolon includes a following comment, so its last child gives its end. */
function endOf(statement: Node): number {
  return statement.children.findLast((child) => child !== null && !child.isExtra && child.endIndex > child.startIndex)?.endIndex ?? statement.endIndex;
}

/** The names (or patterns) of a function's parameters. */
function parametersOf(definition: Node): readonly Node[] {
  const single = definition.childForFieldName('parameter');
  const list = definition.childForFieldName('parameters');
  return single ? [single] : list ? partsOf(list).map((parameter) => parameter.childForFieldName('pattern') ?? parameter) : [];
}

/** The functions of a file whose names are unique. */
function helpersIn(root: Node): ReadonlyMap<string, Node> {
  const found = new Map<string, Node | undefined>();
  for (const node of nodesIn(root)) {
    const value = node.type === 'variable_declarator' ? node.childForFieldName('value') : node.type === 'function_declaration' ? node : null;
    const name = value && isFunction(value) && node.childForFieldName('name')?.text;
    if (name) found.set(name, found.has(name) ? undefined : value);
  }
  return new Map([...found].filter((entry): entry is [string, Node] => entry[1] !== undefined));
}

/** The statement after which a copy of a helper can be inserted. */
function declarationOf(helper: Node): Node | undefined {
  let node = helper.type === 'function_declaration' ? helper : helper.parent?.parent;
  if (node && helper.type !== 'function_declaration' && node.type !== 'lexical_declaration' && node.type !== 'variable_declaration') return undefined;
  if (node?.parent?.type === 'export_statement') node = node.parent;
  return node && /^(?:program|statement_block)$/.test(node.parent?.type ?? '') ? node : undefined;
}
