import { createHash } from 'node:crypto';
import { constants, copyFileSync, createReadStream, mkdirSync, readFileSync } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readdir, realpath, symlink } from 'node:fs/promises';
import path from 'node:path';
import { forEachInSlices } from './slices.ts';
import { isInside, listWorkspace, realPathOf, type Listing } from './workspace-listing.ts';

/** Larger files are copied and read without holding the thread. */
const LARGE_FILE_BYTES = 1024 * 1024;

/** A private copy of a workspace. */
export interface WorkspaceCopy {
  /** Absolute, without symbolic links. */
  readonly folder: string;
  /** The shared dependency folders in the workspace, absolute: the sandbox must let them be read. */
  readonly sharedFolders: readonly string[];
  /** SHA-256 over names, modes and contents of what was copied, and over what is shared. */
  readonly fingerprint: string;
  /** A second copy with the same contents, made from this one. */
  cloneTo(folder: string): Promise<void>;
}

/**
 * Copies what belongs to `workspace` (see `listWorkspace`) into the new folder `folder`. Contents are copied or reflinked,
 * never hard-linked: a test that writes in place must not reach the user's file. `.git` stays behind. Symbolic links are
 * recreated if they stay inside the workspace, and left out if they lead elsewhere.
 *
 * Installed dependencies are shared: the copy has its own `node_modules` folder, in which each package is a symbolic link
 * to the workspace's. Inside the sandbox that is read-only, because nothing outside the copy can be written. Links of a
 * monorepo from `node_modules` back into its packages are recreated inside the copy, or the tests would run against the
 * unpatched sources.
 */
export async function copyWorkspace(workspace: string, folder: string, signal: AbortSignal): Promise<WorkspaceCopy> {
  const base = await realpath(workspace);
  const listing = await listWorkspace(base, signal);
  await mkdir(folder, { recursive: true });
  const target = await realpath(folder);
  await copyListed(base, target, listing, signal);
  await shareAll(base, target, listing);
  return {
    folder: target,
    sharedFolders: listing.dependencyFolders.map((dependencies) => path.join(base, dependencies)),
    fingerprint: await fingerprintOf(base, target, listing, signal),
    cloneTo: async (clone) => {
      await mkdir(clone, { recursive: true });
      await copyListed(target, clone, listing, signal);
      await shareAll(base, clone, listing);
    },
  };
}

async function copyListed(from: string, to: string, { files, links }: Listing, signal: AbortSignal): Promise<void> {
  const folders = new Set([...files, ...links].map((entry) => path.dirname(entry.path)));
  await forEachInSlices(folders, (folder) => void mkdirSync(path.join(to, folder), { recursive: true }));
  await forEachInSlices(files, async (file) => {
    signal.throwIfAborted();
    const target = path.join(to, file.path);
    if (file.size > LARGE_FILE_BYTES) await copyFile(path.join(from, file.path), target, constants.COPYFILE_FICLONE);
    else copyFileSync(path.join(from, file.path), target, constants.COPYFILE_FICLONE);
    // The copy is the tests' to write, whatever the modes in the workspace are.
    if ((file.mode & 0o600) !== 0o600) await chmod(target, file.mode | 0o600);
  });
  for (const link of links) await symlink(link.target, path.join(to, link.path));
}

async function shareAll(base: string, copy: string, { dependencyFolders }: Listing): Promise<void> {
  for (const folder of dependencyFolders) await shareDependencies(base, copy, folder);
}

async function shareDependencies(base: string, copy: string, relativeFolder: string): Promise<void> {
  const real = path.join(base, relativeFolder);
  const own = path.join(copy, relativeFolder);
  await mkdir(own, { recursive: true });
  for (const entry of await readdir(real, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name.startsWith('@')) {
      await shareDependencies(base, copy, path.join(relativeFolder, entry.name));
      continue;
    }
    const shared = path.join(real, entry.name);
    const ownTarget = entry.isSymbolicLink() ? ownPackage(base, relativeFolder, shared) : undefined;
    await symlink(ownTarget ?? shared, path.join(own, entry.name), entry.isFile() ? 'file' : 'dir');
  }
}

/** For a link in `node_modules` that leads to a package of the workspace itself: the link to the same package of the copy. */
function ownPackage(base: string, relativeFolder: string, link: string): string | undefined {
  const target = realPathOf(link);
  if (target === undefined || !isInside(base, target)) return undefined;
  const relative = path.relative(base, target);
  return relative.split(path.sep).includes('node_modules') ? undefined : path.relative(relativeFolder, relative) || '.';
}

async function fingerprintOf(base: string, folder: string, listing: Listing, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await forEachInSlices(listing.files, async ({ path: file, size, mode }) => {
    signal.throwIfAborted();
    const absolute = path.join(folder, file);
    hash.update(`f ${file}\0${mode & 0o111}\0${size}\0`);
    if (size <= LARGE_FILE_BYTES) hash.update(readFileSync(absolute));
    else for await (const chunk of createReadStream(absolute)) hash.update(chunk as Buffer);
  });
  for (const link of listing.links) hash.update(`l ${link.path}\0${link.target}\0`);
  for (const dependencies of listing.dependencyFolders) {
    const shared = path.join(base, dependencies);
    // npm writes this file with every change of what is installed; for other package managers the folder itself has to do.
    const { mtimeMs } = await lstat(path.join(shared, '.package-lock.json')).catch(() => lstat(shared));
    hash.update(`d ${dependencies}\0${mtimeMs}\0`);
  }
  return hash.digest('hex');
}
