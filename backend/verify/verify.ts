import { createHash } from 'node:crypto';
import { applyPatch, PatchNotApplicableError } from './apply-patch.ts';
import type { BaseRun, BaseRunCache } from './base-run-cache.ts';
import { brokenTests, hasEvidence, judge } from './judge.ts';
import type { CopyPool } from './copy-pool.ts';
import { chooseRunner, type ChosenRunner } from './choose-runner.ts';
import type { Patch } from './patch.ts';
import type { RunFolder, RunFolders } from './run-folder.ts';
import { SandboxUnavailableError, type Sandbox, type SandboxOutcome } from './sandbox.ts';
import { ReportError, type TestReport } from './test-report.ts';
import type { Verdict } from './verdict.ts';
import { copyWorkspace, type WorkspaceCopy } from './workspace-copy.ts';
import { WorkspaceCopyError } from './workspace-listing.ts';

export type VerifyProgress = 'copying' | 'running the tests before the change' | 'running the tests with the change';

export interface VerifyOptions {
  /** The workspace, absolute. It is read and never written. */
  readonly base: string;
  /** Where dependencies are installed, if not in `base`: for a base that is a checkout of its own. */
  readonly installed?: string;
  readonly patch: Patch;
  /**
   * What becomes of edits to protected files (tests, their data, what decides how they run). An answer with one is refused; of a person's
   * change the rest is judged, with those files as they were.
   */
  readonly protectedEdits?: 'refuse' | 'leave out';
  /** Ids of tests that have to pass after the patch, whatever they did before; without them the tests that failed before have to. */
  readonly targets?: readonly string[];
  /** What runs the tests, in the workspace's folder; see `findTestCommands`. */
  readonly command: string;
  /** Which runner's report is read, and where a command of the user's own leaves JUnit files; see `TestCommand`. */
  readonly runner?: string;
  readonly reports?: string;
  readonly signal: AbortSignal;
  /** False only where a person has agreed to run the tests without a sandbox. */
  readonly sandboxed?: boolean;
  /** For one run of the tests. */
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

export interface VerifierParts {
  readonly sandbox: Pick<Sandbox, 'run'>;
  readonly folders: RunFolders;
  readonly copies: CopyPool;
  readonly baseRuns: BaseRunCache;
}

const DEFAULT_TIMEOUT_MS = 5 * 60 * 1_000;

/** Lets the project's tests judge a patch. */
export class Verifier {
  readonly #parts: VerifierParts;

  constructor(parts: VerifierParts) {
    this.#parts = parts;
  }

  /**
   * Runs the tests without and with the patch, each on a private copy, and compares. Whatever is wrong with patch, tests or
   * machine is an outcome. On abort it throws the signal's reason, with nothing left behind.
   */
  async verify(options: VerifyOptions): Promise<Verdict> {
    const started = performance.now();
    options.signal.throwIfAborted();
    const attempt = new Attempt(this.#parts, options);
    const found = await attempt.verdict();
    return { ...found, notes: [], command: options.command, sandboxed: options.sandboxed ?? true, durationMs: performance.now() - started };
  }
}

type Finding = Pick<Verdict, 'verified' | 'score' | 'outcome' | 'reason' | 'tests'>;

const without = (outcome: 'refused' | 'infrastructure', reason: string): Finding => ({
  verified: false,
  score: 0,
  outcome,
  reason,
  tests: [],
});

/** A run of the tests that says nothing; the message says why. */
class UnusableRun extends Error {}

type OptionalOption = 'runner' | 'reports' | 'onProgress' | 'installed' | 'protectedEdits' | 'targets';

/** One verification: the state that its stages share. */
class Attempt {
  readonly #parts: VerifierParts;
  readonly #options: Required<Omit<VerifyOptions, OptionalOption>> & Pick<VerifyOptions, OptionalOption>;

  constructor(parts: VerifierParts, options: VerifyOptions) {
    this.#parts = parts;
    // An option that is there but undefined means the default: above all, it never means "without a sandbox".
    const { sandboxed = true, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    this.#options = { ...options, sandboxed, timeoutMs };
  }

  async verdict(): Promise<Finding> {
    const { patch, command } = this.#options;
    const [refused] = patch.refused;
    if (refused) return without('refused', `The answer may not be applied: ${refused.path}: ${refused.reason}`);
    if (patch.edits.length === 0) return without('refused', 'The answer changes no file.');
    const chosen = await chooseRunner(this.#options, this.#options.base);
    if (!chosen) return without('infrastructure', unreadableCommand(command));
    const folder = await this.#parts.folders.create();
    try {
      return await this.#judgeIn(folder, chosen);
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (error instanceof SandboxUnavailableError || error instanceof WorkspaceCopyError)
        return without('infrastructure', error.message);
      throw error;
    } finally {
      await folder.remove();
    }
  }

  async #judgeIn(folder: RunFolder, chosen: ChosenRunner): Promise<Finding> {
    const { base, patch, signal, onProgress } = this.#options;
    onProgress?.('copying');
    const copy = await copyWorkspace(base, folder.workspace, signal);

    let before: BaseRun;
    try {
      before = await this.#baseRun(copy, chosen);
    } catch (error) {
      if (!(error instanceof UnusableRun)) throw error;
      return without('infrastructure', `The tests could not be run before the change: ${error.message}`);
    }
    if (brokenTests(before.report).length === 0) return without('refused', 'Nothing to prove: no test failed before the change.');

    try {
      await applyPatch(copy.folder, patch);
    } catch (error) {
      if (error instanceof PatchNotApplicableError) return without('refused', error.message);
      throw error;
    }
    onProgress?.('running the tests with the change');
    try {
      const { outcome, report } = await this.#runTests(copy, folder, chosen);
      return judge(before.report, report, outcome.exitCode);
    } catch (error) {
      if (!(error instanceof UnusableRun)) throw error;
      // Before the change the same command gave a usable report in time: that it does not now is the change's doing.
      const nothing = judge(before.report, { results: [] }, null);
      return { ...nothing, reason: `With the change, ${error.message.charAt(0).toLowerCase()}${error.message.slice(1)}` };
    }
  }

  /** From the cache, or on a copy of its own: tests may leave traces, and the patched run is to start from a clean one. */
  async #baseRun(copy: WorkspaceCopy, chosen: ChosenRunner): Promise<BaseRun> {
    const { command, reports, sandboxed, onProgress } = this.#options;
    const key = createHash('sha256')
      .update(JSON.stringify([copy.fingerprint, command, sandboxed, chosen.runner.name, reports]))
      .digest('hex');
    const cached = this.#parts.baseRuns.get(key);
    if (cached) return cached;
    const folder = await this.#parts.folders.create();
    try {
      await copy.cloneTo(folder.workspace);
      onProgress?.('running the tests before the change');
      const { outcome, report } = await this.#runTests({ ...copy, folder: folder.workspace }, folder, chosen);
      if (!hasEvidence(report)) throw new UnusableRun(`No test was executed.${lastWords(outcome)}`);
      const run: BaseRun = { report, durationMs: outcome.durationMs };
      this.#parts.baseRuns.set(key, run);
      return run;
    } finally {
      await folder.remove();
    }
  }

  /** Runs the tests once. Throws `UnusableRun` if they did not end in time or left no readable report. */
  async #runTests(
    copy: WorkspaceCopy,
    folder: RunFolder,
    { runner, command }: ChosenRunner,
  ): Promise<{ outcome: SandboxOutcome; report: TestReport }> {
    const { base, reports, sandboxed, timeoutMs, signal } = this.#options;
    const prepared = await runner
      .prepare({
        command,
        copy: copy.folder,
        workspace: base,
        tools: folder.tools,
        report: folder.report,
        ...(reports !== undefined && { reports }),
      })
      .catch((error: unknown) => {
        throw error instanceof ReportError ? new UnusableRun(error.message) : error;
      });
    const outcome = await this.#parts.sandbox.run({
      command: prepared.command,
      environment: prepared.environment ?? {},
      programFolders: prepared.programFolders ?? [],
      cwd: copy.folder,
      temporary: folder.temporary,
      writable: [folder.report],
      hidden: [base],
      readable: [folder.tools, ...copy.sharedFolders, ...(prepared.readable ?? [])],
      timeoutMs,
      signal,
      sandboxed,
    });
    if (outcome.exceeded) throw new UnusableRun(`The tests did not end within ${Math.round(timeoutMs / 1_000)} s.`);
    try {
      return { outcome, report: await prepared.readReport() };
    } catch (error) {
      if (error instanceof ReportError) throw new UnusableRun(`${error.message}${lastWords(outcome)}`);
      throw error;
    }
  }
}

const unreadableCommand = (command: string): string =>
  `The results of "${command}" cannot be read: its test runner is not known. Name the JUnit files that it writes, or another command.`;

function lastWords({ stdout, stderr }: SandboxOutcome): string {
  const output = stderr.trim() || stdout.trim();
  return output === '' ? '' : ` The command said: ${output.slice(-500)}`;
}
