import path from 'node:path';
import { familyNameOf } from '../common/imports/language-families.ts';
import { listed } from '../common/listed.ts';
import { packageNameIn } from '../common/imports/package-names.ts';
import type { BaseTests } from './base-tests.ts';
import type { SnapshotFiles } from './copies/copy-pool.ts';
import { foldersAbove } from './files/folders-above.ts';
import { lookAt } from './files/plain-folders.ts';
import type { BaseRun } from './judge/base-run-cache.ts';
import { byId, type Judgement } from './judge/judge.ts';
import { UnusableRunError } from './judge/test-runs.ts';
import { editsInAll } from './patch/edits-in-all.ts';
import type { FileEdit } from './patch/patch.ts';
import { builtFrom } from './runners/needed-build.ts';
import type { SomeTests } from './reach/named-tests.ts';
import type { TestReport } from './runners/test-report.ts';

/*
 * A change after which every test ends as before may be wrong, or be made where no test looks: in sources of which the tests run what was built, vendored,
 * copied or installed. Imports tell that of one language at a time, and badly. So the tests run once on the base, with no code in the changed files:
 * where that changes nothing either, they do not run these files. Code of the patch is not there, so this says nothing for it.
 */

/** No language has a program that begins so. */
const NO_CODE = 'this is no code ((( {{{ "\n';

/** A run without the code may try again and again what is not there. */
const SLOWER = 2;
const SLOWER_BY_MS = 30_000;

/** Times and addresses differ from run to run. */
const CHANGING = /\b\d+(?:\.\d+)?\s*(?:[mµn]?s|seconds?|minutes?)\b|\b0x[\da-f]+\b/gi;
const plain = (message = ''): string => message.replaceAll(CHANGING, '');

/** Whether every test, and every file and suite that fails by itself, ended with the same words as before. */
export function changesNothing({ tests }: Pick<Judgement, 'tests'>, before: TestReport): boolean {
  const was = byId(before);
  return tests.length > 0 && tests.every(({ id, before: old, after, message, flaky }) => flaky || (old === after && (after !== 'failed' || plain(message) === plain(was.get(id)?.message))));
}

export interface AskedOfChange {
  readonly before: BaseRun;
  readonly baseEdits: readonly FileEdit[];
  readonly edits: readonly FileEdit[];
  /** Those that ran with the change; by default, all. */
  readonly some?: SomeTests | undefined;
  /** How a run compares with the base. */
  compare(run: BaseRun): Judgement;
}

/** The changed files with code that the tests do not run, if they run none of them. Throws an error of the machine, or the signal's reason. */
export async function filesNotRun(tests: BaseTests, { before, baseEdits, edits, some, compare }: AskedOfChange): Promise<readonly FileEdit[]> {
  const asked = edits.filter(({ path, before: text }) => text !== null && familyNameOf(path) !== undefined);
  // Where nothing could be built or started on the base, nothing can be without the code either.
  const isReached = isInterpreted(tests.chosen.runner) || before.report.results.some(({ kind }) => kind === 'test');
  if (asked.length === 0 || before.durationMs === undefined || !isReached) return [];
  const without = editsInAll(baseEdits, asked.map((edit): FileEdit => ({ ...edit, kind: 'modify', after: NO_CODE })));
  const timeoutMs = SLOWER_BY_MS + SLOWER * before.durationMs;
  const run = await tests.someOf(some ?? { command: tests.chosen.command }, without, timeoutMs).catch((error: unknown) => {
    if (error instanceof UnusableRunError) return undefined;
    throw error;
  });
  return run && changesNothing(compare(run), before.report) ? asked : [];
}

/** Whether files that a test does not load do not matter to it, and what it loads may be another file. */
const isInterpreted = ({ manifests }: BaseTests['chosen']['runner']): boolean => manifests.includes('package.json') || manifests.includes('pyproject.toml');

/** What is told of such files, and what a person can do. @param installed where dependencies are installed, absolute */
export function toldNotRun(edits: readonly FileEdit[], files: SnapshotFiles, { runner }: BaseTests['chosen'], installed: string): string {
  const [first] = edits;
  if (!first) return '';
  const isCompiled = isInterpreted(runner) && (['c', 'rust'].includes(familyNameOf(first.path) ?? '') || first.path.endsWith('.pyx'));
  const copy = copyOf(first, files, installed);
  const build = builtFrom(first.path, files);
  const why = isCompiled ? ' It has to be compiled, which nothing does before they run: name a test command that does.'
    : copy !== undefined ? ` They may run its copy, ${copy}.`
    : build !== undefined ? ` They may run ${build.entry}, which a build makes: name a test command that begins with "${build.script}".`
    : '';
  return ` The tests do not seem to run ${listed(edits.map(({ path: file }) => file))}: they end the same where it holds no code.${why}`;
}

/** A file of the project with the text that a file had, or the installed copy of the package that it belongs to. */
function copyOf({ path: file, before }: FileEdit, { paths, text }: SnapshotFiles, installed: string): string | undefined {
  const name = path.posix.basename(file);
  const same = [...paths].find((other) => other !== file && path.posix.basename(other) === name && text(other) === before);
  if (same !== undefined) return same;
  const owner = foldersAbove(file).find((folder) => paths.has(path.posix.join(folder, 'package.json')));
  if (owner === undefined) return undefined;
  const packageName = packageNameIn('package.json', text(path.posix.join(owner, 'package.json')) ?? '');
  if (packageName === undefined) return undefined;
  const users = [...paths].filter((other) => path.posix.basename(other) === 'package.json').map((other) => path.posix.dirname(other));
  return users.map((folder) => path.posix.join(folder, 'node_modules', packageName)).find((relative) => lookAt(path.join(installed, relative))?.isDirectory());
}
