import type { TestReport } from '../test-report.ts';

/** How one test runner is found, told to write a report, and read. A new runner is a new row in `runners.ts`. */
export interface TestRunner {
  readonly name: string;
  /** The command that runs the tests of `workspace` (absolute), or undefined if the project does not use this runner. */
  detect(workspace: string): Promise<string | undefined>;
  /** Whether `command` may be this runner's. */
  understands(command: string): boolean;
  /** Gets one run ready to write a report. The folders are absolute; the tests cannot write `tools`. */
  prepare(run: { command: string; tools: string; report: string }): Promise<PreparedRun>;
}

export interface PreparedRun {
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
  /** `copy` is the folder the tests ran in; ids are relative to it. Throws `ReportError`. */
  readReport(copy: string): Promise<TestReport>;
}
