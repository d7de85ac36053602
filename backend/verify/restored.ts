import type { FileEdit } from './patch/patch.ts';

/** Whether a patch of the base takes back all that `baseEdits` changed in the workspace, to the letter, and changes nothing else. */
export function restoresWorkspace(baseEdits: readonly FileEdit[], patch: readonly FileEdit[]): boolean {
  const original = new Map(baseEdits.map(({ path, before }) => [path, before]));
  return original.size > 0 && original.size === patch.length && patch.every(({ path, after }) => original.has(path) && original.get(path) === after);
}
