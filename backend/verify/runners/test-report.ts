/** What a test runner said of one test. */
export interface TestResult {
  /** File, suites and name, joined by " > "; the same in every run of the same tests. */
  readonly id: string;
  /** A file or a suite is a container: it passes by holding tests, so its passing proves nothing, but it can fail by itself. */
  readonly kind: 'test' | 'container';
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly message?: string;
  readonly durationMs?: number;
  /** A container that failed, so that tests anywhere may be missing. It counts as mended where a later report has tests and lacks it. */
  readonly hidesAll?: true;
  /** A container that is built and has no test, by the word of the runner. One that could not be built before is mended by that. */
  readonly isEmpty?: true;
}

export interface TestReport {
  readonly results: readonly TestResult[];
  /** Of a runner that can tell. */
  readonly imports?: Imports;
}

/** What the tests of a Python project imported. */
export interface Imports {
  /** Files of the copy. */
  readonly own: ReadonlySet<string>;
  /** Packages and modules from other places, by name, but for Python's own. */
  readonly elsewhere: ReadonlyMap<string, string>;
}

/** The container of a run that broke off, after which tests are missing. */
export const BROKEN_RUN = 'the run of the tests';

/** The report of a runner is missing or cannot be read. */
export class ReportError extends Error {
  override readonly name = 'ReportError';
}

/** There is no report at all: the command may not start the runner that it seems to. */
export class NoReportError extends ReportError {
  constructor() {
    super('The test runner wrote no report.');
  }
}

export const ID_SEPARATOR = ' > ';

/** Reports are written by a process that runs untrusted code: beyond this they are not read. */
export const MAX_REPORT_BYTES = 32 * 1024 * 1024;

export const MAX_MESSAGE_CHARACTERS = 2_000;

/** Of one part of an id: file, suite or name. */
export const MAX_NAME_CHARACTERS = 2_000;
