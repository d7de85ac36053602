import type { BaseTests } from './base-tests.ts';
import { lastWords } from './judge/last-words.ts';
import { UnusableRunError } from './judge/test-runs.ts';

/* What judges a change besides the tests, by exit codes: linters, type checkers, tests of another runner or package. */

type Ending = 'passed' | 'failed' | 'stopped';

export interface CheckOutcome {
  readonly command: string;
  readonly before: Ending;
  readonly after: Ending;
  /** What it said at the end, where it failed with the change. */
  readonly said: string;
}

type Change = (copy: string) => Promise<void>;

/**
 * Runs each command with the patch, and on the base, too, where that tells something: one that passes with the patch
 * counts as passed before unless `compareAll`. What the patch seems to break is run with it once more, since tests may be flaky.
 * Throws an error of the machine, or the signal's reason.
 */
export async function runChecks(tests: BaseTests, commands: readonly string[], apply: Change, { compareAll = false } = {}): Promise<readonly CheckOutcome[]> {
  const found: CheckOutcome[] = [];
  for (const command of commands) {
    if (ASKS_REGISTRY.test(command)) {
      found.push({ command, before: 'stopped', after: 'stopped', said: '' });
      continue;
    }
    let { ending: after, said } = await endingOf(tests, command, apply);
    const before = after === 'passed' && !compareAll ? after : (await endingOf(tests, command, (copy) => tests.makeBase(copy))).ending;
    if (before === 'passed' && after === 'failed') ({ ending: after, said } = await endingOf(tests, command, apply));
    found.push({ command, before, after, said });
  }
  return found;
}

/** It would wait for the network, which the sandbox does not have. */
const ASKS_REGISTRY = /\b(?:npm|pnpm|yarn|bun)\b.*\baudit\b|\bpip-audit\b|\bcargo audit\b|\bgovulncheck\b/;

/** Whether what prepares the tests fails on the base as well: then its failure with the patch is no reason against the patch. */
export async function failsOnBase(tests: BaseTests, command: string): Promise<boolean> {
  return (await endingOf(tests, command, (copy) => tests.makeBase(copy))).ending === 'failed';
}

async function endingOf({ runs }: BaseTests, command: string, change: Change): Promise<{ ending: Ending; said: string }> {
  try {
    const outcome = await runs.runCheck(command, change);
    return outcome.exitCode === 0 ? { ending: 'passed', said: '' } : { ending: 'failed', said: lastWords(outcome) };
  } catch (error) {
    if (!(error instanceof UnusableRunError)) throw error;
    return { ending: 'stopped', said: ` ${error.message}` };
  }
}

/** A check that the patch has broken: it passed before, and fails. One that was stopped says nothing. */
export const broken = (checks: readonly CheckOutcome[]): CheckOutcome | undefined =>
  checks.find(({ before, after }) => before === 'passed' && after === 'failed');

/** A check that failed before and passes with the patch. */
export const mended = (checks: readonly CheckOutcome[]): CheckOutcome | undefined =>
  checks.find(({ before, after }) => before === 'failed' && after === 'passed');

/** One line for each check. */
export function checkNotes(checks: readonly CheckOutcome[]): readonly string[] {
  return checks.map(({ command, before, after }) => {
    const shown = `Besides the tests, "${command}"`;
    if (after === 'stopped') return `${shown} was not run to its end, and counted neither for nor against.`;
    if (after === 'passed') return before === 'failed' ? `${shown} failed before the change and passes with it.` : `${shown} passes with the change.`;
    return before === 'passed' ? `${shown} passed before the change and fails with it.` : `${shown} fails with the change as it did before.`;
  });
}
