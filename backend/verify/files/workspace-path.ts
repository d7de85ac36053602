import { lstat } from 'node:fs/promises';
import path from 'node:path';

/** A path inside the workspace, relative and with forward slashes, or why the written path is refused. */
export type CheckedPath = { readonly path: string; readonly refused?: undefined } | { readonly refused: string };

const MAX_PATH_LENGTH = 1_000;

/**
 * Checks a path as a model wrote it, without access to the disk. A path that any file system could interpret differently (drive letters,
 * streams, trailing dots, invisible characters) is refused everywhere, so that an answer means the same on all systems.
 */
export function checkWorkspacePath(written: string): CheckedPath {
  if (written.length === 0) return { refused: 'The path is empty.' };
  if (written.length > MAX_PATH_LENGTH) return { refused: `The path is longer than ${MAX_PATH_LENGTH} characters.` };
  if (/[\p{Cc}\p{Cf}]/u.test(written)) return { refused: 'The path holds invisible characters.' };
  if (/^[A-Za-z]:/.test(written)) return { refused: 'The path is absolute; paths are relative to the workspace.' };
  if (written.includes('\\')) return { refused: 'The path holds a backslash; paths are written with forward slashes.' };
  if (written.startsWith('/') || written.startsWith('~'))
    return { refused: 'The path is absolute; paths are relative to the workspace.' };
  if (written.includes(':')) return { refused: 'The path holds a colon.' };
  if (written.endsWith('/')) return { refused: 'The path names a folder, not a file.' };
  const segments = written.split('/').filter((segment) => segment !== '' && segment !== '.');
  if (segments.includes('..')) return { refused: 'The path leads out of its folder with "..".' };
  if (segments.length === 0) return { refused: 'The path names a folder, not a file.' };
  if (segments.some((segment) => /[. ]$/.test(segment) || segment.startsWith(' '))) {
    return { refused: 'A name in the path ends with a dot or begins or ends with a space.' };
  }
  // Windows has a short second name for longer names: GIT~1 is .git.
  if (segments.some((segment) => /~\d/.test(segment))) return { refused: 'A name in the path could be the short form of another.' };
  return { path: segments.join('/') };
}

/**
 * Why a checked path may not be read or written as a file of `base`, or undefined. No component may be a symbolic link, because an edit could
 * then change another file. A path that does not exist yet is allowed.
 */
export async function refusalOnDisk(base: string, checkedPath: string): Promise<string | undefined> {
  const segments = checkedPath.split('/');
  let current = base;
  for (const [index, segment] of segments.entries()) {
    current = path.join(current, segment);
    const found = await lstat(current).catch((error: NodeJS.ErrnoException) => error);
    if (found instanceof Error) {
      if (found.code === 'ENOENT') return undefined;
      return `The path cannot be looked at (${found.code ?? found.message}).`;
    }
    const isLast = index === segments.length - 1;
    if (found.isSymbolicLink()) return 'The path leads through a symbolic link.';
    if (isLast && !found.isFile())
      return found.isDirectory() ? 'The path names a folder, not a file.' : 'The path names no regular file.';
    if (!isLast && !found.isDirectory()) return 'The path leads through a file as if it were a folder.';
  }
  return undefined;
}
