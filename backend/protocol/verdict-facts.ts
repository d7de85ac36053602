import type { Verdict } from './verdict.ts';

// What is known of a verdict without its schema, which the panel must not carry.

/** Whether the tests were green. Where the two fields that say so disagree, the weaker one counts. */
export function isVerified({ verified, outcome }: Pick<Verdict, 'verified' | 'outcome'>): boolean {
  return verified && outcome === 'verified';
}

/** Separates the parts of a test's id: file, suites, name. */
const ID_SEPARATOR = ' > ';

/** File, suites and name of a test; what stands first is not always a file. */
export function partsOf(id: string): readonly string[] {
  return id.split(ID_SEPARATOR);
}
