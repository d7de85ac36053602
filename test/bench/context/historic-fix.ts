import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { isTestPath } from '../../../backend/context/file-names.ts';

/* A fix in the history of a repository: its message is the question, its parent the workspace, and what it changed is what should be shown. */

export interface HistoricFix {
  /** `owner/name` on github.com. */
  readonly repository: string;
  readonly commit: string;
  /** The commit's message, without trailers. */
  readonly question: string;
}

export interface ChangedFile {
  readonly path: string;
  /** Lines of the file before the fix. An insertion counts as the line that it follows. */
  readonly lines: readonly number[];
}

const SOURCE = /\.(?:py|pyx|[mc]?[jt]sx?|go|rs|java)$/;
const NO_SOURCE = /(?:^|\/)(?:docs?|examples?|benchmarks?|bench|website|scripts?|fixtures?|e2e|integration(?:-tests?)?|playground|__fixtures__|generated|deno|\.yarn)\//i;

/** Whether a path is code that a fix is about: neither a test nor an example, documentation or a script beside the product. */
export function isProductSource(file: string): boolean {
  return SOURCE.test(file) && !isTestPath(file) && !NO_SOURCE.test(file) && !/\.d\.ts$/.test(file);
}

export function readFixes(name: string): HistoricFix[] {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, name), 'utf8')) as HistoricFix[];
}

const run = promisify(execFile);

export async function git(folder: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('git', ['-C', folder, ...args], { maxBuffer: 256 * 1024 * 1024, encoding: 'utf8' });
  return stdout;
}

/** The source files that a commit changed, with their changed lines before it. */
export async function changedFiles(folder: string, commit: string): Promise<ChangedFile[]> {
  const diff = await git(folder, 'diff', '-U0', '--no-color', '--no-ext-diff', '--no-renames', `${commit}^`, commit);
  const files: { path: string; lines: number[] }[] = [];
  for (const line of diff.split('\n')) {
    const file = /^--- (?:a\/(.*)|\/dev\/null)$/.exec(line);
    if (file) files.push({ path: file[1] ?? '', lines: [] });
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+/.exec(line);
    if (!hunk) continue;
    const [, start = '0', count = '1'] = hunk;
    const length = Math.max(1, Number(count));
    files.at(-1)?.lines.push(...Array.from({ length }, (_, index) => Math.max(1, Number(start) + index)));
  }
  return files.filter((file) => isProductSource(file.path));
}
