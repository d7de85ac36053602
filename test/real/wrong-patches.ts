import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { applyPatch, parsePatch } from 'diff';
import { mutations } from '../../backend/train/tasks/mutations.ts';
import { isProductSource, git } from '../bench/context/historic-fix.ts';
import type { Workspace } from './workspace.ts';

/** A change that a machine made of an honest fix. Whether it is wrong, the tests say. */
export interface WrongPatch {
  /** In words. */
  readonly what: string;
  /** Whether `texts` replace files of the fix, or of the checkout before it. */
  readonly on: 'fix' | 'base';
  readonly texts: ReadonlyMap<string, string>;
}

const MAX_OF_A_KIND = 2;

/** Expects the checkout with the fix. One comment; of hunks and tokens at most two each, from all over the fix. Of each kind one comes first. */
export async function wrongPatches(workspace: Workspace): Promise<readonly WrongPatch[]> {
  const hunks: WrongPatch[] = [];
  const tokens: WrongPatch[] = [];
  const comments: WrongPatch[] = [];
  for (const { path: file, isDeleted } of workspace.sources) {
    if (isDeleted || !isProductSource(file)) continue;
    const fixed = await readFile(path.join(workspace.folder, file), 'utf8');
    const before = await git(workspace.folder, 'show', `HEAD:${file}`).catch(() => '');
    const [patch] = parsePatch(await git(workspace.folder, 'diff', '--no-color', '--no-ext-diff', '-U1', 'HEAD', '--', file));
    if (!patch) continue;
    const one = (what: string, text: string, on: WrongPatch['on'] = 'fix'): WrongPatch => ({ what, on, texts: new Map([[file, text]]) });
    for (const [index, hunk] of patch.hunks.entries()) {
      const text = applyPatch(before, { ...patch, hunks: patch.hunks.filter((other) => other !== hunk) });
      if (text !== false) hunks.push(one(`without hunk ${index + 1} of ${patch.hunks.length} of ${file}`, text));
    }
    const added = addedLines(patch.hunks);
    for (const { line, text } of await mutations(file, fixed)) if (added.has(line)) tokens.push(one(`one token mistaken in ${file}:${line}`, text));
    comments.push(one(`a comment alone in ${file}`, `${before}${file.endsWith('.py') ? '#' : '//'} It is right now.\n`, 'base'));
  }
  // Without its only hunk a fix is no change at all.
  const parts = hunks.length > 1 ? spread(hunks) : [];
  const kinds = [spread(tokens), parts, comments.slice(0, 1)];
  return Array.from({ length: MAX_OF_A_KIND }, (_, index) => kinds.flatMap((kind) => kind.slice(index, index + 1))).flat();
}

/** Lines of the fixed file that the fix added, from 1. */
function addedLines(hunks: readonly { readonly newStart: number; readonly lines: readonly string[] }[]): ReadonlySet<number> {
  const added = new Set<number>();
  for (const { newStart, lines } of hunks) {
    let line = newStart;
    for (const text of lines) {
      if (text.startsWith('+')) added.add(line);
      if (text.startsWith('+') || text.startsWith(' ')) line += 1;
    }
  }
  return added;
}

/** At most `MAX_OF_A_KIND`, evenly from the whole list. */
function spread<Item>(items: readonly Item[]): readonly Item[] {
  const count = Math.min(MAX_OF_A_KIND, items.length);
  return Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)] as Item);
}
