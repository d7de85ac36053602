import { existsSync } from 'node:fs';
import path from 'node:path';

/**
 * The nearest folder above this one (absolute), in the same Git repository, that has what is looked for: people stand in a subfolder and mean the
 * project. Undefined if there is none.
 */
export async function projectAbove(folder: string, has: (folder: string) => Promise<boolean>): Promise<string | undefined> {
  const above: string[] = [];
  let here = folder;
  while (!existsSync(path.join(here, '.git'))) {
    const next = path.dirname(here);
    if (next === here) return undefined;
    here = next;
    above.push(here);
  }
  for (const one of above) if (await has(one)) return one;
  return undefined;
}

/** What the tests of a folder are: commands that are read as tests, and those that look like tests. */
export interface TestsOfFolder {
  readonly found: readonly unknown[];
  readonly likely: readonly unknown[];
}

/** What to do in a folder (absolute) without tests, if one above it has some, or may have. */
export async function aboveText(folder: string, testsOf: (folder: string) => Promise<TestsOfFolder>): Promise<string> {
  const sure = await projectAbove(folder, async (above) => (await testsOf(above)).found.length > 0);
  if (sure !== undefined) return ` A folder above it has tests: --workspace ${sure}`;
  const likely = await projectAbove(folder, async (above) => (await testsOf(above)).likely.length > 0);
  return likely === undefined ? '' : ` A folder above it seems to have tests: --workspace ${likely}`;
}
