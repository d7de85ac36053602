import { realpath } from 'node:fs/promises';
import { languageOf } from '../syntax/language.ts';
import { addCodeBlock, addCutOffBlock, AnswerCode, MORE_THAN_ONE_WAY } from './add-code-block.ts';
import type { AnswerBlock, Surroundings } from './answer-block.ts';
import { findBlocks } from './answer-blocks.ts';
import { addUnnamedBlock } from './add-unnamed-block.ts';
import type { PatchOperation } from './begin-patch.ts';
import { readDiff, type FileDiff } from './diff-text.ts';
import type { Patch } from './patch.ts';
import { PatchDraft, type DraftFile } from './patch-draft.ts';
import { placeHunks, type LooseHunk } from './place-hunks.ts';
import { applyReplacement, type Replacement } from './replace-blocks.ts';
import { whyNotRun } from './shell-script.ts';
import { onlyFileThat, textOf } from './which-file.ts';

const MAX_ANSWER_CHARACTERS = 32 * 1024 * 1024;
/** Limit of the blocks in an answer, and of the files in a diff. Each may take a pass over a file. */
const MAX_CHANGES = 2_000;

export interface ParsePatchOptions {
  /** The files that were shown with the question. A change that names no file is for the one of them that it fits, if there is only one. */
  readonly candidates?: readonly string[];
  /** The question asks for tests: edits that add some are edits like others. */
  readonly newTests?: boolean;
}

/**
 * Reads an answer as whole-file edits of the workspace `base` (absolute), from all forms that models write: see docs/answer-forms.md. Writes
 * nothing, and does not throw because of the answer: edits that are dangerous, ambiguous or do not fit are in `refused`. A block that changes
 * nothing is not an edit.
 */
export async function parsePatch(answer: string, base: string, options: ParsePatchOptions = {}): Promise<Patch> {
  const tooMuch = (what: string): Patch => ({
    edits: [],
    refused: [{ path: '(answer)', reason: `The answer has more than ${what}.` }],
  });
  if (answer.length > MAX_ANSWER_CHARACTERS) return tooMuch(`${MAX_ANSWER_CHARACTERS / 1024 / 1024} million characters`);
  const { candidates = [], newTests = false } = options;
  const draft = new PatchDraft(await realpath(base), { shown: candidates, newTests });
  const blocks = withoutRepeats(findBlocks(answer));
  if (blocks.length > MAX_CHANGES) return tooMuch(`${MAX_CHANGES} blocks of code`);
  const code = new AnswerCode(blocks, candidates, answer);
  for (const block of blocks) await addBlock(draft, block, code, candidates);
  if (draft.isEmpty) await addUnnamedBlock(draft, blocks, candidates);
  return await draft.finish();
}

/** An edit that is given twice to the letter, as in a draft and again at the end, is meant once. */
function withoutRepeats(blocks: readonly AnswerBlock[]): AnswerBlock[] {
  const seen = new Set<string>();
  return blocks.filter((block) => {
    if (block.kind === 'code' || block.kind === 'pair' || block.kind === 'cut-off') return true;
    const key = JSON.stringify({ ...block, says: undefined });
    return !seen.has(key) && seen.add(key);
  });
}

async function addBlock(draft: PatchDraft, block: AnswerBlock, code: AnswerCode, candidates: readonly string[]): Promise<void> {
  switch (block.kind) {
    case 'code':
      return await addCodeBlock(draft, block, code);
    case 'cut-off':
      return await addCutOffBlock(draft, block, code);
    case 'pair': {
      const path = block.named ?? (await fileOf(draft, block.says, candidates, [block.replacement]));
      const file = path === undefined ? undefined : await draft.open(path, undefined, { onlyIfPresent: true });
      const fits = file?.current != null && 'text' in applyReplacement(file.current, block.replacement, layoutOf(file.path));
      if (path !== undefined && fits) return await addReplacements(draft, path, [block.replacement]);
      for (const alone of block.alone) await addBlock(draft, alone, code, candidates);
      return;
    }
    case 'replacements': {
      const path = block.path ?? (await fileOf(draft, block.says, candidates, block.replacements));
      if (path === undefined) return draft.refuse('(no path)', 'A search/replace block does not say which file it changes.');
      if (block.says && code.isAlternative(await draft.resolve(path), block.says)) return draft.refuse(await draft.resolve(path), MORE_THAN_ONE_WAY);
      return await addReplacements(draft, path, block.replacements);
    }
    case 'diff': {
      const fileDiffs = readDiff(block.text);
      if (fileDiffs.length > MAX_CHANGES) return draft.refuse('(diff)', `The diff changes more than ${MAX_CHANGES} files.`);
      for (const fileDiff of fileDiffs) await addFileDiff(draft, fileDiff);
      return;
    }
    case 'hunks':
      await addHunks(draft, block, candidates);
      return;
    case 'operation':
      return await addOperation(draft, block.operation);
    case 'file':
      return await addFile(draft, block);
    case 'appended':
      return await appendTo(draft, block);
    case 'command':
      return await addCommand(draft, block);
    case 'deleted':
      return await addDeletion(draft, block.path);
    case 'moved':
      return await addMove(draft, block.path, block.target, block.content);
    case 'broken':
      return draft.refuse(await draft.resolve(block.path), block.reason);
  }
}

/** The one file that all of the replacements fit: of those that were just named, or else of those that were shown. */
function fileOf(
  draft: PatchDraft, says: Surroundings | undefined, candidates: readonly string[], replacements: readonly Replacement[],
): Promise<string | undefined> {
  const fits = (text: string, path: string): boolean =>
    replacements.every((replacement) => replacement.search.trim() !== '' && 'text' in applyReplacement(text, replacement, layoutOf(path)));
  return onlyFileThat(draft, fits, says?.mentions ?? [], candidates);
}

const layoutOf = (path: string): { layoutMatters: boolean } => {
  const language = languageOf(path);
  return { layoutMatters: language === undefined || language === 'python' };
};

async function addReplacements(draft: PatchDraft, path: string, replacements: readonly Replacement[]): Promise<void> {
  const file = await draft.open(path, 'parts');
  if (!file) return;
  for (const replacement of replacements) {
    if (file.current === null) {
      if (replacement.search.trim() !== '') return draft.refuse(file.path, 'The file to search in does not exist.');
      file.current = withLineEnd(replacement.replace);
      continue;
    }
    const result = applyReplacement(file.current, replacement, layoutOf(file.path));
    if ('reason' in result) return draft.refuse(file.path, result.reason);
    file.current = result.text;
    file.isCertain = false;
  }
}

async function addFileDiff(draft: PatchDraft, diff: FileDiff): Promise<void> {
  const shownPath = diff.newPath ?? diff.oldPath ?? '(diff)';
  if (diff.broken !== undefined) return draft.refuse(shownPath, diff.broken);
  const source = diff.oldPath === null ? undefined : await draft.open(diff.oldPath, 'parts');
  if (diff.oldPath !== null && !source) return;
  const target =
    diff.newPath === null ? undefined : diff.newPath === diff.oldPath ? source : await draft.open(diff.newPath, 'parts');
  if (diff.newPath !== null && !target) return;

  const isNew = source?.current === null && source === target && diff.hunks.length > 0 && diff.hunks.every(({ lines }) => lines.every((line) => line.startsWith('+')));
  if (source && source.current === null && !isNew) return draft.refuse(source.path, 'The diff changes a file that does not exist.');
  if (target && target !== source && target.current !== null)
    return draft.refuse(target.path, 'The diff creates a file that exists already.');
  const result = placeHunks(source?.current ?? '', diff.hunks, layoutOf(shownPath));
  if ('reason' in result) return draft.refuse(source?.path ?? shownPath, result.reason);
  if (!target) {
    if (result.text !== '' && diff.hunks.length > 0)
      return draft.refuse(shownPath, 'The diff deletes the file but not all of its lines.');
    if (source) source.current = null;
    return;
  }
  if (source && source !== target) source.current = null;
  target.current = result.text;
  target.isCertain = (target.isCertain ?? target.way === 'parts') && diff.hunks.every(({ isComplete }) => isComplete);
}

/** A diff that names no file is for the file that was just named, or for the only one that it fits. */
async function addHunks(draft: PatchDraft, { path, says, hunks }: Extract<AnswerBlock, { kind: 'hunks' }>, candidates: readonly string[]): Promise<void> {
  const fits = (text: string, file: string): boolean => 'text' in placeHunks(text, hunks, layoutOf(file));
  const named = path ?? (await onlyFileThat(draft, fits, says.mentions, candidates));
  if (named !== undefined) return void (await updateFile(draft, named, hunks));
  const [mentioned, ...others] = [...new Set(says.mentions.flat())];
  if (mentioned !== undefined && others.length === 0) return void (await updateFile(draft, mentioned, hunks));
  draft.refuse('(diff)', 'The diff does not say which file it changes ("--- a/…", "+++ b/…").');
}

async function updateFile(draft: PatchDraft, path: string, hunks: readonly LooseHunk[]): Promise<DraftFile | undefined> {
  const file = await draft.open(path, 'parts');
  if (!file) return undefined;
  if (file.current === null && !hunks.every(({ lines }) => lines.every((line) => line.startsWith('+'))))
    return void draft.refuse(file.path, 'The diff changes a file that does not exist.');
  const result = placeHunks(file.current ?? '', hunks, layoutOf(file.path));
  if ('reason' in result) return void draft.refuse(file.path, result.reason);
  file.current = result.text;
  file.isCertain = false;
  return file;
}

async function addOperation(draft: PatchDraft, operation: PatchOperation): Promise<void> {
  switch (operation.kind) {
    case 'add':
      return await addFile(draft, { path: operation.path, content: operation.content, mustBeNew: true });
    case 'delete':
      return await addDeletion(draft, operation.path);
    case 'broken':
      return draft.refuse(await draft.resolve(operation.path), operation.reason);
    case 'update': {
      const { path, moveTo, hunks } = operation;
      const file = await updateFile(draft, path, hunks);
      if (!file || moveTo === undefined) return;
      return await addMove(draft, path, moveTo, undefined);
    }
  }
}

async function addFile(draft: PatchDraft, { path, content, mustBeNew, isWhole = false }: { readonly path: string; readonly content: string; readonly mustBeNew: boolean; readonly isWhole?: boolean }): Promise<void> {
  const file = await draft.open(path, undefined);
  if (!file) return;
  if (mustBeNew && file.current !== null) return draft.refuse(file.path, 'The edit creates a file that exists already.');
  if (content.trim() === '') return draft.refuse(file.path, 'The new content is empty.');
  if (file.current === null && draft.claim(file, 'whole')) file.current = withLineEnd(content);
  else if (file.current !== null) await addCodeBlock(draft, contentOf(file.path, content, isWhole || languageOf(file.path) === undefined), undefined);
}

/** The content of a file that is named in a field: in a program it may still be a part of it; a command leaves nothing of it. */
const contentOf = (path: string, content: string, isWhole: boolean): Extract<AnswerBlock, { kind: 'code' }> => ({
  kind: 'code', named: { path, explicit: true, fromFirstLine: false }, says: { above: '', near: isWhole ? 'the whole file' : '', mentions: [] }, language: '', content,
});

async function appendTo(draft: PatchDraft, { path, content }: { readonly path: string; readonly content: string }): Promise<void> {
  const file = await draft.open(path, 'parts');
  if (file) file.current = (file.current ?? '') + content;
}

/** Beside changes that can be read, a command is a hint. */
async function addCommand(draft: PatchDraft, { command, paths }: Extract<AnswerBlock, { kind: 'command' }>): Promise<void> {
  for (const written of paths) {
    const path = await draft.resolve(written);
    if ((await textOf(draft.base, path)) !== undefined) draft.refuseIfAlone(path, whyNotRun(command));
  }
}

async function addDeletion(draft: PatchDraft, path: string): Promise<void> {
  const file = await draft.open(path, 'parts');
  if (!file) return;
  if (file.current === null) return draft.refuse(file.path, 'The file to delete does not exist.');
  file.current = null;
}

async function addMove(draft: PatchDraft, path: string, target: string, content: string | undefined): Promise<void> {
  const source = await draft.open(path, 'parts');
  const file = source && (await draft.open(target, 'parts'));
  if (!source || !file) return;
  if (source.current === null) return draft.refuse(source.path, 'The file to move does not exist.');
  if (file.current !== null) return draft.refuse(file.path, 'A file is moved to a path that exists already.');
  file.current = content === undefined ? source.current : withLineEnd(content);
  source.current = null;
}

const withLineEnd = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);
