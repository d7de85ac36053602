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
}

const FAILING = /^(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)$/;

/**
 * `if got != want { t.Errorf(…) }`: with the condition turned round, and its body kept for the compiler alone. What Go compares
 * cannot be made to equal everything, so the values may stay; but an error can say that it is any other.
 */
export function alteredIf(statement: Node, { tests, held }: GoChecks): readonly Edit[] | undefined {
  const [condition, body] = [statement.childForFieldName('condition'), statement.childForFieldName('consequence')];
  if (statement.type !== 'if_statement' || !condition || !body || statement.childForFieldName('alternative')) return undefined;
  if (statement.parent?.type === 'if_statement' || !statementsOf(body).some((inner) => isFailure(inner, tests))) return undefined;
  return [
    replacement(condition, alteredErrorIs(condition) ?? `!(${condition.text})`),
    insertion(body.startIndex + 1, ` if ${held} < 0 {`),
    insertion(body.endIndex - 1, `${/\n\s*}$/.test(body.text) ? '' : '; '}}; `),
    insertion(body.endIndex, ` else { ${held}++ }`),
  ];
}

function alteredErrorIs(condition: Node): string | undefined {
  const call = condition.type === 'unary_expression' && condition.text.startsWith('!') ? condition.childForFieldName('operand') : null;
  const given = call?.childForFieldName('function')?.text === 'errors.Is' ? call.childForFieldName('arguments') : null;
  const [error] = given ? partsOf(given) : [];
  return error && `!errors.Is(${error.text}, errors.New("altered"))`;
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
