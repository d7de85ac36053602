import type { Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { Draws, throughHelper, type Alteration } from './alteration.ts';
import { alteredAssertion, assertsOf, awaited, type Bound, type Setting } from './javascript-assertions.ts';
import { argumentsOf } from './javascript-literals.ts';
import { Mentions } from './mentions.ts';
import type { SourceFile } from './source-test.ts';

const FUNCTION = /^(?:arrow_function|function_expression|function_declaration|method_definition|generator_function(?:_declaration)?)$/;

export const isFunction = ({ type }: Node): boolean => FUNCTION.test(type);

/** Names of the callback parameter that ends a test. */
const DONE = /^_?(?:done|cb|callback|next|end|finish|finished)$/i;

/** Nesting of helpers that call helpers. */
const MAX_DEPTH = 5;

export interface JavaScriptFile extends SourceFile {
  readonly root: Node;
  /** Whether this expression declares a test. */
  isTestCall(call: Node): boolean;
}

/** Alters functions of one file as described in `alter-expectations.ts`. */
export class JavaScriptBodies {
  readonly #file: JavaScriptFile;
  readonly #helpers: ReadonlyMap<string, Node>;
  readonly #setting: Setting;
  readonly #draws: Draws;
  /** By the position of what is altered: tests may share it. */
  readonly #made = new Map<number, Alteration>();

  constructor(file: JavaScriptFile) {
    this.#file = file;
    this.#helpers = helpersIn(file.root);
    this.#setting = { dice: file.dice, asserts: assertsOf(file.text) };
    this.#draws = new Draws(file.dice, new Mentions(file.text, prosesIn(file.root)));
  }

  /** Edits that alter one assertion, which of them is left to chance. Undefined if there is none that is certain to be reached. */
  alter(test: Node, { mayHaveDone }: { readonly mayHaveDone: boolean }): readonly Edit[] | undefined {
    const done = parametersOf(test).some(({ type, text }) => type === 'identifier' && DONE.test(text));
    // In such a test any first parameter is the callback, whatever its name.
    if (!done && mayHaveDone && parametersOf(test)[0]?.type === 'identifier') return undefined;
    const reached = this.#inFunction(test, new Map(), 0);
    const all = reached.length > 0 || done ? reached : this.#inCallbacks(test);
    return this.#draws.of(all);
  }

  #inFunction(definition: Node, bound: Bound, depth: number): readonly Alteration[] {
    const body = definition.childForFieldName('body');
    if (!body || body.hasError || definition.type.startsWith('generator') || depth > MAX_DEPTH) return [];
    if (body.type !== 'statement_block') return this.#ofExpression(body, true, bound, depth);
    return [...reached(body)].flatMap((statement) => {
      const isReturn = statement.type === 'return_statement';
      const [expression] = isReturn || statement.type === 'expression_statement' ? partsOf(statement) : [];
      return expression ? this.#ofExpression(expression, isReturn, bound, depth) : [];
    });
  }

  /** `isGiven`: what uses the function waits for the value of the expression. */
  #ofExpression(expression: Node, isGiven: boolean, bound: Bound, depth: number): readonly Alteration[] {
    const { inner, isAwaited } = awaited(expression);
    const isWaitedFor = isAwaited || isGiven;
    const own = alteredAssertion(inner, this.#setting, bound);
    if (own) return (own.callback ? DONE.test(own.callback.text) : !own.isLater || isWaitedFor) ? [this.#once(own)] : [];
    const called = inner.type === 'call_expression' ? inner.childForFieldName('function') : null;
    const given = called ? argumentsOf(inner) : undefined;
    if (!called || !given) return [];
    const helper = called.type === 'identifier' ? this.#helpers.get(called.text) : undefined;
    if (helper && isAsync(helper) && !isWaitedFor) return [];
    if (helper) return throughHelper(helper, this.#inFunction(helper, givenTo(helper, given), depth + 1));
    const [then] = given;
    const isThen = called.childForFieldName('property')?.text === 'then' && isWaitedFor && given.length === 1;
    return isThen && then && isFunction(then) ? this.#inFunction(then, new Map(), depth + 1) : [];
  }

  /** The assertions of synchronous callbacks that are given to functions. If they are all that a test has, it calls them. */
  #inCallbacks(test: Node): readonly Alteration[] {
    const body = test.childForFieldName('body');
    if (!body || isAsync(test)) return [];
    const statements = body.type === 'statement_block' ? [...reached(body)] : [body];
    return statements.flatMap((statement) => {
      const call = statement.type === 'expression_statement' ? partsOf(statement)[0] : statement;
      const called = call?.type === 'call_expression' ? call.childForFieldName('function') : null;
      const name = called?.childForFieldName('property')?.text ?? called?.text ?? '';
      if (!call || !called || this.#file.isTestCall(call) || CALLED_LATER.test(name)) return [];
      const callbacks = (argumentsOf(call) ?? []).filter((argument) => isFunction(argument) && !isAsync(argument));
      return callbacks.flatMap((callback) => this.#inFunction(callback, new Map(), 1));
    });
  }

  #once(alteration: Alteration): Alteration {
    const key = alteration.edits[0]?.start ?? 0;
    const made = this.#made.get(key) ?? alteration;
    this.#made.set(key, made);
    return made;
  }
}

/** Functions that call what they are given at another time, if ever. */
const CALLED_LATER = /^(?:on|once|off|then|catch|finally|add\w*|subscribe|listen|set\w*|queue\w*|nextTick|schedule\w*|use|throws|rejects|doesNot\w*|before\w*|after\w*|mock\w*|fn|spyOn)$/;

const FRUITLESS = /^(?:return_statement|break_statement|continue_statement)$/;

/** The statements of a block that run whenever the block does. */
function* reached(block: Node): Generator<Node> {
  for (const statement of partsOf(block)) {
    yield statement;
    const body = statement.type === 'for_in_statement' && goesOverItems(statement) ? statement.childForFieldName('body') : null;
    if (body) yield* body.type === 'statement_block' ? reached(body) : [body];
    for (const { type } of nodesIn(statement, isFunction)) if (FRUITLESS.test(type)) return;
    if (/\b(?:process\.exit|\.skip|\.todo)\(/.test(statement.text)) return;
  }
}

/** Whether a loop goes over a list that is written out and not empty. */
function goesOverItems(loop: Node): boolean {
  const list = loop.childForFieldName('right');
  return list?.type === 'array' && partsOf(list).some(({ type }) => type !== 'spread_element');
}

/** The literals that a helper is given, by its names for them, as far as it uses each once. */
function givenTo(helper: Node, given: readonly Node[]): Bound {
  const body = helper.childForFieldName('body');
  const uses = new Map<string, number>();
  for (const { type, text } of body ? nodesIn(body) : []) if (type === 'identifier') uses.set(text, (uses.get(text) ?? 0) + 1);
  return new Map(parametersOf(helper).flatMap(({ type, text }, index) => {
    const value = given[index];
    return value && type === 'identifier' && uses.get(text) === 1 ? [[text, value] as const] : [];
  }));
}

/** Comments, and texts that are messages of assertions. */
function prosesIn(root: Node): readonly Node[] {
  return [...nodesIn(root)].filter((node) => {
    if (node.type === 'comment') return true;
    const call = /^(?:string|template_string)$/.test(node.type) && node.parent?.type === 'arguments' ? node.parent.parent : null;
    const called = call?.childForFieldName('function')?.text ?? '';
    const index = node.parent ? partsOf(node.parent).findIndex(({ id }) => id === node.id) : -1;
    return (/\bassert\.(?!throws|rejects)\w+$/.test(called) && index >= 2) || (/^(?:assert|expect|(?:assert\.)?ok)$/.test(called) && index === 1);
  });
}

const isAsync = (definition: Node): boolean => definition.children.some((child) => child?.type === 'async');

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
