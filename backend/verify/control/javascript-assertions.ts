import { insertion, replacement } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { byValue, opposite, type Alteration } from './alteration.ts';
import { pick, type Dice } from './dice.ts';
import { isAssert, isContextName } from './javascript-assert-names.ts';
import { strictComparison } from './javascript-comparisons.ts';
import type { Comparison } from './altered-parts.ts';
import type { Caller, JavaScriptExpected } from './javascript-expected.ts';
import { argumentsOf } from './javascript-literals.ts';
import { plainOf } from './javascript-scopes.ts';
import { anyNumber } from './likely-values.ts';

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

/** What assertions of one file are altered with. */
export interface Setting {
  readonly dice: Dice;
  readonly asserts: Asserts;
  readonly expected: JavaScriptExpected;
}

/** Where an assertion stands: by which call its parameters have their values. */
interface Given extends Pick<Setting, 'dice' | 'expected'> {
  readonly caller: Caller | undefined;
  readonly values: readonly Node[];
  readonly call: Node;
}

type Around = Omit<Given, 'values' | 'call'>;

type Alter = (given: Given) => Alteration | undefined;

const OTHER_ERRORS = ['EvalError', 'URIError'];
/** Hardly a value is one of these, and TypeScript knows them whatever `lib` a project has. */
const OTHER_CLASSES = ['DataView', 'Int8Array', 'Int16Array', 'Float32Array'];
const TYPES = ['string', 'number', 'boolean', 'object', 'function', 'symbol'];

const literal = (node: Node, { expected, caller }: Around, comparison: Comparison = {}): Alteration | undefined =>
  byValue(expected.ofValue(node, caller, comparison));

const anything = (node: Node, { dice }: Around): Alteration => ({ edits: [replacement(node, anyNumber(dice))], isByValue: true });

/** Alters the argument at this index, if there is one. */
const at =
  (index: number, alter: (node: Node, given: Given) => Alteration | undefined): Alter =>
  (given) => {
    const node = given.values[index];
    return node && alter(node, given);
  };

/** Another value in the place of the argument: any number, where it is no literal. */
const value = (index: number): Alter => at(index, (node, given) => literal(node, given) ?? anything(node, given));
const written = (index: number): Alter => at(index, (node, given) => literal(node, given));
const contained = (index: number): Alter => at(index, (node, given) => literal(node, given, { isContained: true }));
const containedText = (index: number): Alter =>
  at(index, (node, given) => (isText(node) || isName(node) ? literal(node, given, { isContained: true }) : undefined));
const text = (index: number): Alter => at(index, (node, given) => (isText(node) ? literal(node, given) : undefined));

const isText = (node: Node): boolean => node.type === 'string' || node.type === 'template_string';
const isName = (node: Node): boolean => node.type === 'identifier' || node.type === 'member_expression';

const ofClass = (index: number, others: readonly string[]): Alter => at(index, (node, { dice }) => {
  const other = /^[A-Z]\w*$/.test(node.text) ? pick(others.filter((name) => name !== node.text), dice) : undefined;
  return byValue(other === undefined ? undefined : [replacement(node, other)]);
});

const ofType = (index: number): Alter => at(index, (node, { dice }) => {
  const other = isText(node) ? pick(TYPES.filter((name) => node.text.slice(1, -1) !== name), dice) : undefined;
  const quote = node.text.charAt(0);
  return byValue(other === undefined ? undefined : [replacement(node, quote + other + quote)]);
});

const first = (...alters: readonly Alter[]): Alter => (given) => {
  for (const alter of alters) {
    const made = alter(given);
    if (made) return made;
  }
  return undefined;
};

/** Changes the first literal argument. */
const anyArgument: Alter = (given) => first(...given.values.map((_, index) => written(index)))(given);

/** Asserts the opposite, by a function of this name. */
const renamed = (name: string): Alter => ({ call }) => {
  const property = call.childForFieldName('function')?.childForFieldName('property');
  return property ? opposite(replacement(property, name)) : undefined;
};

const pairs = (...names: readonly string[]): readonly (readonly [string, Alter])[] =>
  names.map((pair) => pair.split(' ')).flatMap(([one = '', other = '']) => [[one, renamed(other)], [other, renamed(one)]] as const);

/** The last argument: before it, a snapshot may have matchers for some of its members. */
const lastText: Alter = ({ values, ...given }) => {
  const last = values.at(-1);
  return last && isText(last) ? literal(last, given) : undefined;
};

/** The number at this index, beyond the tolerance that the argument at another one gives. */
const close = (index: number, other: number, kind: 'difference' | 'places'): Alter => at(index, (node, given) => {
  const tolerance = Number(given.values[other]?.text ?? 2);
  return Number.isFinite(tolerance) ? literal(node, given, { tolerance: kind === 'places' ? 10 ** -tolerance : tolerance }) : undefined;
});

/** Matchers of jest, vitest, Jasmine and chai by name. Other matchers, and calls without the arguments used here, are negated. */
const MATCHERS: ReadonlyMap<string, Alter> = byName([
  ['toBe toEqual toStrictEqual equal equals eq eql eqls', value(0)],
  ['toBeResolvedTo toBeRejectedWith', value(0)],
  ['toContain toContainEqual include includes contain contains', contained(0)],
  ['toMatchObject toHaveReturnedWith', written(0)],
  ['toHaveBeenCalledWith toHaveBeenCalledOnceWith toBeCalledWith toHaveBeenLastCalledWith lastCalledWith calledWith calledOnceWith', anyArgument],
  ['toHaveLength toHaveSize toHaveBeenCalledTimes toBeCalledTimes lengthOf length callCount', value(0)],
  ['toBeCloseTo', close(0, 1, 'places')],
  ['closeTo approximately', close(0, 1, 'difference')],
  ['toMatch match', containedText(0)],
  ['toThrow toThrowError toBeRejectedWithError throw throws Throw', first(containedText(0), ofClass(0, OTHER_ERRORS))],
  ['toBeInstanceOf instanceof instanceOf', ofClass(0, OTHER_CLASSES)],
  ['toBeTypeOf a an', ofType(0)],
  ['toMatchInlineSnapshot toThrowErrorMatchingInlineSnapshot', lastText],
  ['toHaveProperty property ownProperty', (given) => (given.values[1] ? value(1)(given) : text(0)(given))],
], pairs('toBeGreaterThan toBeLessThanOrEqual', 'toBeLessThan toBeGreaterThanOrEqual', 'toBeTruthy toBeFalsy', 'toBeDefined toBeUndefined'));

/** Alters a literal on either side. Without one, any number takes the place of the side that calls nothing. */
const EQUAL: Alter = ({ values: [one, other], ...given }) => (one && other ? equality(one, other, given) : undefined);

const equality = (one: Node, other: Node, given: Around): Alteration =>
  literal(other, given) ?? literal(one, given) ?? anything(isCalled(other) && !isCalled(one) ? one : other, given);

const isCalled = (node: Node): boolean => [...nodesIn(node)].some(({ type }) => type === 'call_expression');

const TRUE: Alter = at(0, (node, given) => truth(node, given));

/** Makes a condition false with honest code that was true. */
function truth(node: Node, given: Around): Alteration {
  const asked = given.expected.givenFor(node, given.caller);
  if (asked.node.type === 'binary_expression' && asked.node.id !== node.id) return truth(asked.node, { ...given, caller: asked.caller });
  const compared = strictComparison(node, given.dice);
  if (compared) return compared;
  const operator = node.type === 'binary_expression' ? node.childForFieldName('operator') : null;
  const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
  const made = operator && left && right && /^===?$/.test(operator.text) ? (literal(right, given) ?? literal(left, given)) : undefined;
  const other = operator ? ORDERS[operator.text] : undefined;
  return made ?? (operator && other !== undefined ? opposite(replacement(operator, other)) : negated(node));
}

/** A value that agrees to everything agrees to the opposite, too. */
const ORDERS: Readonly<Record<string, string>> = { '<': '>=', '>=': '<', '>': '<=', '<=': '>' };

const PLAIN = /^(?:call_expression|identifier|member_expression|subscript_expression|parenthesized_expression|await_expression)$/;

const negated = (node: Node): Alteration =>
  PLAIN.test(node.type) ? opposite(insertion(node.startIndex, '!')) : opposite(insertion(node.startIndex, '!('), insertion(node.endIndex, ')'));

/** Expects another error. Without one that can be altered, none is expected. */
const throwing = (name: string): Alter =>
  first(at(1, (node, given) => (node.type === 'object' ? literal(node, given) : undefined)), ofClass(1, OTHER_ERRORS), renamed(name));

/** Functions of `node:assert` and of chai's `assert`. */
const ASSERTS: ReadonlyMap<string, Alter> = byName([
  ['equal equals strictEqual deepEqual deepStrictEqual deepEquals partialDeepStrictEqual same eql', EQUAL],
  ['ok isOk isTrue isTruthy', TRUE],
  ['isFalse isNotOk notOk isFalsy', at(0, negated)],
  ['lengthOf', value(1)],
  ['instanceOf', ofClass(1, OTHER_CLASSES)],
  ['typeOf', ofType(1)],
  ['propertyVal', value(2)],
  ['closeTo approximately', close(1, 2, 'difference')],
  ['throws', throwing('doesNotThrow')],
  ['rejects', throwing('doesNotReject')],
  ['doesNotThrow', renamed('throws')],
  ['doesNotReject', renamed('rejects')],
  ['notEqual', renamed('equal')],
  ['notStrictEqual', renamed('strictEqual')],
  ['notDeepEqual', renamed('deepEqual')],
  ['notDeepStrictEqual', renamed('deepStrictEqual')],
  ['notMatch', renamed('match')],
], pairs(
  ...['match doesNotMatch', 'include notInclude', 'isAbove isAtMost', 'isBelow isAtLeast', 'isDefined isUndefined', 'exists notExists'],
  ...['isNull isNotNull', 'isEmpty isNotEmpty', 'isArray isNotArray', 'isObject isNotObject', 'isFunction isNotFunction'],
  ...['isString isNotString', 'isNumber isNotNumber', 'isBoolean isNotBoolean'],
));

function byName(
  rows: readonly (readonly [names: string, alter: Alter])[], more: readonly (readonly [string, Alter])[],
): ReadonlyMap<string, Alter> {
  return new Map([...more, ...rows.flatMap(([names, alter]) => names.split(' ').map((name) => [name, alter] as const))]);
}

/** Methods of the parameter that ava and tape give to a test. */
const CONTEXT: ReadonlyMap<string, Alter> = byName([
  ['is equal equals isEqual same deepEqual deepEquals strictEqual strictEquals deepLooseEqual looseEqual looseEquals like', EQUAL],
  ['true truthy ok assert', TRUE],
  ['false falsy notOk', at(0, negated)],
  ['throws', (given) => first(at(1, (node) => (node.type === 'object' ? literal(node, given) : undefined)), ofClass(1, OTHER_ERRORS))(given)],
], pairs('is not', 'deepEqual notDeepEqual', 'match doesNotMatch', 'regex notRegex', 'throws notThrows'));

/** `if (got !== 4) throw new Error()`: expects another value. Undefined if a statement is no such check. */
export function alteredCheck(statement: Node, setting: Setting, caller: Caller | undefined): Alteration | undefined {
  const [consequence, written] = [statement.childForFieldName('consequence'), statement.childForFieldName('condition')];
  if (statement.type !== 'if_statement' || statement.hasError || statement.childForFieldName('alternative') || !consequence || !written) return undefined;
  const [first] = consequence.type === 'statement_block' ? partsOf(consequence) : [consequence];
  if (first?.type !== 'throw_statement') return undefined;
  const condition = plainOf(written);
  const operator = condition.childForFieldName('operator')?.text;
  const [one, other] = [condition.childForFieldName('left'), condition.childForFieldName('right')];
  const denied = condition.type === 'unary_expression' && operator === '!' ? condition.childForFieldName('argument') : null;
  const given = { dice: setting.dice, expected: setting.expected, caller };
  const isEquality = condition.type === 'binary_expression' && /^!==?$/.test(operator ?? '');
  const made = denied ? truth(plainOf(denied), given) : isEquality && one && other ? equality(one, other, given) : undefined;
  // Turned, it may only say something of what the test itself has set up.
  return made?.isByValue === true ? made : undefined;
}

/** Asynchronous assertions, which must be awaited. */
const LATER = new Set(['resolves', 'rejects', 'eventually', 'poll', 'element', 'doesNotReject', 'fulfilled', 'rejected', 'rejectedWith', 'become']);

/** Assertions of chai and sinon-chai without a call. */
const PROPERTIES = /^(?:true|false|null|undefined|NaN|ok|empty|exist|exists|finite|extensible|sealed|frozen|arguments|fulfilled|rejected|(?:not)?[cC]alled\w*)$/;

/** Snapshots: the expected value is in a file, which a run may write. What is in the file of tests is compared. */
const SNAPSHOT = /(?<!Inline)snapshot|screenshot/i;

export interface AlteredAssertion extends Alteration {
  /** Whether it fails by rejecting a promise. */
  readonly isLater: boolean;
  /** The callback that gets its failure instead. */
  readonly callback?: Node;
}

/** Alters an assertion (without its `await`). Undefined if the expression is none, or is not certain to fail afterwards. */
export function alteredAssertion(expression: Node, { asserts, ...setting }: Setting, caller: Caller | undefined): AlteredAssertion | undefined {
  const chain = chainOf(expression);
  if (!chain || expression.hasError) return undefined;
  const { root, links } = chain;
  const imported = root.type === 'call_expression' ? asserts.imported.get(root.childForFieldName('function')?.text ?? '') : undefined;
  const isLater = calledBy(root) === 'expectAsync' || [imported, ...links.map(({ name }) => name.text)].some((name) => name !== undefined && LATER.has(name));
  const around = { ...setting, caller };
  const found = (asserts.isAssertKnown ? ofAssert(chain, asserts, imported, around) : undefined) ?? ofExpect(chain, around);
  return found ? { ...found, isLater } : ofRequest(chain, around);
}

function ofAssert({ root, links }: Chain, asserts: Asserts, imported: string | undefined, given: Around): Alteration | undefined {
  const last = links.at(-1);
  const call = last ? last.call : root.type === 'call_expression' ? root : undefined;
  const values = call && argumentsOf(call);
  if (!call || !values) return undefined;
  if (!last) {
    const isPlain = root.childForFieldName('function')?.text === 'assert';
    return isPlain ? TRUE({ ...given, values, call }) : ASSERTS.get(imported ?? '')?.({ ...given, values, call });
  }
  if (root.type !== 'identifier' || !isAssert([root, ...links.slice(0, -1).map(({ name }) => name)].map(({ text: part }) => part).join('.')))
    return asserts.isContext && root.type === 'identifier' && links.length === 1 && isContextName(root.text)
      ? CONTEXT.get(last.name.text)?.({ ...given, values, call })
      : undefined;
  return ASSERTS.get(last.name.text)?.({ ...given, values, call });
}

const OF_CONTEXT = /(?:\bfrom|\brequire\()\s*['"](?:ava|tape)['"]/;

const LIBRARY = String.raw`['"](?:node:)?(?:assert(?:\/strict)?|uvu\/assert)['"]`;
const IMPORTS = new RegExp(String.raw`(?:import\s+(?:\w+\s*,\s*)?|(?:const|let|var)\s+)\{([^{}]{0,2000})\}\s*(?:from|=\s*require\()\s*${LIBRARY}`, 'g');

/** An `assert` of an unknown library. It may check types only, or nothing. */
const OWN_ASSERT = /\bfunction\s+assert\b|(?:\bimport\s[^;'"]*\bassert\b[^;'"]*\bfrom|\bassert\b[^;=\n]*=\s*require\()\s*['"](?!(?:node:)?assert|chai|vitest|power-assert|uvu)/;

export interface Asserts {
  /** Functions imported from an assertion library: the name in the file, and the name in the library. */
  readonly imported: ReadonlyMap<string, string>;
  readonly isAssertKnown: boolean;
  /** Tests assert by their parameter. */
  readonly isContext: boolean;
}

export function assertsOf(source: string): Asserts {
  const imported = new Map<string, string>();
  for (const [, names = ''] of source.matchAll(IMPORTS))
    for (const [, name = '', local = name] of names.matchAll(/(\w+)(?:\s*(?:\bas\b|:)\s*(\w+))?/g)) imported.set(local, name);
  return { imported, isAssertKnown: !OWN_ASSERT.test(source), isContext: OF_CONTEXT.test(source) };
}

function ofExpect(chain: Chain, given: Around): Alteration | undefined {
  const links = assertedLinks(chain);
  const last = links?.at(-1);
  if (!links || !last || links.some(({ name }) => SNAPSHOT.test(name.text))) return undefined;
  // An uncalled matcher asserts nothing: `expect(f).to.throw;`.
  if (!last.call && !PROPERTIES.test(last.name.text)) return undefined;
  // A snapshot without a text is written by the run.
  const isWritten = !/Snapshot$/.test(last.name.text) || (last.call !== undefined && lastText({ ...given, values: argumentsOf(last.call) ?? [], call: last.call }) !== undefined);
  if (!isWritten) return undefined;
  const not = links.find(({ name }) => name.text === 'not');
  if (not) return opposite({ start: not.after, end: not.name.endIndex, text: '' });
  const values = last.call ? argumentsOf(last.call) : [];
  if (!values) return undefined;
  const made = ofExpected(chain.root, last, values, given.dice) ?? (last.call && MATCHERS.get(last.name.text)?.({ ...given, values, call: last.call }));
  return made ?? opposite(insertion(last.name.startIndex, 'not.'));
}

/** For `expect(a.equals(b)).toBe(true)`: another `b`. */
function ofExpected(root: Node, { name, call }: Link, [expected]: readonly Node[], dice: Dice): Alteration | undefined {
  const isTrue = /^(?:toBeTruthy|true|ok)$/.test(name.text)
    || (call !== undefined && /^(?:toBe|toEqual|equal|eq)$/.test(name.text) && expected?.type === 'true');
  const [asked] = (root.type === 'call_expression' && argumentsOf(root)) || [];
  return isTrue && asked ? strictComparison(asked, dice) : undefined;
}

const calledBy = (call: Node): string => call.childForFieldName('function')?.text ?? '';

/** The links after `expect(…)`, `expectAsync(…)`, `expect.soft(…)`, `chai.expect(…)` or `.should`. */
function assertedLinks({ root, links }: Chain): readonly Link[] | undefined {
  if (root.type === 'call_expression') return /^expect(?:Async)?$/.test(calledBy(root)) ? links : behindShould(links);
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
function ofRequest({ root, links }: Chain, around: Around): AlteredAssertion | undefined {
  const given = links.map(({ name, call }) => (call ? { isExpect: name.text === 'expect', values: argumentsOf(call) ?? [] } : undefined));
  const callback = given.at(-1)?.values.findLast(({ type }) => type === 'identifier');
  if (root.type !== 'call_expression' && links.length < 2 && (!callback || (given[0]?.values.length ?? 0) < 2)) return undefined;
  for (const { isExpect, values: [first, second] } of given.filter((link) => link !== undefined)) {
    const expected = first?.type === 'string' && second && second !== callback ? second : first;
    if (!isExpect || !expected || !/^(?:number|string|template_string|object)$/.test(expected.type)) continue;
    const edits = around.expected.ofValue(expected, around.caller);
    if (edits) return { edits, isByValue: true, isLater: true, ...(callback && { callback }) };
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
