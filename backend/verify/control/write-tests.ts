import { randomUUID } from 'node:crypto';
import { constants, lstatSync, lutimesSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { refusalOnDisk } from '../files/workspace-path.ts';
import { locateTests } from './locate-tests.ts';
import type { TestsToAlter } from './tests-to-alter.ts';

/**
 * Writes the source files of tests: with their new texts, by path, where there are any, and otherwise with what they contain. So the judged
 * code cannot tell an altered file by when or whether it was written, or compiled. Then all of them, the files of the patch (relative) and the folders
 * around them get the same times.
 */
export async function writeTests(tests: TestsToAlter, texts: ReadonlyMap<string, string>, patched: readonly string[]): Promise<void> {
  const located = await locateTests(tests);
  const files = [...new Set([...located.map(({ file }) => file), ...texts.keys()])].sort();
  const end = tests.runner.idRoot === 'go package' ? newEnd : () => '';
  const written: string[] = [];
  for (const file of files) {
    if ((await refusalOnDisk(tests.folder, file)) !== undefined) continue;
    if (await rewrite(path.join(tests.folder, file), texts.get(file), end(file))) written.push(file);
  }
  giveSameTimes(tests.folder, [...written, ...patched]);
}

/**
 * What makes a file of Go's tests another one in each run. Go compiles by contents, and what was compiled of the base stands in a cache: without this, of
 * tests whose code the patch does not change only the altered ones would be compiled.
 */
const newEnd = (file: string): string => (file.endsWith('_test.go') ? `\n// ${randomUUID()}\n` : '');

/** The caller checked that the file is no symbolic link. O_NOFOLLOW fails if it has become one. False if there is no such file. */
async function rewrite(file: string, text: string | undefined, end: string): Promise<boolean> {
  const handle = await open(file, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0)).catch(() => undefined);
  if (!handle) return false;
  try {
    const before = await handle.readFile();
    await handle.truncate(0);
    await handle.write(Buffer.concat([text === undefined ? before : Buffer.from(text), Buffer.from(end)]), 0, undefined, 0);
    return true;
  } finally {
    await handle.close();
  }
}

/** A pass takes less than a tick of the clock of a file system, so few are interrupted by one. */
const MAX_PASSES = 10;

/**
 * Setting the times of a file also sets when its status changed, which cannot be chosen. So it is done again until all of it happened in
 * one tick; otherwise chance would make two runs of the same code differ.
 */
function giveSameTimes(folder: string, files: readonly string[]): void {
  const names = new Set<string>(['.']);
  for (const file of files) for (let at = path.posix.normalize(file); at !== '.'; at = path.posix.dirname(at)) names.add(at);
  // A file that the patch deletes is not there.
  const paths = [...names].sort().map((name) => path.join(folder, name)).filter((absolute) => changedAt(absolute) !== undefined);
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const now = new Date();
    for (const absolute of paths) lutimesSync(absolute, now, now);
    if (changedAt(paths[0] ?? folder) === changedAt(paths.at(-1) ?? folder)) return;
  }
}

const changedAt = (absolute: string): bigint | undefined => lstatSync(absolute, { bigint: true, throwIfNoEntry: false })?.ctimeNs;
