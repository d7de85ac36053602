import { applyPatch, parsePatch, type StructuredPatch } from 'diff';
import { ChangeDraft, type ReadChange } from './change-draft.ts';
import { protectedReason } from '../files/protected-paths.ts';
import { readTextFile } from '../files/text-file.ts';
import { checkWorkspacePath, refusalOnDisk } from '../files/workspace-path.ts';

export const MAX_DIFF_BYTES = 32 * 1024 * 1024;
const MAX_PARTS = 2_000;

/** A hunk may be searched in the whole file, synchronously. This many comparisons take about a second. */
const MAX_COMPARISONS = 50_000_000;

/** Git's modes of symbolic links and submodules. */
const NO_FILE = /^(120000|160000)$/;

/** Files that no diff may change: those of Git, and of tools that run outside the tests. */
const DANGEROUS = new Set(['.git/config', '.vscode/tasks.json'].map((path) => protectedReason(path)));

/**
 * Reads a diff file of `git diff`, `git format-patch` or `diff -u`, against the folder `base` (absolute). Lines may have moved, but must be
 * the same as in the diff. `prefix` is the workspace within its repository, such as `packages/a/`. If all paths begin with it, they are
 * relative to the repository. Does not throw because of the diff.
 */
export async function parseDiffFile(diff: string, base: string, { prefix = '' } = {}): Promise<ReadChange> {
  const reader = new DiffReader(base);
  if (diff.trim() === '') return reader.finish();
  try {
    const parts = fromWorkspace(plainDiff(diff).split(MAIL).flatMap(readParts), prefix);
    if (parts.length === 0 || parts.length > MAX_PARTS)
      throw new UnreadableDiff(parts.length === 0 ? 'There is no diff in it.' : `It changes more than ${MAX_PARTS} files.`);
    for (const part of parts) await reader.add(part);
  } catch (error) {
    if (!(error instanceof UnreadableDiff)) throw error;
    reader.draft.refuse('(diff)', error.message);
  }
  return reader.finish();
}

class UnreadableDiff extends Error {}

/** The line with which `git format-patch` begins a commit. */
const MAIL = /^(?=From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001$)/m;

interface Part {
  /** Whether it is the first part of a commit. */
  readonly isFirst: boolean;
  /** Null for /dev/null. */
  readonly from: string | null;
  readonly to: string | null;
  readonly patch: StructuredPatch;
}

function readParts(commit: string): readonly Part[] {
  let patches: StructuredPatch[];
  try {
    patches = parsePatch(commit);
  } catch (error) {
    throw new UnreadableDiff(`It cannot be read (${error instanceof Error ? error.message.slice(0, 200) : String(error)}).`);
  }
  // Text before the first file and after the last one has neither name nor hunk.
  const parts = patches.filter(({ oldFileName, hunks, isGit }) => oldFileName !== undefined || hunks.length > 0 || isGit);
  return parts.map((patch, index) => ({ isFirst: index === 0, ...namesOf(patch), patch }));
}

function plainDiff(diff: string): string {
  // If the diff was saved with CRLF, its headers have CRLF, too. In a diff of files with CRLF, only the lines of the files have it.
  const lines = /(^|[^\r])\n/.test(diff) ? diff : diff.replaceAll('\r\n', '\n');
  return (
    lines
      // A mail's signature. It looks like a deleted line, but a digit follows.
      .replace(/^-- \n(?=\d)/gm, '')
      // The library knows only the other form for binary files, and only the usual prefixes.
      .replace(/^GIT binary patch$/gm, 'Binary files differ')
      .replace(/^diff --git ([ciow])\/(.{1,1000}) (?!\1)[ciow]\/\2$/gm, 'diff --git a/$2 b/$2')
      .replace(/^diff --git (?!")(.{1,1000}) \1$/gm, 'diff --git a/$1 b/$1')
  );
}

/** The names without `a/` and `b/`, or other prefixes of the old and the new name. */
function namesOf({ oldFileName, newFileName, isCreate, isDelete }: StructuredPatch): Pick<Part, 'from' | 'to'> {
  if (oldFileName === undefined || newFileName === undefined) throw new UnreadableDiff('It does not say which file it changes.');
  const [old, now] = [oldFileName, newFileName].map((name) => (name === '/dev/null' ? null : name)) as [
    string | null,
    string | null,
  ];
  const without = (name: string): string => name.slice(name.indexOf('/') + 1);
  const hasPrefixes =
    old === null || now === null
      ? /^[abciow]\//.test(old ?? now ?? '')
      : old !== now && old.includes('/') && (without(old) === without(now) || (old.startsWith('a/') && now.startsWith('b/')));
  const bare = (name: string | null): string | null => (name !== null && hasPrefixes ? without(name) : name);
  return { from: isCreate ? null : bare(old), to: isDelete ? null : bare(now) };
}

function fromWorkspace(parts: readonly Part[], prefix: string): readonly Part[] {
  const names = parts.flatMap(({ from, to }) => [from, to]).filter((name) => name !== null);
  if (prefix === '' || !names.every((name) => name.startsWith(prefix))) return parts;
  const cut = (name: string | null): string | null => name && name.slice(prefix.length);
  return parts.map(({ from, to, ...part }) => ({ ...part, from: cut(from), to: cut(to) }));
}

/** Applies parts in order: several commits of a series may change the same file. */
class DiffReader {
  readonly draft = new ChangeDraft();
  readonly #base: string;
  /** Null if there is no such file. */
  readonly #before = new Map<string, string | null>();
  readonly #current = new Map<string, string | null>();
  /** The state before the current commit. */
  #start: ReadonlyMap<string, string | null> = new Map();
  #comparisons = 0;

  constructor(base: string) {
    this.#base = base;
  }

  finish(): ReadChange {
    for (const [path, before] of this.#before) this.draft.edit(path, before, this.#current.get(path) ?? null);
    return this.draft.finish();
  }

  async add({ from, to, patch, isFirst }: Part): Promise<void> {
    if (isFirst) this.#start = new Map(this.#current);
    const shown = to ?? from ?? '(diff)';
    if ([patch.oldMode, patch.newMode].some((mode) => NO_FILE.test(mode ?? '')))
      return this.draft.refuse(shown, 'It is a symbolic link or a submodule.');
    const [source, target] = [from === null ? null : await this.#open(from), to === null ? null : await this.#open(to)];
    if (source === undefined || target === undefined) return;
    if (patch.isBinary) return this.draft.cannot(shown, 'The diff is of a file that is not text.');
    // A copy is made of the file's state before the commit, even if the commit changes the file first.
    const old = source && (patch.isCopy ? (this.#start.has(source) ? this.#start : this.#before) : this.#current).get(source);
    const existing = target && this.#current.get(target);
    // `diff -N` names a missing file like an existing one.
    const creates = source === null || (old === null && !patch.isGit && patch.hunks.every(({ oldLines }) => oldLines === 0));
    if (!creates && typeof old !== 'string') return this.draft.refuse(shown, 'The diff changes a file that does not exist.');
    if (target !== null && target !== source && existing !== null)
      return this.draft.refuse(target, 'The diff creates a file that exists already.');
    if (patch.hunks.length === 0 && !saysAll(patch, { from, to }))
      return this.draft.cannot(shown, 'The diff does not say what changes in it.');

    const result = this.#patched(creates ? '' : (old as string), patch);
    if (result === undefined) return this.draft.cannot(shown, 'The diff does not fit the file as it is at HEAD.');
    if (target === null && patch.hunks.length > 0 && result !== '')
      return this.draft.refuse(shown, 'The diff deletes the file but not all of its lines.');
    if (source !== null && source !== target && !patch.isCopy) this.#current.set(source, null);
    if (target === null) return;
    this.#current.set(target, result);
    if (patch.newMode !== undefined && patch.newMode !== (patch.oldMode ?? '100644')) this.draft.leavePermissions(target);
  }

  /** Reads the file at the path, in its shortest form. Undefined if it is refused or left out. */
  async #open(written: string): Promise<string | undefined> {
    const checked = checkWorkspacePath(written);
    if (checked.refused !== undefined) return void this.draft.refuse(written, checked.refused);
    const { path } = checked;
    if (this.#current.has(path)) return path;
    const danger = protectedReason(path);
    const reason = danger !== undefined && DANGEROUS.has(danger) ? danger : await refusalOnDisk(this.#base, path);
    if (reason !== undefined) return void this.draft.refuse(path, reason);
    const found = await readTextFile(this.#base, path);
    if (found.kind === 'refused') return void this.draft.cannot(path, found.reason);
    const text = found.kind === 'text' ? found.text : null;
    this.#before.set(path, text);
    this.#current.set(path, text);
    return path;
  }

  #patched(text: string, patch: StructuredPatch): string | undefined {
    const lineCount = text.split('\n').length;
    // The search starts at the stated line and moves outwards by one line at a time, so it must start inside the file.
    const hunks = patch.hunks.map((hunk) => ({ ...hunk, oldStart: Math.min(hunk.oldStart, lineCount) }));
    if (hunks.some(({ oldStart }) => !Number.isSafeInteger(oldStart)))
      throw new UnreadableDiff('A part of it does not say which lines it changes.');
    const compareLine = (_number: number, line: string, _operation: string, content: string): boolean => {
      this.#comparisons += 1;
      if (this.#comparisons > MAX_COMPARISONS) throw new UnreadableDiff('It takes too long to find the lines that it changes.');
      return line === content;
    };
    const result = applyPatch(text, { ...patch, hunks }, { fuzzFactor: 0, compareLine });
    return result === false ? undefined : result;
  }
}

/** Whether a part without hunks is a complete change: a new, deleted, renamed or copied file, or a new mode. */
function saysAll({ isRename, isCopy, oldMode, newMode }: StructuredPatch, { from, to }: Pick<Part, 'from' | 'to'>): boolean {
  return isRename === true || isCopy === true || from === null || to === null || (oldMode !== undefined && newMode !== undefined);
}
