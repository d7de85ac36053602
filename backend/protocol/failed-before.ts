import { changeKind, isRed } from './test-changes.ts';
import type { Verdict } from './verdict.ts';

/**
 * The tests for which alone an answer fails, where they failed before: nothing else speaks against it, and it may be right if they have
 * nothing to do with it. None where it breaks a test, or loses one.
 */
export function onlyFailedBefore({ outcome, tests }: Pick<Verdict, 'outcome' | 'tests'>): readonly string[] {
  const red = outcome === 'failed' ? tests.filter(isRed) : [];
  return red.every((test) => changeKind(test) === 'still-failing' && test.after === 'failed') ? red.map(({ id }) => id) : [];
}
