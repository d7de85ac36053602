import { insertion, replacement, type Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { alteredPart, alteredTextPart, longestPart, type Comparison } from './altered-parts.ts';
import { byValue, Draws, LiteralEdits, opposite, oppositesOf, type Alteration } from './alteration.ts';
import { pick, type Dice } from './dice.ts';
import { otherNumber, otherText } from './likely-values.ts';
import { Mentions } from './mentions.ts';

/** Errors that nothing in a test is likely to raise. */
const OTHER_ERRORS = ['FiberError', 'UncaughtThrowError', 'ClosedQueueError', 'FloatDomainError', 'Errno::EXDEV', 'Errno::ENOLCK'];

/** A failure that is caught, or a value that equals anything. */
const EXPECTS_FAILURES = /\brescue\b|\bExpectationNotMetError\b|\bMinitest::Assertion\b|\bAssertionFailedError\b|\bfail_with\b|\banything\b/;

/** Matchers whose opposite cannot be asked for, or fails whatever is given. */
const NO_OPPOSITE = /\b(?:raise_error|raise_exception|change|all|and|or|satisfy_all|by|receive_messages)\b|[&|]/;

/** Blocks that are certain to run, in which tests stand. */
const RUNS_ITS_BLOCK = /^(?:aggregate_failures|Dir\.(?:mktmpdir|chdir)|Tempfile\.(?:create|open)|Timecop\.(?:freeze|travel)|travel_to|freeze_time|Timeout\.timeout|I18n\.with_locale)\b/;

/** Calls that keep a block for later, run it elsewhere, or expect it to fail. */
const KEEPS_ITS_BLOCK = /^(?:lambda|proc|loop|fork|trap|at_exit|catch|lazy|describe|context|it|test|let!?|subject|before|after|setup|teardown|around|shared_\w+|define_\w+|on\w*|subscribe\w*|hook\w*|register\w*|stubs|stub_\w+|allow|expects?|receive|new|add\w*|assert\w*|refute\w*|flunk|(?:must|wont)_\w+|to|not_to|to_not|should\w*)$/;

const ASSERTS = /\b(?:assert|refute|expect|is_expected|should|must_\w|wont_\w)/;

/** Minitest's `stub` takes a name and a value; RSpec's takes the block for the value. */
const runsItsBlock = ({ method, given }: Call): boolean => !KEEPS_ITS_BLOCK.test(method.text) && (method.text !== 'stub' || given.length > 1);

/** What leaves out the rest of a block. */
const MAY_END_EARLY = /\b(?:break|next)\b/;

/** Assertions of Minitest and test-unit whose opposite has not the name with `refute`. */
const OPPOSITES: ReadonlyMap<string, string> = new Map([
  ...oppositesOf(['assert_true assert_false', 'assert_include assert_not_include']),
  ['assert_not_nil', 'assert_nil'], ['assert_not_equal', 'assert_equal'], ['assert_no_match', 'assert_match'], ['assert_not_empty', 'assert_empty'],
]);
const REFUTABLE = /^assert(?:_(?:equal|nil|empty|includes|instance_of|kind_of|match|operator|predicate|respond_to|same|in_delta|in_epsilon))?$/;

export const isScope = ({ type }: Node): boolean => /^(?:method|singleton_method|class|module|lambda|block|do_block)$/.test(type);

/** Alters one assertion of a test of RSpec, Minitest or test-unit, which every run of the test reaches. */
export class RubyValues {
  readonly #root: Node;
  readonly #dice: Dice;
  readonly #draws: Draws;
  readonly #made = new LiteralEdits();

  constructor(root: Node, dice: Dice) {
    this.#root = root;
    this.#dice = dice;
    this.#draws = new Draws(dice, new Mentions(root.text, [...nodesIn(root)].filter(({ type }) => type === 'comment')));
  }

  /** Undefined if no assertion is certain to be reached, or none of them can be altered. */
  alter(body: Node): readonly Edit[] | undefined {
    if (body.hasError || EXPECTS_FAILURES.test(body.text)) return undefined;
    return this.#draws.of(this.#ofBody(body));
  }

  #ofBody(body: Node): readonly Alteration[] {
    const statements = [...reached(body)];
    const own = statements.flatMap((statement) => this.#ofStatement(statement) ?? []);
    return own.length > 0 ? own : this.#ofOnlyBlock(statements);
  }

  /** If all assertions of a test are in one block, it runs that. Of several, one may be in vain. */
  #ofOnlyBlock(statements: readonly Node[]): readonly Alteration[] {
    const blocks = statements.flatMap((statement) => {
      const call = callOf(resultOf(statement));
      const inner = call?.block?.childForFieldName('body');
      return call && inner && ASSERTS.test(inner.text) ? [{ inner, isRun: runsItsBlock(call) && !MAY_END_EARLY.test(inner.text) }] : [];
    });
    const [only] = blocks;
    return only?.isRun && blocks.length === 1 ? this.#ofBody(only.inner) : [];
  }

  #ofStatement(made: Node): Alteration | undefined {
    const statement = resultOf(made);
    if (statement.type === 'binary') return this.#ofShouldOperator(statement);
    if (statement.type === 'identifier') return undefined;
    const call = callOf(statement);
    if (!call) return undefined;
    const { method, receiver, given: [matcher] } = call;
    if (/^(?:to|not_to|to_not)$/.test(method.text) && receiver && matcher && /^(?:expect|is_expected|are_expected)\b/.test(receiver.text))
      return this.#ofMatcher(matcher, method, method.text === 'to' ? 'not_to' : 'to', method.text === 'to');
    if (/^should(?:_not)?$/.test(method.text) && matcher)
      return this.#ofMatcher(matcher, method, method.text === 'should' ? 'should_not' : 'should', method.text === 'should');
    if (/^(?:must|wont)_/.test(method.text) && receiver) return this.#ofExpectation(call);
    return receiver === undefined || receiver.text === 'self' ? this.#ofAssertion(call) : undefined;
  }

  /** `expect(x).to MATCHER`, `x.should MATCHER`. */
  #ofMatcher(matcher: Node, verb: Node, other: string, isPositive: boolean): Alteration | undefined {
    if (isPositive) {
      const edits = this.#expectedBy(matcher);
      if (edits) return byValue(edits);
    }
    return NO_OPPOSITE.test(matcher.text) && (isPositive || !/^raise_error$/.test(matcher.text)) ? undefined : opposite(replacement(verb, other));
  }

  #expectedBy(matcher: Node): readonly Edit[] | undefined {
    // `be == 5`
    if (matcher.type === 'binary') return /^be\b/.test(matcher.childForFieldName('left')?.text ?? '') && matcher.childForFieldName('operator')?.text === '==' ? this.#value(matcher.childForFieldName('right')) : undefined;
    if (/^raise_(?:error|exception)$/.test(matcher.text)) return this.#raised({ method: matcher, given: [] });
    const call = callOf(matcher);
    if (!call) return undefined;
    const { method, receiver, given } = call;
    const [first] = given;
    switch (method.text) {
      case 'eq':
      case 'eql':
      case 'equal':
      case 'be':
        return receiver || given.length !== 1 ? undefined : this.#value(first);
      case 'match_array':
      case 'contain_exactly':
      case 'have_attributes':
        return alteredPart(given, this.#dice, (part) => this.#value(part));
      case 'include':
      case 'start_with':
      case 'end_with':
      case 'a_string_including':
        return given.length === 1 && first && /string|hash|pair/.test(first.type) ? this.#value(first, { isContained: first.type === 'string' }) : undefined;
      case 'of': {
        const within = receiver && callOf(receiver);
        const tolerance = within?.method.text === 'be_within' ? Number(within.given[0]?.text) : Number.NaN;
        return Number.isFinite(tolerance) ? this.#value(first, { tolerance }) : undefined;
      }
      case 'by':
        return receiver && /^change\b/.test(receiver.text) ? this.#value(first) : undefined;
      case 'to':
        return receiver && /^change\b/.test(receiver.text) && first && /^(?:integer|float|string|simple_symbol)$/.test(first.type) ? this.#value(first) : undefined;
      case 'raise_error':
      case 'raise_exception':
        return this.#raised({ method, given });
      case 'with_message':
        return receiver && /^raise_(?:error|exception)\b/.test(receiver.text) && first?.type === 'string' ? this.#value(first) : undefined;
      default:
        return undefined;
    }
  }

  /** Another class than that of an error, or another message. Where any error will do, a class that it is not. */
  #raised({ method, given }: Pick<Call, 'method' | 'given'>): readonly Edit[] | undefined {
    const [error] = given;
    const message = given.find(({ type }) => type === 'string');
    if (message) return this.#value(message);
    const other = pick(OTHER_ERRORS.filter((name) => name !== error?.text), this.#dice);
    if (other === undefined || given.some(({ type }) => !/^(?:constant|scope_resolution|regex)$/.test(type))) return undefined;
    if (!error) return [insertion(method.endIndex, `(${other})`)];
    return [error.type === 'regex' ? insertion(error.startIndex, `${other}, `) : replacement(error, other)];
  }

  /** `x.should == 5` */
  #ofShouldOperator(statement: Node): Alteration | undefined {
    const [left, right, operator] = ['left', 'right', 'operator'].map((field) => statement.childForFieldName(field));
    const should = left && callOf(left);
    return should?.method.text === 'should' && operator?.text === '==' ? byValue(this.#value(right ?? undefined)) : undefined;
  }

  /** `_(x).must_equal 5` */
  #ofExpectation({ method, given }: Call): Alteration | undefined {
    const [first] = given;
    const value = method.text === 'must_equal' ? this.#value(first) : method.text === 'must_include' && first?.type === 'string' ? this.#value(first, { isContained: true }) : method.text === 'must_raise' ? this.#raised({ method, given }) : undefined;
    if (value || /^(?:must|wont)_raise/.test(method.text)) return byValue(value);
    return opposite(replacement(method, method.text.startsWith('must_') ? method.text.replace('must_', 'wont_') : method.text.replace('wont_', 'must_')));
  }

  /** `assert_equal 5, x` */
  #ofAssertion({ method, given }: Call): Alteration | undefined {
    const [first, second, third] = given;
    const { text: name } = method;
    if (!first && !/^assert_raises?$/.test(name)) return undefined;
    if (name === 'assert_equal' || name === 'assert_same') {
      const value = this.#value(first) ?? this.#value(second);
      if (value) return byValue(value);
    }
    if (name === 'assert_in_delta') {
      const tolerance = third === undefined ? 0.001 : Number(third.text);
      const value = Number.isFinite(tolerance) ? this.#value(first, { tolerance }) : undefined;
      return byValue(value);
    }
    if (/^assert_raises?$/.test(name)) return given.every(({ type }) => /^(?:constant|scope_resolution)$/.test(type)) && given.length <= 1 ? byValue(this.#raised({ method, given })) : undefined;
    if (/^assert_includes?$/.test(name) && second?.type === 'string') {
      const value = this.#value(second, { isContained: true });
      if (value) return byValue(value);
    }
    const other = OPPOSITES.get(name) ?? (REFUTABLE.test(name) ? name.replace('assert', 'refute') : /^refute/.test(name) ? name.replace('refute', 'assert') : undefined);
    return other === undefined ? undefined : opposite(replacement(method, other));
  }

  /** The edits of a literal, or of those that a name stands for. */
  #value(node: Node | null | undefined, comparison: Comparison = {}): readonly Edit[] | undefined {
    if (!node) return undefined;
    const literals = /^(?:identifier|constant)$/.test(node.type) ? this.#literalsOf(node) : [node];
    const made = literals.map((literal) => this.#made.of(literal, () => this.#altered(literal, comparison)));
    return made.length > 0 && made.every((edits) => edits !== undefined) ? made.flatMap((edits) => edits ?? []) : undefined;
  }

  /** What a name stands for that is used once: a local variable, a constant, `let`, or a column of the table that a block goes over. */
  #literalsOf(name: Node): readonly Node[] {
    for (let at = name.parent; at; at = at.parent) {
      const column = /^(?:do_block|block)$/.test(at.type) ? columnOf(name.text, at) : undefined;
      if (column) return usesOf(name.text, at).length === 2 ? column : [];
      const body = /^(?:body_statement|block_body|program)$/.test(at.type) ? at : undefined;
      const assigned = body ? partsOf(body).filter(({ type, children: [left] }) => type === 'assignment' && left?.text === name.text) : [];
      if (body && assigned.length > 0) return assigned.length === 1 && usesOf(name.text, body).length === 2 ? [assigned[0]?.childForFieldName('right')].filter((right) => right !== undefined && right !== null) : [];
    }
    if (usesOf(name.text, this.#root).length !== 1) return [];
    const lets = [...nodesIn(this.#root)].filter(({ type, text }) => type === 'call' && new RegExp(String.raw`^let!?[ (]\s*:${name.text}\b`).test(text));
    const block = lets.length === 1 ? lets[0]?.childForFieldName('block')?.childForFieldName('body') : undefined;
    const [value, ...more] = block ? partsOf(block) : [];
    return value && more.length === 0 ? [value] : [];
  }

  /** Replaces a literal, or one literal in it, by another one of the same kind. Undefined if there is none in it. */
  #altered(node: Node, comparison: Comparison): readonly Edit[] | undefined {
    const oneOf = (parts: readonly Node[]): readonly Edit[] | undefined => alteredPart(parts, this.#dice, (part) => this.#altered(part, comparison));
    switch (node.type) {
      case 'integer':
      case 'float': {
        const other = otherNumber(node.text, this.#dice, comparison.tolerance);
        return other === undefined ? undefined : [replacement(node, other)];
      }
      case 'unary':
        return node.text.startsWith('-') ? oneOf(partsOf(node)) : undefined;
      case 'true':
      case 'false':
        return [replacement(node, node.type === 'true' ? 'false' : 'true')];
      case 'simple_symbol':
        return /^:[a-z]\w*$/i.test(node.text) ? [replacement(node, `:${otherText(node.text.slice(1), this.#dice)}`)] : undefined;
      case 'string':
      case 'bare_string':
      case 'bare_symbol': {
        const longest = longestPart(partsOf(node).filter(({ type }) => type === 'string_content'));
        if (longest) return alteredTextPart(longest, this.#dice, comparison);
        return comparison.isContained || !/^(?:''|"")$/.test(node.text) ? undefined : [insertion(node.endIndex - 1, otherText('', this.#dice))];
      }
      case 'heredoc_beginning':
        return this.#heredoc(node, comparison);
      case 'chained_string':
      case 'array':
      case 'string_array':
      case 'symbol_array':
      case 'hash':
      case 'parenthesized_statements':
        return oneOf(partsOf(node));
      case 'pair':
        return oneOf([node.childForFieldName('value')].filter((value) => value !== null));
      case 'element_reference':
        return /^(?:Set|Hash|Array)\[/.test(node.text) ? oneOf(partsOf(node).slice(1)) : undefined;
      case 'call': {
        const { method, receiver, given } = callOf(node) ?? {};
        if (receiver && /^(?:freeze|dup|strip|chomp|b|strip_heredoc|html_safe|to_set)$/.test(method?.text ?? '')) return oneOf([receiver]);
        return /^(?:Set\.new|BigDecimal|Rational)\b/.test(node.text) && given ? oneOf(given.slice(0, 1)) : undefined;
      }
      default:
        return undefined;
    }
  }

  /** Bodies of heredocs come in the order of their beginnings. */
  #heredoc(beginning: Node, comparison: Comparison): readonly Edit[] | undefined {
    const all = [...nodesIn(this.#root)];
    const at = all.filter(({ type }) => type === 'heredoc_beginning').findIndex(({ id }) => id === beginning.id);
    const body = all.filter(({ type }) => type === 'heredoc_body')[at];
    const longest = body && longestPart(partsOf(body).filter(({ type }) => type === 'heredoc_content'));
    return longest && alteredTextPart(longest, this.#dice, comparison);
  }
}

export interface Call {
  readonly node: Node;
  readonly method: Node;
  readonly receiver: Node | undefined;
  readonly given: readonly Node[];
  readonly block: Node | undefined;
}

/** A call whose arguments have known positions. */
export function callOf(node: Node): Call | undefined {
  const method = node.type === 'call' ? node.childForFieldName('method') : null;
  if (!method) return undefined;
  const list = node.childForFieldName('arguments');
  const given = list ? partsOf(list) : [];
  if (given.some(({ type }) => /splat|block_argument/.test(type))) return undefined;
  return { node, method, receiver: node.childForFieldName('receiver') ?? undefined, given, block: node.childForFieldName('block') ?? undefined };
}

const usesOf = (name: string, within: Node): readonly Node[] => [...nodesIn(within)].filter(({ type, text }) => /^(?:identifier|constant)$/.test(type) && text === name);

/** The values of a block's parameter, where the block goes over a table that is written out. */
function columnOf(name: string, block: Node): readonly Node[] | undefined {
  const parameters = block.childForFieldName('parameters');
  const names = parameters ? partsOf(parameters).map(({ text }) => text) : [];
  const column = names.indexOf(name);
  const table = column < 0 ? undefined : tableOf(block);
  if (!table) return column < 0 ? undefined : [];
  const cells = partsOf(table).map((row) => {
    if (row.type === 'pair') return names.length === 2 ? (row.childForFieldName(column === 0 ? 'key' : 'value') ?? undefined) : undefined;
    return names.length === 1 ? row : row.type === 'array' && partsOf(row).length === names.length ? partsOf(row)[column] : undefined;
  });
  return cells.every((cell) => cell !== undefined) ? cells : [];
}

/** The list or hash that a block goes over, if it is written out and not empty. */
function tableOf(block: Node): Node | undefined {
  const call = block.parent && callOf(block.parent);
  const { receiver } = call ?? {};
  return call?.method.text === 'each' && receiver && /^(?:array|hash)$/.test(receiver.type) && partsOf(receiver).length > 0 ? receiver : undefined;
}

/** The call of `error = assert_raises(ArgumentError) { … }`. */
const resultOf = (statement: Node): Node => (statement.type === 'assignment' ? (statement.childForFieldName('right') ?? statement) : statement);

/** The statements of a body that run whenever it does. */
function* reached(body: Node): Generator<Node> {
  // `def test_it = assert_equal(1, one)`
  const statements = /^(?:call|binary)$/.test(body.type) ? [body] : partsOf(body);
  for (const statement of statements) {
    yield statement;
    const block = callOf(statement)?.block;
    const inner = block?.childForFieldName('body');
    if (block && inner && (RUNS_ITS_BLOCK.test(statement.text) || tableOf(block)) && !MAY_END_EARLY.test(inner.text)) yield* reached(inner);
    if (statement.type === 'begin') yield* reached(statement);
    if (mayLeave(statement)) return;
  }
}

/** Whether the statements after this one may be left out, other than by a failure. */
function mayLeave(statement: Node): boolean {
  for (const { type, text } of nodesIn(statement, (node) => /^(?:method|lambda|class)$/.test(node.type))) {
    if (/^(?:return|break|next|redo|retry)$/.test(type)) return true;
    if (/^(?:identifier|call)$/.test(type) && /^(?:skip|pending|omit|pend|exit|throw|raise)\b/.test(text)) return true;
  }
  return false;
}
