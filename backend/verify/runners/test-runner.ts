import type { TestReport } from './test-report.ts';
import type { ProjectFolder } from './project-folder.ts';

/** How one test runner is found, told to write a report, and read. A new runner is a new row in `runners.ts`. */
export interface TestRunner {
  readonly name: string;
  /** The commands that run the tests of this folder, the likeliest first. Looks at files only, and runs nothing. */
  detect(folder: ProjectFolder): Promise<readonly string[]>;
  /** True where its projects name those in folders below, whose tests it runs with its own. */
  readonly buildsFoldersBelow?: boolean;
  /** Whether this runner can read the results of `command`, in which scripts of `package.json` are written out. */
  understands(command: string): boolean;
  /**
   * What tells this runner what to run and how (paths relative to the workspace, in lower case): such files are part of the judge.
   */
  readonly configuration: readonly RegExp[];
  /** Gets one run ready to write a report. Throws `ReportError` where the command cannot be made to. */
  prepare(run: RunToPrepare): Promise<PreparedRun>;
}

/** All folders are absolute. */
export interface RunToPrepare {
  /** As the runner's `understands` was asked. */
  readonly command: string;
  /** The copy in which the command will run. Ids of tests are relative to it. */
  readonly copy: string;
  /** The workspace that it is a copy of: where what is installed but not copied lies. */
  readonly workspace: string;
  /** For what the runner is to load. The tests cannot write it. */
  readonly tools: string;
  /** For the report. The tests can write it, so code that looks for a report can forge it. */
  readonly report: string;
  /** Where the user says that the command writes JUnit files: a glob, relative to the copy. */
  readonly reports?: string;
}

export interface PreparedRun {
  readonly command: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Folders in which programs are looked for first. */
  readonly programFolders?: readonly string[];
  /** Folders that must be readable although they lie in the workspace, which is hidden. */
  readonly readable?: readonly string[];
  /** Throws `ReportError`. */
  readReport(): Promise<TestReport>;
}
