import { ResultCollector } from './report-file.ts';
import type { TestReport } from './test-report.ts';
import type { RunEnd } from './test-runner.ts';

/** How a tool says that it cannot build what it was to test. */
export interface BuildWords {
  /** In a line of its own. Tests cannot start then, so it is not theirs, but a test of the same command may print it, too. */
  readonly failed: RegExp;
  /** The first error. */
  readonly error: RegExp;
}

const BUILD = 'the build';

/** The report of a build that failed, by what the command printed: tests of all that depends on it are missing. Undefined if it did not fail. */
export function failedBuild({ exitCode, printed }: Pick<RunEnd, 'exitCode' | 'printed'>, { failed, error }: BuildWords, copy: string): TestReport | undefined {
  if (exitCode === 0 || !failed.test(printed)) return undefined;
  const collector = new ResultCollector(copy);
  collector.add({ kind: 'container', status: 'failed', path: [BUILD], message: error.exec(printed)?.[0].trim() ?? 'It failed.', hidesAll: true });
  return { results: collector.results };
}
