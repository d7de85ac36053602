import { constants } from 'node:fs';
import { access, open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { RipgrepUnavailableError, type Ripgrep } from './ripgrep.ts';
import { isSecretFile, redact } from './secrets.ts';

/** Larger files are data or made by a tool. */
export const MAX_FILE_BYTES = 1024 * 1024;
/** Enough for the largest repositories; each costs some 100 bytes of memory. */
const MAX_LISTED_FILES = 200_000;

/** In the workspace's root, in the syntax of .gitignore: what Conductor never reads. */
const OWN_IGNORE_FILE = '.conductorignore';
/** Never read, whether an ignore file names them or not. */
const SKIPPED_FOLDERS = ['.git', '.hg', '.svn', 'node_modules', '.venv', '__pycache__'];

export interface TextFile {
  /** Relative to the workspace, links resolved, forward slashes. */
  readonly path: string;
  /** Without secrets. */
  readonly lines: readonly string[];
  /** What the lines that were left out look like, by number from 1. */
  readonly secrets: ReadonlyMap<number, string>;
}

/** Why a file is not sent. `missing` is told apart because a path that was only guessed may well not exist. */
export interface Refusal {
  readonly path: string;
  readonly reason: string;
  readonly missing: boolean;
}

export type FileAnswer = { readonly file: TextFile } | { readonly refusal: Refusal };

/** The files of one folder that may be read, and reading them. Reads each file once. */
export class Workspace {
  /** Absolute, links resolved. */
  readonly root: string;
  readonly #givenRoot: string;
  readonly #files: ReadonlySet<string>;
  /** Why the list of files is missing or not whole; then not being in it says nothing. */
  readonly listProblem: string | undefined;
  readonly #answers = new Map<string, Promise<FileAnswer>>();
  readonly #byName = new Map<string, string[]>();

  private constructor(
    roots: { root: string; givenRoot: string },
    { files, problem }: { files: readonly string[]; problem?: string | undefined },
  ) {
    this.root = roots.root;
    this.#givenRoot = roots.givenRoot;
    this.#files = new Set(files);
    this.listProblem = problem;
    for (const file of files) {
      const name = path.posix.basename(file);
      const sameName = this.#byName.get(name);
      if (sameName) sameName.push(file);
      else this.#byName.set(name, [file]);
    }
  }

  /** @returns undefined where there is no such folder. @throws the signal's reason once it aborts */
  static async open(folder: string, ripgrep: Ripgrep, signal: AbortSignal): Promise<Workspace | undefined> {
    let root: string;
    try {
      root = await realpath(folder);
      if (!(await stat(root)).isDirectory()) return undefined;
    } catch {
      return undefined;
    }
    return new Workspace({ root, givenRoot: path.resolve(folder) }, await listFiles(root, ripgrep, signal));
  }

  /** Paths of all files that may be read, sorted. */
  get files(): readonly string[] {
    return [...this.#files];
  }

  has(file: string): boolean {
    return this.#files.has(file);
  }

  /** Paths of the files with this name, in any folder. */
  named(name: string): readonly string[] {
    return this.#byName.get(name) ?? [];
  }

  /** The path relative to the workspace with forward slashes, or undefined where it leads outside. Takes file: addresses, too. */
  relative(given: string): string | undefined {
    const plain = asPath(given);
    for (const root of [this.#givenRoot, this.root]) {
      const relative = path.relative(root, path.resolve(root, plain));
      if (relative === '' || (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))) {
        return relative.split(path.sep).join('/');
      }
    }
    return undefined;
  }

  /** The file's text, or why it is not sent; never throws. */
  read(given: string): Promise<FileAnswer> {
    const known = this.#answers.get(given);
    if (known) return known;
    const answer = this.#read(given);
    this.#answers.set(given, answer);
    return answer;
  }

  async #read(given: string): Promise<FileAnswer> {
    const asked = this.relative(given);
    const refuse = (reason: string, missing = false): FileAnswer => ({ refusal: { path: asked ?? given, reason, missing } });
    if (asked === undefined) return refuse('outside the workspace');
    try {
      const real = await realpath(path.join(this.root, asked));
      const relative = this.relative(real);
      if (relative === undefined) return refuse('a link that leaves the workspace');
      if (isSecretFile(asked) || isSecretFile(relative)) return refuse('its name says that it holds secrets');
      const status = await stat(real);
      if (status.isDirectory()) return refuse('a folder, not a file');
      if (!status.isFile()) return refuse('not a regular file');
      if (!this.has(relative) && this.listProblem === undefined) {
        return refuse(`ignored by .gitignore, ${OWN_IGNORE_FILE} or the like`);
      }
      if (!this.has(relative) && this.#files.size > 0) return refuse('could not be checked against the ignore files in time');
      if (status.size > MAX_FILE_BYTES) return refuse('larger than 1 MiB');
      const lines = linesOf(await readBounded(real));
      return lines ? { file: { path: relative, ...redact(lines) } } : refuse('not UTF-8 text');
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ERR_INVALID_ARG_VALUE' || code === 'ENAMETOOLONG') {
        return refuse('no such file', true);
      }
      return refuse(code === 'ELOOP' ? 'a link that leads nowhere' : 'could not be read');
    }
  }
}

function asPath(given: string): string {
  if (!given.startsWith('file:')) return given;
  try {
    return fileURLToPath(given);
  } catch {
    return given;
  }
}

/** At most one byte more than a file may have: it could have grown since it was measured. */
async function readBounded(file: string): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const buffer = Buffer.alloc(MAX_FILE_BYTES);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      if (bytesRead === 0) return buffer.subarray(0, length);
      length += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

/** The lines of a text in UTF-8, or undefined where the bytes are none. */
function linesOf(bytes: Buffer): string[] | undefined {
  if (bytes.includes(0)) return undefined;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

interface FileList {
  readonly files: readonly string[];
  readonly problem?: string | undefined;
}

/** What no ignore file excludes, hidden files included, sorted. */
async function listFiles(root: string, ripgrep: Ripgrep, signal: AbortSignal): Promise<FileList> {
  try {
    const list = await filesBy(ripgrep, root, await ignoreArguments(root), signal);
    if (!(await exists(path.join(root, OWN_IGNORE_FILE)))) return list;
    // ripgrep lets a .gitignore take back what --ignore-file excludes, so that both are asked by themselves.
    const own = await filesBy(ripgrep, root, ['--no-ignore', '--ignore-file', OWN_IGNORE_FILE], signal);
    const allowed = new Set(own.files);
    return { files: list.files.filter((file) => allowed.has(file)), problem: list.problem ?? own.problem };
  } catch (error) {
    if (!(error instanceof RipgrepUnavailableError)) throw error;
    return { files: [], problem: `${error.message} Nothing was searched, and ignore files were not looked at` };
  }
}

async function filesBy(ripgrep: Ripgrep, root: string, args: readonly string[], signal: AbortSignal): Promise<FileList> {
  const files: string[] = [];
  const end = await ripgrep.run({
    args: [...args, '--files', '--hidden', '--null', '--no-messages', '--path-separator', '/', ...skipArguments()],
    folder: root,
    separator: '\0',
    onRecord: (file) => {
      if (files.length < MAX_LISTED_FILES) files.push(file);
    },
    signal,
  });
  const whole = end === 'complete' && files.length < MAX_LISTED_FILES;
  const problem = whole ? undefined : 'The workspace is too large to be listed whole; part of it was not searched';
  return { files: files.sort(), problem };
}

/** ripgrep's arguments that make it respect ignore files as git would, in a folder that may be no repository. */
export async function ignoreArguments(root: string): Promise<string[]> {
  const inRepository = await hasAncestorRepository(root);
  // Outside of a repository, a .gitignore of a folder above (some keep one in their home) says nothing about this folder.
  return inRepository ? ['--no-require-git'] : ['--no-require-git', '--no-ignore-parent'];
}

export function skipArguments(): string[] {
  return SKIPPED_FOLDERS.flatMap((folder) => ['--glob', `!**/${folder}`]);
}

async function hasAncestorRepository(root: string): Promise<boolean> {
  for (let folder = root; ; folder = path.dirname(folder)) {
    if (await exists(path.join(folder, '.git'))) return true;
    if (path.dirname(folder) === folder) return false;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}
