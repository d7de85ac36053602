import type { Patch } from '../../../backend/verify/patch/patch.ts';
import { parsePatch } from '../../../backend/verify/patch/parse-patch.ts';
import { unifiedDiff } from '../../../backend/verify/patch/unified-diff.ts';

/** The patch of an answer that makes this of files of a project (in `folder`); null deletes one. */
export async function patchOf(change: Readonly<Record<string, string | null>>, files: Readonly<Record<string, string>>, folder: string): Promise<Patch> {
  const edits = Object.entries(change).map(([file, after]) => {
    const before = files[file] ?? null;
    return { path: file, before, after, kind: before === null ? 'create' as const : after === null ? 'delete' as const : 'modify' as const };
  });
  return await parsePatch(edits.map((edit) => unifiedDiff(edit)).join(''), folder);
}
