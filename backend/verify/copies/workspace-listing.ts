import { execFile } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gitArguments, gitEnvironment } from '../git/git-safety.ts';
import { isEnvironment } from './installed-dependencies.ts';
import { isInside, lookAt, parentOf, PlainFolders, realPathOf } from '../files/plain-folders.ts';
import type { Slices } from '../../common/slices.ts';

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
  /** While these stay the same the file does. A process can set back when a file was modified, but not when its inode was changed. */
  readonly version: FileVersion;
}

export interface FileVersion {
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** What of a workspace belongs to a copy of it. Paths are relative, with forward slashes. */
export interface Listing {
  readonly files: readonly ListedFile[];
  /** Symbolic links that stay inside the workspace; `target` is relative to the link. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

export interface ListOptions {
  readonly slices: Slices;
  readonly signal: AbortSignal;
  readonly gitTimeoutMs?: number;
  /** Relative paths of files that were there before: they are looked at while Git makes its list, and only what it names counts. */
  readonly likely?: Iterable<string>;
}

/**
 * Lists what Git does not ignore, or, where Git knows nothing of the folder, all but the usual caches; of what is installed
 * (`node_modules`, Python environments) only what Git has been told to keep. `base` is absolute and without symbolic links. Throws
 * `WorkspaceCopyError` where that is too much to copy or cannot be read.
 */
export async function listWorkspace(
  base: string, { slices, signal, gitTimeoutMs = GIT_TIMEOUT_MS, likely = [] }: ListOptions,
): Promise<Listing> {
  const collector = new Collector(base);
  const [fromGit] = await Promise.all([
    listWithGit(base, signal, gitTimeoutMs),
    slices.forEach(likely, (relative) => collector.lookAhead(relative)),
  ]);
  if (fromGit === undefined) collector.foldersToWalk.push('');
  await slices.forEach(fromGit ?? [], (entry) => {
    signal.throwIfAborted();
    // A letter for the kind, a space, and the path, with a slash at the end where it is a repository inside this one.
    collector.add(entry.slice(2).replace(/\/$/, ''), !entry.startsWith('?'));
  });
  for (let folder = collector.foldersToWalk.pop(); folder !== undefined; folder = collector.foldersToWalk.pop()) {
    const walked = folder;
    await slices.forEach(await namesIn(base, walked), (name) => {
      signal.throwIfAborted();
      collector.add(walked === '' ? name : `${walked}/${name}`, false);
    });
  }
  return collector.listing();
}

async function namesIn(base: string, folder: string): Promise<string[]> {
  try {
    return (await readdir(path.join(base, folder), { withFileTypes: true }))
      .filter((entry) => !entry.isDirectory() || !LEFT_OUT.has(entry.name))
      .map(({ name }) => name);
  } catch (error) {
    // What cannot be read, the user's own tests cannot need: the data of a database that runs as somebody else, for one.
    if (folder !== '') return [];
    throw new WorkspaceCopyError(`The folder ${base} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

class Collector {
  /** Relative folders of which nothing is known yet but that all in them belongs to the copy. */
  readonly foldersToWalk: string[] = [];
  readonly #files: ListedFile[] = [];
  readonly #links: { path: string; target: string }[] = [];
  readonly #seen = new Set<string>();
  readonly #folders = new Map<string, FolderKind>([['', 'own']]);
  readonly #plainFolders: PlainFolders;
  readonly #base: string;
  readonly #lookedAt = new Map<string, ReturnType<typeof lookAt>>();
  #bytes = 0;

  constructor(base: string) {
    this.#base = base;
    this.#plainFolders = new PlainFolders(base);
  }

  listing(): Listing {
    return { files: this.#files, links: this.#links };
  }

  /** Looks at what `add` may be told of. */
  lookAhead(relative: string): void {
    this.#lookedAt.set(relative, lookAt(`${this.#base}/${relative}`));
  }

  /** Takes in a file, a link or a folder; relative, with forward slashes. `isKept`: Git has been told to keep it. */
  add(relative: string, isKept: boolean): void {
    const kind = this.#kindOf(parentOf(relative));
    const name = relative.slice(relative.lastIndexOf('/') + 1);
    if (kind === 'foreign' || (kind === 'installed' && !isKept) || ['', '.', '..', '.git'].includes(name)) return;
    if (this.#seen.has(relative)) return;
    this.#seen.add(relative);
    const absolute = `${this.#base}/${relative}`;
    // Git also lists files that the user has deleted since the last commit.
    const found = this.#lookedAt.get(relative) ?? lookAt(absolute);
    if (found?.isFile()) {
      const { ino, size, mtimeNs, ctimeNs, mode } = found;
      this.#addFile({ path: relative, size: Number(size), mode: Number(mode) & 0o777, version: { ino, size, mtimeNs, ctimeNs } });
    } else if (found?.isSymbolicLink()) {
      const target = linkTargetInside(this.#base, absolute);
      if (target !== undefined) this.#links.push({ path: relative, target });
    } else if (found?.isDirectory() && this.#kindOf(relative) === 'own') {
      // While walking; or a submodule or a repository inside the workspace, of which Git names only the folder.
      this.foldersToWalk.push(relative);
    }
  }

  #kindOf(folder: string): FolderKind {
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const kind = this.#newKindOf(folder);
    this.#folders.set(folder, kind);
    return kind;
  }

  #newKindOf(folder: string): FolderKind {
    const outer = this.#kindOf(parentOf(folder));
    const name = folder.slice(folder.lastIndexOf('/') + 1);
    // Git lists what its index holds, and anybody can write an index: names that lead out, or files of a folder that is now a link.
    if (outer === 'foreign' || name === '.git' || !this.#plainFolders.has(folder)) return 'foreign';
    if (isEnvironment(`${this.#base}/${folder}`, name)) return 'foreign';
    return name === 'node_modules' ? 'installed' : outer;
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

/** `installed`: in a `node_modules` folder. `foreign`: of another place, of Git itself, or a Python environment. */
type FolderKind = 'own' | 'installed' | 'foreign';

/** What Git does not ignore, as `git ls-files -t` writes it; undefined where Git is missing, too slow or knows nothing of the folder. */
async function listWithGit(base: string, signal: AbortSignal, timeoutMs: number): Promise<string[] | undefined> {
  try {
    const { stdout } = await promisify(execFile)(
      'git',
      gitArguments(base, ['ls-files', '-z', '-t', '--cached', '--others', '--exclude-standard']),
      { maxBuffer: 256 * 1024 * 1024, timeout: timeoutMs, signal, env: gitEnvironment() },
    );
    // A folder that a repository around it ignores: Git has nothing to say about what is in it.
    return stdout === '' ? undefined : stdout.split('\0');
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** The target to give a link in a copy so that it means the same there; undefined if the link leads out of the workspace. */
function linkTargetInside(base: string, absoluteLink: string): string | undefined {
  let written: string;
  try {
    written = readlinkSync(absoluteLink);
  } catch {
    // It has vanished since it was listed.
    return undefined;
  }
  const lexical = path.resolve(path.dirname(absoluteLink), written);
  const real = realPathOf(absoluteLink);
  if (!isInside(base, lexical) || (real !== undefined && !isInside(base, real))) return undefined;
  return path.relative(path.dirname(absoluteLink), lexical) || '.';
}
