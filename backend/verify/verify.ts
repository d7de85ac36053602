import { PatchNotApplicableError } from './patch/apply-patch.ts';
import { faultIn, placesIn, testBase } from './base-result.ts';
import { BaseTests, onBase, runnerOf, type Base, type BaseTestsOptions, type BaseTestsParts, type UseOfBase } from './base-tests.ts';
import { HeldFiles } from './copies/held-files.ts';
import type { TestCommand } from './runners/choose-runner.ts';
import type { Surroundings } from './runners/surroundings.ts';
import type { CommandInCopy } from './runners/test-runner.ts';
import { toolsAround } from './tools-around.ts';
import { KnownJudgingFiles } from './closure/judging-files.ts';
import { tryTests, type TriedTests, type TryTestsOptions } from './try-tests.ts';
import { toldBase, toldVerdict } from './told-verdict.ts';
import { notices, type Noticing } from './notices.ts';
import type { LeavingOut } from './judge/left-out.ts';
import { ToolVersions } from './tools/tool-versions.ts';
import type { BaseResult, Place } from '../protocol/run-events.ts';
import type { Verdict } from '../protocol/verdict.ts';
import { Notes } from './notes.ts';
import { Verification } from './verification.ts';
import type { VerifyOptions } from './verify-options.ts';

/** Judges a patch by the project's tests. */
export class Verifier {
  readonly #parts: BaseTestsParts;
  readonly #judges = new KnownJudgingFiles();

  constructor(parts: Omit<BaseTestsParts, 'tools'>) {
    this.#parts = { ...parts, tools: new ToolVersions(parts) };
  }

  /**
   * Runs the tests without and with the patch, each time on a clean copy, and compares the reports. The base runs twice, and so does a
   * patch that looks good: flaky tests prove nothing. Then, as a negative control, the fail-to-pass tests run with altered expectations
   * and must fail. Where the suite takes long, the tests that the patch reaches run first, and may refute it. A fault of the patch, the tests
   * or the machine is an outcome, not an error. On abort it throws the signal's reason and leaves nothing behind.
   */
  async verify(options: VerifyOptions): Promise<Verdict> {
    const started = performance.now();
    options.signal.throwIfAborted();
    const notes = new Notes();
    const verification = new Verification(this.#parts, options, { judges: this.#judges, notes });
    const found = await verification.verdict();
    const { command, sandboxed = true } = options;
    return toldVerdict({ ...found, notes: notes.texts, command, ...(verification.tools && { tools: verification.tools }), sandboxed, durationMs: performance.now() - started });
  }

  /**
   * Runs the tests of the base and tells what fails. `verify` uses these results as long as the workspace is the same. A fault of the
   * tests or the machine is a result, too. Throws the signal's reason on abort.
   */
  async testBase(options: BaseTestsOptions & LeavingOut): Promise<BaseResult> {
    return toldBase(await testBase(this.#parts, options));
  }

  /** Runs the tests once with a change that is not finished; see `tryTests`. */
  tryTests(options: TryTestsOptions): Promise<TriedTests> {
    return tryTests(this.#parts, this.#judges, options);
  }

  /**
   * Whether the tests tell the base from the workspace without its `baseEdits`, found out by as few runs as possible: if not, `verify`
   * has nothing to judge by. If they do, `verify` uses these runs. Undefined if only `verify` can say. Throws the signal's reason.
   */
  async notices(options: BaseTestsOptions): Promise<Noticing | undefined> {
    const chosen = await runnerOf(options);
    if (!chosen) return undefined;
    try {
      return await notices(this.#parts, await BaseTests.open(this.#parts, options, chosen), options.baseEdits ?? []);
    } catch (error) {
      options.signal.throwIfAborted();
      if (error instanceof PatchNotApplicableError || faultIn(error) !== undefined) return undefined;
      throw error;
    }
  }

  /** Where the sources of tests are, by id, as far as they are found. Throws WorkspaceCopyError or the signal's reason. */
  placesOf(ids: readonly string[], options: BaseTestsOptions): Promise<ReadonlyMap<string, readonly Place[]>> {
    return placesIn(this.#parts, options, ids);
  }

  /**
   * What a command in a copy of the base needs to run as the project's tests do: programs of its packages, its Python environment, and the
   * versions of programs that it asks for, as far as its test command says which these are. For commands in the sandbox, not for those in a
   * container. Throws the signal's reason.
   */
  surroundings(options: Base & Partial<TestCommand> & { readonly signal: AbortSignal }, run: Pick<CommandInCopy, 'command' | 'copy' | 'tools'>): Promise<Surroundings> {
    return toolsAround(this.#parts, options, run);
  }

  /** Holds the files of a workspace as they are now. Throws WorkspaceCopyError or the signal's reason. */
  hold(workspace: string, signal: AbortSignal): Promise<HeldFiles> {
    return HeldFiles.of(this.#parts.copies, { folder: workspace }, signal);
  }

  /**
   * Calls `use` with a clean copy of the base (absolute) and the paths of its files. `use` may read the copy until it resolves. Throws
   * PatchNotApplicableError if the base's edits do not fit the workspace any more, WorkspaceCopyError, the signal's reason, and what
   * `use` throws.
   */
  onBase<Result>(base: Base, signal: AbortSignal, use: UseOfBase<Result>): Promise<Result> {
    return onBase(this.#parts, base, signal, use);
  }
}
