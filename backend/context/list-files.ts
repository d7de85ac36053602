import { access } from 'node:fs/promises';
import path from 'node:path';
import { RipgrepUnavailableError, type Ripgrep } from './ripgrep.ts';

/** Enough for the largest repositories. Each file takes about 100 bytes of memory. */
const MAX_LISTED_FILES = 200_000;

/** Lists, in the syntax of .gitignore in the workspace's root, the files that Conductor never reads. */
export const OWN_IGNORE_FILE = '.conductorignore';
/** Never read, regardless of ignore files. */
const SKIPPED_FOLDERS = ['.git', '.hg', '.svn', 'node_modules', '.venv', '__pycache__'];

export interface FileList {
  /** Sorted. */
  readonly files: readonly string[];
  /** Why the list lacks files that no ignore file excludes. */
  readonly problem?: string | undefined;
  /** Why a file that is not in the list is not sent. If absent, the reason is unknown and such files are sent. */
  readonly unlisted?: string | undefined;
}

/** Lists the files that no ignore file excludes, including hidden files. @throws the signal's reason when it aborts */
export async function listFiles(root: string, ripgrep: Ripgrep, signal: AbortSignal): Promise<FileList> {
  const hasOwnIgnoreFile = await exists(path.join(root, OWN_IGNORE_FILE));
  try {
    const list = await filesBy(ripgrep, root, await ignoreArguments(root), signal);
    if (!hasOwnIgnoreFile) return list;
    // In ripgrep a .gitignore can re-include files that --ignore-file excludes. Therefore both lists are made separately.
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

/** Arguments that make ripgrep respect ignore files like git, also outside a repository. */
async function ignoreArguments(root: string): Promise<string[]> {
  const inRepository = await hasAncestorRepository(root);
  // Outside a repository, a .gitignore in a parent folder (such as the home folder) does not apply to this folder.
  return inRepository ? ['--no-require-git'] : ['--no-require-git', '--no-ignore-parent'];
}

function skipArguments(): string[] {
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
