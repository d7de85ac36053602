/* `glob` by its module: an import of its name would end an older Node before cli/require-node.ts can speak. */
import fs, { realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { ReportError, type TestReport } from './test-report.ts';
import { failedBuild, type BuildWords } from './failed-build.ts';
import { readJunitFiles } from './junit.ts';
import type { RunEnd, RunToPrepare } from './test-runner.ts';

/** Includes files that are not reports. */
const MAX_MATCHES = 20_000;

/** The files in the copy that match one of the globs (relative to it), without following links. */
async function junitFiles(copy: string, globs: readonly string[]): Promise<readonly string[]> {
  const inside = globs.map((pattern) => path.posix.normalize(pattern)).filter((pattern) => !/^(?:\/|\.\.(?:\/|$))/.test(pattern));
  const found = new Set<string>();
  let matches = 0;
  const exclude = (name: string): boolean => path.basename(name) === 'node_modules' || path.basename(name) === '.git';
  for await (const relative of fs.glob(inside, { cwd: copy, exclude })) {
    matches += 1;
    if (matches > MAX_MATCHES) throw new ReportError(`More than ${MAX_MATCHES} files match ${globs.join(', ')}.`);
    const file = path.join(copy, relative);
    if ((await realpath(file).catch(() => undefined)) === file) found.add(file);
  }
  return [...found];
}

/**
 * For a command that writes JUnit files into the copy. Files that are already there are of another run, or planted, and are removed. The
 * returned function reads the new files.
 * @param build how the command says that what it tests cannot be built. Then there may be no file at all.
 */
export async function expectJunitFiles(
  { copy, shown }: Pick<RunToPrepare, 'copy' | 'shown'>, globs: readonly string[], build?: BuildWords,
): Promise<(end: Pick<RunEnd, 'exitCode' | 'printed'>) => Promise<TestReport>> {
  for (const file of await junitFiles(copy, globs)) await rm(file, { force: true });
  return async (end) => {
    const files = await junitFiles(copy, globs);
    const failed = build && failedBuild(end, build, shown);
    if (!failed) return await readJunitFiles(files, shown);
    const { results } = files.length > 0 ? await readJunitFiles(files, shown) : { results: [] };
    return { results: [...results, ...failed.results] };
  };
}
