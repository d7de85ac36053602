import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

/** The repositories that lines are taken from, each at one commit, and the languages that are read there. */
export const REPOSITORIES = [
  { name: 'pallets/click', languages: ['python'] },
  { name: 'encode/httpx', languages: ['python'] },
  { name: 'python-attrs/attrs', languages: ['python'] },
  { name: 'expressjs/express', languages: ['javascript'] },
  { name: 'chaijs/chai', languages: ['javascript'] },
  { name: 'babel/babel', languages: ['javascript', 'typescript'] },
  { name: 'jestjs/jest', languages: ['typescript'] },
  { name: 'colinhacks/zod', languages: ['typescript'] },
  { name: 'vitejs/vite', languages: ['typescript', 'javascript'] },
  { name: 'date-fns/date-fns', languages: ['typescript'] },
  { name: 'immerjs/immer', languages: ['typescript'] },
  { name: 'gorilla/mux', languages: ['go'] },
  { name: 'spf13/cobra', languages: ['go'] },
  { name: 'go-chi/chi', languages: ['go'] },
  { name: 'BurntSushi/ripgrep', languages: ['rust'] },
  { name: 'google/gson', languages: ['java'] },
] as const;

/** A checkout of a bare repository that lies as `OWNER+NAME/repo` or `OWNER+NAME` in a folder. */
export function checkOut(bare: string, name: string, { commit, into }: { commit: string; into: string }): string {
  const source = path.join(bare, name.replace('/', '+'));
  const target = path.join(into, `${name.replace('/', '+')}-${commit.slice(0, 10)}`);
  const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  try {
    if (git('-C', target, 'rev-parse', 'HEAD').trim() === commit) return target;
  } catch {
    // Not there yet.
  }
  mkdirSync(into, { recursive: true });
  let origin = path.join(source, 'repo');
  try {
    git('-C', origin, 'rev-parse', '--git-dir');
  } catch {
    origin = source;
  }
  git('clone', '-q', '--shared', '--no-checkout', origin, target);
  git('-C', target, 'checkout', '-q', '--detach', commit);
  return target;
}

export function headOf(bare: string, name: string): string {
  const source = path.join(bare, name.replace('/', '+'));
  for (const folder of [path.join(source, 'repo'), source]) {
    try {
      return execFileSync('git', ['-C', folder, 'rev-parse', 'HEAD'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      // The other way in which repositories lie in a folder.
    }
  }
  throw new Error(`There is no bare repository of ${name} in ${bare}: clone it there as ${name.replace('/', '+')}.`);
}
