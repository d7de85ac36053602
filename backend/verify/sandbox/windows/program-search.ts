import { statSync } from 'node:fs';
import path from 'node:path';

/** What Windows starts where a name has no extension, in this order. Scripts of other hosts that PATHEXT may name run no tests. */
const EXTENSIONS = ['.com', '.exe', '.bat', '.cmd'];

export interface ProgramSearch {
  /** Absolute folders, searched in this order. */
  readonly folders: readonly string[];
  /** Where names with a backslash are looked up, absolute. */
  readonly cwd: string;
  readonly isFile?: (file: string) => boolean;
}

/**
 * The file that cmd.exe starts for a name, absolute; undefined if there is none. Unlike cmd.exe by default, the current folder is not searched:
 * a patch could have put a program there (see `windowsEnvironment`).
 */
export function findProgram(name: string, { folders, cwd, isFile = isFileOnDisk }: ProgramSearch): string | undefined {
  const hasFolder = /[\\/:]/.test(name);
  const places = hasFolder ? [cwd] : folders;
  const names = EXTENSIONS.includes(path.win32.extname(name).toLowerCase()) ? [name] : EXTENSIONS.map((extension) => name + extension);
  for (const place of places) {
    const found = names.map((one) => path.win32.resolve(place, one)).find(isFile);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Windows calls Python 3 `python`, also in virtual environments. `python3` is, where it is there, often a link to a shop. The first folder with either counts. */
export function nameOnWindows(program: string, search: ProgramSearch): string {
  if (program !== 'python3') return program;
  const folder = search.folders.find((one) => ['python', 'python3'].some((name) => findProgram(name, { ...search, folders: [one] }) !== undefined));
  return folder !== undefined && findProgram('python', { ...search, folders: [folder] }) !== undefined ? 'python' : program;
}

/** Whether cmd.exe would read the arguments of this program a second time. */
export function isBatchFile(name: string, search: ProgramSearch): boolean {
  return /\.(?:bat|cmd)$/i.test(findProgram(name, search) ?? name);
}

function isFileOnDisk(file: string): boolean {
  try {
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
