import { replacement, type Edit } from '../syntax/edits.ts';
import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { byValue, opposite, oppositesOf, type Alteration } from './alteration.ts';
import { pick, type Dice } from './dice.ts';
import { negated, type PythonConditions } from './python-conditions.ts';
import type { AssertionPlace, ExpectedValues } from './python-expected.ts';
import { argumentsOf, toleranceOf, type CallArguments } from './python-literals.ts';

/** Built-in errors and warnings that nothing in a test is likely to raise, and that projects do not derive theirs from. */
const OTHER_ERRORS = ['BufferError', 'FloatingPointError', 'TabError', 'UnboundLocalError', 'BlockingIOError', 'ChildProcessError'];
const OTHER_WARNINGS = ['BytesWarning', 'UnicodeWarning', 'ImportWarning'];

/** Calls that expect an error or a warning. */
const RAISES: ReadonlyMap<string, readonly string[]> = new Map([
  ...['raises', 'assertRaises', 'assertRaisesRegex', 'assertRaisesRegexp', 'assertRaisesMessage', 'failUnlessRaises', 'assert_raises', 'assert_raises_regex']
    .map((name) => [name, OTHER_ERRORS] as const),
  ...['warns', 'assertWarns', 'assertWarnsRegex', 'assert_warns'].map((name) => [name, OTHER_WARNINGS] as const),
]);

export interface Call extends CallArguments {
  readonly node: Node;
  /** Its last name: `assertEqual`. */
  readonly name: string;
  /** The node of that name. */
  readonly named: Node;
  /** The receiver of the call with its dot (`self.`); empty for a function. */
  readonly owner: string;
}

/** Methods of unittest that assert the opposite of each other. */
const OPPOSITES = oppositesOf([
  'assertEqual assertNotEqual', 'assertTrue assertFalse', 'assertIs assertIsNot', 'assertIsNone assertIsNotNone', 'assertIn assertNotIn',
  'assertIsInstance assertNotIsInstance', 'assertGreater assertLessEqual', 'assertLess assertGreaterEqual', 'assertRegex assertNotRegex',
  'assertAlmostEqual assertNotAlmostEqual', 'assertStartsWith assertNotStartsWith', 'assertEndsWith assertNotEndsWith', 'assertHasAttr assertNotHasAttr',
]);

/** Assertions of Django about a response, with the text, the address or the template that it has. */
const OF_RESPONSE = /^assert(?:Contains|Redirects|TemplateUsed)$/;

const EQUAL = /^(?:assertEquals?|failUnlessEqual|eq_|assertAlmostEquals?|assert_equals?|assert_almost_equal|assert_approx_equal|assert_close)$/;
/** They take values of certain types alone, so a number in their place would say nothing. */
const EQUAL_OF_A_TYPE = new RegExp(
  '^(?:assert(?:List|Tuple|Dict|Set|Sequence|MultiLine|Count|Items|JSON|HTML|XML|QuerySet|Queryset)Equal'
  + '|assert_(?:array_equal|allclose|array_almost_equal|frame_equal|series_equal|index_equal))$',
);
const CALLED_WITH = /^assert_(?:called_with|called_once_with|any_call|awaited_with|awaited_once_with|any_await)$/;
const HOLDS = /^(?:assertTrue|assert_|failUnless|assert_true|ok_)$/;

/** Alters assertions of pytest and unittest. */
export class PythonAssertions {
  readonly #conditions: PythonConditions;
  readonly #values: ExpectedValues;
  readonly #dice: Dice;

  constructor(conditions: PythonConditions, values: ExpectedValues, dice: Dice) {
    this.#conditions = conditions;
    this.#values = values;
    this.#dice = dice;
  }

  /** Undefined if the statement is no assertion, or is not certain to fail afterwards. */
  altered(statement: Node, place: Omit<AssertionPlace, 'asserted'>): Alteration | undefined {
    const [first] = partsOf(statement);
    if (!first || statement.hasError) return undefined;
    if (statement.type === 'assert_statement') return this.#conditions.altered(first, { ...place, asserted: first });
    if (statement.type === 'with_statement') return this.#raises(statement);
    const call = raisingIn(first) ?? calledIn(statement);
    return call && this.#ofCall(call, place);
  }

  #ofCall(call: Call, given: Omit<AssertionPlace, 'asserted'>): Alteration | undefined {
    const { name, named, node, positional: [first, second] } = call;
    const place = { ...given, asserted: second ?? node };
    const errors = RAISES.get(name);
    if (errors) return first && second && this.#otherClass(first, errors);
    if (first && second && (EQUAL.test(name) || EQUAL_OF_A_TYPE.test(name))) {
      const tolerance = toleranceOf(node, {});
      const found = tolerance === 'unknown' ? undefined : this.#conditions.equality(first, second, place, tolerance);
      const isTyped = found?.edits.some(({ start, end }) => EQUAL_OF_A_TYPE.test(name) && (start === first.startIndex || end === second.endIndex));
      if (found && !(isTyped && !isWritten(first) && !isWritten(second))) return found;
    }
    if (first && HOLDS.test(name)) return this.#conditions.altered(first, { ...place, asserted: first });
    if (first && second && name === 'assertIn') {
      const contained = this.#conditions.containment(first, second, place);
      if (contained) return contained;
    }
    // With a count, nothing need be found. A project may have methods of its own by these names.
    if (OF_RESPONSE.test(name) && second && call.positional.length === 2 && !call.keywords.has('count') && /\bdjango\b/.test(node.tree.rootNode.text))
      return this.#conditions.containment(second, first as Node, place);
    if (CALLED_WITH.test(name)) {
      const literal = [...call.positional, ...call.keywords.values()].find((value) => this.#values.ofLiteral(value, {}) !== undefined);
      return literal && byValue(this.#values.ofLiteral(literal, {}));
    }
    if (first && /^(?:failIf|assert_false)$/.test(name)) return negated(first);
    const other = OPPOSITES.get(name);
    return other === undefined || !first ? undefined : opposite(replacement(named, other));
  }

  #raises(statement: Node): Alteration | undefined {
    for (const node of contextsOf(statement)) {
      const call = callOf(node.type === 'as_pattern' ? (partsOf(node)[0] ?? node) : node);
      const classes = call && RAISES.get(call.name);
      const error = call?.positional[0] ?? call?.keywords.get('expected_exception') ?? call?.keywords.get('expected_warning');
      if (classes && error) return this.#otherClass(error, classes);
    }
    return undefined;
  }

  #otherClass(error: Node, classes: readonly string[]): Alteration | undefined {
    const other = this.#values.isHere(error) ? pick(classes.filter((name) => !error.text.includes(name)), this.#dice) : undefined;
    return byValue(other === undefined ? undefined : [replacement(error, other)] satisfies readonly Edit[]);
  }
}

const isWritten = ({ type }: Node): boolean => /^(?:string|concatenated_string|list|tuple|dictionary|set)$/.test(type);

/** A statement that makes a test fail: `raise AssertionError`, `self.fail()`, `pytest.fail()`. */
export const isFailure = (statement: Node): boolean => statement.type === 'raise_statement' || /^(?:self|pytest)\.fail\(/.test(statement.text);

/** Whether a `with` statement is meant to catch errors of its body. */
export const expectsErrors = (statement: Node): boolean =>
  contextsOf(statement).some(({ text }) => /raises|suppress|warns|fails?\b|catch|expect|error/i.test(text));

const contextsOf = (statement: Node): readonly Node[] => {
  const clause = partsOf(statement).find(({ type }) => type === 'with_clause');
  return clause ? partsOf(clause).flatMap((item) => partsOf(item).slice(0, 1)) : [];
};

/** The call, if the statement consists of one. */
export function calledIn(statement: Node): Call | undefined {
  const [node] = statement.type === 'expression_statement' ? partsOf(statement) : [];
  return node && callOf(node.type === 'await' ? (partsOf(node)[0] ?? node) : node);
}

/** The call in `pytest.raises(KeyError, f, 1).match("no")` and `error = pytest.raises(KeyError, f, 1)`. */
function raisingIn(expression: Node): Call | undefined {
  const node = (expression.type === 'assignment' ? expression.childForFieldName('right') : null) ?? expression;
  const matched = callOf(node);
  const inner = matched?.name === 'match' ? matched.named.parent?.childForFieldName('object') : undefined;
  const call = inner ? callOf(inner) : matched;
  return call && RAISES.has(call.name) ? call : undefined;
}

/** A call of a named function or method whose argument positions are known. */
function callOf(node: Node): Call | undefined {
  const called = node.type === 'call' ? node.childForFieldName('function') : null;
  const named = called?.type === 'attribute' ? called.childForFieldName('attribute') : called?.type === 'identifier' ? called : null;
  const found = named && argumentsOf(node);
  if (!called || !named || !found) return undefined;
  return { ...found, node, named, name: named.text, owner: node.text.slice(0, named.startIndex - node.startIndex) };
}
