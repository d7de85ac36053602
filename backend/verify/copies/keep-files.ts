import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { runGit } from '../git/git-safety.ts';

/** The id of an empty file, which every repository knows. */
const EMPTY = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';
const REPOSITORY = '.git';

/**
 * Keeps files of a folder for longer than this process lives: copies them into a new folder `to` (absolute), which is there whole or not at
 * all. The file system shares their blocks where it can. As a workspace, the new folder is listed as these files, whatever they are called
 * and whatever `.gitignore` says. `paths` are relative. Throws errors of the file system, or the signal's reason.
 * @param hasRepository whether the root of a repository lies in the folder itself, as tests of the project may see
 */
export async function keepFiles(from: string, paths: ReadonlySet<string>, { to, hasRepository, signal }: {
  readonly to: string; readonly hasRepository: boolean; readonly signal: AbortSignal;
}): Promise<string> {
  const whole = path.dirname(to);
  const partial = `${whole}.partial`;
  await rm(partial, { recursive: true, force: true });
  const target = path.join(partial, path.basename(to));
  const made = new Set<string>();
  for (const file of paths) {
    signal.throwIfAborted();
    const folder = path.dirname(path.join(target, file));
    if (!made.has(folder)) await mkdir(folder, { recursive: true, mode: 0o700 });
    made.add(folder);
    await copyOne(path.join(from, file), path.join(target, file));
  }
  // Without Git, files are listed by their names.
  await listInGit(hasRepository ? target : partial, [...paths].map((file) => (hasRepository ? file : path.posix.join(path.basename(to), file))), signal)
    .catch(() => signal.throwIfAborted());
  await rm(whole, { recursive: true, force: true });
  await rename(partial, whole);
  return to;
}

async function copyOne(from: string, to: string): Promise<void> {
  if ((await lstat(from)).isSymbolicLink()) await symlink(await readlink(from), to);
  else await copyFile(from, to, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
}

/** An index with these names, and no contents. */
async function listInGit(folder: string, paths: readonly string[], signal: AbortSignal): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await rm(path.join(folder, REPOSITORY), { recursive: true, force: true });
  await runGit(folder, ['init', '-q'], { signal });
  const entries = paths.map((file) => `100644 ${EMPTY} 0\t${file}\0`).join('');
  await runGit(folder, ['update-index', '-z', '--index-info'], { signal, input: entries });
}
