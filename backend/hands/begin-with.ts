import { applyPatch, createTwoFilesPatch } from 'diff';
import type { FileEdit } from '../verify/patch/patch.ts';
import { unifiedDiff } from '../verify/patch/unified-diff.ts';
import type { StepCopy } from './step-copy.ts';

/** What a step changed that another one reads. */
export interface ReadChange {
  /** Whose change it is, as the worker knows it: `step 0`. */
  readonly of: string;
  readonly edits: readonly FileEdit[];
}

const MAX_DIFF = 4_000;

/**
 * Brings the changes of the steps that a step reads into its copy, in their order. A file that two of them changed in different places holds
 * both changes; a change that does not apply is left out and shown. @returns what the worker is told
 */
export async function beginWith(copy: StepCopy, read: readonly ReadChange[]): Promise<string> {
  const applied: string[] = [];
  const left: string[] = [];
  for (const { of, edits } of read) {
    for (const edit of edits) {
      const why = await bring(copy, edit);
      if (why === undefined) applied.push(`${edit.path} (${of})`);
      else left.push(`${edit.path} of ${of}: ${why}\n${unifiedDiff(edit).slice(0, MAX_DIFF)}`);
    }
  }
  return [
    ...(applied.length > 0 ? [`Your copy begins with changes that were made before: ${applied.join(', ')}.`] : []),
    ...(left.length > 0 ? [`These changes could not be applied to your copy and are shown only:\n${left.join('\n')}`] : []),
  ].join('\n');
}

/** @returns why the change does not apply */
async function bring(copy: StepCopy, edit: FileEdit): Promise<string | undefined> {
  const current = await copy.text(edit.path);
  if (current === undefined) return 'The file cannot be changed here.';
  if (current === edit.after) return undefined;
  if (current === edit.before) return await copy.set(edit.path, edit.after);
  if (current === null || edit.before === null || edit.after === null) return 'Another step changed the file in a way that this one does not fit.';
  const patch = createTwoFilesPatch(edit.path, edit.path, edit.before, edit.after);
  const merged = applyPatch(current, patch, { autoConvertLineEndings: false });
  if (merged === false) return 'Another step changed the same lines.';
  return await copy.set(edit.path, merged);
}
