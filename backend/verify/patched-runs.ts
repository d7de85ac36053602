import type { ChosenRunner } from './runners/choose-runner.ts';
import { applyPatch } from './patch/apply-patch.ts';
import type { BaseTests } from './base-tests.ts';
import type { BaseRun } from './judge/base-run-cache.ts';
import { testsBeside, testsOfOthers, type TestsBeside } from './runners/tests-beside.ts';
import { alterExpectations } from './control/alter-expectations.ts';
import { whyNotAltered } from './control/why-not-altered.ts';
import { writeTests } from './control/write-tests.ts';
import { checkNotes, failsOnBase, runChecks, type CheckOutcome } from './checks.ts';
import { controlFinding, passesAtMost, type Finding } from './judge/control-finding.ts';
import { listed } from '../common/listed.ts';
import { withTheOthers } from './reached-first.ts';
import type { ReachedTests } from './reach/reached-tests.ts';
import { failingResults, judge, failToPassTests, type JudgedRun, type Judgement } from './judge/judge.ts';
import type { FileEdit, Patch } from './patch/patch.ts';
import { UnusableRunError, type TestRun } from './judge/test-runs.ts';
import type { Notes } from './notes.ts';
import type { VerifyOptions } from './verify-options.ts';

/** Shared by the stages after the base run. */
export interface Stage {
  readonly tests: BaseTests;
  readonly before: BaseRun;
  readonly apply: (copy: string) => Promise<void>;
  /** Ids of tests whose files are written in every run with the patch. */
  readonly written: readonly string[];
  /** Those of the patch. */
  readonly edits: readonly FileEdit[];
  /** The tests that run with the patch; by default, all of them. */
  readonly some?: ReachedTests;
  /** The runs of a patch that makes the workspace as it is. */
  readonly restored?: JudgedRun;
}

/** Runs the tests with a patch that may add some. */
export const runWithNewTests = (tests: BaseTests, patch: Pick<Patch, 'edits'>): Promise<JudgedRun> => tests.runs.run(async (copy) => {
  await tests.makeBase(copy);
  await applyPatch(copy, patch, { tests: 'new' });
});

/** Runs the tests with a patch, and compares what they say with the base. */
export class PatchedRuns {
  readonly #options: VerifyOptions;
  readonly #notes: Notes;
  readonly #targets: readonly string[] | undefined;
  readonly #beside: TestsBeside;
  #preparationFails: Promise<boolean> | undefined;

  constructor(options: VerifyOptions, notes: Notes) {
    this.#options = options;
    this.#notes = notes;
    this.#targets = options.targets?.length ? options.targets : undefined;
    const { commands, leftOut } = testsBeside(options.command, options.packages ?? [], options.patch.edits.map(({ path }) => path));
    this.#beside = { commands: [...commands, ...(options.besides ?? [])], leftOut };
  }

  /**
   * Runs the tests with the patch. Each such run is made in the same way, so that the patch cannot tell which one it is in: after `change`
   * the files of the tests are written, with other texts only in the negative control.
   */
  async run<Changed>(
    stage: Stage, change?: (copy: string) => Promise<Changed & { readonly texts?: ReadonlyMap<string, string> }>,
  ): Promise<TestRun & { readonly changed: Changed | undefined }> {
    const { tests: { runs, snapshot, chosen }, apply, written, edits } = stage;
    const run = await runs.run(async (copy) => {
      await apply(copy);
      const changed = await change?.(copy);
      await writeTests({ folder: copy, paths: snapshot.paths, runner: chosen.runner, ids: written }, changed?.texts ?? new Map(), pathsOf(edits));
      return changed;
    }, { ...stage.some, written });
    return { ...run, exitCode: await this.exitCodeOf(run, stage) };
  }

  /** An exit code that says what the base said as well is no reason against the patch. */
  async exitCodeOf({ exitCode, stayed, report }: Pick<BaseRun, 'exitCode' | 'stayed' | 'report'>, { tests, before }: Stage): Promise<number | null> {
    if (stayed && before.stayed === true) {
      this.#notes.add('The test runner ended its report, but its process stayed and was stopped. It did so before the change, too.');
      return 0;
    }
    const { preparation } = tests.chosen;
    if (exitCode === null || exitCode === 0 || preparation === undefined || failingResults(report).length > 0) return exitCode;
    this.#preparationFails ??= failsOnBase(tests, preparation);
    if (!(await this.#preparationFails)) return exitCode;
    this.#notes.add(`What prepares the tests, "${preparation}", fails with the change as it did before.`);
    return 0;
  }

  /** Whether anything besides the tests judges the patch. */
  hasChecks({ checks }: ChosenRunner): boolean {
    return checks.length + this.#beside.commands.length > 0;
  }

  /** What the test command does besides its tests, and the tests of other packages that the patch changes. Each check is told in a note. */
  async runChecks({ tests, apply }: Stage, options?: { readonly compareAll: true }): Promise<readonly CheckOutcome[]> {
    const { commands, leftOut } = this.#beside;
    const wanted = [...tests.chosen.checks, ...commands];
    if (wanted.length > 0) this.#options.onProgress?.('running what else judges the change');
    if (leftOut.length > 0) this.#notes.add(`The tests of ${listed(leftOut)} were not run, although the change touches ${leftOut.length === 1 ? 'it' : 'them'}, too.`);
    const checks = [...(await runChecks(tests, wanted, apply, options))];
    // What runs the tests of all packages is red before because of one of them, and says nothing of the others then.
    const isRed = checks.some(({ command, before, after }) => before !== 'passed' && after !== 'passed' && this.#options.besides?.includes(command));
    if (isRed) checks.push(...(await runChecks(tests, testsOfOthers(this.#options.command, this.#options.packages ?? []).filter((command) => !wanted.includes(command)), apply, options)));
    for (const note of checkNotes(checks)) this.#notes.add(note);
    return checks;
  }

  compare({ report, leftOut }: BaseRun, after: JudgedRun, flaky: ReadonlySet<string>, skips?: ReadonlySet<string>): Judgement {
    return judge(report, after, { flaky, leftOut, ...(this.#targets && { targets: this.#targets }), ...(skips && { declaredSkips: skips }) });
  }

  /** A run of some tests is compared as if the others had ended as before. Its exit code says nothing of them. */
  compareAmongAll({ before, some }: Pick<Stage, 'before' | 'some'>, run: JudgedRun, flaky: ReadonlySet<string>): Judgement {
    return this.compare(before, some ? { report: withTheOthers(run.report, before.report, some), exitCode: 0 } : run, flaky);
  }

  failToPass(before: BaseRun, after: JudgedRun): readonly string[] {
    return failToPassTests(before.report, after.report, { flaky: before.flaky, ...(this.#targets && { targets: this.#targets }) });
  }

  /**
   * Runs the fail-to-pass tests with altered expectations. One that still passes would pass with any code: the patch tampers with the
   * judge by an object that equals everything, a silenced assertion or a forged report. A patch that ends the run does so, too.
   */
  async negativeControl(after: JudgedRun, stage: Stage): Promise<Finding | undefined> {
    const { tests: { snapshot, chosen }, before } = stage;
    if (chosen.runner.provesAtMost !== undefined) return passesAtMost(chosen.runner.provesAtMost);
    const ids = this.failToPass(before, after);
    let altered: readonly string[] = [];
    const runAltered = this.run(stage, async (copy) => {
      const made = await alterExpectations({ folder: copy, paths: snapshot.paths, runner: chosen.runner, ids });
      altered = [...made.certain];
      return made;
    });
    const control = await runAltered.catch(unusable);
    return controlFinding(control, { altered, after: after.report, whyNone: whyNotAltered({ ids, paths: snapshot.paths, runner: chosen.runner }) });
  }
}

export const pathsOf = (edits: readonly FileEdit[]): readonly string[] => edits.map(({ path }) => path);

/** The error, if it is of a run without a result. Throws any other. */
export function unusable(error: unknown): UnusableRunError {
  if (error instanceof UnusableRunError) return error;
  throw error;
}
