import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { protectedReason } from '../protected-paths.ts';
import { ReportError } from '../test-report.ts';

/** Sources, and what a runner writes only where it is asked to. Tests may well write to their data. */
const WATCHED = /\.(?:[cm]?[jt]sx?|go|snap|snapshot)$/;
const EXPECTED = /\.(?:golden|approved)(?:\.[^/]+)?$/;
const DATA = /(?:^|\/)(?:__|\.)?(?:fixtures?|data|test-?data|output|out|tmp|temp)(?:__)?\//i;

/**
 * Remembers what files of tests there are in the copy (absolute), and what is installed there. The returned function throws
 * `ReportError` if one of them is another now: code under test that runs before it is loaded could have written it.
 */
export async function watchTestFiles(copy: string): Promise<() => Promise<void>> {
  const known = new Map<string, string>();
  const folders = [''];
  for (const folder of folders) {
    const isInstalled = folder.split('/').includes('node_modules');
    for (const entry of await readdir(path.join(copy, folder), { withFileTypes: true }).catch(() => [])) {
      const relative = path.posix.join(folder, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== '.git' && (!isInstalled || entry.name.startsWith('@'))) folders.push(relative);
      } else if (isInstalled ? entry.isSymbolicLink() : isTestSource(relative)) known.set(relative, await identityOf(copy, relative));
    }
  }
  return async () => {
    for (const [relative, identity] of known) {
      if ((await identityOf(copy, relative)) !== identity)
        throw new ReportError(`The code under test wrote what belongs to the tests: ${relative}.`);
    }
  };
}

const isTestSource = (relative: string): boolean =>
  EXPECTED.test(relative) || (WATCHED.test(relative) && !DATA.test(relative) && protectedReason(relative) !== undefined);

async function identityOf(copy: string, relative: string): Promise<string> {
  const found = await lstat(path.join(copy, relative), { bigint: true }).catch(() => undefined);
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeNs} ${found.mode}`;
}
