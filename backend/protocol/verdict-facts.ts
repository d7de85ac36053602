import type { Verdict } from './verdict.ts';

// Facts about verdicts without their schema, which must not be in the panel's bundle.

/** Whether the change is verified. Both fields that say so must agree. */
export function isVerified({ verified, outcome }: Pick<Verdict, 'verified' | 'outcome'>): boolean {
  return verified && outcome === 'verified';
}

/** Separates the parts of a test's id: file, suites, name. */
const ID_SEPARATOR = ' > ';

/** Splits a test id into file, suites and name. The first part is not always a file. */
export function partsOf(id: string): readonly string[] {
  return id.split(ID_SEPARATOR);
}
