import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { protectedReason } from '../files/protected-paths.ts';
import { Slices } from '../../common/slices.ts';
import { ReportError } from './test-report.ts';

/** Sources, and what a runner writes only where it is asked to. Tests may well write to their data. */
const WATCHED = /\.(?:[cm]?[jt]sx?|go|php|rb|snap|snapshot)$/;
const EXPECTED = /\.(?:golden|approved)(?:\.[^/]+)?$/;
const DATA = /(?:^|\/)(?:__|\.)?(?:fixtures?|data|test-?data|output|out|tmp|temp)(?:__)?\//i;

/**
 * Remembers what files of tests there are in the copy (absolute), and what is installed there. The returned function throws
 * `ReportError` if one of them is another now: code under test that runs before it is loaded could have written it.
 */
export async function watchTestFiles(copy: string): Promise<() => Promise<void>> {
  const known = new Map<string, string>();
  const folders = [''];
  // Asynchronous calls would take several times as long.
  const look = (folder: string): void => {
    const isInstalled = folder.split('/').includes('node_modules');
    for (const entry of readdirSync(path.join(copy, folder), { withFileTypes: true })) {
      const relative = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (entry.name !== '.git' && (!isInstalled || entry.name.startsWith('@'))) folders.push(relative);
      } else if (isInstalled ? entry.isSymbolicLink() : isTestSource(relative)) known.set(relative, identityOf(copy, relative));
    }
  };
  const slices = new Slices();
  await slices.forEach(folders, look);
  return async () => {
    await slices.forEach(known, ([relative, identity]) => {
      if (identityOf(copy, relative) !== identity)
        throw new ReportError(`The code under test wrote what belongs to the tests: ${relative}.`);
    });
  };
}

/** The copies of one project have the same paths, run after run, and to tell by the patterns takes longer than to read the folders. */
const told = new Map<string, boolean>();
const MAX_TOLD = 200_000;

function isTestSource(relative: string): boolean {
  const before = told.get(relative);
  if (before !== undefined) return before;
  const now = EXPECTED.test(relative) || (WATCHED.test(relative) && !DATA.test(relative) && protectedReason(relative) !== undefined);
  if (told.size >= MAX_TOLD) told.clear();
  told.set(relative, now);
  return now;
}

function identityOf(copy: string, relative: string): string {
  const found = lstatSync(path.join(copy, relative), { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeNs} ${found.mode}`;
}
