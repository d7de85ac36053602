import { readlink, realpath } from 'node:fs/promises';
import path from 'node:path';

/*
 * Paths as sent over the socket: relative to a workspace folder, with forward slashes. Paths that come back were written by a model and
 * must pass `insideFolder` before use.
 */

/** @returns undefined if the file is not in the folder. */
export function relativePath(folder: string, file: string, { sep, relative, isAbsolute } = path): string | undefined {
  const found = relative(folder, file);
  if (found === '' || found === '..' || found.startsWith(`..${sep}`) || isAbsolute(found)) return undefined;
  return found.split(sep).join('/');
}

/**
 * The absolute path of `file` if it is in the folder after all symbolic links are resolved.
 * @returns undefined for paths outside the folder and for invalid ones
 */
export async function insideFolder(folder: string, file: string): Promise<string | undefined> {
  if (file.includes('\0') || path.isAbsolute(file)) return undefined;
  const absolute = path.resolve(folder, file);
  if (relativePath(folder, absolute) === undefined) return undefined;
  try {
    const [realFolder, realFile] = await Promise.all([realpath(folder), realOrPlanned(absolute)]);
    return relativePath(realFolder, realFile) === undefined ? undefined : absolute;
  } catch (error) {
    // A cycle of links, a file instead of a folder, a name that is too long: such a path cannot be written.
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/** The real path of a file that may not exist yet. */
async function realOrPlanned(absolute: string): Promise<string> {
  try {
    return await realpath(absolute);
  } catch (error) {
    const parent = path.dirname(absolute);
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!missing || parent === absolute) throw error;
    // Writing through a dangling link creates its target.
    const target = await readlink(absolute).catch(() => undefined);
    if (target !== undefined) return realOrPlanned(path.resolve(parent, target));
    return path.join(await realOrPlanned(parent), path.basename(absolute));
  }
}
