import { spawn } from 'node:child_process';
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs';
import { copyFile, lstat, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { gitArguments, gitEnvironment, GitError, runGit } from './git-safety.ts';
import { counted } from '../../common/counted.ts';
import { makeLink } from '../files/make-link.ts';
import { PlainFolders } from '../files/plain-folders.ts';
import { refusalOnDisk } from '../files/workspace-path.ts';

const MAX_FILES = 200_000;
const MAX_BYTES = 4 * 1024 ** 3;
/** One file at a time is held in memory. */
const MAX_BLOB_BYTES = 1024 ** 3;
/** Reading a large commit from a slow disk takes a minute. */
const READ_TIMEOUT_MS = 10 * 60 * 1_000;

/** There is no commit to compare with. The message says why and what to do. */
export class NoHeadError extends Error {
  override readonly name = 'NoHeadError';
}

export interface HeadFile {
  readonly kind: 'file' | 'link';
  readonly executable: boolean;
  /** The blob's id, in the repository's hash. */
  readonly id: string;
  readonly size: number;
}

/** The last commit's files of a workspace. */
export interface GitHead {
  /** Absolute, without symbolic links. */
  readonly workspace: string;
  /** The commit's id. */
  readonly commit: string;
  /** The workspace within its repository, such as `packages/a/`; empty for the whole of it. */
  readonly prefix: string;
  /** By path from the workspace, with forward slashes. */
  readonly files: ReadonlyMap<string, HeadFile>;
  /** Submodules, which are repositories of their own: the commit of each, by its folder. */
  readonly submodules: ReadonlyMap<string, string>;
  /** Notes for people, one sentence each. */
  readonly notes: readonly string[];
}

/**
 * Lists the last commit's files of `workspace` (absolute, without symbolic links), or those of another commit `revision`, such as
 * `origin/main`. @throws NoHeadError, GitError, the signal's reason
 */
export async function readHead(workspace: string, signal: AbortSignal, revision = 'HEAD'): Promise<GitHead> {
  const prefix = await prefixOf(workspace, signal);
  const commit = await runGit(workspace, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`], { signal }).catch(
    (error: unknown) => {
      throw error instanceof GitError && error.said === ''
        ? new NoHeadError(
            revision === 'HEAD'
              ? `The repository of ${workspace} has no commit yet, so there is nothing to judge against: commit the project first.`
              : `The repository of ${workspace} has no commit ${revision}. A shallow clone may lack it: fetch it first.`,
          )
        : error;
    },
  );
  const id = commit.toString('latin1').trim();
  const listed = await runGit(workspace, ['ls-tree', '-r', '-z', '-l', id], { signal });
  const head = readTree(listed);
  if (head.files.size === 0)
    throw new NoHeadError(
      `The last commit has no file of ${workspace}, so there is nothing to judge against: commit the project first.`,
    );
  return { workspace, commit: id, prefix, ...head };
}

/** The workspace within its repository, such as `packages/a/`; empty for the whole of it. @throws as `readHead` */
export async function prefixOf(workspace: string, signal: AbortSignal): Promise<string> {
  const answer = await runGit(workspace, ['rev-parse', '--is-inside-work-tree', '--show-prefix'], { signal }).catch(
    (error: unknown) => {
      throw error instanceof GitError && error.said.includes('not a git repository')
        ? new NoHeadError(
            `${workspace} is not in a Git repository, so there is no commit to judge against: name a folder that is.`,
          )
        : error;
    },
  );
  const [isInside, ...prefix] = answer.toString().replace(/\n$/, '').split('\n');
  if (isInside !== 'true') throw new NoHeadError(`${workspace} is no working tree of Git: name a folder that is one.`);
  return prefix.join('\n');
}

function readTree(listed: Buffer): Pick<GitHead, 'files' | 'submodules' | 'notes'> {
  const files = new Map<string, HeadFile>();
  const submodules = new Map<string, string>();
  let unusable = 0;
  let bytes = 0;
  for (const entry of listed.toString('latin1').split('\0')) {
    const [, mode = '', id = '', size = '', name = ''] = /^(\d+) \w+ ([0-9a-f]+) +(\S+)\t(.*)$/s.exec(entry) ?? [];
    if (name === '') continue;
    const file = usableName(Buffer.from(name, 'latin1'));
    if (file === undefined) {
      unusable += 1;
    } else if (mode === '160000') {
      submodules.set(file, id);
    } else {
      if (!/^\d+$/.test(size))
        throw new GitError(`The contents of ${file} are not in this clone: fetch them with "git checkout HEAD".`);
      if (Number(size) > MAX_BLOB_BYTES) throw new GitError(`${file} is too large to be read from the last commit.`);
      bytes += Number(size);
      files.set(file, { kind: mode === '120000' ? 'link' : 'file', executable: mode === '100755', id, size: Number(size) });
    }
  }
  if (files.size > MAX_FILES || bytes > MAX_BYTES)
    throw new GitError(
      `The last commit is too large to be written out (more than ${MAX_FILES} files or ${MAX_BYTES / 1024 ** 3} GiB).`,
    );
  const notes = unusable > 0 ? [`Left out of the last commit: ${counted(unusable, 'file')} with a name that cannot be written here.`] : [];
  return { files, submodules, notes };
}

/** The path, or undefined if it is not UTF-8 or leads out of the workspace. */
export function usableName(name: Buffer): string | undefined {
  if (!isUtf8(name)) return undefined;
  const text = name.toString();
  const leadsElsewhere = (segment: string): boolean => /^(|\.|\.\.|\.git)$/i.test(segment);
  return text.includes('\\') || text.split('/').some(leadsElsewhere) ? undefined : text;
}

/** The last commit's files, written into a folder. */
export interface WrittenHead extends GitHead {
  readonly folder: string;
  /** Git LFS files, whose contents come from the workspace. */
  readonly fromWorkspace: ReadonlySet<string>;
}

/**
 * Writes the files into the new folder `folder` (absolute), byte by byte as in the commit, without filters, hooks or conversion of line
 * ends. A Git LFS pointer is replaced by its content if the workspace has that. Symbolic links that lead out are left out. The folder is a
 * repository whose index lists these files, so that none counts as ignored. Files of submodules come from the workspace's clones of them.
 * @throws GitError, an error of the file system, the signal's reason
 */
export async function writeHead(head: GitHead, folder: string, signal: AbortSignal): Promise<WrittenHead> {
  await mkdir(folder);
  const { fromWorkspace, notes } = await writeFiles(head, folder, signal);
  const inner = await writeSubmodules(head, folder, signal);
  await makeRepository(folder, [...head.files.keys(), ...inner.files], signal);
  return { ...head, folder, fromWorkspace, notes: [...head.notes, ...notes, ...inner.notes] };
}

const MAX_SUBMODULES = 50;

/** Writes each submodule in the state that its repository has at the commit that `head` names. */
async function writeSubmodules(head: GitHead, folder: string, signal: AbortSignal): Promise<{ readonly files: readonly string[]; readonly notes: readonly string[] }> {
  const files: string[] = [];
  const notes: string[] = [];
  for (const [at, commit] of [...head.submodules].slice(0, MAX_SUBMODULES)) {
    const inner = await readSubmodule(head.workspace, at, commit, signal);
    if (!inner) {
      notes.push(`${at} is a submodule that is not here as the last commit names it, so its files are left out. Update it with "git submodule update --init".`);
      continue;
    }
    const place = path.join(folder, at);
    await mkdir(place, { recursive: true });
    const written = await writeFiles(inner, place, signal);
    const below = await writeSubmodules(inner, place, signal);
    files.push(...[...inner.files.keys(), ...below.files].map((file) => `${at}/${file}`));
    notes.push(`${at} is a submodule. The tests see it as the last commit names it.`, ...inner.notes, ...written.notes, ...below.notes);
  }
  return { files, notes };
}

async function readSubmodule(workspace: string, at: string, commit: string, signal: AbortSignal): Promise<GitHead | undefined> {
  const folder = path.join(workspace, at);
  try {
    // The folder of a submodule that is not checked out belongs to the repository around it.
    if (!new PlainFolders(workspace).has(at) || (await prefixOf(folder, signal)) !== '') return undefined;
    return await readHead(folder, signal, commit);
  } catch (error) {
    if (error instanceof GitError || error instanceof NoHeadError) return undefined;
    throw error;
  }
}

/** Writes the files of `head` itself. */
async function writeFiles(head: GitHead, folder: string, signal: AbortSignal): Promise<Pick<WrittenHead, 'fromWorkspace' | 'notes'>> {
  const notes: string[] = [];
  const fromWorkspace = new Set<string>();
  const links: { readonly file: string; readonly target: string }[] = [];
  let pointers = 0;
  for (const parent of new Set([...head.files.keys()].map((file) => path.dirname(file))))
    mkdirSync(path.join(folder, parent), { recursive: true });
  for await (const { file, bytes } of contentsOf(head, signal)) {
    const { kind, executable } = head.files.get(file) as HeadFile;
    const target = path.join(folder, file);
    const pointer = kind === 'file' ? lfsPointer(bytes) : undefined;
    if (kind === 'link') {
      links.push({ file, target: bytes.toString() });
    } else if (pointer && (await hasContents(head.workspace, file, pointer))) {
      await copyFile(path.join(head.workspace, file), target);
      fromWorkspace.add(file);
    } else {
      if (pointer) pointers += 1;
      writeFileSync(target, bytes, { mode: executable ? 0o755 : 0o644, flag: 'wx' });
    }
  }
  // Links come last, so that nothing is written through them.
  for (const { file, target } of links)
    if (staysInside(file, target)) makeLink(target, path.join(folder, file));
    else notes.push(`The symbolic link ${file} leads out of the workspace and is left out.`);
  if (pointers > 0)
    notes.push(`The tests see a pointer in place of ${counted(pointers, 'file')}: what Git LFS held at HEAD is not here.`);
  return { fromWorkspace, notes };
}

/** In the order of `head.files`. */
async function* contentsOf({ workspace, files }: GitHead, signal: AbortSignal): AsyncGenerator<{ file: string; bytes: Buffer }> {
  signal.throwIfAborted();
  const child = spawn('git', gitArguments(workspace, ['cat-file', '--batch']), {
    env: gitEnvironment(),
    stdio: ['pipe', 'pipe', 'ignore'],
    signal,
    timeout: READ_TIMEOUT_MS,
  });
  // A failure shows as output that ends too early.
  child.on('error', () => {});
  child.stdin.on('error', () => {}).end([...files.values()].map(({ id }) => `${id}\n`).join(''));
  const output = new ByteReader(child.stdout);
  try {
    for (const [file, { size }] of files) {
      const line = (await output.until(0x0a)).toString('latin1');
      if (!line.endsWith(` blob ${size}`)) throw new GitError(`Git cannot read ${file} from the last commit of ${workspace}.`);
      yield { file, bytes: await output.take(size) };
      await output.take(1);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    child.kill();
  }
}

class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  async take(count: number): Promise<Buffer> {
    const parts = [this.#rest];
    let length = this.#rest.length;
    while (length < count) {
      const chunk = await this.#next();
      parts.push(chunk);
      length += chunk.length;
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts);
    this.#rest = all.subarray(count);
    return all.subarray(0, count);
  }

  /** The bytes before the next `byte`, which is consumed too. */
  async until(byte: number): Promise<Buffer> {
    let end = this.#rest.indexOf(byte);
    while (end < 0) {
      this.#rest = Buffer.concat([this.#rest, await this.#next()]);
      end = this.#rest.indexOf(byte);
    }
    return (await this.take(end + 1)).subarray(0, end);
  }

  async #next(): Promise<Buffer> {
    const { value, done } = await this.#chunks.next();
    if (done) throw new GitError('Git ended before it had given every file of the last commit.');
    return value;
  }
}

interface LfsPointer {
  readonly sha256: string;
  readonly size: number;
}

/** https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md */
export function lfsPointer(bytes: Buffer): LfsPointer | undefined {
  if (bytes.length >= 1024) return undefined;
  const [, sha256, size] =
    /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-.*\n)*oid sha256:([0-9a-f]{64})\nsize (\d+)\n$/.exec(
      bytes.toString('latin1'),
    ) ?? [];
  return sha256 === undefined ? undefined : { sha256, size: Number(size) };
}

/** Whether the workspace has the content that the pointer names. */
async function hasContents(workspace: string, file: string, { sha256, size }: LfsPointer): Promise<boolean> {
  if ((await refusalOnDisk(workspace, file)) !== undefined) return false;
  const absolute = path.join(workspace, file);
  const found = await lstat(absolute).catch(() => undefined);
  return found?.size === size && (await digestOf(absolute, createHash('sha256'))) === sha256;
}

/** Adds a file's contents to `hash`, and returns the digest. */
export async function digestOf(file: string, hash: ReturnType<typeof createHash>): Promise<string> {
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function staysInside(link: string, target: string): boolean {
  const end = path.posix.join(path.posix.dirname(link), target);
  return target !== '' && !path.posix.isAbsolute(target) && end !== '..' && !end.startsWith('../');
}

/** An index needs no objects, so any id works. */
const ANY_ID = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';

async function makeRepository(folder: string, files: readonly string[], signal: AbortSignal): Promise<void> {
  await runGit(folder, ['init', '--quiet', '--template=', '--object-format=sha1'], { signal });
  await addToIndex(folder, files, signal);
}

/** Lists files in the index of a written commit, so that none counts as ignored. @throws GitError, the signal's reason */
export async function addToIndex(folder: string, files: readonly string[], signal: AbortSignal): Promise<void> {
  const input = files.map((file) => `100644 ${ANY_ID}\t${file}\0`).join('');
  await runGit(folder, ['update-index', '-z', '--index-info'], { signal, input });
}
