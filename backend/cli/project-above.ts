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

/** What to do in a folder without tests, if one above it has some. */
export const aboveText = (above: string | undefined): string => (above === undefined ? '' : ` A folder above it has tests: --workspace ${above}`);
