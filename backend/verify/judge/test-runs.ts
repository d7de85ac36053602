import type { ChosenRunner } from '../runners/choose-runner.ts';
import type { CopyPool, WorkspaceSnapshot } from '../copies/copy-pool.ts';
import type { ExceededLimit } from '../sandbox/process-group.ts';
import type { RunFolders } from '../files/run-folder.ts';
import type { Sandbox, SandboxOutcome } from '../sandbox/sandbox.ts';
import { ReportEnd, ReportEndedError } from './report-end.ts';
import type { PreparedRun } from '../runners/test-runner.ts';
import { ReportError, type TestReport } from '../runners/test-report.ts';

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
  readonly sandboxed: boolean;
  /** For one run. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface TestRun {
  readonly report: TestReport;
  readonly exitCode: number | null;
  readonly outcome: SandboxOutcome;
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

  constructor(parts: TestRunsParts, setup: TestRunsSetup) {
    this.#parts = parts;
    this.#setup = setup;
  }

  /**
   * Runs the tests once. Before that, `change` edits the clean copy (absolute path). Throws `UnusableRunError` if the tests exceed a limit
   * or leave no readable report, what `change` throws, an error of the machine, or the signal's reason.
   */
  async run<Changed>(change: (copy: string) => Promise<Changed>): Promise<TestRun & { readonly changed: Changed }> {
    const { snapshot, signal } = this.#setup;
    const copy = await this.#parts.copies.lease(snapshot, signal);
    // Without a sandbox, and for a moment after a kill, a process may still write to the copy.
    let reusable = false;
    try {
      const changed = await change(copy.folder);
      const run = await this.#runIn(copy.folder, copy.sharedFolders);
      reusable = this.#setup.sandboxed;
      return { ...run, changed };
    } finally {
      await copy.release({ reusable });
    }
  }

  async #runIn(copy: string, sharedFolders: readonly string[]): Promise<TestRun> {
    const { chosen, base, installed, reports, image, sandboxed, timeoutMs, signal } = this.#setup;
    const folder = await this.#parts.folders.create();
    try {
      const prepared = await chosen.runner.prepare({
        command: chosen.command,
        copy,
        workspace: installed,
        tools: folder.tools,
        report: folder.report,
        ...(reports !== undefined && { reports }),
      });
      const outcome = await this.#runToEnd(prepared, {
        command: prepared.command,
        environment: prepared.environment ?? {},
        programFolders: prepared.programFolders ?? [],
        cwd: copy,
        temporary: folder.temporary,
        writable: [folder.report],
        hidden: base === installed ? [base] : [base, installed],
        readable: [folder.tools, ...sharedFolders, ...(prepared.readable ?? [])],
        timeoutMs,
        signal,
        image,
        sandboxed,
      });
      if (outcome.exceeded) throw new UnusableRunError(exceededText(outcome.exceeded, timeoutMs), outcome.exceeded);
      const report = await prepared.readReport().catch((error: unknown) => {
        throw error instanceof ReportError ? new UnusableRunError(`${error.message}${lastWords(outcome)}`) : error;
      });
      return { report, exitCode: outcome.exitCode, outcome };
    } catch (error) {
      throw error instanceof ReportError ? new UnusableRunError(error.message) : error;
    } finally {
      await folder.remove();
    }
  }

  /** A command that is stopped after the end of its report has no exit code. */
  async #runToEnd(prepared: PreparedRun, command: Parameters<Sandbox['run']>[0]): Promise<SandboxOutcome> {
    const end = new ReportEnd(prepared);
    const startedAt = performance.now();
    try {
      return await this.#parts.sandbox.run({ ...command, signal: AbortSignal.any([command.signal, end.signal]) });
    } catch (error) {
      if (!(error instanceof ReportEndedError)) throw error;
      return { exitCode: null, stdout: '', stderr: '', durationMs: performance.now() - startedAt, sandboxed: command.sandboxed };
    } finally {
      end.stop();
    }
  }
}

function exceededText(limit: ExceededLimit, timeoutMs: number): string {
  switch (limit) {
    case 'time':
      return `The tests did not end within ${Math.round(timeoutMs / 1_000)} s.`;
    case 'memory':
      return 'The tests used more memory than allowed.';
    case 'processes':
      return 'The tests started more processes than allowed.';
    case 'disk':
      return 'The tests wrote more to the disk than allowed.';
    case 'output':
      return 'The tests printed more than allowed.';
  }
}

export function lastWords({ stdout, stderr }: SandboxOutcome): string {
  const output = stderr.trim() || stdout.trim();
  return output === '' ? '' : ` Output of the command: ${output.slice(-500)}${missingProgram(output)}`;
}

/** What to do if the shell did not find a program: most often a project that is not installed yet. */
function missingProgram(output: string): string {
  const name = /(?:^|: )([\w.@-]{1,60}): (?:command )?not found$/.exec(output)?.[1];
  return name === undefined ? '' : `. Install ${name} and what the project needs, or name another test command.`;
}
