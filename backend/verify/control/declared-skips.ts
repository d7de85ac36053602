import type { TestsToAlter } from './alter-expectations.ts';

/** Of the given tests those whose own source says that they are skipped. */
export function declaredSkips(tests: TestsToAlter): Promise<ReadonlySet<string>> {
  void tests;
  return Promise.resolve(new Set());
}
