import { insertion, replacement, type Edit } from '../syntax/edits.ts';
import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { oppositesOf } from './alteration.ts';
import type { GoLibrary } from './go-library-names.ts';

/** Assertions of testify and their opposites. */
const OPPOSITES = oppositesOf([
  ...['Equal NotEqual', 'EqualValues NotEqualValues', 'Same NotSame', 'True False', 'Nil NotNil', 'NoError Error', 'Empty NotEmpty'],
  ...['Zero NotZero', 'Contains NotContains', 'Subset NotSubset', 'Panics NotPanics', 'Regexp NotRegexp', 'ErrorIs NotErrorIs'],
  ...['Greater LessOrEqual', 'Less GreaterOrEqual'],
]);

/** Assertions of testify without an opposite: the index of the argument to change (not counting the test) and its new text. */
const CHANGED: Readonly<Record<string, { readonly index: number; readonly text: (argument: string) => string }>> = {
  EqualError: { index: 1, text: (argument) => `${argument}+"~altered"` },
  ErrorContains: { index: 1, text: (argument) => `${argument}+"~altered"` },
  Len: { index: 1, text: (argument) => `(${argument})+1000003` },
  InDelta: { index: 2, text: () => '-1' },
  InEpsilon: { index: 2, text: () => '-1' },
  WithinDuration: { index: 2, text: () => '-1' },
};

/** The ways in which functions of a file fail the test. */
export interface GoChecks {
  /** Names of parameters that are a test: `t`. */
  readonly tests: ReadonlySet<string>;
  readonly usesTestify: boolean;
  /** The other libraries of assertions that the file imports. */
  readonly libraries: ReadonlySet<GoLibrary>;
  /** The receivers of testify's assertions (`assert`, `require` and objects made from them), and whether a failure ends the test. */
  readonly owners: ReadonlyMap<string, 'goes on' | 'ends'>;
  readonly held: string;
  /** Names of constants that the file declares. */
  readonly constants: ReadonlySet<string>;
}

const FAILING = /^(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)$/;

/**
 * Negates the condition of `if got != want { t.Errorf(…) }`. The body no longer runs, but still compiles. Go's own comparisons cannot be
 * overridden, so their values stay. `errors.Is` and comparison methods can be, so these are also tested with other values.
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

/** The original condition stays in dead code, because the compiler rejects unused variables. */
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

/** Names of functions and methods with which a product compares values. */
const COMPARISON = /^(?:Is|Are|Deep)?(?:Equals?|Eq|Same)(?:To)?$/i;
/** Packages that compare without calling methods of the product. */
const PLAIN = /^(?:bytes|maps|reflect|slices|strings)$/;

/** For `!got.Equal(want)`, a condition that is true if `got` also equals the zero value of the type of `want`, and `want` is not zero. */
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

/** A number or constant alone would become an int, whatever type it is compared with. */
const hasOwnType = ({ type, text }: Node, constants: ReadonlySet<string>): boolean =>
  (type === 'identifier' && !constants.has(text) && !/^(?:nil|true|false|iota)$/.test(text)) ||
  type === 'composite_literal' ||
  (type === 'unary_expression' && text.startsWith('&'));

/** Adds a Go function that sets a value to the zero value of its type. It returns false if the value was zero or empty before. */
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
 * Negates the condition of `if item != want { panic(…) }`. Used for tests without other assertions: if a callback panics and the test
 * goes on, the panic was swallowed.
 */
export function alteredPanic(statement: Node, { held }: GoChecks): readonly Edit[] | undefined {
  const [condition, body] = [statement.childForFieldName('condition'), statement.childForFieldName('consequence')];
  if (statement.type !== 'if_statement' || !condition || !body || statement.childForFieldName('alternative')) return undefined;
  const last = statementsOf(body).at(-1);
  if (statement.parent?.type === 'if_statement' || (last && callIn(last)?.childForFieldName('function')?.text) !== 'panic') return undefined;
  return [replacement(condition, `!(${condition.text})`), insertion(body.startIndex + 1, ` ${held}++; `)];
}

/** Turns a statement that calls a testify assertion into the opposite assertion. */
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

/** The name of the opposite assertion. */
export function oppositeField(name: string): string | undefined {
  const [, plain = '', formatted = ''] = /^(\w+?)(f?)$/.exec(name) ?? [];
  const other = OPPOSITES.get(plain);
  return other === undefined ? undefined : other + formatted;
}

/** The call, if the statement consists of one. */
export function callIn(statement: Node): Node | undefined {
  const [call] = statement.type === 'expression_statement' ? partsOf(statement) : [];
  return call?.type === 'call_expression' ? call : undefined;
}

export function statementsOf(block: Node): readonly Node[] {
  const list = partsOf(block).find(({ type }) => type === 'statement_list');
  return list ? partsOf(list) : [];
}

export function isFailure(statement: Node, tests: ReadonlySet<string>): boolean {
  const selector = callIn(statement)?.childForFieldName('function');
  const [owner, field] = [selector?.childForFieldName('operand'), selector?.childForFieldName('field')];
  return owner != null && field != null && tests.has(owner.text) && FAILING.test(field.text);
}

/** The name of a parameter that is a test. */
export function testParameter(node: Node): string | undefined {
  if (node.type !== 'parameter_declaration' || !/^(?:\*testing\.T|testing\.TB)$/.test(node.childForFieldName('type')?.text ?? '')) return undefined;
  const name = node.childForFieldName('name')?.text;
  return name === '_' ? undefined : name;
}

/** A test, a benchmark, a fuzz target, or the test of a library, such as `*qt.C`. */
const TEST_TYPE = /^\*?(?:\w+\.)?(?:T|TB|B|F|C)$/;

/** Whether an expression is a test, as in `t.Fatal()` and `s.T().Fatal()`. */
export function isTest(expression: Node): boolean {
  if (expression.text.endsWith('.T()')) return true;
  for (let at: Node | null = expression; at; at = at.parent) {
    const parameters = at.childForFieldName('parameters');
    const isDeclared = (parameter: Node): boolean => parameter.childForFieldName('name')?.text === expression.text && TEST_TYPE.test(parameter.childForFieldName('type')?.text ?? '');
    if (parameters && partsOf(parameters).some(isDeclared)) return true;
  }
  return false;
}

/** Whether a call says why a test fails, or what it does: a logger has methods of the same names. */
export function isMessageOfTest(call: Node): boolean {
  const selector = call.childForFieldName('function');
  const operand = selector?.childForFieldName('operand');
  return operand != null && /^(?:Error|Fatal|Log)f?$/.test(selector?.childForFieldName('field')?.text ?? '') && isTest(operand);
}
