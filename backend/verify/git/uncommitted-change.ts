import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ChangeDraft, firstOf, type ReadChange } from '../patch/change-draft.ts';
import { conversionsOf, gitSetting, type Conversion } from './git-conversions.ts';
import { digestOf, lfsPointer, usableName, type HeadFile, type WrittenHead } from './git-head.ts';
import { runGit } from './git-safety.ts';
import { readTextFile, type TextFile } from '../files/text-file.ts';
import { checkWorkspacePath } from '../files/workspace-path.ts';

/** Larger files are read asynchronously. */
const LARGE_FILE_BYTES = 1024 * 1024;
/** After this many files, the event loop runs, so that Ctrl+C works. */
const FILES_AT_ONCE = 200;

/** Files that tools install or leave behind. They are not part of a change, even without a .gitignore. */
const INSTALLED = /(^|\/)(node_modules|\.venv)\//;
const LEFT_BEHIND = /(^|\/)__pycache__\//;

/**
 * The differences between the last commit and the working tree: staged and unstaged changes, and untracked files that Git does not
 * ignore. Git only lists names. Contents are compared here, because Git would run filters that the repository names.
 * @throws GitError, an error of the file system, the signal's reason
 */
export async function uncommittedChange(head: WrittenHead, signal: AbortSignal): Promise<ReadChange> {
  const draft = new ChangeDraft();
  const listed = await listWorkingTree(head, signal);
  const differences = await compare(draft, head, listed, signal);
  const modified = differences.filter(({ kind }) => kind === 'modified').map(({ file }) => file);
  const conversions = await conversionsOf(head, modified, signal);
  for (const difference of differences) {
    const { file, kind } = difference;
    signal.throwIfAborted();
    if (INSTALLED.test(file))
      draft.refuse(file, 'It is an installed dependency, which the tests use as installed. Install the version of HEAD.');
    else if (kind === 'link') draft.cannot(file, `A symbolic link is new, or has changed. ${WHAT_TO_DO}`);
    else await addEdit(draft, head, difference, conversions.get(file) ?? {});
  }
  const change = draft.finish();
  const repositories = listed.repositories.map((folder) => `${folder} is a repository of its own and is left out.`);
  return { ...change, notes: [...firstOf(repositories), ...change.notes] };
}

const WHAT_TO_DO = 'Commit it, or let .gitignore name it, if it is no part of the change.';

async function addEdit(draft: ChangeDraft, head: WrittenHead, { file, kind }: Difference, conversion: Conversion): Promise<void> {
  if (conversion.isAsCommitted) return;
  const before: TextFile = kind === 'created' ? { kind: 'absent' } : await readTextFile(head.folder, file);
  const after: TextFile = kind === 'deleted' ? { kind: 'absent' } : await readTextFile(head.workspace, file);
  if (before.kind === 'text' && lfsPointer(Buffer.from(before.text))) {
    draft.cannot(file, 'Git LFS holds it, and what it was at HEAD is not here.');
  } else if (conversion.filter !== undefined) {
    draft.cannot(file, `Git passes it through "${conversion.filter}" when it is committed, which is not run. ${WHAT_TO_DO}`);
  } else if (before.kind === 'refused' || after.kind === 'refused') {
    const { reason } = (after.kind === 'refused' ? after : before) as { readonly reason: string };
    draft.cannot(file, `${reason} ${WHAT_TO_DO}`);
  } else {
    const old = before.kind === 'text' ? before.text : null;
    const now = after.kind === 'text' ? asCommitted(after.text, old, conversion) : null;
    const { refused } = checkWorkspacePath(file);
    if (refused === undefined || old === now) draft.edit(file, old, now);
    else draft.cannot(file, refused);
  }
}

function asCommitted(text: string, old: string | null, { lineEnds }: Conversion): string {
  const becomesLf = lineEnds === 'always' || (lineEnds === 'auto' && old !== null && !old.includes('\r\n'));
  return becomesLf ? text.replaceAll('\r\n', '\n') : text;
}

interface Listed {
  /** Files that Git does not ignore, and whether it tracks each. Some may be deleted. */
  readonly files: ReadonlyMap<string, boolean>;
  /** Files that the index marks as skipped (sparse checkout) or assumed unchanged. */
  readonly takenAsUnchanged: ReadonlySet<string>;
  /** Nested repositories that are not submodules. */
  readonly repositories: readonly string[];
}

async function listWorkingTree({ workspace, submodules }: WrittenHead, signal: AbortSignal): Promise<Listed> {
  const listed = await runGit(workspace, ['ls-files', '-z', '-v', '--cached', '--others', '--exclude-standard'], { signal });
  const files = new Map<string, boolean>();
  const takenAsUnchanged = new Set<string>();
  const repositories: string[] = [];
  for (const entry of listed.toString('latin1').split('\0')) {
    const tag = entry.charAt(0);
    const file = usableName(Buffer.from(entry.slice(2).replace(/\/$/, ''), 'latin1'));
    if (file === undefined || submodules.has(file)) continue;
    if (entry.endsWith('/')) repositories.push(file);
    else if (/[Sa-z]/.test(tag)) takenAsUnchanged.add(file);
    else files.set(file, tag !== '?');
  }
  return { files, takenAsUnchanged, repositories };
}

interface Difference {
  readonly file: string;
  readonly kind: 'deleted' | 'modified' | 'created' | 'link';
}

/** Returns the differing files. Records changed permissions in the draft. */
async function compare(
  draft: ChangeDraft,
  head: WrittenHead,
  listed: Listed,
  signal: AbortSignal,
): Promise<readonly Difference[]> {
  const tree = new WorkingTree(head.workspace);
  const differences: Difference[] = [];
  // Some file systems have no permissions. Git records that in core.fileMode.
  const hasPermissions = (await gitSetting(head.workspace, ['--type=bool', 'core.fileMode'], signal)) !== 'false';
  let count = 0;
  for (const [file, old] of head.files) {
    if (count % FILES_AT_ONCE === 0) await setImmediate();
    count += 1;
    signal.throwIfAborted();
    if (listed.takenAsUnchanged.has(file) || head.fromWorkspace.has(file)) continue;
    const found = listed.files.has(file) ? tree.find(file) : undefined;
    if (!found || old.kind === 'link' || found.isSymbolicLink()) {
      if (!found || !isSameLink(old, found, tree.absolute(file)))
        differences.push({ file, kind: found || old.kind === 'link' ? 'link' : 'deleted' });
    } else {
      if (hasPermissions && old.executable !== isExecutable(found)) draft.leavePermissions(file);
      if (found.size !== old.size || !(await hasId(tree.absolute(file), found, old)))
        differences.push({ file, kind: 'modified' });
    }
  }
  for (const [file, isTracked] of listed.files) {
    if (head.files.has(file) || (!isTracked && (INSTALLED.test(file) || LEFT_BEHIND.test(file)))) continue;
    const found = tree.find(file);
    if (found?.isFile() && isExecutable(found)) draft.leavePermissions(file);
    if (found) differences.push({ file, kind: found.isSymbolicLink() ? 'link' : 'created' });
  }
  return differences;
}

/** Finds files and links without following a symbolic link in their path, as Git does. */
class WorkingTree {
  readonly #root: string;
  readonly #plainFolders = new Map<string, boolean>([['.', true]]);

  constructor(root: string) {
    this.#root = root;
  }

  absolute(file: string): string {
    return path.join(this.#root, file);
  }

  find(file: string): Stats | undefined {
    if (!this.#isPlain(path.posix.dirname(file))) return undefined;
    const found = lstatSync(this.absolute(file), { throwIfNoEntry: false });
    // A folder may have replaced a file; Git lists its files separately. Git ignores pipes.
    return found?.isFile() || found?.isSymbolicLink() ? found : undefined;
  }

  #isPlain(folder: string): boolean {
    const known = this.#plainFolders.get(folder);
    if (known !== undefined) return known;
    const isPlain =
      this.#isPlain(path.posix.dirname(folder)) &&
      lstatSync(this.absolute(folder), { throwIfNoEntry: false })?.isDirectory() === true;
    this.#plainFolders.set(folder, isPlain);
    return isPlain;
  }
}

const isExecutable = ({ mode }: Stats): boolean => (mode & 0o100) !== 0;

function isSameLink(old: HeadFile, found: Stats, absolute: string): boolean {
  if (old.kind !== 'link' || !found.isSymbolicLink()) return false;
  const target = readlinkSync(absolute, 'buffer');
  return hashOf(old, target.length).update(target).digest('hex') === old.id;
}

async function hasId(absolute: string, { size }: Stats, old: HeadFile): Promise<boolean> {
  const hash = hashOf(old, size);
  return (
    (size > LARGE_FILE_BYTES ? await digestOf(absolute, hash) : hash.update(readFileSync(absolute)).digest('hex')) === old.id
  );
}

/** The hash of a blob, ready for its contents. */
const hashOf = ({ id }: HeadFile, size: number) => createHash(id.length === 64 ? 'sha256' : 'sha1').update(`blob ${size}\0`);
