import { addedTests } from './patch/added-tests.ts';
import { applyPatch, PatchNotApplicableError } from './patch/apply-patch.ts';
import { faultIn, placesIn, testBase, unreadableCommand } from './base-result.ts';
import { BaseTests, bothDone, onBase, runnerOf, type Base, type BaseTestsOptions, type BaseTestsParts, type UseOfBase } from './base-tests.ts';
import type { BaseRun } from './judge/base-run-cache.ts';
import type { ChosenRunner } from './runners/choose-runner.ts';
import type { FoundTests } from './runners/find-tests.ts';
import { testsBeside, testsOfOthers, type TestsBeside } from './runners/tests-beside.ts';
import { HeldFiles } from './copies/held-files.ts';
import { KnownJudgingFiles } from './closure/judging-files.ts';
import { alterExpectations } from './control/alter-expectations.ts';
import { declaredSkips } from './control/declared-skips.ts';
import { whyNotAltered } from './control/why-not-altered.ts';
import { writeTests } from './control/write-tests.ts';
import { changesNothing, filesNotRun, toldNotRun } from './code-not-run.ts';
import { broken, checkNotes, failsOnBase, mended, runChecks, type CheckOutcome } from './checks.ts';
import { controlFinding, lowered, passesAtMost, type Finding } from './judge/control-finding.ts';
import { testsNoneOf } from './judge/imported-elsewhere.ts';
import { embeddedTests, weakensEmbeddedTests } from './judge/embedded-tests.ts';
import { settle } from './judge/flaky.ts';
import { tryTests, type TriedTests, type TryTestsOptions } from './try-tests.ts';
import { markedLines } from './judge/marked-lines.ts';
import { toldBase, toldVerdict } from './told-verdict.ts';
import { counted } from '../common/counted.ts';
import { listed } from '../common/listed.ts';
import { notices, type Noticing } from './notices.ts';
import { testsToRunFirst, withTheOthers } from './reached-first.ts';
import type { ReachedTests } from './reach/reached-tests.ts';
import { restoresWorkspace } from './restored.ts';
import { tellingLeftOut, withLeftOut, type LeavingOut } from './judge/left-out.ts';
import { failingResults, byId, judge, failToPassTests, type JudgedRun, type Judgement } from './judge/judge.ts';
import { editsInAll } from './patch/edits-in-all.ts';
import type { FileEdit, Patch } from './patch/patch.ts';
import { protectedReason } from './files/protected-paths.ts';
import { ID_SEPARATOR, type TestReport } from './runners/test-report.ts';
import { judgeNewTests, judgeTestsBeside } from './judge/new-tests.ts';
import { UnusableRunError, type TestRun } from './judge/test-runs.ts';
import { ToolVersions } from './tools/tool-versions.ts';
import type { ToolVersion } from '../protocol/tool-version.ts';
import type { BaseResult, Place } from '../protocol/run-events.ts';
import { isRed } from '../protocol/test-changes.ts';
import type { Verdict } from '../protocol/verdict.ts';

export interface VerifyOptions extends BaseTestsOptions {
  readonly patch: Patch;
  /**
   * How to treat edits of protected files: tests, their data, and their configuration. An answer with such an edit is refused. From a
   * person's change these edits are left out, and the rest is judged.
   */
  readonly protectedEdits?: 'refuse' | 'leave out';
  /**
   * What to do where no test failed before: refuse the patch, or run the tests with it. Then it passes at most, since nothing shows that it
   * mends anything. Refused by default.
   */
  readonly nothingFailed?: 'refuse' | 'run';
  /**
   * Tests are asked for, and a patch may add some, in files of their own or to those that are there. `alone`: nothing else is asked for, so nothing is verified. `beside` another change:
   * that is judged without them, and then with them. If one of them is red, the patch has failed. If no test failed before, it passes at most.
   */
  readonly newTests?: 'alone' | 'beside' | undefined;
  /** Ids of the fail-to-pass tests. By default, the tests that failed before. */
  readonly targets?: readonly string[];
  /**
   * The tests of `base` are already those of the change; these files of them it changed. Whatever judges stays as the change has it, tests inside of
   * sources too, and the code before the change need not fit its tests. If any test was changed, the patch passes at most. The patch may be empty.
   */
  readonly ownTests?: readonly string[];
  /** Whether the reason tells of changed files that the tests do not run. It takes a run more where every test ends as before. True by default. */
  readonly tellsNotRun?: boolean;
  /** The tests that were found in the workspace, if `command` is one of them. Those of other packages that the patch changes count by their exit codes. */
  readonly packages?: readonly FoundTests[];
  /** Further commands of which the exit code counts, such as the one that runs the tests of all `packages`. Where that is red before and with the patch, the tests of each are run. */
  readonly besides?: readonly string[];
}

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
    const attempt = new Attempt(this.#parts, options, this.#judges);
    const found = await attempt.verdict();
    const { command, sandboxed = true } = options;
    return toldVerdict({ ...found, notes: attempt.notes, command, ...(attempt.tools && { tools: attempt.tools }), sandboxed, durationMs: performance.now() - started });
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

const without = (outcome: 'failed' | 'refused' | 'infrastructure', reason: string): Judgement => ({
  verified: false,
  score: 0,
  outcome,
  reason,
  tests: [],
});

const NO_TESTS: BaseRun = { report: { results: [] }, exitCode: null, flaky: new Set() };

const MORE_TIME = ' Name a command that runs fewer of them, or allow a run more time.';

/** The patch may not be applied. The message says why. */
class RefusedPatch extends Error {}

/** The state of one verification. */
class Attempt {
  readonly notes: string[] = [];
  /** What the tests run with, once it is known. */
  tools: readonly ToolVersion[] | undefined;
  readonly #parts: BaseTestsParts;
  readonly #options: VerifyOptions;
  readonly #targets: readonly string[] | undefined;
  readonly #judges: KnownJudgingFiles;
  /** Files of the change that judge it. */
  readonly #ownJudges: Set<string>;
  readonly #beside: TestsBeside;
  /** Edits that add tests, if the patch may. */
  #tests: ReadonlySet<FileEdit> = new Set();
  #preparationFails: Promise<boolean> | undefined;

  constructor(parts: BaseTestsParts, options: VerifyOptions, judges: KnownJudgingFiles) {
    this.#parts = parts;
    this.#options = options;
    this.#judges = judges;
    this.#targets = options.targets?.length ? options.targets : undefined;
    this.#ownJudges = new Set(options.ownTests);
    const { commands, leftOut } = testsBeside(options.command, options.packages ?? [], options.patch.edits.map(({ path }) => path));
    this.#beside = { commands: [...commands, ...(options.besides ?? [])], leftOut };
  }

  async verdict(): Promise<Judgement> {
    const { patch, command, signal } = this.#options;
    const [refused] = patch.refused;
    if (refused) return without('refused', `The change may not be applied: ${refused.path}: ${refused.reason}`);
    if (patch.edits.length === 0 && !this.#options.ownTests) return without('refused', 'The patch changes no file.');
    const chosen = await runnerOf(this.#options);
    if (!chosen) return without('infrastructure', unreadableCommand(command));
    if (this.#options.newTests) this.#tests = await addedTests(patch.edits, chosen.runner.configuration);
    try {
      return this.#byOwnTests(await this.#judge(chosen, this.#admissible(patch, chosen)));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RefusedPatch || error instanceof PatchNotApplicableError) return without('refused', error.message);
      const fault = faultIn(error);
      if (fault !== undefined) return without('infrastructure', fault);
      throw error;
    }
  }

  /** What a change is worth whose own tests judge it. */
  #byOwnTests(judged: Judgement): Judgement {
    const count = this.#ownJudges.size;
    if (count === 0 || (judged.outcome !== 'verified' && judged.outcome !== 'passes')) return judged;
    return { ...judged, verified: false, outcome: 'passes', reason: `${judged.reason} The change's own tests judged: it changes ${counted(count, 'file')} of them.` };
  }

  /** The patch without its edits of protected files. Throws `RefusedPatch`. */
  #admissible({ edits }: Patch, { runner }: ChosenRunner): Pick<Patch, 'edits'> {
    return this.#without(edits, (edit) => (this.#tests.has(edit) ? undefined : protectedReason(edit.path, runner.configuration)));
  }

  #withoutTests({ edits }: Pick<Patch, 'edits'>): Pick<Patch, 'edits'> {
    return { edits: edits.filter((edit) => !this.#tests.has(edit)) };
  }

  /** The patch without its edits of what judges by its place in the project, whatever its name. Throws `RefusedPatch`. */
  async #withoutJudges({ edits }: Pick<Patch, 'edits'>, { snapshot, chosen: { runner, command } }: BaseTests): Promise<Pick<Patch, 'edits'>> {
    const { base, installed = base } = this.#options;
    const reasons = await this.#parts.copies.onFiles(snapshot, async (files) => {
      const judging = this.#judges.of(files, { command, configuration: runner.configuration }, installed);
      const found = new Map<FileEdit, string | undefined>();
      for (const edit of edits) if (!this.#tests.has(edit)) found.set(edit, await judging.whyItJudges(edit));
      return found;
    });
    return this.#without(edits, (edit) => {
      const reason = reasons.get(edit);
      return reason !== undefined && this.#isOwnJudge(edit.path, reason) ? undefined : reason;
    });
  }

  /** Whether the change judges with this file, as it has it. */
  #isOwnJudge(path: string, why: string): boolean {
    if (!this.#options.ownTests) return false;
    this.#ownJudges.add(path);
    this.#note(`${path} judges as the change has it: ${why}`);
    return true;
  }

  /** Refuses the edits for which there is a reason, or leaves them out of a person's change. */
  #without(edits: readonly FileEdit[], reasonOf: (edit: FileEdit) => string | undefined): Pick<Patch, 'edits'> {
    const rest = edits.filter((edit) => {
      const reason = reasonOf(edit);
      if (reason === undefined) return true;
      if (this.#options.protectedEdits !== 'leave out')
        throw new RefusedPatch(`The change may not be applied: ${edit.path}: ${reason}`);
      this.notes.push(`${edit.path} was left as it is: ${reason}`);
      return false;
    });
    if (rest.length === 0 && !this.#options.ownTests) throw new RefusedPatch('The change edits only protected files, such as the tests themselves.');
    return { edits: rest };
  }

  async #judge(chosen: ChosenRunner, admissible: Pick<Patch, 'edits'>): Promise<Judgement> {
    const tests = await BaseTests.open(this.#parts, this.#options, chosen);
    this.notes.push(...tests.notes);
    if (tests.image === undefined) this.tools = tests.tools.versions;
    if (tests.image !== undefined) this.notes.push(`The tests ran in a container of the image ${this.#options.image}.`);

    const whole = await this.#withoutJudges(admissible, tests);
    const patch = this.#withoutTests(whole);
    const bringsTests = patch.edits.length < whole.edits.length;
    if (bringsTests && (this.#options.newTests === 'alone' || patch.edits.length === 0)) return await this.#tryNewTests(tests, whole);

    let before: BaseRun;
    try {
      before = await tests.before();
    } catch (error) {
      if (!(error instanceof UnusableRunError)) throw error;
      if (bringsTests) return await this.#tryNewTests(tests, whole);
      if (!this.#options.ownTests) return without('infrastructure', `The tests could not be run before the change: ${error.message}${error.exceeded === 'time' ? MORE_TIME : ''}`);
      // Tests of a new function do not compile without it.
      this.notes.push(`The tests could not be run before the change: ${error.message}`);
      before = NO_TESTS;
    }
    const untested = testsNoneOf(before.elsewhere ?? [], patch.edits.map(({ path }) => path));
    if (untested !== undefined) return without('infrastructure', untested);
    before = withLeftOut(before, this.#options);
    const hasFailures = this.#targets !== undefined || failingResults(before.report, before.flaky).length > 0;
    const runsGreen = bringsTests || this.#options.nothingFailed === 'run';
    if (!hasFailures && chosen.checks.length + this.#beside.commands.length === 0 && !runsGreen) return without('refused', nothingToProve(before));

    await this.#checkEmbeddedTests(patch, before.report);

    this.#options.onProgress?.('running the tests with the change');
    const apply = async (copy: string): Promise<void> => {
      await tests.makeBase(copy);
      await applyPatch(copy, patch);
    };
    const written = [...failingResults(before.report).map(({ id }) => id), ...(this.#targets ?? [])];
    const stage = { tests, before, apply, written, edits: patch.edits };
    const judged = hasFailures ? await this.#judgeChange(stage, patch) : await this.#judgeByChecks(stage, { runsGreen });
    const withTests = bringsTests && (judged.outcome === 'verified' || judged.outcome === 'passes') ? await this.#tryTestsBeside(judged, stage, whole) : judged;
    return tellingLeftOut(before, withTests);
  }

  /** By the tests that failed before. */
  async #judgeChange(stage: Stage, patch: Pick<Patch, 'edits'>): Promise<Judgement> {
    const { before } = stage;
    const restored = await this.#restored(stage, patch);
    if (restored) return await this.#confirm(restored.run, restored.stage);
    const refuted = await this.#tryReached(stage);
    if (refuted) return refuted;
    const first = await this.#run(stage).catch(unusable);
    return first instanceof UnusableRunError ? this.#endedBy(first, before) : await this.#confirm(first, stage);
  }

  /** The same command worked before the change, so the change is to blame. */
  #endedBy({ message }: UnusableRunError, before: BaseRun): Judgement {
    const nothing = this.#compare(before, { report: { results: [] }, exitCode: null }, before.flaky);
    return { ...nothing, reason: `With the change, ${lowerFirst(message)}` };
  }

  /**
   * A patch that takes back the base's edits makes the workspace as it is. So its two runs are those of the workspace, which all patches of
   * it share. Undefined for any other patch, and if these runs do not serve.
   */
  async #restored(stage: Stage, patch: Pick<Patch, 'edits'>): Promise<{ readonly run: JudgedRun; readonly stage: Stage } | undefined> {
    const { tests, before, edits, written } = stage;
    if (!restoresWorkspace(this.#options.baseEdits ?? [], patch.edits)) return undefined;
    const whole = await tests.ofWorkspace().catch(unusable);
    if (whole instanceof UnusableRunError || newSkips(before.report, whole.report).length > 0) return undefined;
    const wasPassed = new Set(before.report.results.filter(({ status }) => status === 'passed').map(({ id }) => id));
    const flaky = new Set([...before.flaky, ...[...whole.flaky].filter((id) => wasPassed.has(id))]);
    const run = { ...whole, exitCode: await this.#exitCodeOf(whole, stage) };
    // Nobody who wrote this code wants to know which run it is in, so the control may run alone.
    const reached = await testsToRunFirst(this.#parts, tests, { whole, edits: [], changed: pathsOf(edits), ids: written, changes: this.#options.baseEdits ?? [] });
    return { run, stage: { ...stage, before: { ...before, flaky }, restored: run, ...(reached && { some: reached }) } };
  }

  /**
   * Runs the tests that the patch reaches, and those that failed before, ahead of all tests, where these take long. If they are red, that is
   * the verdict; if they are green, it is none, and all tests run as if these had not.
   */
  async #tryReached(stage: Stage): Promise<Judgement | undefined> {
    const { tests, before, edits, written } = stage;
    const { baseEdits, patch } = this.#options;
    const changes = baseEdits && editsInAll(baseEdits, patch.edits);
    const reached = await testsToRunFirst(this.#parts, tests, { whole: before, edits: baseEdits ?? [], changed: pathsOf(edits), ids: written, ...(changes && { changes }) });
    if (!reached) return undefined;
    const alone = { ...stage, some: reached };
    const first = await this.#run(alone).catch(unusable);
    if (first instanceof UnusableRunError) return this.#onlyReached(this.#endedBy(first, before), before, reached);
    const found = this.#compareAmongAll(alone, first, before.flaky);
    if (found.verified) return undefined;
    if (newlyPassing(found) === 0) return this.#onlyReached(await this.#tellNotRun(found, alone), before, reached);
    const second = await this.#run(alone).catch(unusable);
    if (second instanceof UnusableRunError) return this.#onlyReached(this.#endedBy(second, before), before, reached);
    const settled = settle(before.report, first, second);
    const judged = this.#compareAmongAll(alone, settled, new Set([...before.flaky, ...settled.flaky]));
    return judged.verified ? undefined : this.#onlyReached(judged, before, reached);
  }

  /** What is told of a patch that the tests it reaches refute: the others were not run with it. */
  #onlyReached(judged: Judgement, { report }: BaseRun, { covers }: ReachedTests): Judgement {
    const ids = report.results.filter(({ kind }) => kind === 'test').map(({ id }) => id);
    this.#note(`With the change, only the tests that it reaches and those that failed before were run (${ids.filter(covers).length} of ${ids.length}): they already fail.`);
    return this.#noteFlaky({ ...judged, tests: judged.tests.filter(({ id }) => covers(id)) });
  }

  /**
   * Runs the tests with the patch. Each such run is made in the same way, so that the patch cannot tell which one it is in: after `change`
   * the files of the tests are written, with other texts only in the negative control.
   */
  async #run<Changed>(
    stage: Stage, change?: (copy: string) => Promise<Changed & { readonly texts?: ReadonlyMap<string, string> }>,
  ): Promise<TestRun & { readonly changed: Changed | undefined }> {
    const { tests: { runs, snapshot, chosen }, apply, written, edits } = stage;
    const run = await runs.run(async (copy) => {
      await apply(copy);
      const changed = await change?.(copy);
      await writeTests({ folder: copy, paths: snapshot.paths, runner: chosen.runner, ids: written }, changed?.texts ?? new Map(), pathsOf(edits));
      return changed;
    }, { ...stage.some, written });
    return { ...run, exitCode: await this.#exitCodeOf(run, stage) };
  }

  /** An exit code that says what the base said as well is no reason against the patch. */
  async #exitCodeOf({ exitCode, stayed, report }: Pick<BaseRun, 'exitCode' | 'stayed' | 'report'>, { tests, before }: Stage): Promise<number | null> {
    if (stayed && before.stayed === true) {
      this.#note('The test runner ended its report, but its process stayed and was stopped. It did so before the change, too.');
      return 0;
    }
    const { preparation } = tests.chosen;
    if (exitCode === null || exitCode === 0 || preparation === undefined || failingResults(report).length > 0) return exitCode;
    this.#preparationFails ??= failsOnBase(tests, preparation);
    if (!(await this.#preparationFails)) return exitCode;
    this.#note(`What prepares the tests, "${preparation}", fails with the change as it did before.`);
    return 0;
  }

  #note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text);
  }

  /** What the test command does besides its tests, and the tests of other packages that the patch changes. Each check is told in a note. */
  async #runChecks({ tests, apply }: Stage, options?: { readonly compareAll: true }): Promise<readonly CheckOutcome[]> {
    const { commands, leftOut } = this.#beside;
    const wanted = [...tests.chosen.checks, ...commands];
    if (wanted.length > 0) this.#options.onProgress?.('running what else judges the change');
    if (leftOut.length > 0) this.notes.push(`The tests of ${listed(leftOut)} were not run, although the change touches ${leftOut.length === 1 ? 'it' : 'them'}, too.`);
    const checks = [...(await runChecks(tests, wanted, apply, options))];
    // What runs the tests of all packages is red before because of one of them, and says nothing of the others then.
    const isRed = checks.some(({ command, before, after }) => before !== 'passed' && after !== 'passed' && this.#options.besides?.includes(command));
    if (isRed) checks.push(...(await runChecks(tests, testsOfOthers(this.#options.command, this.#options.packages ?? []).filter((command) => !wanted.includes(command)), apply, options)));
    this.notes.push(...checkNotes(checks));
    return checks;
  }

  /** No test failed, so only the other parts of the test command can show that something was mended. They have nothing but exit codes. */
  async #judgeByChecks(stage: Stage, { runsGreen }: { readonly runsGreen: boolean }): Promise<Judgement> {
    const checks = await this.#runChecks(stage, { compareAll: true });
    const mends = mended(checks);
    if (!mends) return runsGreen ? await this.#judgeGreen(stage, checks) : without('refused', nothingToProve(stage.before));
    const after = await this.#run(stage).catch(unusable);
    if (after instanceof UnusableRunError) return without('failed', `With the change, ${lowerFirst(after.message)}`);
    const was = byId(stage.before.report);
    const lost = byId(after.report);
    const broke = [...was].filter(([id, { kind, status }]) => kind === 'test' && status === 'passed' && !stage.before.flaky.has(id) && lost.get(id)?.status !== 'passed');
    const all = stage.before.report.results.filter(({ kind }) => kind === 'test').length;
    if (broke.length > 0) return without('failed', `Of ${counted(all, 'test')}, ${broke.length} did not pass any more.`);
    const breaks = broken(checks);
    if (breaks) return without('failed', brokenCheck(breaks));
    return lowered(
      { verified: true, score: 1, outcome: 'verified', reason: `"${mends.command}" failed before and passes, and no test was lost.`, tests: [] },
      passesAtMost('that command says so by its exit code alone'),
    );
  }

  /** No test failed before, so the tests can only show that the patch breaks something. A failure counts if a second run has it, too. */
  async #judgeGreen(stage: Stage, checks: readonly CheckOutcome[]): Promise<Judgement> {
    const { before } = stage;
    const first = await this.#run(stage).catch(unusable);
    if (first instanceof UnusableRunError) return this.#endedBy(first, before);
    const isGreen = this.#compare(before, first, before.flaky).tests.every((test) => !isRed(test));
    const second = isGreen ? first : await this.#run(stage).catch(unusable);
    if (second instanceof UnusableRunError) return this.#endedBy(second, before);
    const settled = settle(before.report, first, second);
    const judged = this.#noteFlaky(this.#compare(before, settled, new Set([...before.flaky, ...settled.flaky])));
    const red = judged.tests.filter(isRed).length;
    const until = before === NO_TESTS ? 'The tests could not be run before the change' : `No ${before.leftOut ? 'other ' : ''}test failed before the change`;
    if (red > 0) return { ...judged, reason: `${until}, and ${counted(red, 'test')} ${red === 1 ? 'does' : 'do'} not pass with it.` };
    const breaks = broken(checks);
    if (breaks) return { ...judged, reason: `The tests passed, but ${brokenCheck(breaks)}` };
    const passed = judged.tests.filter(({ after, leftOut }) => after === 'passed' && !leftOut).length;
    if (passed === 0) return without('failed', 'With the change, no test was executed.');
    const passes: Judgement = { ...judged, outcome: 'passes', reason: `${until}, and ${counted(passed, 'test')} ${passed === 1 ? 'passes' : 'pass'} with it. It is not shown that they would notice a wrong change.` };
    return await this.#tellNotRun(passes, stage);
  }

  /** Where every test ends as before, it is told if the tests do not run what the change changes. */
  async #tellNotRun(judged: Judgement, stage: Stage): Promise<Judgement> {
    const { tests, before, edits, some } = stage;
    const { base, installed = base, baseEdits = [], tellsNotRun = true } = this.#options;
    if (!tellsNotRun || !changesNothing(judged, before.report)) return judged;
    const compare = (run: JudgedRun): Judgement => this.#compareAmongAll(stage, run, before.flaky);
    const notRun = await filesNotRun(tests, { before, baseEdits, edits, some, compare });
    if (notRun.length === 0) return judged;
    const told = await this.#parts.copies.onFiles(tests.snapshot, (files) => Promise.resolve(toldNotRun(notRun, files, tests.chosen, installed)));
    return { ...judged, reason: judged.reason + told };
  }

  /** Runs the tests that come with a change which the project's own tests confirm. What they say for it proves nothing, and what they say against it counts. */
  async #tryTestsBeside(judged: Judgement, { tests, before }: Stage, whole: Pick<Patch, 'edits'>): Promise<Judgement> {
    this.#options.onProgress?.('running the tests that come with the change');
    const run = (edits: readonly FileEdit[]): Promise<JudgedRun | UnusableRunError> => runWithNewTests(tests, { edits }).catch(unusable);
    const [first, second] = await bothDone(run(whole.edits), run(whole.edits));
    for (const one of [first, second]) if (one instanceof UnusableRunError) return without('failed', `With the new tests, ${lowerFirst(one.message)}`);
    const settled = settle(before.report, first as JudgedRun, second as JudgedRun);
    const alone = await run(whole.edits.filter((edit) => this.#tests.has(edit)));
    const flaky = new Set([...before.flaky, ...settled.flaky]);
    const { judgement, note } = judgeTestsBeside(judged, { ...before, flaky }, { after: settled, alone: alone instanceof UnusableRunError ? undefined : alone });
    if (note !== undefined) this.#note(note);
    return judgement;
  }

  /** Runs the tests that the patch adds, with what else it changes. */
  async #tryNewTests(tests: BaseTests, patch: Pick<Patch, 'edits'>): Promise<Judgement> {
    // A project may well ask for its first test.
    const before = await tests.before().catch((error: unknown) => (error instanceof UnusableRunError ? NO_TESTS : Promise.reject(error as Error)));
    await this.#checkEmbeddedTests(this.#withoutTests(patch), before.report);
    this.#options.onProgress?.('running the tests with the change');
    try {
      const [first, second] = await bothDone(runWithNewTests(tests, patch), runWithNewTests(tests, patch));
      const settled = settle(before.report, first, second);
      const isAlone = patch.edits.every((edit) => this.#tests.has(edit));
      const flaky = new Set([...before.flaky, ...settled.flaky]);
      return this.#noteFlaky(judgeNewTests({ ...before, flaky }, settled, isAlone ? 'on the code as it is' : 'with the changes of the answer'));
    } catch (error) {
      if (!(error instanceof UnusableRunError)) throw error;
      return { verified: false, score: 0, outcome: 'failed', reason: `With the new tests, ${lowerFirst(error.message)}`, tests: [] };
    }
  }

  /** A patch may not change a file in which the base has tests. In a source file it may change all but the tests. Throws `RefusedPatch`. */
  async #checkEmbeddedTests({ edits }: Pick<Patch, 'edits'>, before: TestReport): Promise<void> {
    const withTests = new Set(before.results.map(({ id }) => id.split(ID_SEPARATOR)[0]));
    for (const { path, before: text, after } of edits) {
      if (text === null) continue;
      const isSource = path.endsWith('.rs') || (withTests.has(path) && (await embeddedTests(text, path)).length > 0);
      const isJudge = isSource ? await weakensEmbeddedTests(path, text, after ?? '') : withTests.has(path);
      if (isJudge && !this.#isOwnJudge(path, 'There are tests in it.'))
        throw new RefusedPatch(`The change may not be applied: ${path}: There are tests in it, and tests are the judge.`);
    }
  }

  #compare({ report, leftOut }: BaseRun, after: JudgedRun, flaky: ReadonlySet<string>, skips?: ReadonlySet<string>): Judgement {
    return judge(report, after, { flaky, leftOut, ...(this.#targets && { targets: this.#targets }), ...(skips && { declaredSkips: skips }) });
  }

  /** A run of some tests is compared as if the others had ended as before. Its exit code says nothing of them. */
  #compareAmongAll({ before, some }: Pick<Stage, 'before' | 'some'>, run: JudgedRun, flaky: ReadonlySet<string>): Judgement {
    return this.#compare(before, some ? { report: withTheOthers(run.report, before.report, some), exitCode: 0 } : run, flaky);
  }

  /** Confirms the first run by a second one and the negative control. */
  async #confirm(first: JudgedRun, begun: Stage): Promise<Judgement> {
    const { before, tests: { snapshot, chosen } } = begun;
    const found = this.#compare(before, first, before.flaky);
    if (!found.verified && newlyPassing(found) === 0) return await this.#tellNotRun(this.#noteFlaky(found), begun);
    this.#options.onProgress?.('running the tests with the change again');
    const skipped = newSkips(before.report, first.report);
    const stage = { ...begun, written: [...begun.written, ...this.#failToPass(before, first)] };
    const runAgain = async (): Promise<JudgedRun & { readonly changed?: { readonly skips: ReadonlySet<string> } | undefined }> => begun.restored ?? this.#run(stage, async (copy) => ({
      skips: await declaredSkips({ folder: copy, paths: snapshot.paths, runner: chosen.runner, ids: skipped }),
    }));
    const [second, control] = await bothDone(
      runAgain().catch(unusable),
      found.verified ? this.#negativeControl(first, stage) : Promise.resolve(undefined),
    );
    if (second instanceof UnusableRunError)
      return { ...found, verified: false, score: 0, outcome: 'failed', reason: `Run again with the change, ${lowerFirst(second.message)}` };
    const settled = settle(before.report, first, second);
    const flaky = new Set([...before.flaky, ...settled.flaky]);
    const judged = this.#noteFlaky(this.#compare(before, settled, flaky, second.changed?.skips));
    if (!judged.verified) return judged;
    // If a flaky or skipped test spoiled the first run, there was no control of it.
    const finding = (found.verified ? control : await this.#negativeControl(settled, stage)) ?? (await this.#forALook());
    const breaks = finding?.outcome === 'failed' ? undefined : broken(await this.#runChecks(stage));
    if (breaks) return { ...judged, verified: false, score: 0, outcome: 'failed', reason: `The tests passed, but ${brokenCheck(breaks)}` };
    return finding ? lowered(judged, finding) : judged;
  }

  /** What tests cannot judge: code that may recognise them. A note names each such line. */
  async #forALook(): Promise<Finding | undefined> {
    const marked = await markedLines(this.#withoutTests(this.#options.patch).edits);
    for (const { path, line, does, text } of marked) this.notes.push(`${path}:${line} ${does}: ${text}`);
    const [first] = marked;
    return first && passesAtMost(`the change ${first.does} (${first.path}:${first.line}). Look at it yourself`);
  }

  #failToPass(before: BaseRun, after: JudgedRun): readonly string[] {
    return failToPassTests(before.report, after.report, { flaky: before.flaky, ...(this.#targets && { targets: this.#targets }) });
  }

  #noteFlaky(judgement: Judgement): Judgement {
    const count = judgement.tests.filter(({ flaky }) => flaky).length;
    if (count > 0) this.notes.push(`${counted(count, 'flaky test')} counted neither for nor against: they ended differently in two runs of the same code.`);
    return judgement;
  }

  /**
   * Runs the fail-to-pass tests with altered expectations. One that still passes would pass with any code: the patch tampers with the
   * judge by an object that equals everything, a silenced assertion or a forged report. A patch that ends the run does so, too.
   */
  async #negativeControl(after: JudgedRun, stage: Stage): Promise<Finding | undefined> {
    const { tests: { snapshot, chosen }, before } = stage;
    if (chosen.runner.provesAtMost !== undefined) return passesAtMost(chosen.runner.provesAtMost);
    const ids = this.#failToPass(before, after);
    let altered: readonly string[] = [];
    const runAltered = this.#run(stage, async (copy) => {
      const made = await alterExpectations({ folder: copy, paths: snapshot.paths, runner: chosen.runner, ids });
      altered = [...made.certain];
      return made;
    });
    const control = await runAltered.catch(unusable);
    return controlFinding(control, { altered, after: after.report, whyNone: whyNotAltered({ ids, paths: snapshot.paths, runner: chosen.runner }) });
  }
}

const brokenCheck = ({ command, said }: CheckOutcome): string => `"${command}" passed before the change and fails with it.${said}`;

const pathsOf = (edits: readonly FileEdit[]): readonly string[] => edits.map(({ path }) => path);

/** Shared by the stages after the base run. */
interface Stage {
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
const runWithNewTests = (tests: BaseTests, patch: Pick<Patch, 'edits'>): Promise<JudgedRun> => tests.runs.run(async (copy) => {
  await tests.makeBase(copy);
  await applyPatch(copy, patch, { tests: 'new' });
});

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

function unusable(error: unknown): UnusableRunError {
  if (error instanceof UnusableRunError) return error;
  throw error;
}

/** Skipped tests that were not there before the patch. */
function newSkips(before: TestReport, after: TestReport): readonly string[] {
  const beforeById = byId(before);
  return after.results.filter(({ id, status }) => status === 'skipped' && !beforeById.has(id)).map(({ id }) => id);
}

/** What is left out may pass now, and shows nothing. */
const newlyPassing = ({ tests }: Judgement): number => tests.filter(({ before, after, leftOut }) => before !== 'passed' && after === 'passed' && !leftOut).length;

function nothingToProve({ report, flaky, leftOut }: BaseRun): string {
  if (leftOut) return 'Nothing to prove: what failed before the change is left out.';
  return failingResults(report).length === 0
    ? 'Nothing to prove: no test failed before the change.'
    : `Nothing to prove: the only ${flaky.size === 1 ? 'test' : 'tests'} that failed before the change did so in one of two runs.`;
}
