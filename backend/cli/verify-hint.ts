import { onlyFailedBefore } from '../protocol/failed-before.ts';
import { type ChangeKind, changeKind } from '../protocol/test-changes.ts';
import type { TestChange } from '../protocol/verdict.ts';
import { TESTS_STAY } from '../verify/files/protected-paths.ts';
import { OUT_OF_TIME } from '../verify/judge/exceeded-text.ts';
import { shellQuote } from '../verify/sandbox/shell-quote.ts';
import { NO_CHANGE, type VerifyResult } from './judge-change.ts';

/** What the person chose of what the hints name. */
interface Chosen {
  readonly base?: string | undefined;
  readonly patch?: string | undefined;
  readonly tests?: string | undefined;
  readonly test?: readonly string[] | undefined;
  readonly failedBefore?: string | undefined;
  readonly timeout?: string | undefined;
}

const MOST_NAMED = 3;
const LONGEST_ID = 200;

/** What a person may have meant, after a verdict of `conductor verify`. */
export function verifyHint({ outcome, reason, notes, tests: changes }: Pick<VerifyResult, 'outcome' | 'reason' | 'notes' | 'tests'>, chosen: Chosen): string | undefined {
  if (reason === NO_CHANGE && chosen.base === undefined) return 'To judge commits, name where they began: --base main';
  if (reason.includes(OUT_OF_TIME) && chosen.timeout === undefined) return 'To give each run of the tests longer: --timeout SECONDS';
  const hasOwnTests = chosen.tests === undefined && outcome !== 'verified' && notes.some((note) => note.endsWith(`was left as it is: ${TESTS_STAY}`));
  if (hasOwnTests && chosen.patch === undefined) return 'To judge with the tests of the change itself: --tests head';
  if (chosen.test !== undefined || chosen.failedBefore !== undefined || onlyFailedBefore({ outcome, tests: [...changes] }).length === 0) return undefined;
  const mended = mendedHint(changes);
  return mended ? `To judge by the tests that the change mends, name them: ${mended}` : 'To judge without the tests that failed before: --failed-before leave-out';
}

/** The options that name the tests which a change mends, where all that is red was so before; undefined if there are none, or more than a person would type. */
export function mendedHint(changes: readonly TestChange[]): string | undefined {
  const mended = mendedBesideRed(changes);
  if (mended.length === 0 || mended.length > MOST_NAMED) return undefined;
  return mended.map(({ id }) => `--test ${shellQuote(id)}`).join(' ');
}

/** The tests that a change mends, where all that is red was so before. */
function mendedBesideRed(changes: readonly TestChange[]): readonly TestChange[] {
  const all = (kind: ChangeKind): readonly TestChange[] => changes.filter((change) => changeKind(change) === kind);
  const isMeantForSome = all('still-failing').length > 0 && all('broken').length === 0 && all('newly-failing').length === 0;
  return isMeantForSome ? all('mended').filter(({ id }) => id.length <= LONGEST_ID) : [];
}
