import { execFile } from 'node:child_process';
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { forEachInSlices } from './slices.ts';

const MAX_FILES = 200_000;
const MAX_BYTES = 4 * 1024 ** 3;

/** Git lists the largest repositories in seconds; a `.gitignore` that is a pipe keeps it waiting for ever. */
const GIT_TIMEOUT_MS = 60_000;

/** Folders that never belong to a copy where Git does not say what is ignored. */
const LEFT_OUT = new Set(['.git', '.hg', '.svn', '.conductor', '.cache', '.venv', '__pycache__', 'target', '.next', '.turbo']);

/** The workspace cannot be copied. */
export class WorkspaceCopyError extends Error {
  override readonly name = 'WorkspaceCopyError';
}

export interface ListedFile {
  readonly path: string;
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
}

/** What of a workspace belongs to a copy of it. Paths are relative, with forward slashes. */
export interface Listing {
  readonly files: readonly ListedFile[];
  /** Symbolic links that stay inside the workspace; `target` is relative to the link. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** `node_modules` folders, which are shared and not copied. */
  readonly dependencyFolders: readonly string[];
}

/**
 * Lists what Git does not ignore, or, where Git knows nothing of the folder, all but the usual caches. `base` is absolute
 * and without symbolic links. Throws `WorkspaceCopyError` where that is too much to copy.
 */
export async function listWorkspace(base: string, signal: AbortSignal, gitTimeoutMs = GIT_TIMEOUT_MS): Promise<Listing> {
  const collector = new Collector(base);
  const fromGit = await listWithGit(base, signal, gitTimeoutMs);
  if (fromGit === undefined) collector.foldersToWalk.push('');
  await forEachInSlices(fromGit ?? [], (entry) => {
    signal.throwIfAborted();
    collector.add(entry);
  });
  for (let folder = collector.foldersToWalk.pop(); folder !== undefined; folder = collector.foldersToWalk.pop()) {
    const walked = folder;
    await forEachInSlices(await readdir(path.join(base, walked), { withFileTypes: true }), (entry) => {
      signal.throwIfAborted();
      if (!entry.isDirectory() || !LEFT_OUT.has(entry.name)) collector.add(path.posix.join(walked, entry.name));
    });
  }
  return collector.listing();
}

class Collector {
  /** Relative folders of which nothing is known yet but that all in them belongs to the copy. */
  readonly foldersToWalk: string[] = [];
  readonly #files: ListedFile[] = [];
  readonly #links: { path: string; target: string }[] = [];
  readonly #dependencyFolders = new Set<string>();
  readonly #seen = new Set<string>();
  /** Folders, relative, by whether the way to them has no link in it. */
  readonly #plainFolders = new Map<string, boolean>([['', true]]);
  readonly #base: string;
  #bytes = 0;

  constructor(base: string) {
    this.#base = base;
  }

  listing(): Listing {
    return { files: this.#files, links: this.#links, dependencyFolders: [...this.#dependencyFolders] };
  }

  /** Takes in a file, a link or a folder; relative, with forward slashes. */
  add(entry: string): void {
    const segments = entry.split('/').filter((segment) => segment !== '');
    // Git lists what its index holds, and anybody can write an index: names that lead out, or files of a folder that is now a link.
    if (segments.includes('..') || !this.#isPlain(segments.slice(0, -1))) return;
    const dependencies = segments.indexOf('node_modules');
    if (dependencies >= 0) return this.#addDependencies(segments.slice(0, dependencies + 1).join('/'));
    const relative = segments.join('/');
    if (relative === '' || segments.includes('.git') || this.#seen.has(relative)) return;
    this.#seen.add(relative);
    const absolute = path.join(this.#base, relative);
    // Git also lists files that the user has deleted since the last commit.
    const found = lstatSync(absolute, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) {
      const target = linkTargetInside(this.#base, absolute);
      if (target !== undefined) this.#links.push({ path: relative, target });
    } else if (found?.isDirectory()) {
      // While walking; or a submodule or a repository inside the workspace, of which Git names only the folder.
      this.foldersToWalk.push(relative);
    } else if (found?.isFile()) {
      this.#addFile({ path: relative, size: found.size, mode: found.mode & 0o777 });
    }
  }

  /** Whether a folder is reached without following a link, and is one. */
  #isPlain(folder: readonly string[]): boolean {
    const relative = folder.join('/');
    const known = this.#plainFolders.get(relative);
    if (known !== undefined) return known;
    const found = this.#isPlain(folder.slice(0, -1))
      && lstatSync(path.join(this.#base, relative), { throwIfNoEntry: false })?.isDirectory() === true;
    this.#plainFolders.set(relative, found);
    return found;
  }

  #addDependencies(relative: string): void {
    if (this.#dependencyFolders.has(relative)) return;
    if (lstatSync(path.join(this.#base, relative), { throwIfNoEntry: false })?.isDirectory())
      this.#dependencyFolders.add(relative);
  }

  #addFile(file: ListedFile): void {
    this.#bytes += file.size;
    this.#files.push(file);
    if (this.#files.length <= MAX_FILES && this.#bytes <= MAX_BYTES) return;
    throw new WorkspaceCopyError(
      `The workspace is too large to copy for its tests (more than ${MAX_FILES} files or ${MAX_BYTES / 1024 ** 3} GiB). ` +
        'Let .gitignore name what the tests do not need.',
    );
  }
}

/*
 * Listing files must not run what a workspace names. A repository's configuration can name programs: a file system monitor, hooks,
 * and for a partial clone the one that fetches an object which the index refers to and which is not there.
 */
const RUN_NOTHING = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];
/** The second is known to Git 2.44 and later; the first leaves every version no way to fetch by. */
const FETCH_NOTHING = { GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1' };

/**
 * What Git does not ignore, and ignored `node_modules` folders; undefined where Git is missing, does not end in time or knows
 * nothing of the folder.
 */
async function listWithGit(base: string, signal: AbortSignal, timeoutMs: number): Promise<string[] | undefined> {
  const git = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await promisify(execFile)(
      'git',
      [...RUN_NOTHING, '-C', base, 'ls-files', '-z', '--exclude-standard', ...args],
      { maxBuffer: 256 * 1024 * 1024, timeout: timeoutMs, signal, env: { ...process.env, ...FETCH_NOTHING, GIT_OPTIONAL_LOCKS: '0' } },
    );
    return stdout.split('\0').filter((entry) => entry !== '');
  };
  try {
    const [entries, ignoredFolders] = await Promise.all([
      git('--cached', '--others'),
      git('--others', '--ignored', '--directory'),
    ]);
    // A folder that a repository around it ignores: Git has nothing to say about what is in it.
    if (entries.length === 0) return undefined;
    return entries.concat(ignoredFolders.filter((entry) => /(^|\/)node_modules\/?$/.test(entry)));
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** The target to give a link in a copy so that it means the same there; undefined if the link leads out of the workspace. */
function linkTargetInside(base: string, absoluteLink: string): string | undefined {
  const lexical = path.resolve(path.dirname(absoluteLink), readlinkSync(absoluteLink));
  const real = realPathOf(absoluteLink);
  if (!isInside(base, lexical) || (real !== undefined && !isInside(base, real))) return undefined;
  return path.relative(path.dirname(absoluteLink), lexical) || '.';
}

/** Where a link leads in the end; undefined if it leads nowhere. */
export function realPathOf(link: string): string | undefined {
  try {
    return realpathSync(link);
  } catch {
    return undefined;
  }
}

export function isInside(base: string, candidate: string): boolean {
  const relative = path.relative(base, candidate);
  return relative === '' || (!relative.startsWith(`..${path.sep}`) && relative !== '..' && !path.isAbsolute(relative));
}
