import { replacement, insertion, type Edit } from '../syntax/edits.ts';
import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import {
  alteredLiteral, argumentsOf, equalsAFreshObject, isNumber, PLAIN_CONTAINERS, type CallArguments, type PythonExpressions,
} from './python-expressions.ts';

const FRESH_ERROR = 'type("Altered", (Exception,), {})';
const FRESH_WARNING = 'type("Altered", (Warning,), {})';

/** Calls that expect an error or a warning, each with the one to expect instead. */
const RAISES: ReadonlyMap<string, string> = new Map([
  ...['raises', 'assertRaises', 'assertRaisesRegex', 'assertRaisesRegexp', 'assertRaisesMessage', 'failUnlessRaises', 'assert_raises', 'assert_raises_regex']
    .map((name) => [name, FRESH_ERROR] as const),
  ...['warns', 'assertWarns', 'assertWarnsRegex', 'assert_warns'].map((name) => [name, FRESH_WARNING] as const),
]);

/** Edits the arguments of an assertion. Undefined if it is not certain to fail afterwards. */
type Alter = (call: Call, expressions: PythonExpressions) => readonly Edit[] | undefined;

interface Call extends CallArguments {
  readonly node: Node;
  /** The receiver of the call with its dot (`self.`); empty for a function. */
  readonly owner: string;
}

const change = (node: Node | undefined, text: (node: Node) => string): readonly Edit[] | undefined =>
  node && [replacement(node, text(node))];

const changeTwo = (first: Node | undefined, second: Node | undefined, text: (first: Node, second: Node) => string) =>
  first && second && [replacement({ startIndex: first.startIndex, endIndex: second.endIndex }, text(first, second))];

/** Alters a literal on either side. Without one, the second side becomes an object that equals nothing else. */
const equal: Alter = ({ positional: [first, second] }, expressions) => {
  if (!first || !second || !expressions.areComparable(first, second)) return undefined;
  for (const side of [second, first]) {
    const altered = alteredLiteral(side);
    if (altered !== undefined) return [replacement(side, altered)];
  }
  return [replacement(second, 'object()')];
};

/** Like `equal`, for values of any type. Without a literal, either side could be one that equals everything, so both are checked. */
const equalValues: Alter = (call, expressions) => {
  const [first, second] = call.positional;
  if (!first || !second || !expressions.areComparable(first, second)) return undefined;
  if ([first, second].some((side) => alteredLiteral(side) !== undefined)) return equal(call, expressions);
  return changeTwo(first, second, (a, b) => `bool(${equalsAFreshObject(a, b)}), True`);
};

const holds: Alter = ({ positional: [condition] }, expressions) => change(condition, (node) => expressions.condition(node));
const fails: Alter = ({ positional: [condition] }) => change(condition, ({ text }) => `not (${text})`);
/** For assertions that two values differ: makes both arguments None. */
const same: Alter = ({ positional: [first, second] }) => changeTwo(first, second, (a, b) => `None, (${a.text}, ${b.text}, None)[2]`);

/** Replaces a number by an infinity with which the order cannot hold. */
const ordered = (operator: string, onLeft: string, onRight: string): Alter => ({ node, owner, positional: [first, second] }) => {
  if (!first || !second) return undefined;
  const isPlain = !/\binf/i.test(first.text + second.text);
  if (isPlain && isNumber(second)) return [replacement(second, onRight)];
  if (isPlain && isNumber(first)) return [replacement(first, onLeft)];
  return [replacement(node, `${owner}assertTrue(not ((${first.text}) ${operator} (${second.text})))`)];
};
const [LEAST, GREATEST] = ['-float("inf")', 'float("inf")'];

const otherLiteral = (node: Node): string => alteredLiteral(node) ?? 'object()';

/** See `PLAIN_CONTAINERS`. For other containers, asserts that an empty list contains the item. */
const contained: Alter = ({ positional: [item, container] }, expressions) => {
  if (!item || !container || !expressions.areComparable(item) || /\b(?:await|yield)\b/.test(item.text + container.text)) return undefined;
  const other = item.type === 'string' ? otherLiteral(item) : 'object()';
  const choice = `(lambda x, c: (${other}, c) if isinstance(c, ${PLAIN_CONTAINERS}) else (x, []))`;
  return changeTwo(item, container, (a, b) => `*${choice}(${a.text}, ${b.text})`);
};

const calledWith: Alter = ({ node }) => {
  const list = node.childForFieldName('arguments');
  return list ? [insertion(list.startIndex + 1, 'object(), ')] : undefined;
};

const raises = (fresh: string): Alter => ({ positional: [error, called] }) => (called ? change(error, () => fresh) : undefined);

const FORMS: readonly (readonly [names: string, alter: Alter])[] = [
  ['assertEqual assertEquals failUnlessEqual eq_', equalValues],
  ['assertListEqual assertTupleEqual assertDictEqual assertSetEqual assertSequenceEqual assertMultiLineEqual', equal],
  ['assertAlmostEqual assertAlmostEquals assertCountEqual assertItemsEqual assertJSONEqual assertHTMLEqual assertXMLEqual', equal],
  ['assertQuerySetEqual assertQuerysetEqual assert_equal assert_equals assert_array_equal assert_allclose assert_almost_equal', equal],
  ['assert_array_almost_equal assert_approx_equal assert_close assert_frame_equal assert_series_equal assert_index_equal', equal],
  ['assertNotEqual assertNotEquals assertNotAlmostEqual failIfEqual', same],
  ['assertTrue assert_ failUnless assert_true ok_', holds],
  ['assertFalse failIf assert_false', fails],
  ['assertIsNone', ({ positional: [value] }) => change(value, ({ text }) => `(${text}, 0)`)],
  ['assertIsNotNone', ({ positional: [value] }) => change(value, ({ text }) => `(${text}, None)[1]`)],
  ['assertIs', ({ positional: [first] }) => change(first, ({ text }) => `(${text}, 0)`)],
  ['assertIsNot', same],
  ['assertIn', contained],
  ['assertNotIn', ({ positional: [first, second] }) => changeTwo(first, second, (a, b) => `None, (${a.text}, ${b.text}, None)`)],
  ['assertIsInstance', ({ positional: [, kind] }) => change(kind, () => 'type("Altered", (), {})')],
  ['assertNotIsInstance', ({ positional: [, kind] }) => change(kind, () => 'object')],
  ['assertGreater', ordered('>', LEAST, GREATEST)],
  ['assertGreaterEqual', ordered('>=', LEAST, GREATEST)],
  ['assertLess', ordered('<', GREATEST, LEAST)],
  ['assertLessEqual', ordered('<=', GREATEST, LEAST)],
  ['assertRegex assertRegexpMatches', ({ positional: [, pattern] }) => change(pattern, () => '"(?!)"')],
  ['assertNotRegex assertNotRegexpMatches', ({ positional: [, pattern] }) => change(pattern, () => '""')],
  ['assertContains', ({ positional: [, text] }) => (text?.type === 'string' ? change(text, otherLiteral) : undefined)],
  ['assert_called_with assert_called_once_with assert_any_call', calledWith],
  ['assert_awaited_with assert_awaited_once_with assert_any_await', calledWith],
  ...[...RAISES].map(([name, fresh]) => [name, raises(fresh)] as const),
];

const BY_NAME: ReadonlyMap<string, Alter> = new Map(FORMS.flatMap(([names, alter]) => names.split(' ').map((name) => [name, alter] as const)));

/** Edits of an assertion statement. Undefined if it is no assertion or is not certain to fail afterwards. */
export function alteredAssertion(statement: Node, expressions: PythonExpressions): readonly Edit[] | undefined {
  const [first] = partsOf(statement);
  if (!first || statement.hasError) return undefined;
  // `assert` of a literal asserts nothing.
  if (statement.type === 'assert_statement')
    return /^(?:true|false|none|integer|string|tuple)$/.test(first.type) ? undefined : [replacement(first, expressions.condition(first))];
  const node = statement.type === 'expression_statement' ? (first.type === 'await' ? partsOf(first)[0] : first) : undefined;
  const call = node && callOf(node);
  return call && BY_NAME.get(call.name)?.(call, expressions);
}

/** Edits of a `with` statement that expects its body to raise. Undefined for any other statement. */
export function alteredRaises(statement: Node): readonly Edit[] | undefined {
  if (statement.type !== 'with_statement') return undefined;
  for (const node of contextsOf(statement)) {
    const call = callOf(node.type === 'as_pattern' ? (partsOf(node)[0] ?? node) : node);
    const fresh = call && RAISES.get(call.name);
    const error = call?.positional[0] ?? call?.keywords.get('expected_exception') ?? call?.keywords.get('expected_warning');
    if (fresh !== undefined && error) return [replacement(error, fresh)];
  }
  return undefined;
}

/** Whether a `with` statement is meant to catch errors of its body. */
export const expectsErrors = (statement: Node): boolean =>
  contextsOf(statement).some(({ text }) => /raises|suppress|warns|fails?\b|catch|expect|error/i.test(text));

const contextsOf = (statement: Node): readonly Node[] => {
  const clause = partsOf(statement).find(({ type }) => type === 'with_clause');
  return clause ? partsOf(clause).flatMap((item) => partsOf(item).slice(0, 1)) : [];
};

export interface NamedCall extends Call {
  readonly name: string;
}

/** A call of a named function or method whose argument positions are known. */
export function callOf(node: Node): NamedCall | undefined {
  const called = node.type === 'call' ? node.childForFieldName('function') : null;
  const name = called?.type === 'attribute' ? called.childForFieldName('attribute') : called?.type === 'identifier' ? called : null;
  const found = name && argumentsOf(node);
  if (!called || !name || !found) return undefined;
  return { ...found, node, name: name.text, owner: node.text.slice(0, name.startIndex - node.startIndex) };
}
