import type { Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { Draws, throughHelper, type Alteration } from './alteration.ts';
import { alteredAssertion, alteredCheck, assertsOf, awaited, type Setting } from './javascript-assertions.ts';
import { JavaScriptExpected, type Caller } from './javascript-expected.ts';
import { JavaScriptHelpers } from './javascript-helpers.ts';
import { argumentsOf } from './javascript-literals.ts';
import { countedAssertions, isFailure, leavesOnlyByFailure, whenDone } from './javascript-flow.ts';
import { bindingOf, isAsync, isFunction, parametersOf } from './javascript-scopes.ts';
import { Mentions } from './mentions.ts';
import type { ImportedTree, SourceFile } from './source-test.ts';

/** Names of the callback parameter that ends a test. */
const DONE = /^_?(?:done|cb|callback|next|end|finish|finished|testCompleted)$/i;

/** Nesting of helpers that call helpers. */
const MAX_DEPTH = 5;

export interface JavaScriptFile extends SourceFile {
  readonly root: Node;
  /** Files whose helpers it imports. */
  readonly imported: readonly ImportedTree[];
  /** Whether this expression declares a test. */
  isTestCall(call: Node): boolean;
}

/** Alters functions of one file as described in `alter-expectations.ts`. */
export class JavaScriptBodies {
  readonly #file: JavaScriptFile;
  readonly #helpers: JavaScriptHelpers;
  readonly #values: JavaScriptExpected;
  readonly #settings: ReadonlyMap<number, Setting>;
  readonly #draws: Draws;
  /** By the position of what is altered: tests may share it. */
  readonly #made = new Map<number, Alteration>();

  constructor(file: JavaScriptFile) {
    this.#file = file;
    this.#helpers = new JavaScriptHelpers(file.root, file.imported);
    this.#values = new JavaScriptExpected(file.root, file.dice);
    this.#settings = new Map([file, ...file.imported].map(({ root, text }) => [root.id, { dice: file.dice, asserts: assertsOf(text), expected: this.#values }]));
    this.#draws = new Draws(file.dice, new Mentions(file.text, prosesIn(file.root)));
  }

  /** Edits that alter one assertion, which of them is left to chance. Undefined if there is none that is certain to be reached. */
  alter(test: Node, { mayHaveDone }: { readonly mayHaveDone: boolean }): readonly Edit[] | undefined {
    const parameters = parametersOf(test);
    const done = parameters.find(({ type, text }) => type === 'identifier' && DONE.test(text));
    // In such a test any first parameter is the callback, whatever its name.
    if (!done && mayHaveDone && parameters[0]?.type === 'identifier') return undefined;
    const reached = [...this.#inFunction(test, undefined, 0), ...(done ? this.#beforeDone(test, done.text) : [])];
    const all = reached.length > 0 ? reached : this.#counted(test);
    return this.#draws.of(all.length > 0 || done ? all : this.#inCallbacks(test));
  }

  #inFunction(definition: Node, caller: Caller | undefined, depth: number): readonly Alteration[] {
    const body = definition.childForFieldName('body');
    if (!body || body.hasError || definition.type.startsWith('generator') || depth > MAX_DEPTH) return [];
    if (body.type !== 'statement_block') return this.#ofExpression(body, true, caller, depth);
    return [...this.#reached(body, caller)].flatMap((statement) => this.#ofStatement(statement, caller, depth));
  }

  #ofStatement(statement: Node, caller: Caller | undefined, depth: number): readonly Alteration[] {
    const isReturn = statement.type === 'return_statement';
    const [expression] = isReturn || statement.type === 'expression_statement' ? partsOf(statement) : [];
    if (expression) return this.#ofExpression(expression, isReturn, caller, depth);
    const setting = this.#settingOf(statement);
    const check = setting && alteredCheck(statement, setting, caller);
    return check ? this.#once(check, statement) : [];
  }

  /** `isGiven`: what uses the function waits for the value of the expression. */
  #ofExpression(expression: Node, isGiven: boolean, caller: Caller | undefined, depth: number): readonly Alteration[] {
    const { inner, isAwaited } = awaited(expression);
    const isWaitedFor = isAwaited || isGiven;
    const setting = this.#settingOf(inner);
    const own = setting && alteredAssertion(inner, setting, caller);
    if (own) return (own.callback ? DONE.test(own.callback.text) : !own.isLater || isWaitedFor) ? this.#once(own, inner) : [];
    const called = inner.type === 'call_expression' ? inner.childForFieldName('function') : null;
    const given = called ? argumentsOf(inner) : undefined;
    if (!called || !given || depth > MAX_DEPTH) return [];
    const helper = this.#helpers.find(called);
    if (helper) {
      if (isAsync(helper) && !isWaitedFor) return [];
      const found = this.#inFunction(helper, { helper, given, outer: caller }, depth + 1);
      return this.#values.isHere(helper) ? throughHelper(helper, found) : found;
    }
    const [object, method] = [called.childForFieldName('object'), called.childForFieldName('property')?.text ?? ''];
    const [first] = given;
    if (!object || !first) return [];
    if (called.text === 'Promise.all') return isWaitedFor ? this.#ofPromises(first, caller, depth + 1) : [];
    if (method === 'forEach') return this.#ofItems(object, first, false, caller, depth + 1);
    if (method !== 'then' || !isWaitedFor || given.length > 1) return [];
    const then = isFunction(first) ? this.#inFunction(first, caller, depth + 1) : [];
    return [...then, ...this.#ofExpression(object, true, caller, depth + 1)];
  }

  /** The assertions of a function that is called for each item of a list. `isGiven`: its promises are waited for. */
  #ofItems(list: Node, callback: Node, isGiven: boolean, caller: Caller | undefined, depth: number): readonly Alteration[] {
    const isCalled = isFunction(callback) && (isGiven || !isAsync(callback)) && this.#values.hasItems(list, caller);
    return isCalled ? this.#inFunction(callback, caller, depth) : [];
  }

  /** `Promise.all(list.map(…))`, also by a name. */
  #ofPromises(promises: Node, caller: Caller | undefined, depth: number): readonly Alteration[] {
    const binding = promises.type === 'identifier' ? bindingOf(promises) : undefined;
    const made = binding?.kind === 'declaration' && binding.path.length === 0 ? binding.of : promises;
    const called = made.type === 'call_expression' ? made.childForFieldName('function') : null;
    const [list, [callback]] = [called?.childForFieldName('object'), (called && argumentsOf(made)) ?? []];
    return list && callback && called?.childForFieldName('property')?.text === 'map' ? this.#ofItems(list, callback, true, caller, depth) : [];
  }

  /** The statements of a block that run whenever the block does. */
  *#reached(block: Node, caller: Caller | undefined): Generator<Node> {
    for (const statement of partsOf(block)) {
      yield statement;
      const body = this.#bodyOf(statement, caller);
      if (body) yield* body.type === 'statement_block' ? this.#reached(body, caller) : [body];
      if (!leavesOnlyByFailure(statement)) return;
    }
  }

  /** The block in a statement that runs whenever it does. */
  #bodyOf(statement: Node, caller: Caller | undefined): Node | null {
    const body = statement.childForFieldName('body');
    switch (statement.type) {
      case 'statement_block':
        return statement;
      case 'for_in_statement': {
        const list = statement.childForFieldName('right');
        return list && this.#values.hasItems(list, caller) ? body : null;
      }
      case 'try_statement': {
        const handler = statement.childForFieldName('handler');
        if (!handler) return body;
        // Every run that passes comes through the handler, if what is tried ends with a failure.
        const last = body ? partsOf(body).at(-1) : undefined;
        return last && isFailure(last) ? handler.childForFieldName('body') : null;
      }
      default:
        return null;
    }
  }

  /** The assertions before the only call that ends the test. */
  #beforeDone(test: Node, done: string): readonly Alteration[] {
    return whenDone(test, done).flatMap(({ block, end }) =>
      [...this.#reached(block, undefined)].filter((statement) => statement.endIndex <= end).flatMap((statement) => this.#ofStatement(statement, undefined, 1)));
  }

  /** All assertions of a test that says how many there are, wherever they stand. */
  #counted(test: Node): readonly Alteration[] {
    const isNoted = /^(?:ava|tape)$/.test(this.#file.runner);
    return countedAssertions(test, { isNoted }).flatMap((statement) => this.#ofStatement(statement, undefined, MAX_DEPTH));
  }

  /** The assertions of synchronous callbacks that are given to functions. If they are all that a test has, it calls them. */
  #inCallbacks(test: Node): readonly Alteration[] {
    const body = test.childForFieldName('body');
    if (!body || isAsync(test)) return [];
    const statements = body.type === 'statement_block' ? [...this.#reached(body, undefined)] : [body];
    return statements.flatMap((statement) => {
      const call = statement.type === 'expression_statement' ? partsOf(statement)[0] : statement;
      const called = call?.type === 'call_expression' ? call.childForFieldName('function') : null;
      const name = called?.childForFieldName('property')?.text ?? called?.text ?? '';
      if (!call || !called || this.#file.isTestCall(call) || CALLED_LATER.test(name)) return [];
      const callbacks = (argumentsOf(call) ?? []).filter((argument) => isFunction(argument) && !isAsync(argument));
      return callbacks.flatMap((callback) => this.#inFunction(callback, undefined, 1));
    });
  }

  #settingOf(node: Node): Setting | undefined {
    return this.#settings.get(node.tree.rootNode.id);
  }

  /** In a helper of another file nothing is altered, but what it is given is. */
  #once(alteration: Alteration, asserted: Node): readonly Alteration[] {
    if (this.#values.areOfLiterals(alteration.edits)) return [alteration];
    if (!this.#values.isHere(asserted)) return [];
    const key = alteration.edits[0]?.start ?? 0;
    const made = this.#made.get(key) ?? alteration;
    this.#made.set(key, made);
    return [made];
  }
}

/** Functions that call what they are given at another time, if ever. */
const CALLED_LATER = /^(?:on|once|off|then|catch|finally|add\w*|subscribe|listen|set\w*|queue\w*|nextTick|schedule\w*|use|throws|rejects|doesNot\w*|before\w*|after\w*|mock\w*|fn|spyOn)$/;

/** Comments, and texts that are messages of assertions. */
function prosesIn(root: Node): readonly Node[] {
  return [...nodesIn(root)].filter((node) => {
    if (node.type === 'comment') return true;
    const values = /^(?:string|template_string)$/.test(node.type) ? node.parent : null;
    if (values?.type !== 'arguments') return false;
    const called = values.parent?.childForFieldName('function')?.text ?? '';
    const index = partsOf(values).findIndex(({ id }) => id === node.id);
    return (/\bassert\.(?!throws|rejects)\w+$/.test(called) && index >= 2) || (/^(?:assert|expect|(?:assert\.)?ok)$/.test(called) && index === 1);
  });
}
