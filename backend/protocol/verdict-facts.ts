import type { Verdict } from './verdict.ts';

// Facts about verdicts without their schema, which must not be in the panel's bundle.

/** Whether the change is verified. Both fields that say so must agree. */
export function isVerified({ verified, outcome }: Pick<Verdict, 'verified' | 'outcome'>): boolean {
  return verified && outcome === 'verified';
}

/** Whether all tests pass, though it is not shown that they would notice a wrong answer. */
export const passesOnly = ({ verified, outcome }: Pick<Verdict, 'verified' | 'outcome'>): boolean => !verified && outcome === 'passes';

/** Separates the parts of a test's id: file, suites, name. */
const ID_SEPARATOR = ' > ';

/** Splits a test id into file, suites and name. The first part is not always a file. */
export function partsOf(id: string): readonly string[] {
  return id.split(ID_SEPARATOR);
}
