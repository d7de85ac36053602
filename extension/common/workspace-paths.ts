import { readlink, realpath } from 'node:fs/promises';
import path from 'node:path';

/*
 * Paths as they cross the socket: relative to a workspace folder, with forward slashes. What comes back was written by a
 * model, so a path is believed only after `insideFolder`.
 */

/** @returns undefined for a file that is not in the folder. */
export function relativePath(folder: string, file: string, { sep, relative, isAbsolute } = path): string | undefined {
  const found = relative(folder, file);
  if (found === '' || found === '..' || found.startsWith(`..${sep}`) || isAbsolute(found)) return undefined;
  return found.split(sep).join('/');
}

/**
 * The absolute path of `file`, if it is in the folder also after every symbolic link on the way is followed.
 * @returns undefined for what is outside the folder or can be no file in it.
 */
export async function insideFolder(folder: string, file: string): Promise<string | undefined> {
  if (file.includes('\0') || path.isAbsolute(file)) return undefined;
  const absolute = path.resolve(folder, file);
  if (relativePath(folder, absolute) === undefined) return undefined;
  try {
    const [realFolder, realFile] = await Promise.all([realpath(folder), realOrPlanned(absolute)]);
    return relativePath(realFolder, realFile) === undefined ? undefined : absolute;
  } catch (error) {
    // Links in a circle, a file where a folder should be, a name that is too long: whatever it is, nothing can be written there.
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/** The real path that a file would have which may not exist yet. */
async function realOrPlanned(absolute: string): Promise<string> {
  try {
    return await realpath(absolute);
  } catch (error) {
    const parent = path.dirname(absolute);
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!missing || parent === absolute) throw error;
    // A link to nothing leads writers to where it points.
    const target = await readlink(absolute).catch(() => undefined);
    if (target !== undefined) return realOrPlanned(path.resolve(parent, target));
    return path.join(await realOrPlanned(parent), path.basename(absolute));
  }
}
