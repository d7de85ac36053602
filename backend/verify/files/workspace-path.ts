import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';

/** A path inside the workspace, relative and with forward slashes, or why the written path is refused. */
export type CheckedPath = { readonly path: string; readonly refused?: undefined } | { readonly refused: string };

const MAX_PATH_LENGTH = 1_000;

/** Names of devices, with any extension, and characters that no name has (https://learn.microsoft.com/windows/win32/fileio/naming-a-file). */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?: *\.|$)/i;
const NOT_ON_WINDOWS = /[<>"|?*]/;

/**
 * Checks a path as a model wrote it, without access to the disk. A path that any file system could interpret differently (drive letters,
 * streams, trailing dots, invisible characters) is refused everywhere, so that an answer means the same on all systems. Projects of other systems
 * have files such as `aux.c`, so what is nothing but impossible on Windows is refused there alone.
 */
export function checkWorkspacePath(written: string, platform: NodeJS.Platform = process.platform): CheckedPath {
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
  if (platform === 'win32') {
    const device = segments.find((segment) => DEVICE.test(segment));
    if (device !== undefined) return { refused: `Windows takes "${device}" for a device.` };
    if (NOT_ON_WINDOWS.test(written)) return { refused: 'The path holds a character that no name has on Windows.' };
  }
  return { path: segments.join('/') };
}

/** Whether two checked paths name one file, as the file systems of Windows and macOS usually say. */
export function isSameFile(one: string, other: string, platform: NodeJS.Platform = process.platform): boolean {
  return one === other || (tellsNoCase(platform) && inOneCase(one) === inOneCase(other));
}

const tellsNoCase = (platform: NodeJS.Platform): boolean => platform === 'win32' || platform === 'darwin';

const inOneCase = (checked: string): string => checked.normalize('NFC').toUpperCase();

/** How a file or folder (absolute) of a path with these segments is spelled on disk, where that differs by case alone. */
async function otherSpelling(found: string, segments: readonly string[]): Promise<string | undefined> {
  if (!tellsNoCase(process.platform)) return undefined;
  const real = (await realpath(found)).split(path.sep).slice(-segments.length).join('/');
  return real.normalize('NFC') !== segments.join('/').normalize('NFC') && isSameFile(real, segments.join('/')) ? real : undefined;
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
    const spelled = await otherSpelling(current, segments.slice(0, index + 1));
    if (spelled !== undefined) return `It is spelled "${spelled}" on disk.`;
    if (!isLast && !found.isDirectory()) return 'The path leads through a file as if it were a folder.';
  }
  return undefined;
}
