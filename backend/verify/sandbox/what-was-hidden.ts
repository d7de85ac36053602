import { existsSync } from 'node:fs';
import path from 'node:path';

const MAX_CHARACTERS = 20_000;
/** How programs say that a file is missing, in most languages. */
const MISSING = /no such file|not found|cannot find|can't open|cannot open|ENOENT|unable to|does not exist|No module named|error while loading/i;

/**
 * The first path in a failed command's output that is said to be missing, is there outside of the sandbox, and is hidden in it. All paths are absolute.
 */
export function whatWasHidden(
  { stdout, stderr }: { readonly stdout: string; readonly stderr: string }, { hidden, open }: { readonly hidden: readonly string[]; readonly open: readonly string[] },
): string | undefined {
  for (const line of `${stderr.slice(-MAX_CHARACTERS)}\n${stdout.slice(-MAX_CHARACTERS)}`.split('\n')) {
    if (!MISSING.test(line)) continue;
    for (const [found] of line.matchAll(/\/[\w@%+=.,/-]{2,300}/g)) {
      const named = path.normalize(found).replace(/[.,/]+$/, '');
      if (isIn(hidden, named) && !isIn(open, named) && existsSync(named)) return named;
    }
  }
  return undefined;
}

const isIn = (folders: readonly string[], entry: string): boolean => folders.some((folder) => entry === folder || entry.startsWith(`${folder}/`));
