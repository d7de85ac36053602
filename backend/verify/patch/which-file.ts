import { protectedReason } from '../files/protected-paths.ts';
import { readTextFile, toPlainText } from '../files/text-file.ts';
import { checkWorkspacePath, refusalOnDisk } from '../files/workspace-path.ts';
import type { PatchDraft } from './patch-draft.ts';

/**
 * The only file for which `fits` holds: of those that the closest line above names, then of those that the lines above it name, then of those that
 * were shown. Undefined if there is none or more than one.
 */
export async function onlyFileThat(
  draft: PatchDraft, fits: (text: string, path: string) => boolean | Promise<boolean>, mentions: readonly (readonly string[])[], candidates: readonly string[],
): Promise<string | undefined> {
  const found = await filesThat(draft, fits, mentions, candidates);
  return found.length === 1 ? found[0] : undefined;
}

/** The files of the first of these groups in which `fits` holds for one. */
export async function filesThat(
  draft: PatchDraft, fits: (text: string, path: string) => boolean | Promise<boolean>, mentions: readonly (readonly string[])[], candidates: readonly string[],
): Promise<string[]> {
  for (const group of [...mentions, candidates]) {
    const found: string[] = [];
    for (const written of new Set(group)) {
      const path = await draft.resolve(written);
      const text = await textOf(draft.base, path);
      if (text !== undefined && (await fits(text, path)) && !found.includes(path)) found.push(path);
    }
    if (found.length > 0) return found;
  }
  return [];
}

/** The plain text of a file that an answer may change. */
export async function textOf(base: string, written: string): Promise<string | undefined> {
  const checked = checkWorkspacePath(written);
  if (checked.refused !== undefined || protectedReason(checked.path) !== undefined || (await refusalOnDisk(base, checked.path))) return undefined;
  const file = await readTextFile(base, checked.path);
  return file.kind === 'text' ? toPlainText(file.text) : undefined;
}
