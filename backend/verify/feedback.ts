import { changeKind, isRed } from '../protocol/test-changes.ts';
import type { TestChange, Verdict } from '../protocol/verdict.ts';

/** Feedback names at most this many tests: of more failures, the first ones show the cause. */
const MAX_TESTS = 20;
const MAX_NOTES = 5;

const isStillFailing = (test: TestChange): boolean => changeKind(test) === 'still-failing';

const VERDICTS = {
  verified: 'The project\'s tests pass.',
  passes: 'The tests pass.',
  failed: 'The project\'s tests do not pass with this answer.',
  refused: 'The answer was not tested.',
  infrastructure: 'The tests could not be run.',
} as const;

/** What tests said of an answer, for a Conductor that may write another plan. `refused`: lines on changes that were not taken. */
export function feedbackOn(
  { outcome, reason, tests, notes = [] }: Pick<Verdict, 'outcome' | 'reason' | 'tests'> & Partial<Pick<Verdict, 'notes'>>, refused: readonly string[] = [],
): string {
  // Tests that the answer broke come before tests that it did not fix.
  const red = tests.filter(isRed).toSorted((a, b) => Number(isStillFailing(a)) - Number(isStillFailing(b)));
  const lines = red.slice(0, MAX_TESTS).map(({ id, before, after, message }) =>
    `- ${id}: ${before} before, ${after} after${message ? `\n  ${message.replaceAll('\n', '\n  ')}` : ''}`);
  return [
    `${VERDICTS[outcome]} ${reason}`,
    ...refused,
    ...lines,
    ...(red.length > MAX_TESTS ? [`- and ${red.length - MAX_TESTS} more`] : []),
    ...notes.slice(0, MAX_NOTES).map((note) => `Note: ${note}`),
  ].join('\n');
}
