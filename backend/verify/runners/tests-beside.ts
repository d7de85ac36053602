import { testsAround, type FoundTests } from './find-tests.ts';

/* In a monorepo, one package's tests judge a change. What the change does to other packages, their own tests know. */

/** A change to more packages is judged by the tests of the first ones. */
const MOST = 5;

export interface TestsBeside {
  /** The likeliest command of each package, for the workspace's folder. */
  readonly commands: readonly string[];
  /** Folders of packages whose tests are left out, because there are too many. */
  readonly leftOut: readonly string[];
}

/**
 * The tests of the packages in which files are changed, without those of the package that `command` tests. A file belongs to the innermost package around it.
 * @param packages what was found in the workspace; nothing, where the command tests all of it
 * @param paths of changed files, relative to the workspace
 */
export function testsBeside(command: string, packages: readonly FoundTests[], paths: readonly string[]): TestsBeside {
  const own = folderOf(command, packages);
  if (own === undefined || own === '') return { commands: [], leftOut: [] };
  const others = testsOfChange(packages, paths).filter(({ folder }) => folder !== own);
  return { commands: others.slice(0, MOST).map((one) => one.command), leftOut: others.slice(MOST).map(({ folder }) => folder) };
}

const folderOf = (command: string, packages: readonly FoundTests[]): string | undefined => packages.find((one) => one.command === command)?.folder;

/** The most packages whose tests are run one by one. */
const MOST_OTHERS = 20;

/** The likeliest command of each package but the one that `command` tests. */
export function testsOfOthers(command: string, packages: readonly FoundTests[]): readonly string[] {
  const own = folderOf(command, packages);
  const folders = [...new Set(packages.map(({ folder }) => folder))].filter((folder) => folder !== own && folder !== '');
  return folders.slice(0, MOST_OTHERS).flatMap((folder) => packages.find((one) => one.folder === folder)?.command ?? []);
}

/** The likeliest tests of each package in which a file (relative to the workspace) is changed, in the order of the files. */
export function testsOfChange(packages: readonly FoundTests[], paths: readonly string[]): readonly FoundTests[] {
  return [...new Set(paths.flatMap((path) => testsAround(path, packages) ?? []))];
}
