import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { checkWorkspacePath, refusalOnDisk } from '../verify/files/workspace-path.ts';

/** What a worker named: relative with forward slashes, empty for the copy itself. Or why it may not be looked at. */
export type PlaceInCopy = { readonly path: string; readonly kind: 'file' | 'folder' | 'absent' } | { readonly refused: string };

/** Looks at a path of the copy `folder` (absolute) as a worker wrote it. No part of it may be a link. */
export async function placeInCopy(folder: string, written: string): Promise<PlaceInCopy> {
  const plain = written.trim().replace(/^\.\/+/, '').replace(/(?<=[^/])\/+$/, '');
  if (plain === '.' || (plain === '' && written !== '')) return { path: '', kind: 'folder' };
  const checked = checkWorkspacePath(plain);
  if (checked.refused !== undefined) return { refused: checked.refused };
  const found = await lstat(path.join(folder, checked.path)).catch(() => undefined);
  const kind = found === undefined ? 'absent' : found.isDirectory() ? 'folder' : 'file';
  const refused = await refusalOnDisk(folder, kind === 'folder' ? `${checked.path}/x` : checked.path);
  return refused === undefined ? { path: checked.path, kind } : { refused };
}
