import type { TestChange, TestStatus, Verdict } from '../backend/protocol/verdict.ts';

/** What became of a test; the order is the order of the table. */
export type ChangeKind = 'mended' | 'broken' | 'still-failing' | 'added' | 'unchanged';

export interface VerdictRows {
  /** Tests worth a line of their own, each kind together, mended ones first. */
  readonly rows: readonly (TestChange & { readonly kind: ChangeKind })[];
  /** Tests that passed before and after. */
  readonly keptPassing: number;
  /** Tests that ran neither before nor after. */
  readonly neverRun: number;
}

const ORDER: readonly ChangeKind[] = ['mended', 'broken', 'still-failing', 'added', 'unchanged'];

export function verdictRows(tests: readonly TestChange[]): VerdictRows {
  const rows: (TestChange & { kind: ChangeKind })[] = [];
  let keptPassing = 0;
  let neverRun = 0;
  for (const test of tests) {
    if (test.before === 'passed' && test.after === 'passed') keptPassing += 1;
    else if (!ran(test.before) && !ran(test.after)) neverRun += 1;
    else rows.push({ ...test, kind: kindOf(test) });
  }
  rows.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  return { rows, keptPassing, neverRun };
}

function kindOf({ before, after }: TestChange): ChangeKind {
  if (before === 'failed' && after === 'passed') return 'mended';
  // A test that is gone or no longer runs proves as little as one that fails.
  if (before === 'passed') return 'broken';
  if (after === 'failed' && before !== 'failed') return 'broken';
  if (before === 'failed') return 'still-failing';
  return after === 'passed' ? 'added' : 'unchanged';
}

function ran(status: TestStatus): boolean {
  return status === 'passed' || status === 'failed';
}

/** Tests that pass after the patch, of those that ought to. */
export function passCount({ tests }: Verdict): { readonly passed: number; readonly total: number } {
  const counted = tests.filter((test) => ran(test.before) || ran(test.after));
  return { passed: counted.filter((test) => test.after === 'passed').length, total: counted.length };
}

/** A status as a word of the table. */
export const STATUS_WORD: Readonly<Record<TestStatus, string>> = {
  passed: 'passes',
  failed: 'fails',
  skipped: 'skipped',
  missing: 'missing',
};
