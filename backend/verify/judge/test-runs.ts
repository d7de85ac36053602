import path from 'node:path';
import type { ChosenRunner } from '../runners/choose-runner.ts';
import type { LeasedLayer } from '../copies/build-layers.ts';
import { cachesIn } from '../copies/installed-dependencies.ts';
import type { CopyPool, LeasedCopy, WorkspaceSnapshot } from '../copies/copy-pool.ts';
import type { ExceededLimit } from '../sandbox/process-group.ts';
import { exceededText } from './exceeded-text.ts';
import type { RunFolder, RunFolders } from '../files/run-folder.ts';
import type { Sandbox, SandboxedCommand, SandboxOutcome } from '../sandbox/sandbox.ts';
import { buildInRounds } from './build-in-rounds.ts';
import { lastWords } from './last-words.ts';
import { ReportEnd, ReportEndedError } from './report-end.ts';
import { withNamesOf } from './same-names.ts';
import type { Coverage } from '../runners/coverage.ts';
import type { PersonPython } from '../../protocol/person-python.ts';
import { surroundingsOf } from '../runners/surroundings.ts';
import type { PreparedRun, RunToPrepare } from '../runners/test-runner.ts';
import { NoReportError, ReportError, type TestReport } from '../runners/test-report.ts';
import { withoutControls } from '../../common/without-controls.ts';

export interface TestRunsParts {
  readonly sandbox: Pick<Sandbox, 'run' | 'pinnedImage'>;
  readonly folders: RunFolders;
  readonly copies: CopyPool;
}

/** The same for all runs of one verification. */
export interface TestRunsSetup {
  readonly snapshot: WorkspaceSnapshot;
  readonly chosen: ChosenRunner;
  /** The workspace, which is hidden from the tests, and the folder where its dependencies are installed. Absolute. */
  readonly base: string;
  readonly installed: string;
  readonly reports?: string | undefined;
  /** See `SandboxedCommand`. */
  readonly image?: string | undefined;
  /** The versions of programs that the project asks for, where PATH has others. */
  readonly tools: Pick<PreparedRun, 'environment' | 'programFolders' | 'readable'>;
  /** The Python environment that the person uses for the project, if that is known. */
  readonly python?: PersonPython | undefined;
  readonly sandboxed: boolean;
  /** For one run. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface TestRun {
  readonly report: TestReport;
  readonly exitCode: number | null;
  /** See `lastWords`. */
  readonly said: string;
  readonly outcome: SandboxOutcome;
  /** The runner said that all tests were over, and the process stayed until it was stopped. */
  readonly stayed: boolean;
  /** If it was asked for, and the runner could tell. */
  readonly coverage?: Coverage;
}

/** A run of the tests without a usable result. The message says why. */
export class UnusableRunError extends Error {
  override readonly name = 'UnusableRunError';
  /** The limit that stopped the tests; undefined if they ended by themselves. */
  readonly exceeded: ExceededLimit | undefined;

  constructor(message: string, exceeded?: ExceededLimit) {
    super(message);
    this.exceeded = exceeded;
  }
}

/** Runs the tests of one snapshot, each time on a clean copy. */
export class TestRuns {
  readonly #parts: TestRunsParts;
  readonly #setup: TestRunsSetup;
  #names: TestReport | undefined;

  constructor(parts: TestRunsParts, setup: TestRunsSetup) {
    this.#parts = parts;
    this.#setup = setup;
  }

  /** Whatever calls its tests otherwise in each run has the names of the first report that comes here, and so have all runs from then on. */
  named(report: TestReport): TestReport {
    this.#names ??= report;
    return withNamesOf(this.#names, report);
  }

  /**
   * Runs the tests once, or as the options say. Before that, `change` edits the clean copy (absolute path). Throws
   * `UnusableRunError` if the tests exceed a limit or leave no readable report, what `change` throws, an error of the machine, or the signal's
   * reason.
   */
  async run<Changed>(change: (copy: string) => Promise<Changed>, { command = this.#setup.chosen.command, timeoutMs = this.#setup.timeoutMs, only, isCovered = false, written = [] }: RunOptions = {}): Promise<TestRun & { readonly changed: Changed }> {
    const { snapshot, signal } = this.#setup;
    const layer = await this.#layer();
    try {
      return await this.#runOn(await this.#parts.copies.lease(snapshot, signal), { layer: layer?.folder, command, timeoutMs: Math.min(timeoutMs, this.#setup.timeoutMs), only, isCovered, written }, change);
    } finally {
      layer?.release();
    }
  }

  async #runOn<Changed>(
    copy: LeasedCopy, how: HowToRun, change: (copy: string) => Promise<Changed>,
  ): Promise<TestRun & { readonly changed: Changed }> {
    // Without a sandbox, and for a moment after a kill, a process may still write to the copy.
    let reusable = false;
    try {
      const changed = await change(copy.folder);
      const run = await this.#runIn(copy, how);
      reusable = this.#setup.sandboxed;
      return { ...run, changed };
    } finally {
      await copy.release({ reusable });
    }
  }

  /**
   * What the tool chain has built of the base. It is built before any judged code is there, and without a sandbox there is none, because
   * nothing would keep a run from writing it.
   */
  async #layer(): Promise<LeasedLayer | undefined> {
    const { snapshot, chosen: { runner, command }, installed, image, tools, sandboxed, signal } = this.#setup;
    if (!runner.build || !sandboxed) return undefined;
    const family = JSON.stringify([installed, runner.name, command, image, tools.programFolders, tools.environment]);
    return await this.#parts.copies.layers.lease({ family, state: snapshot.fingerprint }, signal, (keep, earlier) => this.#build(keep, earlier));
  }

  async #build(keep: string, layer: string | undefined): Promise<boolean> {
    const { snapshot, chosen, signal } = this.#setup;
    const copy = await this.#parts.copies.lease(snapshot, signal);
    const folder = await this.#parts.folders.create();
    try {
      const prepared = await chosen.runner.build?.({
        command: chosen.command, copy: copy.folder, shown: this.#shownOf(copy), tools: folder.tools, keep, ...(layer !== undefined && { layer }),
      });
      if (!prepared) return false;
      const command = this.#inCopy(copy, folder, over(layer, prepared));
      return await buildInRounds(prepared, () => this.#parts.sandbox.run({ ...command, writable: [keep] }));
    } finally {
      await folder.remove();
      await copy.release({ reusable: true });
    }
  }

  /**
   * Runs another command than the tests in a clean copy that `change` edits (absolute path), within the same limits. Throws
   * `UnusableRunError` if it exceeds one, what `change` throws, an error of the machine, or the signal's reason.
   */
  async runCheck(command: string, change: (copy: string) => Promise<void>): Promise<SandboxOutcome> {
    const { snapshot, sandboxed, timeoutMs, signal } = this.#setup;
    const copy = await this.#parts.copies.lease(snapshot, signal);
    let reusable = false;
    const folder = await this.#parts.folders.create();
    try {
      await change(copy.folder);
      const run = { command, copy: copy.folder, shown: this.#shownOf(copy), workspace: this.#setup.installed, python: this.#setup.python, tools: folder.tools };
      const outcome = await this.#parts.sandbox.run(this.#inCopy(copy, folder, await surroundingsOf(run)));
      if (outcome.exceeded) throw new UnusableRunError(exceededText(outcome.exceeded, timeoutMs), outcome.exceeded);
      reusable = sandboxed;
      return outcome;
    } finally {
      await folder.remove();
      await copy.release({ reusable });
    }
  }

  /** A command in its copy, with what it may read and write. */
  #inCopy(
    copy: PlacedCopy,
    folder: RunFolder,
    { command, environment = {}, programFolders = [], readable = [] }: Omit<PreparedRun, 'readReport' | 'hasEnded'>,
  ): SandboxedCommand {
    const { base, installed, image, tools, sandboxed, timeoutMs, signal } = this.#setup;
    const { folder: cwd, sharedFolders } = copy;
    const shown = this.#shownOf(copy);
    return {
      command, cwd,
      ...(shown !== cwd && { shown }),
      environment: { ...tools.environment, ...environment },
      programFolders: [...programFolders, ...(tools.programFolders ?? [])],
      temporary: folder.temporary,
      writable: [folder.report],
      hidden: [...new Set([base, installed]), ...cachesIn(sharedFolders)],
      readable: [folder.tools, ...sharedFolders, ...readable, ...(tools.readable ?? [])],
      timeoutMs, signal, image, sandboxed,
    };
  }

  /** Without a sandbox, and in a container, commands see the copy where it is. */
  #shownOf({ folder, shown }: PlacedCopy): string {
    const { sandboxed, image } = this.#setup;
    return sandboxed && image === undefined && process.platform === 'linux' ? shown : folder;
  }

  async #runIn(copy: PlacedCopy, { layer, command, timeoutMs, only, isCovered, written }: HowToRun): Promise<TestRun> {
    const { chosen, installed, python, reports } = this.#setup;
    const folder = await this.#parts.folders.create();
    try {
      const prepared = await chosen.runner.prepare({
        command,
        copy: copy.folder,
        shown: this.#shownOf(copy),
        workspace: installed,
        python,
        tools: folder.tools,
        report: folder.report,
        ...(reports !== undefined && { reports }),
        ...(layer !== undefined && { layer }),
        ...(only && { only }),
        ...(isCovered && { isCovered }),
      });
      const inCopy = this.#inCopy(copy, folder, over(layer, prepared));
      const unseen = layer === undefined ? [] : (chosen.runner.compiledTests?.(written) ?? []).map((part) => path.join(layer, part));
      const { stayed, ...outcome } = await this.#runToEnd(prepared, { ...inCopy, hidden: [...(inCopy.hidden ?? []), ...new Set(unseen)], hasLayer: layer !== undefined, timeoutMs });
      if (outcome.exceeded) throw new UnusableRunError(exceededText(outcome.exceeded, timeoutMs), outcome.exceeded);
      const said = lastWords(outcome);
      const report = await prepared.readReport({ exitCode: outcome.exitCode, said, printed: withoutControls(`${outcome.stdout}\n${outcome.stderr}`) }).catch((error: unknown) => {
        throw error instanceof ReportError ? new UnusableRunError(`${error.message}${said}${this.#otherRunner(error)}`) : error;
      });
      const coverage = isCovered ? await prepared.readCoverage?.() : undefined;
      return { report: this.#names ? withNamesOf(this.#names, report) : report, exitCode: outcome.exitCode, said, outcome, stayed, ...(coverage && { coverage }) };
    } catch (error) {
      throw error instanceof ReportError ? new UnusableRunError(error.message) : error;
    } finally {
      await folder.remove();
    }
  }

  /** What to do where the command may not start the runner that it was taken to start. */
  #otherRunner(error: ReportError): string {
    const { runner: { name } } = this.#setup.chosen;
    return error instanceof NoReportError ? ` It was taken for ${name}. If it is not, name its runner, or "exit-code".` : '';
  }

  /** A command that is stopped after the end of its report has no exit code. */
  async #runToEnd(prepared: PreparedRun, command: SandboxedCommand): Promise<SandboxOutcome & { readonly stayed: boolean }> {
    const end = new ReportEnd(prepared, this.#setup.chosen.endsWithTests);
    const startedAt = performance.now();
    try {
      return { ...(await this.#parts.sandbox.run({ ...command, signal: AbortSignal.any([command.signal, end.signal]) })), stayed: false };
    } catch (error) {
      if (!(error instanceof ReportEndedError)) throw error;
      const durationMs = performance.now() - startedAt;
      return { exitCode: null, stdout: '', stderr: '', durationMs, sandboxed: command.sandboxed, stayed: true };
    } finally {
      end.stop();
    }
  }
}

export interface RunOptions extends Pick<RunToPrepare, 'only' | 'isCovered'> {
  /** By default, what runs all tests. */
  readonly command?: string | undefined;
  /** If that is less than every run has. */
  readonly timeoutMs?: number | undefined;
  /** Ids of the tests whose files `change` writes, altered or not. What the base compiled of them stays out of sight. */
  readonly written?: readonly string[];
}

type PlacedCopy = Pick<LeasedCopy, 'folder' | 'shown' | 'sharedFolders'>;

interface HowToRun {
  readonly layer: string | undefined;
  readonly command: string;
  readonly timeoutMs: number;
  readonly only: RunToPrepare['only'];
  readonly isCovered: boolean;
  readonly written: readonly string[];
}

/** With a layer to read. */
const over = <Prepared extends Pick<PreparedRun, 'readable'>>(layer: string | undefined, prepared: Prepared): Prepared =>
  layer === undefined ? prepared : { ...prepared, readable: [...(prepared.readable ?? []), layer] };
