import { execFile } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gitArguments, gitEnvironment } from '../git/git-safety.ts';
import { isComposerFolder } from './composer-packages.ts';
import { isEnvironment } from './installed-dependencies.ts';
import { isInside, lookAt, parentOf, PlainFolders, realPathOf } from '../files/plain-folders.ts';
import { isSecretFile } from '../../common/secrets/secret-files.ts';
import type { Slices } from '../../common/slices.ts';

const MAX_FILES = 200_000;
const MAX_BYTES = 4 * 1024 ** 3;

/** Git lists the largest repositories in seconds. If `.gitignore` is a pipe, it waits forever. */
const GIT_TIMEOUT_MS = 60_000;

/** Folders that are left out if Git does not list the files. */
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
  /** While this stays the same, so does the file. A process can reset a file's mtime, but not its ctime. */
  readonly version: FileVersion;
}

export interface FileVersion {
  readonly ino: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** The files and links to copy from a workspace. Paths are relative, with forward slashes. */
export interface Listing {
  readonly files: readonly ListedFile[];
  /** Symbolic links that stay inside the workspace; `target` is relative to the link. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Files that are left out because of their names: they hold secrets, and Git does not track them. */
  readonly secret: readonly string[];
}

export interface ListOptions {
  readonly slices: Slices;
  readonly signal: AbortSignal;
  readonly gitTimeoutMs?: number;
  /** Relative paths of previously listed files. They are read ahead while Git lists the files; only files that Git lists count. */
  readonly likely?: Iterable<string>;
  /** Lists such files, too. */
  readonly withSecrets?: boolean;
}

/**
 * Lists the files that Git does not ignore. If Git does not know the folder, lists all but the usual caches. Within `node_modules` and Composer's `vendor`, lists
 * only files that Git tracks; Python environments are left out, and untracked files whose names say that they hold secrets. `base` is absolute and without symbolic links. Throws
 * `WorkspaceCopyError` if the workspace is too large or cannot be read.
 */
export async function listWorkspace(
  base: string, { slices, signal, gitTimeoutMs = GIT_TIMEOUT_MS, likely = [], withSecrets = false }: ListOptions,
): Promise<Listing> {
  const collector = new Collector(base, withSecrets);
  const [fromGit] = await Promise.all([
    listWithGit(base, signal, gitTimeoutMs),
    slices.forEach(likely, (relative) => collector.lookAhead(relative)),
  ]);
  if (fromGit === undefined) collector.foldersToWalk.push('');
  await slices.forEach(fromGit ?? [], (entry) => {
    signal.throwIfAborted();
    // Each entry is a letter for the status, a space and the path. The path of a nested repository ends with a slash.
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
    // The user's tests cannot need unreadable folders, such as the data of a database that runs as another user.
    if (folder !== '') return [];
    throw new WorkspaceCopyError(`The folder ${base} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

class Collector {
  /** Relative folders whose whole content belongs to the copy and is still to be listed. */
  readonly foldersToWalk: string[] = [];
  readonly #files: ListedFile[] = [];
  readonly #links: { path: string; target: string }[] = [];
  readonly #secret: string[] = [];
  readonly #withSecrets: boolean;
  readonly #seen = new Set<string>();
  readonly #folders = new Map<string, FolderKind>([['', 'own']]);
  readonly #plainFolders: PlainFolders;
  readonly #base: string;
  readonly #lookedAt = new Map<string, ReturnType<typeof lookAt>>();
  #bytes = 0;

  constructor(base: string, withSecrets: boolean) {
    this.#base = base;
    this.#withSecrets = withSecrets;
    this.#plainFolders = new PlainFolders(base);
  }

  listing(): Listing {
    return { files: this.#files, links: this.#links, secret: this.#secret };
  }

  /** Reads the status of a path before `add` needs it. */
  lookAhead(relative: string): void {
    this.#lookedAt.set(relative, lookAt(`${this.#base}/${relative}`));
  }

  /** Adds a file, a link or a folder, by its relative path with forward slashes. `isKept`: Git tracks it. */
  add(relative: string, isKept: boolean): void {
    const kind = this.#kindOf(parentOf(relative));
    const name = relative.slice(relative.lastIndexOf('/') + 1);
    if (kind === 'foreign' || (kind === 'installed' && !isKept) || ['', '.', '..', '.git'].includes(name)) return;
    if (this.#seen.has(relative)) return;
    this.#seen.add(relative);
    const absolute = `${this.#base}/${relative}`;
    // Git also lists files that were deleted after the last commit.
    const found = this.#lookedAt.get(relative) ?? lookAt(absolute);
    // What Git tracks is in every clone. What it does not track is this machine's, and tests run code that a model wrote.
    if (!this.#withSecrets && !isKept && found?.isFile() && isSecretFile(relative)) {
      this.#secret.push(relative);
    } else if (found?.isFile()) {
      const { ino, size, mtimeNs, ctimeNs, mode } = found;
      this.#addFile({ path: relative, size: Number(size), mode: Number(mode) & 0o777, version: { ino, size, mtimeNs, ctimeNs } });
    } else if (found?.isSymbolicLink()) {
      const target = linkTargetInside(this.#base, absolute);
      if (target !== undefined) this.#links.push({ path: relative, target });
    } else if (found?.isDirectory() && this.#kindOf(relative) === 'own') {
      // A folder found by walking, or a submodule or nested repository, for which Git lists only the folder.
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
    // The index may be forged: it can list paths that lead out of the workspace, or files in a folder that is now a link.
    if (outer === 'foreign' || name === '.git' || !this.#plainFolders.has(folder)) return 'foreign';
    if (isEnvironment(`${this.#base}/${folder}`, name)) return 'foreign';
    return name === 'node_modules' || isComposerFolder(`${this.#base}/${folder}`, name) ? 'installed' : outer;
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

/** `installed`: in a `node_modules` folder, or what Composer installed. `foreign`: outside the workspace, in `.git`, or in a Python environment. */
type FolderKind = 'own' | 'installed' | 'foreign';

/** The files that Git does not ignore, as lines of `git ls-files -t`. Undefined if Git is missing, too slow, or does not know the folder. */
async function listWithGit(base: string, signal: AbortSignal, timeoutMs: number): Promise<string[] | undefined> {
  try {
    const { stdout } = await promisify(execFile)(
      'git',
      gitArguments(base, ['ls-files', '-z', '-t', '--cached', '--others', '--exclude-standard']),
      { maxBuffer: 256 * 1024 * 1024, timeout: timeoutMs, signal, env: gitEnvironment() },
    );
    // The enclosing repository ignores the folder, so Git lists nothing.
    return stdout === '' ? undefined : stdout.split('\0');
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** The relative target of a link in the copy. Undefined if the link leads out of the workspace. */
function linkTargetInside(base: string, absoluteLink: string): string | undefined {
  let written: string;
  try {
    written = readlinkSync(absoluteLink);
  } catch {
    // The link has vanished since it was listed.
    return undefined;
  }
  const lexical = path.resolve(path.dirname(absoluteLink), written);
  const real = realPathOf(absoluteLink);
  if (!isInside(base, lexical) || (real !== undefined && !isInside(base, real))) return undefined;
  return path.relative(path.dirname(absoluteLink), lexical) || '.';
}
