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
  const own = packages.find((one) => one.command === command)?.folder;
  if (own === undefined || own === '') return { commands: [], leftOut: [] };
  const others = new Map(paths.flatMap((path) => {
    const around = testsAround(path, packages);
    return around && around.folder !== own ? [[around.folder, around.command] as const] : [];
  }));
  return { commands: [...others.values()].slice(0, MOST), leftOut: [...others.keys()].slice(MOST) };
}
