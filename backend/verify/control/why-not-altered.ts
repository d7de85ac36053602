import { ID_SEPARATOR } from '../runners/test-report.ts';
import { languageOf } from '../syntax/language.ts';
import type { TestsToAlter } from './tests-to-alter.ts';

/** Why no expected value of these tests was altered. */
export function whyNotAltered({ ids, paths, runner: { name, idRoot } }: Omit<TestsToAlter, 'folder'>): string {
  if (idRoot === 'no source') return `what tests of ${name} expect cannot be altered, because their sources are not known`;
  const files = idRoot === 'file' ? ids.map((id) => id.split(ID_SEPARATOR, 1)[0] ?? '') : [];
  const [made] = files;
  if (made !== undefined && !files.some((file) => paths.has(file))) return `what tests in ${made} expect cannot be altered, because it is made of other files before they run`;
  const unread = files.find((file) => languageOf(file) === undefined);
  return unread === undefined ? 'no test that was fixed has an expected value that can be altered' : `what tests in ${unread} expect cannot be altered, because its language is not read`;
}
