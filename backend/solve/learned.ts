import type { ContextRequest, LearnedPlace } from '../context/context.ts';
import type { FailingTest, Place } from '../protocol/run-events.ts';
import type { RoundView, RunSnapshot } from '../protocol/run-snapshot.ts';
import { isRed } from '../protocol/test-changes.ts';
import type { TestChange } from '../protocol/verdict.ts';
import { ownFrames } from './own-frames.ts';
import { shownFiles } from './shown-files.ts';

/*
 * What a run has learned about where to look: from the tests on the code as it is, and from the round before. It follows from the run's
 * events, apart from the places of tests.
 */

export type Learned = Required<Pick<ContextRequest, 'learned' | 'clues' | 'unused'>>;

/** Of more tests, the first ones show the cause, and the context has room for code, too. */
const MAX_TESTS = 5;
/** A longer test is a table: its beginning says what it is about. */
const MAX_TEST_LINES = 80;

/** What the failing tests on the code as it is point at. */
export function learnedFromBase({ base }: Pick<RunSnapshot, 'base'>): Learned {
  const failing = base?.result?.failing ?? [];
  return { learned: testPlaces(failing, 'a test that fails'), clues: cluesIn(failing), unused: [] };
}

/** What the conversation points at: the lines of the last change, as far as the files have it, and the question before. */
export function learnedFromEarlier({ earlier }: Pick<RunSnapshot, 'earlier'>): Learned {
  const { exchanges = [], change } = earlier ?? {};
  const edits = change && change.state !== 'lost' ? change.edits.filter(({ kind }) => kind !== 'delete') : [];
  return {
    learned: edits.flatMap(({ path, diff }) => changedLines(diff, 'new').map((lines): LearnedPlace => ({ path, ...lines, reason: 'the earlier answer changed it' }))),
    clues: exchanges.at(-1)?.question ?? '',
    unused: [],
  };
}

/** The red tests of a verdict. Tests that the answer broke come first. */
export function redTests({ verdict }: Pick<RoundView, 'verdict'>): readonly TestChange[] {
  return (verdict?.tests ?? []).filter(isRed).toSorted((a, b) => Number(a.before === 'failed') - Number(b.before === 'failed')).slice(0, MAX_TESTS);
}

/**
 * What a finished round points at: tests that are red with its answer, what its steps asked for, and the lines that it changed.
 * @param placesOf where tests are, by id
 */
export function learnedFromRound(run: RunSnapshot, round: RoundView, placesOf: ReadonlyMap<string, readonly Place[]>): Learned {
  const red = redTests(round).map(({ id, message }): FailingTest => ({
    id, ...(message !== undefined && { message }), places: [...(placesOf.get(id) ?? [])],
  }));
  const asked = round.steps.flatMap(({ turns = [] }) => turns).flatMap(({ pieces = [] }) => pieces)
    .map(({ path, startLine, endLine }): LearnedPlace => ({ path, startLine, endLine, reason: 'a step asked for it' }));
  const changed = (round.answer?.edits ?? []).filter(({ kind }) => kind !== 'create')
    .flatMap(({ path, diff }) => changedLines(diff).map((lines): LearnedPlace => ({ path, ...lines, reason: 'the last answer changed it' })));
  return {
    learned: [...testPlaces(red, 'a test that fails with the last answer'), ...asked, ...changed],
    clues: cluesIn(red),
    unused: unusedFiles(run, round),
  };
}

/** Two things learned, the first of them the more important. */
export function both(first: Learned, second: Learned): Learned {
  const keyOf = ({ path, startLine, endLine }: LearnedPlace): string => JSON.stringify([path, startLine, endLine]);
  const known = new Set(first.learned.map(keyOf));
  return {
    learned: [...first.learned, ...second.learned.filter((place) => !known.has(keyOf(place)))],
    clues: [first.clues, second.clues].filter((text) => text !== '').join('\n'),
    unused: [...new Set([...first.unused, ...second.unused])],
  };
}

function testPlaces(tests: readonly FailingTest[], reason: string): LearnedPlace[] {
  return tests.slice(0, MAX_TESTS).flatMap(({ places }) => places).slice(0, MAX_TESTS)
    .map(({ path, startLine, endLine }) => ({ path, startLine, endLine: Math.min(endLine, startLine + MAX_TEST_LINES - 1), reason }));
}

function cluesIn(tests: readonly FailingTest[]): string {
  return tests.slice(0, MAX_TESTS).map(({ id, message = '' }) => `${id}\n${ownFrames(message)}`).join('\n');
}

/** The lines that a unified diff touches, of the old file or the new one. */
function changedLines(diff: string, of: 'old' | 'new' = 'old'): { startLine: number; endLine: number }[] {
  const hunk = of === 'old' ? /^@@ -(\d{1,7})(?:,(\d{1,7}))? /gm : /^@@ -[\d,]{1,16} \+(\d{1,7})(?:,(\d{1,7}))? /gm;
  return [...diff.matchAll(hunk)].slice(0, 20).map(([, start, count = '1']) => {
    const startLine = Math.max(1, Number(start));
    return { startLine, endLine: startLine + Math.max(0, Number(count) - 1) };
  });
}

/** Files that the round was shown and that neither its steps' replies nor its changes speak of. */
function unusedFiles(run: RunSnapshot, round: RoundView): string[] {
  const said = round.steps.flatMap(({ output = '', turns = [] }) => [output, ...turns.map(({ reply }) => reply)]).join('\n');
  const changed = new Set((round.answer?.edits ?? []).map(({ path }) => path));
  const isNamed = (path: string): boolean => said.includes(path.split('/').at(-1) ?? path);
  return shownFiles(run, round.index).filter((path) => !changed.has(path) && !isNamed(path));
}
