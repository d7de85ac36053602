import { isExact, isTitled, type SourceTest } from './source-test.ts';

/** The tests and subtests of a file with exactly this name; if there are none, those that may have it. */
export function testsNamed(tests: readonly SourceTest[], name: string): readonly SourceTest[] {
  const all = withSubtests(tests);
  const exact = all.filter(({ titles }) => titles.some((title) => isExact(title) && isTitled(title, name)));
  if (exact.length > 0) return exact;
  // A repeated name gets a number appended.
  const plain = name.replace(/ \(\d+\)$/, '');
  return all.filter(({ titles }) => titles.some((title) => isTitled(title, name) || isTitled(title, plain)));
}

/** Tests, and all that they declare. */
export function withSubtests(tests: readonly SourceTest[]): readonly SourceTest[] {
  const all = [...tests];
  for (const { subtests } of all) all.push(...(subtests ?? []));
  return all;
}
