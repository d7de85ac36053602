import { copyFileSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';

/**
 * Makes a symbolic link. On Windows, only some users may: there, a link to a folder is a junction, which everybody may make, and one to a file
 * that is there already is a copy of it if need be. `target` is absolute or relative to the link's folder. Throws an error of the file system.
 */
export function makeLink(target: string, link: string): void {
  if (process.platform !== 'win32') return symlinkSync(target, link);
  const absolute = path.resolve(path.dirname(link), target);
  const found = statSync(absolute, { throwIfNoEntry: false });
  // A junction has no relative target.
  if (found?.isDirectory()) return symlinkSync(absolute, link, 'junction');
  try {
    symlinkSync(target, link, 'file');
  } catch (error) {
    if (found === undefined) throw error;
    copyFileSync(absolute, link);
  }
}
