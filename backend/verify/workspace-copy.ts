import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, lstat, mkdir, readdir, readFile, readlink, realpath, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { forEachLimited } from './concurrency.ts';

const MAX_ENTRIES = 200_000;
const MAX_BYTES = 4 * 1024 ** 3;
const FILES_AT_ONCE = 32;

/** Folders that are never part of a copy where Git does not say what is ignored. Dependencies are shared instead (see below). */
const LEFT_OUT = new Set(['.git', '.hg', '.svn', '.conductor', '.cache', '.venv', '__pycache__', 'target', '.next', '.turbo']);

/** The workspace cannot be copied. */
export class WorkspaceCopyError extends Error {
  override readonly name = 'WorkspaceCopyError';
}

/** What a copy consists of; enough to copy it again. Paths are relative, with the separators of this machine. */
interface Contents {
  readonly files: readonly string[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** `node_modules` folders, which are shared and not copied. */
  readonly dependencyFolders: readonly string[];
}

/** A private copy of a workspace. */
export interface WorkspaceCopy {
  /** Absolute, without symbolic links. */
  readonly folder: string;
  /** The shared dependency folders in the workspace, absolute: the sandbox must let them be read. */
  readonly sharedFolders: readonly string[];
  /** SHA-256 over names, modes and contents of what was copied, and over the names of what is shared. */
  readonly fingerprint: string;
  /** A second copy with the same contents, made from this one. */
  cloneTo(folder: string): Promise<void>;
}

/**
 * Copies what Git does not ignore (or, without Git, everything but build outputs) from `workspace` into the new folder `folder`.
 * Contents are copied or reflinked, never hard-linked: a test that writes in place must not reach the user's file. `.git` stays
 * behind. Symbolic links are recreated if they stay inside the workspace, and left out if they lead elsewhere.
 *
 * Installed dependencies are shared: the copy has its own `node_modules` folder, in which each package is a symbolic link to the
 * workspace's. Inside the sandbox that is read-only, because nothing outside the copy can be written. Links of a monorepo from
 * `node_modules` back into its packages are recreated inside the copy, or the tests would run against the unpatched sources.
 */
export async function copyWorkspace(workspace: string, folder: string, signal: AbortSignal): Promise<WorkspaceCopy> {
  const base = await realpath(workspace);
  const contents = await listContents(base, signal);
  await mkdir(folder, { recursive: true });
  const target = await realpath(folder);
  await copyContents(base, target, contents, signal);
  for (const dependencies of contents.dependencyFolders) await shareDependencies(base, target, dependencies);
  return {
    folder: target,
    sharedFolders: contents.dependencyFolders.map((dependencies) => path.join(base, dependencies)),
    fingerprint: await fingerprintOf(base, target, contents, signal),
    cloneTo: async (clone) => {
      await mkdir(clone, { recursive: true });
      await copyContents(target, clone, contents, signal);
      for (const dependencies of contents.dependencyFolders) await shareDependencies(base, await realpath(clone), dependencies);
    },
  };
}

async function listContents(base: string, signal: AbortSignal): Promise<Contents> {
  const listing = new Listing(base, signal);
  const fromGit = await listWithGit(base, signal);
  if (fromGit === undefined) await listing.walk('');
  for (const entry of fromGit ?? []) await listing.add(entry);
  return listing;
}

/** Collects what belongs to a copy, and refuses workspaces that are too large for one. */
class Listing implements Contents {
  readonly files: string[] = [];
  readonly links: { path: string; target: string }[] = [];
  readonly #dependencyFolders = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #base: string;
  readonly #signal: AbortSignal;
  #bytes = 0;

  constructor(base: string, signal: AbortSignal) {
    this.#base = base;
    this.#signal = signal;
  }

  get dependencyFolders(): readonly string[] {
    return [...this.#dependencyFolders];
  }

  async add(entry: string): Promise<void> {
    const segments = entry.split('/').filter((segment) => segment !== '');
    const dependencies = segments.indexOf('node_modules');
    if (dependencies >= 0) {
      const found = path.join(...segments.slice(0, dependencies + 1));
      if (!this.#dependencyFolders.has(found) && (await lstat(path.join(this.#base, found))).isDirectory())
        this.#dependencyFolders.add(found);
      return;
    }
    const relative = path.join(...segments);
    if (segments.length === 0 || segments.includes('.git') || this.#seen.has(relative)) return;
    this.#seen.add(relative);
    this.#signal.throwIfAborted();
    const absolute = path.join(this.#base, relative);
    const found = await lstat(absolute).catch((error: NodeJS.ErrnoException) => {
      // Git lists files that the user has deleted since the last commit.
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
      throw error;
    });
    if (!found) return;
    if (found.isSymbolicLink()) {
      const target = await linkTargetInside(this.#base, absolute);
      if (target !== undefined) this.links.push({ path: relative, target });
    } else if (found.isDirectory()) {
      // A submodule, or a repository inside the workspace: Git names only its folder.
      await this.walk(relative);
    } else if (found.isFile()) {
      this.#bytes += found.size;
      this.files.push(relative);
      if (this.files.length > MAX_ENTRIES || this.#bytes > MAX_BYTES) {
        throw new WorkspaceCopyError(
          `The workspace is too large to copy for its tests (more than ${MAX_ENTRIES} files or ${MAX_BYTES / 1024 ** 3} GiB). ` +
            'Let .gitignore name what the tests do not need.',
        );
      }
    }
  }

  async walk(relativeFolder: string): Promise<void> {
    for (const entry of await readdir(path.join(this.#base, relativeFolder), { withFileTypes: true })) {
      if (entry.isDirectory() && LEFT_OUT.has(entry.name)) continue;
      const relative = path.join(relativeFolder, entry.name);
      if (entry.isDirectory() && entry.name !== 'node_modules') await this.walk(relative);
      else await this.add(relative.split(path.sep).join('/'));
    }
  }
}

/**
 * What Git does not ignore, and the ignored `node_modules` folders; undefined where the workspace is no checkout or Git is
 * missing.
 */
async function listWithGit(base: string, signal: AbortSignal): Promise<string[] | undefined> {
  const git = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await promisify(execFile)(
      'git',
      // A repository can name a program to be run as its file system monitor; listing files must not run what a workspace names.
      [
        '-c',
        'core.fsmonitor=false',
        '-c',
        'core.hooksPath=/dev/null',
        '-C',
        base,
        'ls-files',
        '-z',
        '--exclude-standard',
        ...args,
      ],
      { maxBuffer: 256 * 1024 * 1024, signal, env: { ...process.env, GIT_OPTIONAL_LOCKS: '0' } },
    );
    return stdout.split('\0').filter((entry) => entry !== '');
  };
  try {
    const entries = await git('--cached', '--others');
    // A folder that a repository around it ignores: Git has nothing to say about what is in it.
    if (entries.length === 0) return undefined;
    const ignoredFolders = await git('--others', '--ignored', '--directory');
    return [...entries, ...ignoredFolders.filter((entry) => /(^|\/)node_modules\/?$/.test(entry))];
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** The target to give a link in a copy so that it means the same there; undefined if the link leads out of the workspace. */
async function linkTargetInside(base: string, absoluteLink: string): Promise<string | undefined> {
  const written = await readlink(absoluteLink);
  const real = await realpath(absoluteLink).catch(() => undefined);
  const lexical = path.resolve(path.dirname(absoluteLink), written);
  if (!isInside(base, lexical) || (real !== undefined && !isInside(base, real))) return undefined;
  return path.relative(path.dirname(absoluteLink), lexical) || '.';
}

function isInside(base: string, candidate: string): boolean {
  const relative = path.relative(base, candidate);
  return relative === '' || (!relative.startsWith(`..${path.sep}`) && relative !== '..' && !path.isAbsolute(relative));
}

async function copyContents(from: string, to: string, { files, links }: Contents, signal: AbortSignal): Promise<void> {
  const folders = new Set([...files, ...links.map((link) => link.path)].map((entry) => path.dirname(entry)));
  for (const folder of folders) await mkdir(path.join(to, folder), { recursive: true });
  await forEachLimited(files, FILES_AT_ONCE, async (file) => {
    signal.throwIfAborted();
    const target = path.join(to, file);
    await copyFile(path.join(from, file), target, constants.COPYFILE_FICLONE);
    // The copy is the tests' to write, whatever the modes in the workspace are.
    const { mode } = await lstat(target);
    if ((mode & 0o600) !== 0o600) await chmod(target, mode | 0o600);
  });
  for (const link of links) await symlink(link.target, path.join(to, link.path));
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
    const ownTarget = entry.isSymbolicLink() ? await ownPackage(base, relativeFolder, shared) : undefined;
    await symlink(ownTarget ?? shared, path.join(own, entry.name), entry.isFile() ? 'file' : 'dir');
  }
}

/** Where a link in `node_modules` leads to a package of the workspace itself: the link to the same package of the copy. */
async function ownPackage(base: string, relativeFolder: string, link: string): Promise<string | undefined> {
  const target = await realpath(link).catch(() => undefined);
  if (target === undefined || !isInside(base, target)) return undefined;
  const relative = path.relative(base, target);
  return relative.split(path.sep).includes('node_modules') ? undefined : path.relative(relativeFolder, relative) || '.';
}

async function fingerprintOf(base: string, folder: string, contents: Contents, signal: AbortSignal): Promise<string> {
  const { files, links, dependencyFolders } = contents;
  const digests = new Map<string, string>();
  await forEachLimited(files, FILES_AT_ONCE, async (file) => {
    signal.throwIfAborted();
    const absolute = path.join(folder, file);
    const digest = createHash('sha256')
      .update(await readFile(absolute))
      .digest('hex');
    digests.set(file, `${(await lstat(absolute)).mode & 0o111} ${digest}`);
  });
  const hash = createHash('sha256');
  for (const [file, digest] of [...digests].sort(([a], [b]) => (a < b ? -1 : 1))) hash.update(`f ${file}\0${digest}\0`);
  for (const link of links) hash.update(`l ${link.path}\0${link.target}\0`);
  for (const dependencies of dependencyFolders) {
    const shared = path.join(base, dependencies);
    // npm writes this file with every change of what is installed; for other package managers the folder itself has to do.
    const { mtimeMs } = await lstat(path.join(shared, '.package-lock.json')).catch(() => lstat(shared));
    hash.update(`d ${dependencies}\0${mtimeMs}\0`);
  }
  return hash.digest('hex');
}
