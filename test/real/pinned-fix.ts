import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isTestPath } from '../../backend/context/file-names.ts';
import { protectedReason } from '../../backend/verify/files/protected-paths.ts';
import { git } from '../bench/context/historic-fix.ts';

/** A fix in the history of a repository: a commit that changes sources and tests. */
export interface PinnedFix {
  /** `owner/name` on github.com. */
  readonly repository: string;
  readonly commit: string;
}

/** The candidates of each repository, in the order in which they are tried. */
export function readPinnedFixes(): ReadonlyMap<string, readonly PinnedFix[]> {
  const fixes = JSON.parse(readFileSync(path.join(import.meta.dirname, 'fixes.json'), 'utf8')) as PinnedFix[];
  return Map.groupBy(fixes, ({ repository }) => repository);
}

const LOCKS = /(^|\/)(go\.sum|Cargo\.lock|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|poetry\.lock|uv\.lock)$/;

/** Whether a fix changes what the project depends on: then its tests cannot run without it, and an answer may not change it. */
export const changesDependencies = ({ tests, sources }: FixParts): boolean => [...tests, ...sources].some(({ path }) => LOCKS.test(path));

export interface FixParts {
  /** Files that an answer may not change. They come from the fix before anything is judged. */
  readonly tests: readonly Changed[];
  /** The rest: what is judged. */
  readonly sources: readonly Changed[];
}

export interface Changed {
  readonly path: string;
  readonly isDeleted: boolean;
}

/** What a commit changes. `folder`: a repository, bare or not. */
export async function partsOfFix(folder: string, commit: string): Promise<FixParts> {
  const listed = await git(folder, 'diff', '--no-renames', '--name-status', '-z', `${commit}^`, commit);
  const words = listed.split('\0');
  const changed = Array.from({ length: Math.floor(words.length / 2) }, (_, index) => ({
    path: words[2 * index + 1] ?? '', isDeleted: words[2 * index] === 'D',
  }));
  const isTest = ({ path }: Changed): boolean => isTestPath(path) || protectedReason(path) !== undefined;
  return { tests: changed.filter(isTest), sources: changed.filter((file) => !isTest(file)) };
}
