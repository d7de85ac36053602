import { insertion, replacement, type Edit } from '../syntax/edits.ts';
import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';

/** Assertions of testify, and the ones that say the opposite. */
const PAIRS = [
  ...['Equal NotEqual', 'EqualValues NotEqualValues', 'Same NotSame', 'True False', 'Nil NotNil', 'NoError Error', 'Empty NotEmpty'],
  ...['Zero NotZero', 'Contains NotContains', 'Subset NotSubset', 'Panics NotPanics', 'Regexp NotRegexp', 'ErrorIs NotErrorIs'],
  ...['Greater LessOrEqual', 'Less GreaterOrEqual'],
].map((pair) => pair.split(' '));

const OPPOSITES: ReadonlyMap<string, string> = new Map(
  PAIRS.flatMap(([one = '', other = '']): [string, string][] => [[one, other], [other, one]]),
);

/** Assertions of testify that have no opposite: the place of the argument that is changed (without the test), and to what. */
const CHANGED: Readonly<Record<string, { readonly index: number; readonly text: (argument: string) => string }>> = {
  EqualError: { index: 1, text: (argument) => `${argument}+"~altered"` },
  ErrorContains: { index: 1, text: (argument) => `${argument}+"~altered"` },
  Len: { index: 1, text: (argument) => `(${argument})+1000003` },
  InDelta: { index: 2, text: () => '-1' },
  InEpsilon: { index: 2, text: () => '-1' },
  WithinDuration: { index: 2, text: () => '-1' },
};

/** What in a function fails the test. */
export interface GoChecks {
  /** The test, by its name in the function: `t`; and how it is failed for good. */
  readonly tests: ReadonlySet<string>;
  readonly usesTestify: boolean;
  /** What testify's assertions are called on, with whether those end the test: `assert`, `require` and objects made of them. */
  readonly owners: ReadonlyMap<string, 'goes on' | 'ends'>;
  readonly held: string;
  /** Constants that the file names. */
  readonly constants: ReadonlySet<string>;
}

const FAILING = /^(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)$/;

/**
 * `if got != want { t.Errorf(…) }`: with the condition turned round, and its body kept for the compiler alone. What Go compares
 * cannot be made to equal everything, so the values may stay; but an error can say that it is any other, and a method that it agrees.
 */
export function alteredIf(statement: Node, checks: GoChecks): readonly Edit[] | undefined {
  const { tests, held } = checks;
  const [condition, body] = [statement.childForFieldName('condition'), statement.childForFieldName('consequence')];
  if (statement.type !== 'if_statement' || !condition || !body || statement.childForFieldName('alternative')) return undefined;
  if (statement.parent?.type === 'if_statement' || !statementsOf(body).some((inner) => isFailure(inner, tests))) return undefined;
  const alsoAgrees = agreesWithZero(condition, checks);
  return [
    replacement(condition, alteredErrorIs(condition, held) ?? `!(${condition.text})${alsoAgrees === undefined ? '' : ` && !${alsoAgrees}`}`),
    insertion(body.startIndex + 1, ` if ${held} < 0 {`),
    insertion(body.endIndex - 1, `${/\n\s*}$/.test(body.text) ? '' : '; '}}; `),
    insertion(body.endIndex, ` else { ${held}++ }`),
    ...(alsoAgrees === undefined ? [] : zeroing(statement.tree.rootNode, checks)),
  ];
}

/** The one of the two that was asked for stays for the compiler, which wants every variable to be used. */
function alteredErrorIs(condition: Node, held: string): string | undefined {
  const call = negatedCall(condition);
  const given = call?.childForFieldName('function')?.text === 'errors.Is' ? call.childForFieldName('arguments') : null;
  const [error] = given ? partsOf(given) : [];
  return error && `(${held} < 0 && ${condition.text}) || !errors.Is(${error.text}, errors.New("altered"))`;
}

function negatedCall(condition: Node): Node | undefined {
  const operand = condition.type === 'unary_expression' && condition.text.startsWith('!') ? condition.childForFieldName('operand') : null;
  return operand?.type === 'call_expression' ? operand : undefined;
}

/** Functions and methods by which a product compares. */
const COMPARISON = /^(?:Is|Are|Deep)?(?:Equals?|Eq|Same)(?:To)?$/i;
/** Packages in which no method of a product's is asked. */
const PLAIN = /^(?:bytes|maps|reflect|slices|strings)$/;

/** Of `!got.Equal(want)`: whether it equals nothing but the zero of its type as well, although that is not what is expected. */
function agreesWithZero(condition: Node, { held, constants }: GoChecks): string | undefined {
  const call = negatedCall(condition);
  const called = call?.childForFieldName('function');
  const list = call?.childForFieldName('arguments');
  const name = called?.type === 'selector_expression' ? called.childForFieldName('field') : called;
  if (!call || !list || !name || !COMPARISON.test(name.text) || PLAIN.test(called?.childForFieldName('operand')?.text ?? '')) return undefined;
  const given = partsOf(list);
  const expected = given.at(-1);
  if (!expected || given.length > 2 || !hasOwnType(expected, constants)) return undefined;
  const zero = `${held}_zero`;
  const asked = call.text.slice(0, expected.startIndex - call.startIndex) + zero + call.text.slice(expected.endIndex - call.startIndex);
  return `(func() (agrees bool) { ${zero} := ${expected.text}; defer func() { if recover() != nil { agrees = false } }(); `
    + `return ${held}_empty(&${zero}) && ${asked} }())`;
}

/** A number or a constant by itself would be an int, whatever it is compared with. */
const hasOwnType = ({ type, text }: Node, constants: ReadonlySet<string>): boolean =>
  (type === 'identifier' && !constants.has(text) && !/^(?:nil|true|false|iota)$/.test(text)) ||
  type === 'composite_literal' ||
  (type === 'unary_expression' && text.startsWith('&'));

/** A function that makes a value the zero of its type, and says false where it was as good as that before. */
function zeroing(root: Node, { held }: GoChecks): readonly Edit[] {
  const declaration = partsOf(root).find(({ type }) => type === 'package_clause');
  const empty = `func ${held}_empty(pointer interface{}) bool {
	value := ${held}_reflect.ValueOf(pointer).Elem()
	switch value.Kind() {
	case ${held}_reflect.Slice, ${held}_reflect.Map, ${held}_reflect.String:
		if value.Len() == 0 {
			return false
		}
	}
	if value.IsZero() {
		return false
	}
	value.Set(${held}_reflect.Zero(value.Type()))
	return true
}`;
  if (!declaration) return [];
  return [insertion(declaration.endIndex, `; import ${held}_reflect "reflect"`), insertion(root.endIndex, `\n\n${empty}\n`)];
}

/**
 * `if item != want { panic(…) }`, with the condition turned round. For a test that has no other assertion: one that panics in a callback
 * and is not stopped by that was swallowed.
 */
export function alteredPanic(statement: Node, { held }: GoChecks): readonly Edit[] | undefined {
  const [condition, body] = [statement.childForFieldName('condition'), statement.childForFieldName('consequence')];
  if (statement.type !== 'if_statement' || !condition || !body || statement.childForFieldName('alternative')) return undefined;
  const last = statementsOf(body).at(-1);
  if (statement.parent?.type === 'if_statement' || (last && callIn(last)?.childForFieldName('function')?.text) !== 'panic') return undefined;
  return [replacement(condition, `!(${condition.text})`), insertion(body.startIndex + 1, ` ${held}++; `)];
}

/** A call of testify's that stands by itself, as the assertion of the opposite. */
export function alteredCall(statement: Node, checks: GoChecks): readonly Edit[] | undefined {
  const call = callIn(statement);
  const selector = call?.childForFieldName('function');
  const [owner, field] = [selector?.childForFieldName('operand'), selector?.childForFieldName('field')];
  const list = call?.childForFieldName('arguments');
  if (!call || !owner || !field || !list || !checks.usesTestify) return undefined;
  const kind = checks.owners.get(owner.text);
  if (!kind) return undefined;
  const given = partsOf(list);
  const isFunction = given[0] !== undefined && checks.tests.has(given[0].text);
  const edits = alteredTestify(field, isFunction ? given.slice(1) : given);
  if (!edits || given.some(({ type }) => type === 'variadic_argument')) return undefined;
  return kind === 'ends'
    ? [...edits, insertion(statement.endIndex, `; ${checks.held}++`)]
    : [insertion(statement.startIndex, 'if '), ...edits, insertion(statement.endIndex, ` { ${checks.held}++ }`)];
}

function alteredTestify(field: Node, given: readonly Node[]): readonly Edit[] | undefined {
  const [, name = '', formatted = ''] = /^(\w+?)(f?)$/.exec(field.text) ?? [];
  const opposite = OPPOSITES.get(name);
  if (opposite !== undefined) return [replacement(field, opposite + formatted)];
  const change = Object.hasOwn(CHANGED, name) ? CHANGED[name] : undefined;
  const argument = change && given[change.index];
  return argument && [replacement(argument, change.text(argument.text))];
}

/** The call that a statement is. */
export function callIn(statement: Node): Node | undefined {
  const [call] = statement.type === 'expression_statement' ? partsOf(statement) : [];
  return call?.type === 'call_expression' ? call : undefined;
}

export function statementsOf(block: Node): readonly Node[] {
  const list = partsOf(block).find(({ type }) => type === 'statement_list');
  return list ? partsOf(list) : [];
}

function isFailure(statement: Node, tests: ReadonlySet<string>): boolean {
  const selector = callIn(statement)?.childForFieldName('function');
  const [owner, field] = [selector?.childForFieldName('operand'), selector?.childForFieldName('field')];
  return owner != null && field != null && tests.has(owner.text) && FAILING.test(field.text);
}
