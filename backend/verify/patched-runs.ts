import type { ChosenRunner } from './runners/choose-runner.ts';
import { applyPatch } from './patch/apply-patch.ts';
import { bothDone, type BaseTests } from './base-tests.ts';
import type { BaseRun } from './judge/base-run-cache.ts';
import { testsBeside, testsOfOthers, type TestsBeside } from './runners/tests-beside.ts';
import { declaredSkips } from './control/declared-skips.ts';
import type { TestsToAlter } from './control/tests-to-alter.ts';
import { differing } from './judge/flaky.ts';
import { limitOfDrawn, passing, unaltered } from './drawn-tests.ts';
import { alterExpectations } from './control/alter-expectations.ts';
import { whyNotAltered } from './control/why-not-altered.ts';
import { writeTests } from './control/write-tests.ts';
import { checkNotes, failsOnBase, runChecks, type CheckOutcome } from './checks.ts';
import { controlFinding, passesAltered, passesAtMost, type Finding } from './judge/control-finding.ts';
import { listed } from '../common/listed.ts';
import { withTheOthers } from './reached-first.ts';
import type { ReachedTests } from './reach/reached-tests.ts';
import { byId, failingResults, judge, failToPassTests, type JudgedRun, type Judgement } from './judge/judge.ts';
import type { FileEdit, Patch } from './patch/patch.ts';
import { UnusableRunError, type RunOptions, type TestRun } from './judge/test-runs.ts';
import type { Notes } from './notes.ts';
import type { VerifyOptions } from './verify-options.ts';

/** Shared by the stages after the base run. */
export interface Stage {
  readonly tests: BaseTests;
  readonly before: BaseRun;
  readonly apply: (copy: string) => Promise<void>;
  /** Ids of tests whose files are written in every run with the patch. */
  readonly written: readonly string[];
  /** Ids of tests that passed before. Their files are written as well, and in one of the runs some of them expect something else. */
  readonly drawn: readonly string[];
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
    stage: Stage, change?: (copy: string) => Promise<Changed & { readonly texts?: ReadonlyMap<string, string> }>, options?: Pick<RunOptions, 'timeoutMs'>,
  ): Promise<TestRun & { readonly changed: Changed | undefined }> {
    const { tests: { runs, snapshot, chosen }, apply, written, drawn, edits } = stage;
    const run = await runs.run(async (copy) => {
      await apply(copy);
      const changed = await change?.(copy);
      await writeTests({ folder: copy, paths: snapshot.paths, runner: chosen.runner, ids: [...written, ...drawn] }, changed?.texts ?? new Map(), pathsOf(edits));
      return changed;
    }, { ...options, ...stage.some, written });
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

  /**
   * The second run with the patch, in which some tests that passed before expect something else (`drawn-tests.ts`). Where that spoils the run, it is made once
   * more without. A test that passes nevertheless has to do so again, and to fail without the patch, before it is held against the patch.
   * @param skipped ids of tests that are skipped and were not there before
   */
  async again(first: JudgedRun, stage: Stage, skipped: readonly string[]): Promise<Again> {
    const { tests, before, written, drawn, edits, some } = stage;
    const { runs, snapshot, chosen } = tests;
    const named = (copy: string, ids: readonly string[]): TestsToAlter => ({ folder: copy, paths: snapshot.paths, runner: chosen.runner, ids });
    const plain = async (): Promise<Again> => ({ run: await this.run(stage, async (copy) => ({ skips: await declaredSkips(named(copy, skipped)) })).catch(unusable) });
    const passed = passing(first.report, new Set(drawn)).filter((id) => some?.covers(id) ?? true);
    if (passed.length === 0) return await plain();
    const among = first.report.results.filter(({ kind }) => kind === 'test').map(({ id }) => id);
    const altered = await this.run(stage, async (copy) => ({
      ...(await alterExpectations({ ...named(copy, passed), among })), skips: await declaredSkips(named(copy, skipped)),
    }), { timeoutMs: limitOfDrawn(before) }).catch(unusable);
    if (altered instanceof UnusableRunError || altered.changed === undefined) return await plain();
    const { certain, texts } = altered.changed;
    const run = { ...unaltered(altered, first, certain), changed: altered.changed };
    const isSpoiled = run.exitCode !== first.exitCode || [...differing(first.report, run.report)].some((id) => !before.flaky.has(id));
    if (certain.size > 0 && isSpoiled) return await plain();
    const held = new Set(passing(altered.report, certain));
    if (held.size === 0) return { run };
    const [twice, without] = await bothDone(
      this.run(stage, () => Promise.resolve({ texts })).catch(unusable),
      runs.run(async (copy) => {
        await tests.makeBase(copy);
        await writeTests(named(copy, [...written, ...drawn]), texts, pathsOf(edits));
      }, { ...some, written }).catch(unusable),
    );
    if (twice instanceof UnusableRunError || without instanceof UnusableRunError) return { run };
    const failed = byId(without.report);
    const [hidden] = passing(twice.report, held).filter((id) => failed.get(id)?.status === 'failed');
    return hidden === undefined ? { run } : { run, finding: passesAltered(hidden) };
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

/** The second run with a patch. */
export interface Again {
  readonly run: (JudgedRun & { readonly changed?: { readonly skips: ReadonlySet<string> } | undefined }) | UnusableRunError;
  /** What speaks against the patch, although its tests are green. */
  readonly finding?: Finding;
}

export const pathsOf = (edits: readonly FileEdit[]): readonly string[] => edits.map(({ path }) => path);

/** The error, if it is of a run without a result. Throws any other. */
export function unusable(error: unknown): UnusableRunError {
  if (error instanceof UnusableRunError) return error;
  throw error;
}
