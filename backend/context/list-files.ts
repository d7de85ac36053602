import { access } from 'node:fs/promises';
import path from 'node:path';
import { RipgrepUnavailableError, type Ripgrep } from './ripgrep.ts';

/** Enough for the largest repositories; each costs some 100 bytes of memory. */
const MAX_LISTED_FILES = 200_000;

/** In the workspace's root, in the syntax of .gitignore: what Conductor never reads. */
const OWN_IGNORE_FILE = '.conductorignore';
/** Never read, whether an ignore file names them or not. */
const SKIPPED_FOLDERS = ['.git', '.hg', '.svn', 'node_modules', '.venv', '__pycache__'];

export interface FileList {
  /** Sorted. */
  readonly files: readonly string[];
  /** Why files are missing from the list that no ignore file excludes. */
  readonly problem?: string | undefined;
  /** Why a file that is not in the list is not sent; absent where that cannot be told, and such files are sent. */
  readonly unlisted?: string | undefined;
}

/** What no ignore file excludes, hidden files included. @throws the signal's reason once it aborts */
export async function listFiles(root: string, ripgrep: Ripgrep, signal: AbortSignal): Promise<FileList> {
  const hasOwnIgnoreFile = await exists(path.join(root, OWN_IGNORE_FILE));
  try {
    const list = await filesBy(ripgrep, root, await ignoreArguments(root), signal);
    if (!hasOwnIgnoreFile) return list;
    // ripgrep lets a .gitignore take back what --ignore-file excludes, so that both are asked by themselves.
    const own = await filesBy(ripgrep, root, ['--no-ignore', '--ignore-file', OWN_IGNORE_FILE], signal);
    const allowed = new Set(own.files);
    return { ...(own.problem === undefined ? list : own), files: list.files.filter((file) => allowed.has(file)) };
  } catch (error) {
    if (!(error instanceof RipgrepUnavailableError)) throw error;
    return {
      files: [],
      problem: `${error.message} Nothing was searched, and ignore files were not looked at`,
      ...(hasOwnIgnoreFile && { unlisted: `could not be checked against ${OWN_IGNORE_FILE}` }),
    };
  }
}

async function filesBy(ripgrep: Ripgrep, root: string, args: readonly string[], signal: AbortSignal): Promise<FileList> {
  const files: string[] = [];
  const end = await ripgrep.run({
    args: [...args, '--files', '--hidden', '--null', '--no-messages', '--path-separator', '/', ...skipArguments()],
    folder: root,
    separator: '\0',
    onRecord: (file) => {
      if (files.length < MAX_LISTED_FILES) files.push(file);
    },
    signal,
  });
  files.sort();
  if (end === 'complete' && files.length < MAX_LISTED_FILES) {
    return { files, unlisted: `ignored by .gitignore, ${OWN_IGNORE_FILE} or the like` };
  }
  return {
    files,
    problem: 'The workspace is too large to be listed whole; part of it was not searched',
    unlisted: 'could not be checked against the ignore files in time',
  };
}

/** ripgrep's arguments that make it respect ignore files as git would, in a folder that may be no repository. */
export async function ignoreArguments(root: string): Promise<string[]> {
  const inRepository = await hasAncestorRepository(root);
  // Outside of a repository, a .gitignore of a folder above (some keep one in their home) says nothing about this folder.
  return inRepository ? ['--no-require-git'] : ['--no-require-git', '--no-ignore-parent'];
}

export function skipArguments(): string[] {
  return SKIPPED_FOLDERS.flatMap((folder) => ['--glob', `!**/${folder}`]);
}

async function hasAncestorRepository(root: string): Promise<boolean> {
  for (let folder = root; ; folder = path.dirname(folder)) {
    if (await exists(path.join(folder, '.git'))) return true;
    if (path.dirname(folder) === folder) return false;
  }
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}
