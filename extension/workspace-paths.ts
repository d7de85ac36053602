import { realpath } from 'node:fs/promises';
import path from 'node:path';

/*
 * Paths as they cross the socket: relative to a workspace folder, with forward slashes. What comes back was written by a model, so a
 * path is believed only after `insideFolder`.
 */

/** @returns undefined for a file that is not in the folder. */
export function relativePath(folder: string, file: string, { sep, relative, isAbsolute } = path): string | undefined {
  const found = relative(folder, file);
  if (found === '' || found === '..' || found.startsWith(`..${sep}`) || isAbsolute(found)) return undefined;
  return found.split(sep).join('/');
}

/**
 * The absolute path of `file`, if it is in the folder also after every symbolic link on the way is followed.
 * @returns undefined for a file outside the folder.
 */
export async function insideFolder(folder: string, file: string): Promise<string | undefined> {
  if (file.includes('\0') || path.isAbsolute(file)) return undefined;
  const absolute = path.resolve(folder, file);
  if (relativePath(folder, absolute) === undefined) return undefined;
  const [realFolder, realFile] = await Promise.all([realpath(folder), realOrPlanned(absolute)]);
  return relativePath(realFolder, realFile) === undefined ? undefined : absolute;
}

/** The real path of a file that may not exist yet: that of its nearest folder that does. */
async function realOrPlanned(absolute: string): Promise<string> {
  try {
    return await realpath(absolute);
  } catch (error) {
    const parent = path.dirname(absolute);
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!missing || parent === absolute) throw error;
    return path.join(await realOrPlanned(parent), path.basename(absolute));
  }
}
