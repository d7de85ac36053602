import { expect, test } from 'vitest';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import { judged, ran } from './judged.ts';
import { openJournal, temporaryFile } from './temporary.ts';

/* The tests that a person left out of the verdicts of a project. */

const decided = (tests: string[], failedBefore: 'leave-out' | 'must-pass' = 'leave-out', more: { keptFrom?: string } = {}): RunEvent => ({ type: 'verdict.decided', round: 0, tests, failedBefore, ...more });
const OTHER = { workspace: '/other' };

/** @param runs the events of one run after another, in a project */
function journalOf(...runs: RunEvent[][]) {
  const journal = openJournal(temporaryFile());
  runs.forEach((events, index) => ran(journal, `r${index}`, events, {}, { workspace: '/project' }));
  return journal;
}

test('are those that the person left out last, in this project alone', () => {
  const journal = journalOf([decided(['b', 'a'])], [decided(['c'])]);
  ran(journal, 'other', [decided(['d'])], {}, OTHER);
  expect(journal.leftOutTests('/project')).toEqual(['a', 'b', 'c']);
  journal.append('r0', [decided(['b'], 'must-pass')]);
  expect(journal.leftOutTests('/project')).toEqual(['a', 'c']);
});

test('are fewer by those that pass before a change, surely, and no others', () => {
  const tests = (['passed', 'failed', 'missing', 'passed'] as const).map((before, index) => ({ id: 'abcd'[index] ?? '', before, after: 'passed' as const, ...(index === 3 && { flaky: true }) }));
  const journal = journalOf([decided(['a', 'b', 'c', 'd']), judged('passes', { tests })]);
  expect(journal.leftOutTests('/project')).toEqual(['b', 'c', 'd']);
});

test('are taken back by name or all, and a run that keeps the decision does not bring them again', () => {
  const journal = journalOf([decided(['a', 'b', 'c'])]);
  expect(journal.takeBackLeftOut('/project', ['a', 'x'])).toBe(1);
  expect(journal.takeBackLeftOut('/other')).toBe(0);
  expect(journal.takeBackLeftOut('/project')).toBe(2);
  journal.append('r0', [decided(['a'], 'leave-out', { keptFrom: 'r' })]);
  expect(journal.leftOutTests('/project')).toEqual([]);
});

test('outlive the run in which that was said, and the process', () => {
  const file = temporaryFile();
  const journal = openJournal(file);
  ran(journal, 'r', [decided(['a']), { type: 'run.cancelled' }], {}, { workspace: '/project' });
  journal.remove(['r']);
  expect(openJournal(file).leftOutTests('/project')).toEqual(['a']);
});
