import { insertion, replacement, type Edit } from '../syntax/edits.ts';
import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { strictComparison } from './javascript-comparisons.ts';
import { alteredLiteral, argumentsOf, FRESH } from './javascript-expressions.ts';

/** A step in a chain of properties and calls: `.toBe(1)`, `.not`. */
interface Link {
  readonly name: Node;
  readonly call?: Node;
  /** End of the object before this link. */
  readonly after: number;
}

interface Chain {
  readonly root: Node;
  readonly links: readonly Link[];
}

type Alter = (given: readonly Node[], call: Node) => readonly Edit[] | undefined;

const NEVER_MATCHES = '/(?!)/';
const ALWAYS_MATCHES = '/(?:)/';
const FRESH_ERROR = '(class extends Error {})';

const change = (node: Node | undefined, text: (node: Node) => string | undefined): readonly Edit[] | undefined => {
  const altered = node && text(node);
  return node && altered !== undefined ? [replacement(node, altered)] : undefined;
};

const changeTwo = (first: Node | undefined, second: Node | undefined, text: (first: Node, second: Node) => string): readonly Edit[] | undefined =>
  first && second && [replacement({ startIndex: first.startIndex, endIndex: second.endIndex }, text(first, second))];

const otherValue = (node: Node): string => alteredLiteral(node) ?? FRESH;

/** Replaces the argument at this index. */
const at =
  (index: number, text: string | ((node: Node) => string | undefined)): Alter =>
  (given) =>
    change(given[index], typeof text === 'string' ? () => text : text);

const muchMore = (node: Node): string => `(${node.text}) + 1000003`;

/** Changes the first literal argument, or else the first argument. Adds an argument if there is none. */
const anyArgument: Alter = (given, call) => {
  const literal = given.find((node) => alteredLiteral(node) !== undefined);
  if (literal ?? given[0]) return change(literal ?? given[0], otherValue);
  const list = call.childForFieldName('arguments');
  return list ? [insertion(list.startIndex + 1, FRESH)] : undefined;
};

const ofProperty: Alter = ([name, value]) => (value ? change(value, otherValue) : change(name, alteredText));

const alteredText = (node: Node): string | undefined =>
  node.type === 'string' || node.type === 'template_string' ? alteredLiteral(node) : undefined;

const thrown: Alter = ([expected]) => change(expected, (node) => alteredText(node) ?? FRESH_ERROR);

/** Matchers of jest, vitest and chai by name. Other matchers, and calls without the arguments used here, are negated. */
const MATCHERS: ReadonlyMap<string, Alter> = byName([
  ['toBe toEqual toStrictEqual toContain toContainEqual equal equals eq eql eqls include includes contain contains', at(0, otherValue)],
  ['toMatchObject', at(0, (node) => alteredLiteral(node) ?? `{ altered: ${FRESH} }`)],
  ['toHaveBeenCalledWith toBeCalledWith toHaveBeenLastCalledWith lastCalledWith toHaveReturnedWith calledWith calledOnceWith', anyArgument],
  ['toHaveLength toHaveBeenCalledTimes toBeCalledTimes lengthOf length callCount', at(0, muchMore)],
  ['toBeCloseTo toBeGreaterThan toBeGreaterThanOrEqual toBeLessThan toBeLessThanOrEqual', at(0, 'NaN')],
  ['above gt greaterThan least gte below lt lessThan most lte closeTo approximately', at(0, 'NaN')],
  ['toMatch match', at(0, NEVER_MATCHES)],
  ['toThrow toThrowError throw throws Throw', thrown],
  ['toBeInstanceOf instanceof instanceOf', at(0, '(class {})')],
  ['toBeTypeOf a an', at(0, alteredText)],
  ['toHaveProperty property ownProperty', ofProperty],
]);

const EQUAL: Alter = ([first, second]) => {
  const literal = [second, first].find((node) => node && alteredLiteral(node) !== undefined);
  return first && second && change(literal ?? second, otherValue);
};

/** For assertions that two values differ: makes both arguments equal. */
const SAME: Alter = ([first, second]) => changeTwo(first, second, (a, b) => `...[${a.text}, ${b.text}].fill(0)`);

const negated = at(0, ({ text }) => `!(${text})`);
const untrue = at(0, (node) => `!(${strictComparison(node) ?? node.text})`);
const none = at(0, ({ text }) => `void (${text})`);
const some = at(0, ({ text }) => `[${text}]`);

/** Expects another error. Without an expected error, asserts the opposite. */
const throwing =
  (opposite: string): Alter =>
  ([called, expected], call) =>
    // In `node:assert`, a string in this place is a message.
    expected && alteredText(expected) === undefined ? change(expected, () => NEVER_MATCHES) : called && opposed(call, opposite);

function opposed(call: Node, opposite: string): readonly Edit[] | undefined {
  const name = call.childForFieldName('function')?.childForFieldName('property');
  return name ? [replacement(name, opposite)] : undefined;
}

/** Functions of `node:assert` and of chai's `assert`. */
const ASSERTS: ReadonlyMap<string, Alter> = byName([
  ['equal equals strictEqual deepEqual deepStrictEqual deepEquals partialDeepStrictEqual same eql', EQUAL],
  ['notEqual notStrictEqual notDeepEqual notDeepStrictEqual', SAME],
  ['ok isOk isTrue isTruthy', untrue],
  ['isFalse isNotOk notOk isFalsy', negated],
  ['isDefined exists isArray isObject isFunction isString isNumber isBoolean', none],
  ['isNull isUndefined notExists isNaN isEmpty', some],
  ['isNotNull', at(0, ({ text }) => `(${text}, null)`)],
  ['include includes deepInclude', at(1, otherValue)],
  ['lengthOf', at(1, muchMore)],
  ['match', at(1, NEVER_MATCHES)],
  ['doesNotMatch notMatch', at(1, ALWAYS_MATCHES)],
  ['instanceOf', at(1, '(class {})')],
  ['typeOf property', at(1, alteredText)],
  ['propertyVal', at(2, otherValue)],
  ['isAbove isBelow isAtLeast isAtMost closeTo approximately', at(1, 'NaN')],
  ['throws', throwing('doesNotThrow')],
  ['rejects', throwing('doesNotReject')],
  ['doesNotThrow', (_, call) => opposed(call, 'throws')],
  ['doesNotReject', (_, call) => opposed(call, 'rejects')],
]);

function byName(rows: readonly (readonly [names: string, alter: Alter])[]): ReadonlyMap<string, Alter> {
  return new Map(rows.flatMap(([names, alter]) => names.split(' ').map((name) => [name, alter] as const)));
}

/** Asynchronous assertions, which must be awaited. */
const LATER = new Set(['resolves', 'rejects', 'eventually', 'poll', 'element', 'doesNotReject', 'fulfilled', 'rejected', 'rejectedWith', 'become']);

/** Assertions of chai and sinon-chai without a call. */
const PROPERTIES = /^(?:true|false|null|undefined|NaN|ok|empty|exist|exists|finite|extensible|sealed|frozen|arguments|fulfilled|rejected|(?:not)?[cC]alled\w*)$/;

/** Snapshots: the expected value is in a file, which a run may write. */
const SNAPSHOT = /snapshot|screenshot/i;

export interface AlteredAssertion {
  readonly edits: readonly Edit[];
  /** Whether it fails by rejecting a promise. */
  readonly isLater: boolean;
  /** The callback that gets its failure instead. */
  readonly callback?: Node;
}

/** Edits of an assertion (without its `await`). Undefined if the expression is none, or is not certain to fail afterwards. */
export function alteredAssertion(expression: Node, asserts: Asserts): AlteredAssertion | undefined {
  const chain = chainOf(expression);
  if (!chain || expression.hasError) return undefined;
  const { root, links } = chain;
  const imported = root.type === 'call_expression' ? asserts.imported.get(root.childForFieldName('function')?.text ?? '') : undefined;
  const isLater = [imported, ...links.map(({ name }) => name.text)].some((name) => name !== undefined && LATER.has(name));
  const edits = (asserts.isAssertKnown ? ofAssert(chain, imported) : undefined) ?? ofExpect(chain);
  return edits ? { edits, isLater } : ofRequest(chain);
}

function ofAssert({ root, links }: Chain, imported: string | undefined): readonly Edit[] | undefined {
  const last = links.at(-1);
  const call = last ? last.call : root.type === 'call_expression' ? root : undefined;
  const given = call && argumentsOf(call);
  if (!call || !given) return undefined;
  if (!last) {
    const isPlain = root.childForFieldName('function')?.text === 'assert';
    return isPlain ? untrue(given, call) : ASSERTS.get(imported ?? '')?.(given, call);
  }
  if (root.type !== 'identifier' || !isAssert([root, ...links.slice(0, -1).map(({ name }) => name)].map(({ text }) => text).join('.')))
    return undefined;
  return ASSERTS.get(last.name.text)?.(given, call);
}

const LIBRARY = String.raw`['"](?:node:)?(?:assert(?:\/strict)?|uvu\/assert)['"]`;
const IMPORTS = new RegExp(String.raw`(?:import\s+(?:\w+\s*,\s*)?|(?:const|let|var)\s+)\{([^{}]{0,2000})\}\s*(?:from|=\s*require\()\s*${LIBRARY}`, 'g');

/** An `assert` of an unknown library. It may check types only, or nothing. */
const OWN_ASSERT = /\bfunction\s+assert\b|(?:\bimport\s[^;'"]*\bassert\b[^;'"]*\bfrom|\bassert\b[^;=\n]*=\s*require\()\s*['"](?!(?:node:)?assert|chai|vitest|power-assert|uvu)/;

export interface Asserts {
  /** Functions imported from an assertion library: the name in the file, and the name in the library. */
  readonly imported: ReadonlyMap<string, string>;
  readonly isAssertKnown: boolean;
}

export function assertsOf(text: string): Asserts {
  const imported = new Map<string, string>();
  for (const [, names = ''] of text.matchAll(IMPORTS))
    for (const [, name = '', local = name] of names.matchAll(/(\w+)(?:\s*(?:\bas\b|:)\s*(\w+))?/g)) imported.set(local, name);
  return { imported, isAssertKnown: !OWN_ASSERT.test(text) };
}

const isAssert = (owner: string): boolean => /^(?:(?:chai|t|test|ctx|context)\.)?assert(?:\.strict)?$/.test(owner);

function ofExpect(chain: Chain): readonly Edit[] | undefined {
  const links = assertedLinks(chain);
  const last = links?.at(-1);
  if (!links || !last || links.some(({ name }) => SNAPSHOT.test(name.text))) return undefined;
  // An uncalled matcher asserts nothing: `expect(f).to.throw;`.
  if (!last.call && !PROPERTIES.test(last.name.text)) return undefined;
  const not = links.find(({ name }) => name.text === 'not');
  if (not) return [{ start: not.after, end: not.name.endIndex, text: '' }];
  const given = last.call ? argumentsOf(last.call) : [];
  if (!given) return undefined;
  const byValue = last.call && MATCHERS.get(last.name.text)?.(given, last.call);
  return [...ofExpected(chain.root), ...(byValue ?? [insertion(last.name.startIndex, 'not.')])];
}

/** For `expect(a.equals(b))`. */
function ofExpected(root: Node): readonly Edit[] {
  const [value] = (root.type === 'call_expression' && argumentsOf(root)) || [];
  return change(value, strictComparison) ?? [];
}

/** The links after `expect(…)`, `expect.soft(…)`, `chai.expect(…)` or `.should`. */
function assertedLinks({ root, links }: Chain): readonly Link[] | undefined {
  if (root.type === 'call_expression') return root.childForFieldName('function')?.text === 'expect' ? links : behindShould(links);
  const [first] = links;
  const isExpect =
    first?.call && ((root.text === 'expect' && /^(?:soft|poll)$/.test(first.name.text)) || (root.text === 'chai' && first.name.text === 'expect'));
  return isExpect ? links.slice(1) : behindShould(links);
}

function behindShould(links: readonly Link[]): readonly Link[] | undefined {
  const should = links.findIndex(({ name, call }) => name.text === 'should' && !call);
  return should < 0 ? undefined : links.slice(should + 1);
}

/** For supertest's `request(app).get('/').expect(200, done)`. */
function ofRequest({ root, links }: Chain): AlteredAssertion | undefined {
  if (root.type !== 'call_expression' && links.length < 2) return undefined;
  const given = links.map(({ name, call }) => (call ? { isExpect: name.text === 'expect', values: argumentsOf(call) ?? [] } : undefined));
  const callback = given.at(-1)?.values.findLast(({ type }) => type === 'identifier');
  for (const { isExpect, values: [first, second] } of given.filter((link) => link !== undefined)) {
    const expected = first?.type === 'string' && second && second !== callback ? second : first;
    if (!isExpect || !expected || !/^(?:number|string|template_string|regex|object)$/.test(expected.type)) continue;
    const edits = [replacement(expected, alteredLiteral(expected) ?? NEVER_MATCHES)];
    return { edits, isLater: true, ...(callback && { callback }) };
  }
  return undefined;
}

const MAX_LINKS = 200;

/** Splits `expect(a).not.toBe(b)` into its root (the innermost call or object) and its links. */
function chainOf(expression: Node): Chain | undefined {
  const links: Link[] = [];
  let node = expression;
  while (links.length < MAX_LINKS) {
    const called = node.type === 'call_expression' ? node.childForFieldName('function') : null;
    const member = called ?? node;
    if (member.type !== 'member_expression') return { root: node, links };
    const [object, name] = [member.childForFieldName('object'), member.childForFieldName('property')];
    if (!object || !name) return undefined;
    links.unshift({ name, after: object.endIndex, ...(called && { call: node }) });
    node = object;
  }
  return undefined;
}

/** An expression without the `await` in front of it. */
export function awaited(expression: Node): { readonly inner: Node; readonly isAwaited: boolean } {
  const [inner] = expression.type === 'await_expression' ? partsOf(expression) : [];
  return inner ? { inner, isAwaited: true } : { inner: expression, isAwaited: false };
}
