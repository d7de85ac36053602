import { realpath } from 'node:fs/promises';
import type { FileChange } from '../protocol/file-change.ts';
import { changed } from './file-changes.ts';
import { whyItChangesTests } from '../verify/patch/added-tests.ts';
import { isPathOfSuite, isPathOfTest, protectedReason } from '../verify/files/protected-paths.ts';
import { readTextFile } from '../verify/files/text-file.ts';
import { checkWorkspacePath, refusalOnDisk } from '../verify/files/workspace-path.ts';
import { leaveOutTests, type FileEdit, type Patch, type RefusedEdit } from '../verify/patch/patch.ts';

/**
 * The change of a step with hands as a patch of the workspace (absolute), by the rules for every answer. A file that was changed there in
 * the meantime is refused.
 */
export async function patchOfChanges(changes: readonly FileChange[], workspace: string, { newTests = false } = {}): Promise<Patch> {
  const base = await realpath(workspace);
  const edits: FileEdit[] = [];
  const refused: RefusedEdit[] = [];
  for (const change of changes) {
    const edit = await editOf(change, base, newTests);
    if ('reason' in edit) refused.push(edit);
    else edits.push(edit);
  }
  return leaveOutTests({ edits, refused });
}

async function editOf(change: FileChange, base: string, newTests: boolean): Promise<FileEdit | RefusedEdit> {
  const checked = checkWorkspacePath(change.path);
  const refuse = (reason: string): RefusedEdit => ({ path: change.path, reason, isForbidden: true });
  if (checked.refused !== undefined) return refuse(checked.refused);
  const { path } = checked;
  const mayAdd = newTests && isPathOfTest(path);
  const onDisk = await refusalOnDisk(base, path);
  if (onDisk !== undefined) return refuse(onDisk);
  const reason = mayAdd ? undefined : protectedReason(path);
  if (reason !== undefined) return { ...refuse(reason), ...(isPathOfSuite(path) && { isOfTests: true }) };
  const found = await readTextFile(base, path);
  if (found.kind === 'refused') return refuse(found.reason);
  const before = found.kind === 'text' ? found.text : null;
  const after = changed(before, change);
  if (after === undefined || after === before) return refuse('The file was changed in the workspace after the step began.');
  const why = mayAdd ? await whyItChangesTests({ path, before, after }) : undefined;
  if (why !== undefined) return { path, reason: why, isOfTests: true };
  return { path, kind: before === null ? 'create' : after === null ? 'delete' : 'modify', before, after };
}
