import { constants } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { listFiles, type FileList } from './list-files.ts';
import type { Ripgrep } from './ripgrep.ts';
import { isSecretFile } from '../common/secrets/secret-files.ts';
import { redact } from '../common/secrets/secrets.ts';

/** Larger files are data or generated. */
export const MAX_FILE_BYTES = 1024 * 1024;

export interface TextFile {
  /** Relative to the workspace, links resolved, forward slashes. */
  readonly path: string;
  /** Secrets are replaced. */
  readonly lines: readonly string[];
  /** The kinds of secrets in replaced lines, by line number from 1. */
  readonly secrets: ReadonlyMap<number, string>;
}

/** Why a file is not sent. `missing` is separate because a guessed path may not exist. */
export interface Refusal {
  readonly path: string;
  readonly reason: string;
  readonly missing: boolean;
}

export type FileAnswer = { readonly file: TextFile } | { readonly refusal: Refusal };

/** The readable files of one folder. Reads each file only once. */
export class Workspace {
  /** Absolute, links resolved. */
  readonly root: string;
  readonly #givenRoot: string;
  /** Sorted paths of all readable files. The list may be incomplete, see `listProblem`. */
  readonly files: readonly string[];
  /** Why the list lacks readable files. */
  readonly listProblem: string | undefined;
  readonly #unlisted: string | undefined;
  readonly #listed: ReadonlySet<string>;
  #byName: ReadonlyMap<string, readonly string[]> | undefined;
  readonly #answers = new Map<string, Promise<FileAnswer>>();

  private constructor(roots: { root: string; givenRoot: string }, { files, problem, unlisted }: FileList) {
    this.root = roots.root;
    this.#givenRoot = roots.givenRoot;
    this.files = files;
    this.listProblem = problem;
    this.#unlisted = unlisted;
    this.#listed = new Set(files);
  }

  /** @returns undefined if the folder does not exist. @throws the signal's reason when it aborts */
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

  has(file: string): boolean {
    return this.#listed.has(file);
  }

  /** Paths of the files with this name, in any folder. */
  named(name: string): readonly string[] {
    this.#byName ??= Map.groupBy(this.files, (file) => file.slice(file.lastIndexOf('/') + 1));
    return this.#byName.get(name) ?? [];
  }

  /** The path relative to the workspace with forward slashes, or undefined if it is outside. Also accepts file: URLs. */
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

  /** The file's text, or the reason why it is not sent. Never throws. */
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
      if (this.#unlisted !== undefined && !this.has(relative)) return refuse(this.#unlisted);
      if (status.size > MAX_FILE_BYTES) return refuse('larger than 1 MiB');
      const lines = linesOf(await readBounded(real, status.size));
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

/** Reads no more than `size` bytes, in case the file has grown since `stat`, and refuses a symbolic link that has replaced it. */
async function readBounded(file: string, size: number): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const buffer = Buffer.allocUnsafe(size);
    let length = 0;
    while (length < size) {
      const { bytesRead } = await handle.read(buffer, length, size - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  } finally {
    await handle.close();
  }
}

/** The lines of a text in UTF-8, or undefined if the bytes are not valid text. */
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
