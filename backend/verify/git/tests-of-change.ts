import { applyPatch } from '../patch/apply-patch.ts';
import { firstOf, type ReadChange } from '../patch/change-draft.ts';
import type { FileEdit } from '../patch/patch.ts';
import { isPathOfSuite } from '../files/protected-paths.ts';
import { addToIndex, type WrittenHead } from './git-head.ts';

export interface ChangeWithOwnTests extends ReadChange {
  /** The files of tests that were taken from the change. */
  readonly ownTests: readonly string[];
}

/**
 * Takes the tests of a change into the written commit that it is judged on, so that they judge it, and leaves the rest of the change. Nothing is written
 * through a symbolic link of the commit, nor outside of its folder. @throws PatchNotApplicableError, GitError, the signal's reason
 */
export async function takeTests(head: WrittenHead, change: ReadChange, signal: AbortSignal): Promise<ChangeWithOwnTests> {
  const { edits } = change.patch;
  const tests = edits.filter(({ path }) => isPathOfSuite(path));
  await applyPatch(head.folder, { edits: tests }, { tests: 'all' });
  const created = tests.filter(({ kind }) => kind === 'create').map(({ path }) => path);
  if (created.length > 0) await addToIndex(head.folder, created, signal);
  return {
    patch: { ...change.patch, edits: edits.filter((edit) => !tests.includes(edit)) },
    ownTests: tests.map(({ path }) => path),
    notes: [...firstOf(tests.map(noteOf)), ...change.notes],
  };
}

const VERBS = { create: 'adds', modify: 'changes', delete: 'removes' } as const;

const noteOf = ({ path, kind }: FileEdit): string => `The change ${VERBS[kind]} ${path}, and is judged by it so.`;
