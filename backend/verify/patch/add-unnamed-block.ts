import { addCodeBlock } from './add-code-block.ts';
import type { AnswerBlock } from './answer-block.ts';
import { exportedNames } from './exported-names.ts';
import type { PatchDraft } from './patch-draft.ts';
import { textOf } from './which-file.ts';

/**
 * If the answer's only code block names no path, and exactly one of the files that were shown exports the same names as the block, the block is
 * that file's new content.
 */
export async function addUnnamedBlock(draft: PatchDraft, blocks: readonly AnswerBlock[], candidates: readonly string[]): Promise<void> {
  const [only, ...others] = blocks;
  if (only?.kind !== 'code' || only.named !== undefined || others.length > 0 || !/^(?:[cm]?[jt]sx?|javascript|typescript|)$/i.test(only.language)) return;
  const exported = exportedNames(only.content);
  if (exported.size === 0) return;
  const matching: string[] = [];
  for (const candidate of new Set(candidates)) {
    const text = await textOf(draft.base, candidate);
    const names = text === undefined ? new Set<string>() : exportedNames(text);
    if (names.size === exported.size && [...names].every((name) => exported.has(name))) matching.push(candidate);
  }
  if (matching.length === 1 && matching[0] !== undefined)
    await addCodeBlock(draft, { ...only, named: { path: matching[0], explicit: true, fromFirstLine: false } }, undefined);
}
