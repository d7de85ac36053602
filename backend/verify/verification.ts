import { applyPatch, PatchNotApplicableError } from './patch/apply-patch.ts';
import { faultIn, unreadableCommand } from './base-result.ts';
import { BaseTests, bothDone, runnerOf, type BaseTestsParts } from './base-tests.ts';
import type { BaseRun } from './judge/base-run-cache.ts';
import type { ChosenRunner } from './runners/choose-runner.ts';
import type { KnownJudgingFiles } from './closure/judging-files.ts';
import { drawnTests } from './drawn-tests.ts';
import { changesNothing, filesNotRun, toldNotRun } from './code-not-run.ts';
import { broken, mended, type CheckOutcome } from './checks.ts';
import { lowered, passesAtMost, type Finding } from './judge/control-finding.ts';
import { testsNoneOf } from './judge/imported-elsewhere.ts';
import { settle } from './judge/flaky.ts';
import { markedLines } from './judge/marked-lines.ts';
import { counted } from '../common/counted.ts';
import { testsToRunFirst } from './reached-first.ts';
import type { ReachedTests } from './reach/reached-tests.ts';
import { restoresWorkspace } from './restored.ts';
import { tellingLeftOut, withLeftOut } from './judge/left-out.ts';
import { failingResults, byId, type JudgedRun, type Judgement } from './judge/judge.ts';
import { editsInAll } from './patch/edits-in-all.ts';
import type { FileEdit, Patch } from './patch/patch.ts';
import type { TestReport } from './runners/test-report.ts';
import { judgeNewTests, judgeTestsBeside } from './judge/new-tests.ts';
import { UnusableRunError } from './judge/test-runs.ts';
import type { ToolVersion } from '../protocol/tool-version.ts';
import { isRed } from '../protocol/test-changes.ts';
import type { Notes } from './notes.ts';
import { PatchAdmission, RefusedPatch } from './patch-admission.ts';
import { pathsOf, PatchedRuns, runWithNewTests, unusable, type Again, type Stage } from './patched-runs.ts';
import type { VerifyOptions } from './verify-options.ts';

const without = (outcome: 'failed' | 'refused' | 'infrastructure', reason: string): Judgement => ({
  verified: false,
  score: 0,
  outcome,
  reason,
  tests: [],
});

const NO_TESTS: BaseRun = { report: { results: [] }, exitCode: null, flaky: new Set() };

const MORE_TIME = ' Name a command that runs fewer of them, or allow a run more time.';

/** One verification. */
export class Verification {
  /** What the tests run with, once it is known. */
  tools: readonly ToolVersion[] | undefined;
  readonly #parts: BaseTestsParts;
  readonly #options: VerifyOptions;
  readonly #notes: Notes;
  readonly #admission: PatchAdmission;
  readonly #runs: PatchedRuns;

  constructor(parts: BaseTestsParts, options: VerifyOptions, { judges, notes }: { readonly judges: KnownJudgingFiles; readonly notes: Notes }) {
    this.#parts = parts;
    this.#options = options;
    this.#notes = notes;
    this.#admission = new PatchAdmission(parts, options, { judges, notes });
    this.#runs = new PatchedRuns(options, notes);
  }

  async verdict(): Promise<Judgement> {
    const { patch, command, signal } = this.#options;
    const [refused] = patch.refused;
    if (refused) return without('refused', `The change may not be applied: ${refused.path}: ${refused.reason}`);
    if (patch.edits.length === 0 && !this.#options.ownTests) return without('refused', 'The patch changes no file.');
    const chosen = await runnerOf(this.#options);
    if (!chosen) return without('infrastructure', unreadableCommand(command));
    try {
      return this.#admission.byOwnTests(await this.#judge(chosen, await this.#admission.admit(patch, chosen)));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RefusedPatch || error instanceof PatchNotApplicableError) return without('refused', error.message);
      const fault = faultIn(error);
      if (fault !== undefined) return without('infrastructure', fault);
      throw error;
    }
  }

  async #judge(chosen: ChosenRunner, admissible: Pick<Patch, 'edits'>): Promise<Judgement> {
    const tests = await BaseTests.open(this.#parts, this.#options, chosen);
    for (const note of tests.notes) this.#notes.add(note);
    if (tests.image === undefined) this.tools = tests.tools.versions;
    if (tests.image !== undefined) this.#notes.add(`The tests ran in a container of the image ${this.#options.image}.`);

    const whole = await this.#admission.withoutJudges(admissible, tests);
    const patch = this.#admission.withoutTests(whole);
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
      this.#notes.add(`The tests could not be run before the change: ${error.message}`);
      before = NO_TESTS;
    }
    const untested = testsNoneOf(before.elsewhere ?? [], patch.edits.map(({ path }) => path));
    if (untested !== undefined) return without('infrastructure', untested);
    before = withLeftOut(before, this.#options);
    const hasFailures = (this.#options.targets?.length ?? 0) > 0 || failingResults(before.report, before.flaky).length > 0;
    const runsGreen = bringsTests || this.#options.nothingFailed === 'run';
    if (!hasFailures && !this.#runs.hasChecks(chosen) && !runsGreen) return without('refused', nothingToProve(before));

    await this.#admission.checkEmbeddedTests(patch, before.report);

    this.#options.onProgress?.('running the tests with the change');
    const apply = async (copy: string): Promise<void> => {
      await tests.makeBase(copy);
      await applyPatch(copy, patch);
    };
    const written = [...failingResults(before.report).map(({ id }) => id), ...(this.#options.targets ?? [])];
    const stage = { tests, before, apply, written, drawn: drawnTests(before, chosen), edits: patch.edits };
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
    const first = await this.#runs.run(stage).catch(unusable);
    return first instanceof UnusableRunError ? this.#endedBy(first, before) : await this.#confirm(first, stage);
  }

  /** The same command worked before the change, so the change is to blame. */
  #endedBy({ message }: UnusableRunError, before: BaseRun): Judgement {
    const nothing = this.#runs.compare(before, { report: { results: [] }, exitCode: null }, before.flaky);
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
    const run = { ...whole, exitCode: await this.#runs.exitCodeOf(whole, stage) };
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
    const first = await this.#runs.run(alone).catch(unusable);
    if (first instanceof UnusableRunError) return this.#onlyReached(this.#endedBy(first, before), before, reached);
    const found = this.#runs.compareAmongAll(alone, first, before.flaky);
    if (found.verified) return undefined;
    if (newlyPassing(found) === 0) return this.#onlyReached(await this.#tellNotRun(found, alone), before, reached);
    const second = await this.#runs.run(alone).catch(unusable);
    if (second instanceof UnusableRunError) return this.#onlyReached(this.#endedBy(second, before), before, reached);
    const settled = settle(before.report, first, second);
    const judged = this.#runs.compareAmongAll(alone, settled, new Set([...before.flaky, ...settled.flaky]));
    return judged.verified ? undefined : this.#onlyReached(judged, before, reached);
  }

  /** What is told of a patch that the tests it reaches refute: the others were not run with it. */
  #onlyReached(judged: Judgement, { report }: BaseRun, { covers }: ReachedTests): Judgement {
    const ids = report.results.filter(({ kind }) => kind === 'test').map(({ id }) => id);
    this.#notes.add(`With the change, only the tests that it reaches and those that failed before were run (${ids.filter(covers).length} of ${ids.length}): they already fail.`);
    return this.#noteFlaky({ ...judged, tests: judged.tests.filter(({ id }) => covers(id)) });
  }

  /** No test failed, so only the other parts of the test command can show that something was mended. They have nothing but exit codes. */
  async #judgeByChecks(stage: Stage, { runsGreen }: { readonly runsGreen: boolean }): Promise<Judgement> {
    const checks = await this.#runs.runChecks(stage, { compareAll: true });
    const mends = mended(checks);
    if (!mends) return runsGreen ? await this.#judgeGreen(stage, checks) : without('refused', nothingToProve(stage.before));
    const after = await this.#runs.run(stage).catch(unusable);
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
    const first = await this.#runs.run(stage).catch(unusable);
    if (first instanceof UnusableRunError) return this.#endedBy(first, before);
    const isGreen = this.#runs.compare(before, first, before.flaky).tests.every((test) => !isRed(test));
    const second = isGreen ? first : await this.#runs.run(stage).catch(unusable);
    if (second instanceof UnusableRunError) return this.#endedBy(second, before);
    const settled = settle(before.report, first, second);
    const judged = this.#noteFlaky(this.#runs.compare(before, settled, new Set([...before.flaky, ...settled.flaky])));
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
    const compare = (run: JudgedRun): Judgement => this.#runs.compareAmongAll(stage, run, before.flaky);
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
    const alone = await run(whole.edits.filter((edit) => this.#admission.addsTests(edit)));
    const flaky = new Set([...before.flaky, ...settled.flaky]);
    const { judgement, note } = judgeTestsBeside(judged, { ...before, flaky }, { after: settled, alone: alone instanceof UnusableRunError ? undefined : alone });
    if (note !== undefined) this.#notes.add(note);
    return judgement;
  }

  /** Runs the tests that the patch adds, with what else it changes. */
  async #tryNewTests(tests: BaseTests, patch: Pick<Patch, 'edits'>): Promise<Judgement> {
    // A project may well ask for its first test.
    const before = await tests.before().catch((error: unknown) => (error instanceof UnusableRunError ? NO_TESTS : Promise.reject(error as Error)));
    await this.#admission.checkEmbeddedTests(this.#admission.withoutTests(patch), before.report);
    this.#options.onProgress?.('running the tests with the change');
    try {
      const [first, second] = await bothDone(runWithNewTests(tests, patch), runWithNewTests(tests, patch));
      const settled = settle(before.report, first, second);
      const isAlone = patch.edits.every((edit) => this.#admission.addsTests(edit));
      const flaky = new Set([...before.flaky, ...settled.flaky]);
      return this.#noteFlaky(judgeNewTests({ ...before, flaky }, settled, isAlone ? 'on the code as it is' : 'with the changes of the answer'));
    } catch (error) {
      if (!(error instanceof UnusableRunError)) throw error;
      return { verified: false, score: 0, outcome: 'failed', reason: `With the new tests, ${lowerFirst(error.message)}`, tests: [] };
    }
  }

  /** Confirms the first run by a second one and the negative control. */
  async #confirm(first: JudgedRun, begun: Stage): Promise<Judgement> {
    const { before } = begun;
    const found = this.#runs.compare(before, first, before.flaky);
    if (!found.verified && newlyPassing(found) === 0) return await this.#tellNotRun(this.#noteFlaky(found), begun);
    this.#options.onProgress?.('running the tests with the change again');
    const skipped = newSkips(before.report, first.report);
    const stage = { ...begun, written: [...begun.written, ...this.#runs.failToPass(before, first)] };
    const runAgain = async (): Promise<Again> => (begun.restored ? { run: begun.restored } : await this.#runs.again(first, stage, skipped));
    const [{ run: second, finding: hidden }, control] = await bothDone(
      runAgain(),
      found.verified ? this.#runs.negativeControl(first, stage) : Promise.resolve(undefined),
    );
    if (second instanceof UnusableRunError)
      return { ...found, verified: false, score: 0, outcome: 'failed', reason: `Run again with the change, ${lowerFirst(second.message)}` };
    const settled = settle(before.report, first, second);
    const flaky = new Set([...before.flaky, ...settled.flaky]);
    const judged = this.#noteFlaky(this.#runs.compare(before, settled, flaky, second.changed?.skips));
    if (!judged.verified) return judged;
    // If a flaky or skipped test spoiled the first run, there was no control of it.
    const finding = hidden ?? (found.verified ? control : await this.#runs.negativeControl(settled, stage)) ?? (await this.#forALook());
    const breaks = finding?.outcome === 'failed' ? undefined : broken(await this.#runs.runChecks(stage));
    if (breaks) return { ...judged, verified: false, score: 0, outcome: 'failed', reason: `The tests passed, but ${brokenCheck(breaks)}` };
    return finding ? lowered(judged, finding) : judged;
  }

  /** What tests cannot judge: code that may recognise them. A note names each such line. */
  async #forALook(): Promise<Finding | undefined> {
    const marked = await markedLines(this.#admission.withoutTests(this.#options.patch).edits);
    for (const { path, line, does, text } of marked) this.#notes.add(`${path}:${line} ${does}: ${text}`);
    const [first] = marked;
    return first && passesAtMost(`the change ${first.does} (${first.path}:${first.line}). Look at it yourself`);
  }

  #noteFlaky(judgement: Judgement): Judgement {
    const count = judgement.tests.filter(({ flaky }) => flaky).length;
    if (count > 0) this.#notes.add(`${counted(count, 'flaky test')} counted neither for nor against: they ended differently in two runs of the same code.`);
    return judgement;
  }
}

const brokenCheck = ({ command, said }: CheckOutcome): string => `"${command}" passed before the change and fails with it.${said}`;

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

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
