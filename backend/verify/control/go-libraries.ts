import { insertion, replacement, type Edit } from '../syntax/edits.ts';
import { partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { callIn, type GoChecks } from './go-assertions.ts';
import type { GoLibrary } from './go-library-names.ts';
import type { GoComparison } from './go-literals.ts';

/** What an assertion of a library asks. */
export interface LibraryAssertion {
  /** What may hold the expected value, the likelier first. */
  readonly sides: readonly Node[];
  readonly comparison: GoComparison;
  /** Asks the opposite; absent if there is none, or if the project itself may decide what is equal. */
  readonly opposite?: readonly Edit[];
}

interface Question {
  /** The indices of the arguments that may be expected, not counting the test. */
  readonly at: readonly number[];
  readonly comparison?: GoComparison;
}

const EQUAL: Question = { at: [1, 0] };
const OWN_EQUAL: Question = { at: [1, 0], comparison: { isOwn: true } };
const CONTAINED: Question = { at: [1], comparison: { isContained: true } };

/** The libraries whose DeepEqual is that of go-cmp call the `Equal` methods of the project. */
const QUESTIONS: Readonly<Record<GoLibrary, Readonly<Record<string, Question>>>> = {
  'quicktest': { Equals: EQUAL, DeepEquals: OWN_EQUAL, CmpEquals: OWN_EQUAL, ContentEquals: OWN_EQUAL, HasLen: { at: [1] }, Contains: CONTAINED, StringContains: CONTAINED },
  'gotest.tools': { Equal: EQUAL, DeepEqual: OWN_EQUAL, Error: { at: [1] }, ErrorContains: CONTAINED, Contains: CONTAINED, Len: { at: [1] } },
  'is': { Equal: EQUAL },
};

/** Checkers of quicktest, which the project cannot influence, and their opposites. */
const OPPOSITE_CHECKERS: Readonly<Record<string, string>> = { IsNil: 'IsNotNil', IsNotNil: 'IsNil', IsTrue: 'IsFalse', IsFalse: 'IsTrue' };

/** Undefined if the statement is no assertion of these libraries. */
export function libraryAssertion(statement: Node, { libraries, tests }: GoChecks): LibraryAssertion | undefined {
  const call = callIn(statement);
  const field = call?.childForFieldName('function')?.childForFieldName('field')?.text;
  const list = call?.childForFieldName('arguments');
  if (!list || field === undefined || partsOf(list).some(({ type }) => type === 'variadic_argument')) return undefined;
  const all = partsOf(list);
  const given = all[0] !== undefined && tests.has(all[0].text) ? all.slice(1) : all;
  for (const library of libraries) {
    const isChecked = library !== 'is' && /^(?:Assert|Check)$/.test(field);
    const found = isChecked ? ofChecker(library, given) : library === 'quicktest' ? undefined : asked(library, field, given);
    if (found) return found;
  }
  return undefined;
}

function asked(library: GoLibrary, name: string, given: readonly Node[]): LibraryAssertion | undefined {
  const question = Object.hasOwn(QUESTIONS[library], name) ? QUESTIONS[library][name] : undefined;
  return question && { sides: question.at.flatMap((index) => given[index] ?? []), comparison: question.comparison ?? {} };
}

/** `c.Assert(got, qt.Equals, want)`, `qt.Assert(t, qt.Equals(got, want))`, and `assert.Assert(t, is.Equal(got, want))` of gotest.tools. */
function ofChecker(library: GoLibrary, given: readonly Node[]): LibraryAssertion | undefined {
  const [first, second] = given;
  const isCalled = first?.type === 'call_expression' && (second === undefined || /_literal$/.test(second.type));
  const checker = isCalled ? first.childForFieldName('function') : second;
  const named = checker?.type === 'call_expression' ? checker.childForFieldName('function') : checker;
  const name = named?.type === 'selector_expression' ? named.childForFieldName('field') : named;
  if (!checker || !name) return undefined;
  const inner = isCalled ? first.childForFieldName('arguments') : null;
  const values = inner ? partsOf(inner) : given.filter(({ id }) => id !== checker.id);
  const found = asked(library, name.text, values);
  if (library !== 'quicktest') return found;
  const other = OPPOSITE_CHECKERS[name.text];
  if (other !== undefined) return { sides: [], comparison: {}, opposite: [replacement(name, other)] };
  // `Equals` is the comparison of the language.
  const isTurned = found !== undefined && name.text === 'Equals' && !isCalled && named?.type === 'selector_expression';
  const owner = isTurned ? named.childForFieldName('operand')?.text : undefined;
  return owner === undefined ? found : found && { ...found, opposite: [insertion(checker.startIndex, `${owner}.Not(`), insertion(checker.endIndex, ')')] };
}
