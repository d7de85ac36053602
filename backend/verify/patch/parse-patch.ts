import { realpath } from 'node:fs/promises';
import { findBlocks, type AnswerBlock } from './answer-blocks.ts';
import { applyFileDiff, readDiff, type FileDiff } from './diff-text.ts';
import { exportedNames } from './exported-names.ts';
import type { FileEdit, Patch, RefusedEdit } from './patch.ts';
import { protectedReason } from '../files/protected-paths.ts';
import { applyReplacement, type Replacement } from './replace-blocks.ts';
import { likeOriginal, MAX_FILE_BYTES, readTextFile, toPlainText } from '../files/text-file.ts';
import { checkWorkspacePath, refusalOnDisk } from '../files/workspace-path.ts';

const MAX_FILES = 200;
const MAX_ANSWER_CHARACTERS = 32 * 1024 * 1024;
/** Limit of the blocks in an answer, and of the files in a diff. Each may take a pass over a file. */
const MAX_CHANGES = 2_000;

export interface ParsePatchOptions {
  /**
   * The files that were shown with the question. If the answer's only code block names no path, and exactly one of these files exports the
   * same names as the block, the block is that file's new content.
   */
  readonly candidates?: readonly string[];
}

/**
 * Reads an answer as whole-file edits of the workspace `base` (absolute), from fenced blocks that name a path, unified diffs, and
 * search/replace blocks. Writes nothing, and does not throw because of the answer: edits that are dangerous, ambiguous or do not fit are
 * in `refused`. Only a diff can delete a file. A block that changes nothing is not an edit.
 */
export async function parsePatch(answer: string, base: string, options: ParsePatchOptions = {}): Promise<Patch> {
  const tooMuch = (what: string): Patch => ({
    edits: [],
    refused: [{ path: '(answer)', reason: `The answer has more than ${what}.` }],
  });
  if (answer.length > MAX_ANSWER_CHARACTERS) return tooMuch(`${MAX_ANSWER_CHARACTERS / 1024 / 1024} million characters`);
  const draft = new Draft(await realpath(base));
  const blocks = findBlocks(answer);
  if (blocks.length > MAX_CHANGES) return tooMuch(`${MAX_CHANGES} blocks of code`);
  for (const block of blocks) await addBlock(draft, block);
  if (draft.isEmpty) await addUnnamedBlock(draft, blocks, options.candidates ?? []);
  return draft.finish();
}

async function addBlock(draft: Draft, block: AnswerBlock): Promise<void> {
  switch (block.kind) {
    case 'whole-file':
      return await addWholeFile(draft, block.named.path, block.named.explicit, block.content);
    case 'replacements':
      if (block.path === undefined)
        return draft.refuse('(no path)', 'A search/replace block does not say which file it changes.');
      return await addReplacements(draft, block.path, block.replacements);
    case 'diff': {
      const fileDiffs = readDiff(block.text);
      if (fileDiffs.length > MAX_CHANGES) return draft.refuse('(diff)', `The diff changes more than ${MAX_CHANGES} files.`);
      for (const fileDiff of fileDiffs) await addFileDiff(draft, fileDiff);
      return;
    }
    case 'broken':
      return draft.refuse(block.path, block.reason);
    case 'unnamed':
      return;
  }
}

async function addWholeFile(draft: Draft, path: string, explicit: boolean, content: string): Promise<void> {
  const file = await draft.open(path, 'whole-file', { onlyIfPresent: !explicit });
  if (!file) return;
  if (content.trim() === '') return draft.refuse(file.path, 'The code block is empty; files are deleted by a diff only.');
  const elision = leftOutPart(content, file.original ?? '');
  if (elision !== undefined)
    return draft.refuse(file.path, `The code block leaves parts of the file out (${JSON.stringify(elision)}).`);
  file.current = content.endsWith('\n') ? content : `${content}\n`;
}

const ELISION = /^(?:\/\/|#|--|\/\*|<!--|\{\/\*)\s*(?:\.{3}|…)/;

/** Such as "// ... existing code ...". As a whole file, the block would delete the rest. */
function leftOutPart(content: string, original: string): string | undefined {
  return content
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line.length < 300 && ELISION.test(line) && !original.includes(line));
}

async function addReplacements(draft: Draft, path: string, replacements: readonly Replacement[]): Promise<void> {
  const file = await draft.open(path, 'replacements');
  if (!file) return;
  for (const replacement of replacements) {
    if (file.current === null) {
      if (replacement.search.trim() !== '') return draft.refuse(file.path, 'The file to search in does not exist.');
      file.current = `${replacement.replace}\n`;
      continue;
    }
    const result = applyReplacement(file.current, replacement);
    if ('reason' in result) return draft.refuse(file.path, result.reason);
    file.current = result.text;
  }
}

async function addFileDiff(draft: Draft, diff: FileDiff): Promise<void> {
  const shownPath = diff.newPath ?? diff.oldPath ?? '(diff)';
  if (diff.broken !== undefined) return draft.refuse(shownPath, diff.broken);
  const source = diff.oldPath === null ? undefined : await draft.open(diff.oldPath, 'diff');
  if (diff.oldPath !== null && !source) return;
  const target =
    diff.newPath === null ? undefined : diff.newPath === diff.oldPath ? source : await draft.open(diff.newPath, 'diff');
  if (diff.newPath !== null && !target) return;

  if (source && source.current === null) return draft.refuse(source.path, 'The diff changes a file that does not exist.');
  if (target && target !== source && target.current !== null)
    return draft.refuse(target.path, 'The diff creates a file that exists already.');
  let result: string | null;
  try {
    result = applyFileDiff(source?.current ?? '', diff);
  } catch (error) {
    return draft.refuse(shownPath, `The diff cannot be read (${error instanceof Error ? error.message : String(error)}).`);
  }
  if (result === null) return draft.refuse(shownPath, 'The diff does not fit the file as it is.');
  if (!target) {
    if (result !== '' && diff.hunks.length > 0)
      return draft.refuse(shownPath, 'The diff deletes the file but not all of its lines.');
    if (source) source.current = null;
    return;
  }
  if (source && source !== target) source.current = null;
  target.current = result;
}

/** See `ParsePatchOptions.candidates`. A less certain block is not an edit, because a snippet must not replace a file. */
async function addUnnamedBlock(draft: Draft, blocks: readonly AnswerBlock[], candidates: readonly string[]): Promise<void> {
  const [only, ...others] = blocks;
  if (only?.kind !== 'unnamed' || others.length > 0 || !/^(?:[cm]?[jt]sx?|javascript|typescript|)$/i.test(only.language)) return;
  const exported = exportedNames(only.content);
  if (exported.size === 0) return;
  const matching: string[] = [];
  for (const candidate of new Set(candidates)) {
    const checked = checkWorkspacePath(candidate);
    if (
      checked.refused !== undefined ||
      protectedReason(checked.path) !== undefined ||
      (await refusalOnDisk(draft.base, checked.path))
    )
      continue;
    const file = await readTextFile(draft.base, checked.path);
    const names = file.kind === 'text' ? exportedNames(toPlainText(file.text)) : new Set();
    if (names.size === exported.size && [...names].every((name) => exported.has(String(name)))) matching.push(checked.path);
  }
  if (matching.length === 1 && matching[0] !== undefined) await addWholeFile(draft, matching[0], true, only.content);
}

type EditKind = 'whole-file' | 'replacements' | 'diff';

interface DraftFile {
  readonly path: string;
  readonly kind: EditKind;
  /** The text on disk, with its own line ends. */
  readonly onDisk: string | null;
  /** The text on disk as plain text. Null if there is no such file. */
  readonly original: string | null;
  /** The plain text with the edits so far. */
  current: string | null;
}

/** The edits of one answer while they are read, one entry per file. */
class Draft {
  readonly base: string;
  readonly #files = new Map<string, DraftFile>();
  readonly #refused = new Map<string, string>();

  constructor(base: string) {
    this.base = base;
  }

  get isEmpty(): boolean {
    return this.#files.size === 0 && this.#refused.size === 0;
  }

  refuse(path: string, reason: string): void {
    const shown = path.slice(0, 300);
    if (!this.#refused.has(shown)) this.#refused.set(shown, reason);
    this.#files.delete(path);
  }

  /** The file to edit. Undefined if it is refused, or missing although it must exist. */
  async open(written: string, kind: EditKind, { onlyIfPresent = false } = {}): Promise<DraftFile | undefined> {
    const checked = checkWorkspacePath(written);
    if (checked.refused !== undefined) return void this.refuse(written, checked.refused);
    const { path } = checked;
    if (this.#refused.has(path)) return undefined;
    const opened = this.#files.get(path);
    if (opened && opened.kind !== kind) return void this.refuse(path, 'The answer changes the file in two different ways.');
    if (opened) return opened;
    const diskReason = await refusalOnDisk(this.base, path);
    const found = diskReason === undefined ? await readTextFile(this.base, path) : undefined;
    if (onlyIfPresent && found?.kind === 'absent') return undefined;
    const reason = protectedReason(path) ?? diskReason;
    if (reason !== undefined) return void this.refuse(path, reason);
    if (found?.kind === 'refused') return void this.refuse(path, found.reason);
    if (this.#files.size >= MAX_FILES) return void this.refuse(path, `The answer changes more than ${MAX_FILES} files.`);
    const onDisk = found?.kind === 'text' ? found.text : null;
    const original = onDisk === null ? null : toPlainText(onDisk);
    const file: DraftFile = { path, kind, onDisk, original, current: original };
    this.#files.set(path, file);
    return file;
  }

  finish(): Patch {
    const edits: FileEdit[] = [];
    for (const file of this.#files.values()) {
      const edit = this.#editOf(file);
      if (edit) edits.push(edit);
    }
    const refused: RefusedEdit[] = [...this.#refused].map(([path, reason]) => ({ path, reason }));
    return { edits, refused };
  }

  #editOf({ path, onDisk, original, current }: DraftFile): FileEdit | undefined {
    if (current === null) return onDisk === null ? undefined : { path, kind: 'delete', before: onDisk, after: null };
    if (current.includes('\0')) return void this.refuse(path, 'The new content is not text.');
    if (Buffer.byteLength(current) > MAX_FILE_BYTES)
      return void this.refuse(path, `The new content is larger than ${MAX_FILE_BYTES / 1024} KiB.`);
    if (onDisk === null) return { path, kind: 'create', before: null, after: current };
    // A code block does not tell whether the last line has an end, so the file's own form stays.
    if (original !== null && withoutLastLineEnd(current) === withoutLastLineEnd(original)) return undefined;
    return { path, kind: 'modify', before: onDisk, after: likeOriginal(current, onDisk) };
  }
}

const withoutLastLineEnd = (text: string): string => text.replace(/\n$/, '');
