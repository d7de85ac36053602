import type { Edit } from '../syntax/edits.ts';
import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import type { Comparison } from './altered-parts.ts';
import type { Dice } from './dice.ts';
import { isAsserter } from './javascript-assert-names.ts';
import { alteredLiteral, argumentsOf } from './javascript-literals.ts';
import { bindingOf, isAround, plainOf, usesOf, type Binding } from './javascript-scopes.ts';

/** The call of a helper that is altered: what it gives, and the call around it. */
export interface Caller {
  readonly helper: Node;
  readonly given: readonly Node[];
  readonly outer: Caller | undefined;
}

/** An expression, and the call that gives its parameters their values. */
interface Source {
  readonly node: Node;
  readonly caller: Caller | undefined;
}

/** Names that stand for other names, and members of them. */
const MAX_STEPS = 12;

/** Methods that call a function for each item of a list, before they return. */
const ITERATION = /^(?:forEach|map|flatMap)$/;

/**
 * Finds the literals that expected values come from: the value itself, what a name is declared as, what a helper is given, and the columns of
 * tables. They are altered where they stand, so that the original is not in the process either.
 */
export class JavaScriptExpected {
  readonly #root: Node;
  readonly #dice: Dice;
  /** By the literal's position: tests may share it. */
  readonly #made = new Map<number, readonly Edit[] | undefined>();
  readonly #own = new WeakSet<Edit>();

  constructor(root: Node, dice: Dice) {
    this.#root = root;
    this.#dice = dice;
  }

  /** Whether a node is one of the file of tests. Of others nothing is altered. */
  isHere(node: Node): boolean {
    return node.tree.rootNode.id === this.#root.id;
  }

  /** Whether these edits alter literals of the file of tests alone. */
  areOfLiterals(edits: readonly Edit[]): boolean {
    return edits.every((edit) => this.#own.has(edit));
  }

  /** The edits of all literals that an expression may stand for. Undefined if they are not known, or used for anything but what is expected. */
  ofValue(node: Node, caller: Caller | undefined, comparison: Comparison = {}): readonly Edit[] | undefined {
    const made = this.#sources(node, caller, [])?.map((source) => this.#ofLiteral(source, comparison)) ?? [];
    return made.length > 0 && made.every((edits) => edits !== undefined) ? made.flat() : undefined;
  }

  /** The expression that a parameter of a helper stands for. */
  givenFor(node: Node, caller: Caller | undefined): Source {
    const binding = plainOf(node).type === 'identifier' ? bindingOf(plainOf(node)) : undefined;
    const given = binding?.kind === 'parameter' && binding.path.length === 0 && binding.of.id === caller?.helper.id ? caller.given[binding.index] : undefined;
    return given && caller ? { node: given, caller: caller.outer } : { node, caller };
  }

  /** Whether an expression is a list that is written out, and not empty. */
  hasItems(list: Node, caller: Caller | undefined, steps = 0): boolean {
    const plain = plainOf(list);
    if (plain.type === 'array' || plain.type === 'object') return partsOf(plain).some(({ type }) => type !== 'spread_element');
    if (steps > MAX_STEPS) return false;
    const table = tableOf(plain);
    if (table) return this.hasItems(table, caller, steps + 1);
    const binding = plain.type === 'identifier' ? bindingOf(plain) : undefined;
    if (binding?.path.length !== 0) return false;
    if (binding.kind === 'declaration') return this.hasItems(binding.of, caller, steps + 1);
    const { node, caller: around } = this.givenFor(plain, caller);
    return node.id !== plain.id && this.hasItems(node, around, steps + 1);
  }

  #ofLiteral({ node, caller }: Source, comparison: Comparison): readonly Edit[] | undefined {
    if (!this.isHere(node)) return undefined;
    if (!this.#made.has(node.startIndex)) {
      // A value may contain itself.
      this.#made.set(node.startIndex, undefined);
      const made = alteredLiteral(node, this.#dice, comparison, (inner, how) => this.ofValue(inner, caller, how));
      for (const edit of made ?? []) this.#own.add(edit);
      this.#made.set(node.startIndex, made);
    }
    return this.#made.get(node.startIndex);
  }

  /** The expressions in the source that give the member `path` of an expression its value. */
  #sources(node: Node, caller: Caller | undefined, path: readonly string[], steps = 0): readonly Source[] | undefined {
    const plain = plainOf(node);
    if (steps > MAX_STEPS) return undefined;
    const [object, key] = [plain.childForFieldName('object'), keyOf(plain)];
    if (object && key !== undefined) return this.#sources(object, caller, [key, ...path], steps + 1);
    if (/^(?:shorthand_property_)?identifier$/.test(plain.type)) {
      const binding = bindingOf(plain);
      return binding && isOnlyExpected(binding, plain, path) ? this.#bound(binding, caller, path, steps + 1) : undefined;
    }
    if (plain.type === 'member_expression' || plain.type === 'subscript_expression') return undefined;
    const [member, ...rest] = path;
    if (member === undefined) return [{ node: plain, caller }];
    const part = memberOf(plain, member);
    return part && this.#sources(part, caller, rest, steps + 1);
  }

  #bound({ kind, of, index, path: inside }: Binding, caller: Caller | undefined, path: readonly string[], steps: number): readonly Source[] | undefined {
    const whole = [...inside, ...path];
    if (kind === 'declaration') return this.#sources(of, caller, whole, steps);
    if (kind === 'loop') return this.#items(of, caller, whole, steps);
    if (caller?.helper.id === of.id) {
      const given = caller.given[index];
      return given && this.#sources(given, caller.outer, whole, steps);
    }
    const call = of.parent?.type === 'arguments' ? of.parent.parent : null;
    const called = call?.childForFieldName('function');
    const list = called?.childForFieldName('object');
    if (list && index === 0 && ITERATION.test(called?.childForFieldName('property')?.text ?? '')) return this.#items(list, caller, whole, steps);
    const table = call && eachTable(call);
    return table && !isInTitle(call, index, whole) ? this.#rows(table, caller, index, whole, steps) : undefined;
  }

  /** The members of each item of a list that is written out. */
  #items(list: Node, caller: Caller | undefined, path: readonly string[], steps: number): readonly Source[] | undefined {
    const entries = tableOf(plainOf(list));
    const [first, ...rest] = path;
    if (entries && first !== '1') return undefined;
    return all(this.#sources(entries ?? list, caller, [], steps), ({ node, caller: around }) =>
      all(entries ? valuesIn(node) : itemsIn(node), (item) => this.#sources(item, around, entries ? rest : path, steps)));
  }

  /** The rows of `it.each`, where a row that is a list gives each parameter an item, and of `it.for`. */
  #rows({ table, isSpread }: Table, caller: Caller | undefined, index: number, path: readonly string[], steps: number): readonly Source[] | undefined {
    return all(this.#sources(table, caller, [], steps), ({ node, caller: around }) =>
      all(itemsIn(node), (row) => {
        const isList = isSpread && plainOf(row).type === 'array';
        return isList || index === 0 ? this.#sources(row, around, isList ? [String(index), ...path] : path, steps) : undefined;
      }));
  }
}

/** Undefined if one of the items gives nothing. */
function all<Item, Made>(items: readonly Item[] | undefined, make: (item: Item) => readonly Made[] | undefined): readonly Made[] | undefined {
  const made = items?.map(make);
  return made?.every((each) => each !== undefined) ? made.flatMap((each) => each ?? []) : undefined;
}

const hasSpread = (parts: readonly Node[]): boolean => parts.some(({ type }) => type === 'spread_element');

const itemsIn = (list: Node): readonly Node[] | undefined => (list.type === 'array' && !hasSpread(partsOf(list)) ? partsOf(list) : undefined);

const valuesIn = (object: Node): readonly Node[] | undefined =>
  object.type === 'object' && partsOf(object).every(({ type }) => type === 'pair') ? partsOf(object).flatMap((pair) => pair.childForFieldName('value') ?? []) : undefined;

/** The object behind `Object.entries(object)`, whose items are pairs. */
function tableOf(node: Node): Node | undefined {
  const called = node.type === 'call_expression' ? node.childForFieldName('function') : null;
  return called?.text === 'Object.entries' ? argumentsOf(node)?.[0] : undefined;
}

function memberOf(node: Node, key: string): Node | undefined {
  if (node.type === 'array') return itemsIn(node)?.[Number(key)];
  if (node.type !== 'object' || hasSpread(partsOf(node))) return undefined;
  const found = partsOf(node).find((part) => (part.type === 'pair' ? unquoted(part.childForFieldName('key')?.text ?? '') : part.text) === key);
  return found?.type === 'pair' ? (found.childForFieldName('value') ?? undefined) : found?.type === 'shorthand_property_identifier' ? found : undefined;
}

const unquoted = (key: string): string => key.replace(/^(['"])(.*)\1$/s, '$2');

/** The member that an expression asks for: `a.b`, `a[0]` and `a['b']`. */
function keyOf(node: Node): string | undefined {
  if (node.type === 'member_expression') return node.childForFieldName('property')?.text;
  const index = node.type === 'subscript_expression' ? node.childForFieldName('index') : null;
  return index && /^(?:number|string)$/.test(index.type) ? unquoted(index.text) : undefined;
}

interface Table {
  readonly table: Node;
  readonly isSpread: boolean;
}

/** The table of `it.each(table)(title, test)`. */
function eachTable(call: Node): Table | undefined {
  const called = call.childForFieldName('function');
  const name = called?.type === 'call_expression' ? called.childForFieldName('function')?.childForFieldName('property')?.text : undefined;
  const table = called && (name === 'each' || name === 'for') ? argumentsOf(called)?.[0] : undefined;
  return table && { table, isSpread: name === 'each' };
}

/** Whether the runner puts this value into the names of the tests, by which they are told apart. */
function isInTitle(call: Node, index: number, path: readonly string[]): boolean {
  const title = argumentsOf(call)?.[0];
  if (!title || !/^(?:string|template_string)$/.test(title.type) || title.text.includes('${')) return true;
  const positional = title.text.match(/%[sdifjoOcp]/g)?.length ?? 0;
  const named = [...title.text.matchAll(/\$(\w+)/g)].map(([, name]) => name);
  return positional > index || named.some((name) => name === path[0] || name === String(index));
}

/** Whether the value of a name is used for nothing but what assertions expect. If the test computes with it, both sides would be altered. */
function isOnlyExpected(binding: Binding, through: Node, path: readonly string[]): boolean {
  for (const use of usesOf(binding, through.text)) {
    if (use.id === through.id || isOtherMember(use, path) || isMessage(use) || isExpected(use)) continue;
    return false;
  }
  return true;
}

/** A use of another member than this one. All members of a list are used by its methods. */
function isOtherMember(use: Node, [wanted]: readonly string[]): boolean {
  const { parent } = use;
  const key = parent?.childForFieldName('object')?.id === use.id ? keyOf(parent) : undefined;
  if (key === 'length') return true;
  return key !== undefined && wanted !== undefined && key !== wanted && parent?.parent?.childForFieldName('function')?.id !== parent?.id;
}

/** The argument of an assertion in which a node stands: the assertion's call, and the argument's index. */
function argumentOf(use: Node, isPart: (node: Node) => boolean): { readonly call: Node; readonly index: number } | undefined {
  let node = use;
  while (node.parent && isPart(node.parent)) node = node.parent;
  const call = node.parent?.type === 'arguments' ? node.parent.parent : null;
  const index = node.parent ? partsOf(node.parent).findIndex(({ id }) => id === node.id) : -1;
  return call?.type === 'call_expression' && index >= 0 ? { call, index } : undefined;
}

function isExpected(use: Node): boolean {
  const isPart = (node: Node): boolean => /^(?:pair|object|array|member_expression)$/.test(node.type) || isAround(node);
  const { call, index } = argumentOf(use, isPart) ?? {};
  const called = call?.childForFieldName('function');
  const owner = called?.childForFieldName('object')?.text ?? '';
  if (!call || index === undefined || called?.type !== 'member_expression') return false;
  if (/^(?:chai\.)?expect(?:\.soft)?\(/.test(owner) || /\.should\b/.test(owner)) return true;
  return isAsserter(owner) && index < 2 && (argumentsOf(call)?.length ?? 0) > 1;
}

function isMessage(use: Node): boolean {
  const isPart = (node: Node): boolean =>
    /^(?:template_substitution|template_string|binary_expression|member_expression|subscript_expression)$/.test(node.type) || isAround(node);
  const { call, index } = argumentOf(use, isPart) ?? {};
  const called = call?.childForFieldName('function');
  if (!called || index === undefined) return false;
  if (called.text.startsWith('console.')) return true;
  return isAsserter(called.childForFieldName('object')?.text ?? '') ? index >= 2 : /^(?:assert|expect|ok)$/.test(called.text) && index >= 1;
}

