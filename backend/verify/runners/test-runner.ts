import type { PersonPython } from '../../protocol/person-python.ts';
import type { TestRunnerName } from '../../protocol/test-runners.ts';
import type { ProjectFolder } from './project-folder.ts';
import type { Coverage } from './coverage.ts';
import type { ProgramUse } from './shell-words.ts';
import type { TestReport } from './test-report.ts';

/** How one test runner is found, made to write a report, and read. Each is a row in `runners.ts`. */
export interface TestRunner<Name extends TestRunnerName = TestRunnerName> {
  readonly name: Name;
  /** File names that mark a folder as a project of its own. */
  readonly manifests: readonly string[];
  /** What the first part of a test's id names. The negative control finds the source of the test by it. */
  readonly idRoot: IdRoot;
  /** The commands that run the tests of this folder, the likeliest first. Reads files only and runs nothing. */
  detect(folder: ProjectFolder): Promise<readonly string[]>;
  /** True if a project of this runner also runs the tests of the projects in folders below. */
  readonly buildsFoldersBelow?: boolean;
  /** Whether this runner can read the results of `command`, in which scripts of `package.json` are expanded. */
  understands(command: string): boolean;
  /** Whether a command that it understands runs tests for sure. Absent if each does. */
  isSure?(command: string): boolean;
  /** The uses of Node in a command that only start a file (`node test`), where the file loads this runner. @param folder in which the command runs */
  startsOf?(command: string, folder: ProjectFolder): Promise<readonly ProgramUse[]>;
  /** The files that configure this runner (paths relative to the workspace, in lower case). An answer may not change them. */
  readonly configuration: readonly RegExp[];
  /** Why a change passes at most, and is never verified, such as `WRITABLE_REPORT`. Absent if it can be. */
  readonly provesAtMost?: string;
  /** True if a second use of the runner in one command would write over the report of the first. */
  readonly keepsOneReport?: boolean;
  /** True if a run can tell its coverage, and some tests can be run by their keys. */
  readonly tellsCoverage?: boolean;
  /** Prepares one run that writes a report. Throws `ReportError` if the command cannot be made to. */
  prepare(run: RunToPrepare): Promise<PreparedRun>;
  /**
   * Builds ahead what the tests of the base need, and runs no test. Runs with the result as their `layer` build only the rest. Undefined if
   * the command leaves nothing to build ahead. Absent where building takes no time to speak of.
   */
  build?(run: RunToBuild): Promise<PreparedBuild | undefined>;
  /**
   * The folders of a layer, relative to it, with what was compiled of these tests, by their ids. Compiled tests hold what they expect, so a run whose tests may
   * be altered does not see them.
   */
  compiledTests?(ids: readonly string[]): readonly string[];
}

/** With `no source`, the runner has no negative control. */
export type IdRoot = 'file' | 'go package' | 'cargo target' | 'java class' | 'no source';

/** All folders are absolute. */
export interface RunToPrepare {
  /** The command that was passed to `understands`. */
  readonly command: string;
  /** The copy in which the command runs, where we read and write it. Test ids are relative to it. */
  readonly copy: string;
  /**
   * Where the command sees this copy. Reports, and all that is loaded with the tests, name it by this path. In the sandbox it is the same for
   * all copies, so that what one run compiled serves another one.
   */
  readonly shown: string;
  /** The original workspace. It holds what is installed but not copied. */
  readonly workspace: string;
  /** The Python environment that the person uses for the project, if that is known. */
  readonly python?: PersonPython | undefined;
  /** For files that the runner loads. The tests cannot write here. */
  readonly tools: string;
  /** For the report. The tests can write here, so code that looks for the report can forge it. */
  readonly report: string;
  /** The JUnit files that the user says the command writes: a glob, relative to the copy. */
  readonly reports?: string;
  /** What `build` kept of the base. It can be read and not written. */
  readonly layer?: string;
  /** The tests to run, by the keys of a `Coverage`, if not all: for runners that tell coverage. */
  readonly only?: readonly string[];
  /** Whether to tell the coverage of the run. */
  readonly isCovered?: boolean;
}

/** A command of a project, to run in a copy of it. */
export type CommandInCopy = Pick<RunToPrepare, 'command' | 'copy' | 'shown' | 'workspace' | 'python' | 'tools'>;

/** How a run ended that no limit stopped. */
export interface RunEnd {
  /** Null if a signal ended it. */
  readonly exitCode: number | null;
  /** What it printed last, as it is shown. */
  readonly said: string;
  /** All of its output that is kept, and without colours. */
  readonly printed: string;
}

/** Nothing keeps the code under test from writing the report. */
export const WRITABLE_REPORT = 'the code under test could write the report itself';

/** All folders are absolute. The copy is the base's. */
export interface RunToBuild extends Pick<RunToPrepare, 'command' | 'copy' | 'shown' | 'tools' | 'layer'> {
  /** What is in this folder afterwards is the layer. */
  readonly keep: string;
}

export interface PreparedBuild extends Pick<PreparedRun, 'command' | 'environment' | 'readable'> {
  /** How much is built so far. Absent where all is lost if the build is stopped; otherwise the same command goes on from there. */
  progress?(): Promise<number>;
  /** Removes from the layer what runs must build themselves. False if nothing can be kept. */
  finish?(): Promise<boolean>;
}

export interface PreparedRun {
  readonly command: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Folders that are searched for programs before PATH. */
  readonly programFolders?: readonly string[];
  /** Folders of the workspace that must be readable. The rest of the workspace is hidden. */
  readonly readable?: readonly string[];
  /** Whether the report says that all tests are over. Absent if the report cannot say so, or if code under test could write it. */
  hasEnded?(): Promise<boolean>;
  /** Called after the run, with how it ended. Throws `ReportError`. */
  readReport(end: RunEnd): Promise<TestReport>;
  /** Undefined if the run has not told. Called after the run. */
  readCoverage?(): Promise<Coverage | undefined>;
}
