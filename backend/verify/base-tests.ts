import { createHash } from 'node:crypto';
import { counted } from '../common/counted.ts';
import type { PersonPython } from '../protocol/person-python.ts';
import { applyPatch } from './patch/apply-patch.ts';
import type { FileEdit } from './patch/patch.ts';
import type { SnapshotFiles, WorkspaceSnapshot } from './copies/copy-pool.ts';
import { readFiles, snapshotOf, type HeldFiles } from './copies/held-files.ts';
import type { BaseRun, BaseRunCache } from './judge/base-run-cache.ts';
import { differing, settle } from './judge/flaky.ts';
import { importedElsewhere, NothingTestedError, testsNoSource } from './judge/imported-elsewhere.ts';
import { hasEvidence } from './judge/judge.ts';
import type { LeavingOut } from './judge/left-out.ts';
import { notInstalled, notStarted, packagePlace } from './judge/not-installed.ts';
import { withNamesOf } from './judge/same-names.ts';
import { TestRuns, UnusableRunError, type RunOptions, type TestRunsParts } from './judge/test-runs.ts';
import { neededBuild } from './runners/needed-build.ts';
import type { Coverage } from './runners/coverage.ts';
import type { SomeTests } from './reach/named-tests.ts';
import { chooseRunner, type ChosenRunner, type TestCommand } from './runners/choose-runner.ts';
import { NO_TOOLS, type ChosenTools, type ToolVersions } from './tools/tool-versions.ts';

export type VerifyProgress =
  'copying' | 'running the tests before the change' | 'running the tests with the change' | 'running the tests with the change again' | 'running the tests that come with the change'
  | 'running what else judges the change';

/** The state that a patch is applied to. */
export interface Base {
  /** The workspace, absolute. It is read and never written. */
  readonly base: string;
  /** Where dependencies are installed; `base` by default. For a base that is a separate checkout. */
  readonly installed?: string;
  /** Edits of the folder that are part of the base, such as the bug of a task. */
  readonly baseEdits?: readonly FileEdit[];
  /** The files of `base` as they were earlier. By default they are as they are now. */
  readonly held?: HeldFiles;
}

/** How the tests of a base are run. `command` runs in the workspace's folder; see `findTestCommands`. */
export interface BaseTestsOptions extends Base, TestCommand, Pick<LeavingOut, 'leaveOut'> {
  readonly signal: AbortSignal;
  /** False only if a person has agreed to run the tests without a sandbox. */
  readonly sandboxed?: boolean;
  /** For one run of the tests. */
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

export interface BaseTestsParts extends TestRunsParts {
  readonly baseRuns: BaseRunCache;
  readonly tools: ToolVersions;
  /** Says which Python environment the person uses for a workspace (absolute). */
  readonly python?: ((workspace: string) => Promise<PersonPython | undefined>) | undefined;
  /** Whether the tests that a change reaches run first, if the whole suite takes so long, and they alone so long. */
  readonly paysToRunFirst?: (wholeMs: number, aloneMs: number) => boolean;
}

const DEFAULT_TIMEOUT_MS = 5 * 60 * 1_000;

/** Which run of all tests is kept. */
const FIRST_RUN = 'first';
const COVERED_RUN = 'covered';

/** The tests of a workspace in the state in which it was opened. */
export class BaseTests {
  readonly snapshot: WorkspaceSnapshot;
  readonly chosen: ChosenRunner;
  /** The pinned image, if the tests run in a container. */
  readonly image: string | undefined;
  /** The programs on this machine that the tests run with. */
  readonly tools: ChosenTools;
  readonly runs: TestRuns;
  /** What people should know of how the tests are run. */
  readonly notes: readonly string[];
  readonly #parts: BaseTestsParts;
  readonly #options: BaseTestsOptions;
  readonly #sandboxed: boolean;
  readonly #python: PersonPython | undefined;

  private constructor(parts: BaseTestsParts, options: BaseTestsOptions, opened: Pick<BaseTests, 'snapshot' | 'chosen' | 'image' | 'tools' | 'notes'> & { sandboxed: boolean; python: PersonPython | undefined }) {
    const { base, installed = base, reports, timeoutMs = DEFAULT_TIMEOUT_MS, signal } = options;
    const { snapshot, chosen, image, tools, notes, sandboxed, python } = opened;
    this.snapshot = snapshot;
    this.chosen = chosen;
    this.image = image;
    this.tools = tools;
    this.notes = notes;
    this.runs = new TestRuns(parts, { snapshot, chosen, base, installed, reports, image, tools, python, sandboxed, timeoutMs, signal });
    this.#parts = parts;
    this.#options = options;
    this.#sandboxed = sandboxed;
    this.#python = python;
  }

  /** Throws WorkspaceCopyError, SandboxUnavailableError or the signal's reason. */
  static async open(parts: BaseTestsParts, options: BaseTestsOptions, chosen: ChosenRunner): Promise<BaseTests> {
    const { base, installed = base, held, signal, onProgress } = options;
    // An undefined option means the default. Above all, it must not mean "without a sandbox".
    const sandboxed = options.sandboxed ?? true;
    // Without a sandbox, a person has agreed that the tests run on this machine itself. All runs of one verification use the same image,
    // even if its name is reassigned in the meantime.
    const image = sandboxed && options.image !== undefined ? await parts.sandbox.pinnedImage(options.image) : undefined;
    onProgress?.('copying');
    const { runner, command } = chosen;
    // A container has a Python of its own; one of this machine need not run in it.
    const python = image === undefined ? await parts.python?.(installed) : undefined;
    const choose = (folder: string): Promise<ChosenTools> => parts.tools.choose({ runner, command, base: folder, installed, python, sandboxed, signal });
    const [snapshot, tools] = await bothDone(
      snapshotOf(parts.copies, { folder: base, installed, held }, signal),
      image !== undefined ? Promise.resolve(NO_TOOLS) : readFiles({ folder: base, held, signal }, choose),
    );
    const build = await parts.copies.onFiles(snapshot, (files) => neededBuild(chosen, base, files));
    const notes = [
      ...tools.notes,
      ...(build ? [`The tests need ${build.missing}, which a build makes: "${build.script}" runs before them.`] : []),
      ...(snapshot.secret.length > 0 ? [withoutSecrets(snapshot.secret)] : []),
    ];
    const built = build ? { ...chosen, command: build.command, preparation: build.preparation } : chosen;
    return new BaseTests(parts, options, { snapshot, chosen: built, image, tools, notes, sandboxed, python });
  }

  /** Turns a clean copy of the workspace into the base. */
  makeBase(copy: string): Promise<void> {
    return applyPatch(copy, { edits: this.#options.baseEdits ?? [] });
  }

  /**
   * The results before any change: from the cache, or by two runs at the same time. Tests that end differently in them are flaky. Throws
   * what `TestRuns.run` throws.
   */
  before(): Promise<BaseRun> {
    return this.#resultsOf(this.#options.baseEdits ?? []);
  }

  /** The results of the workspace itself, without the base's edits. See `before`. */
  ofWorkspace(): Promise<BaseRun> {
    return this.#resultsOf([]);
  }

  /**
   * The first of the two runs that `before` makes, from the cache if it was made. Within `timeoutMs`, if that is less than every run has. Throws
   * what `TestRuns.run` throws.
   */
  firstRun(timeoutMs?: number): Promise<BaseRun> {
    return this.#firstOf(this.#options.baseEdits ?? [], timeoutMs);
  }

  /** Takes these for the two runs of `before`, if it has made none. */
  async settleBefore(first: BaseRun, second: BaseRun): Promise<void> {
    await this.#parts.baseRuns.get(this.#keyOf(this.#options.baseEdits ?? []), this.#options.signal, () => Promise.resolve(bothOf(first, second)));
  }

  /** The results of some tests of the workspace with these edits: from the cache, or by one run. Throws what `TestRuns.run` throws. */
  someOf({ command, only }: SomeTests, baseEdits: readonly FileEdit[], timeoutMs?: number): Promise<BaseRun> {
    return this.#parts.baseRuns.get(this.#keyOf(baseEdits, [command, only ?? []]), this.#options.signal, () =>
      this.#run(baseEdits, { command, timeoutMs, ...(only && { only }) }));
  }

  /** Which functions the tests of the workspace call: from the cache, or by one run. Undefined if the run does not tell. Throws an error of the machine, or the signal's reason. */
  async coverage(): Promise<Coverage | undefined> {
    if (!this.chosen.runner.tellsCoverage) return undefined;
    // A run that came to nothing, as it took too long, is not made again.
    const none = (error: unknown): BaseRun => {
      if (error instanceof UnusableRunError) return { report: { results: [] }, exitCode: null, flaky: new Set() };
      throw error;
    };
    const { coverage } = await this.#parts.baseRuns.get(this.#keyOf([], COVERED_RUN), this.#options.signal, () => this.#run([], { isCovered: true }).catch(none));
    return coverage;
  }

  async #resultsOf(baseEdits: readonly FileEdit[]): Promise<BaseRun> {
    const { signal, onProgress } = this.#options;
    const before = await this.#parts.baseRuns.get(this.#keyOf(baseEdits), signal, async () => {
      onProgress?.('running the tests before the change');
      const [first, second] = await bothDone(this.#firstOf(baseEdits), this.#run(baseEdits));
      if (!hasEvidence(first.report)) throw new UnusableRunError(`No test was executed.${first.said ?? ''}`);
      return bothOf(first, { ...second, report: withNamesOf(first.report, second.report) });
    });
    return { ...before, report: this.runs.named(before.report) };
  }

  /**
   * Throws `UnusableRunError` if the project is not installed, and `NothingTestedError` if its tests import an installed copy of it. Neither is
   * kept: it may be installed soon.
   */
  #firstOf(baseEdits: readonly FileEdit[], timeoutMs?: number): Promise<BaseRun> {
    return this.#parts.baseRuns.get(this.#keyOf(baseEdits, FIRST_RUN), this.#options.signal, async () => {
      const { base, installed = base } = this.#options;
      const around = { packages: packagePlace(installed) };
      const lacking = <Told>(of: (files: SnapshotFiles) => Told): Promise<Told> => this.#parts.copies.onFiles(this.snapshot, (files) => Promise.resolve(of(files)));
      const first = await this.#run(baseEdits, { timeoutMs }).catch(async (error: unknown) => {
        const why = error instanceof UnusableRunError ? await lacking((files) => notStarted(error.message, files, around)) : undefined;
        throw why === undefined ? error : new UnusableRunError(why);
      });
      const why = await lacking((files) => notInstalled(first.report, files, around));
      if (why !== undefined) throw new UnusableRunError(why);
      const { imports } = first.report;
      if (!imports) return first;
      const elsewhere = await lacking((files) => importedElsewhere(imports, files));
      const untested = testsNoSource(elsewhere, imports);
      if (untested !== undefined) throw new NothingTestedError(untested);
      return { ...first, elsewhere };
    });
  }

  async #run(baseEdits: readonly FileEdit[], options?: RunOptions): Promise<BaseRun> {
    const { report, exitCode, said, stayed, coverage, outcome: { durationMs } } = await this.runs.run((copy) => applyPatch(copy, { edits: baseEdits }), options);
    return { report, exitCode, said, stayed, flaky: new Set(), durationMs, ...(coverage && { coverage }) };
  }

  /** @param which some tests, or one run; by default, two runs of all tests */
  #keyOf(baseEdits: readonly FileEdit[], which?: unknown): string {
    const { command, reports } = this.#options;
    const changes = baseEdits.map(({ path, after }) => [path, after]);
    return createHash('sha256')
      .update(JSON.stringify([this.snapshot.fingerprint, changes, command, this.#sandboxed, this.chosen.runner.name, reports, this.image, this.tools.programFolders, this.tools.environment, this.#python, which]))
      .digest('hex');
  }
}

/** Each test counts by its worse run: in which of the two a flaky test fails is chance. */
function bothOf(first: BaseRun, second: BaseRun): BaseRun {
  return {
    ...settle({ results: [] }, first, second),
    flaky: new Set([...first.flaky, ...second.flaky, ...differing(first.report, second.report)]),
    stayed: first.stayed === true || second.stayed === true,
    ...(first.elsewhere && { elsewhere: first.elsewhere }),
    durationMs: Math.max(first.durationMs ?? 0, second.durationMs ?? 0),
  };
}

function withoutSecrets([first = '', ...others]: readonly string[]): string {
  const named = others.length > 0 ? `${first} and ${counted(others.length, 'other')}` : first;
  return `The tests ran without files that Git does not track and whose names say that they hold secrets (${named}). `
    + 'If they need them, set CONDUCTOR_COPY_SECRETS=1; then code that a model wrote can read these files.';
}

/** The runner of the tests, by the files of the base. */
export async function runnerOf({ base, held, signal, ...command }: BaseTestsOptions): Promise<ChosenRunner | undefined> {
  return await readFiles({ folder: base, held, signal }, (folder) => chooseRunner(command, folder));
}

/** Gets a clean copy of the base (absolute) and the paths of its files. */
export type UseOfBase<Result> = (folder: string, paths: ReadonlySet<string>) => Promise<Result>;

/** See `Verifier.onBase`. */
export async function onBase<Result>(
  { copies }: Pick<TestRunsParts, 'copies'>, { base, installed = base, baseEdits = [], held }: Base, signal: AbortSignal, use: UseOfBase<Result>,
): Promise<Result> {
  const snapshot = await snapshotOf(copies, { folder: base, installed, held }, signal);
  const copy = await copies.lease(snapshot, signal);
  try {
    await applyPatch(copy.folder, { edits: baseEdits });
    return await use(copy.folder, snapshot.paths);
  } finally {
    await copy.release({ reusable: true });
  }
}

/** Like `Promise.all`, but waits for both even if one fails: no run continues after the verdict. */
export async function bothDone<First, Second>(first: Promise<First>, second: Promise<Second>): Promise<[First, Second]> {
  await Promise.allSettled([first, second]);
  return await Promise.all([first, second]);
}
