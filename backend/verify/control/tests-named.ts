import { isExact, isTitled, type SourceTest } from './source-test.ts';

/** The tests of a file, subtests included, that can have this name: those that have it for sure, or else all that may have it. */
export function testsNamed(tests: readonly SourceTest[], name: string): readonly SourceTest[] {
  const all = withSubtests(tests);
  const exact = all.filter(({ titles }) => titles.some((title) => isExact(title) && isTitled(title, name)));
  if (exact.length > 0) return exact;
  // The later one of two tests with one name has a number behind it.
  const plain = name.replace(/ \(\d+\)$/, '');
  return all.filter(({ titles }) => titles.some((title) => isTitled(title, name) || isTitled(title, plain)));
}

function withSubtests(tests: readonly SourceTest[]): readonly SourceTest[] {
  const all = [...tests];
  for (const { subtests } of all) all.push(...(subtests ?? []));
  return all;
}
