import { createHash } from 'node:crypto';
import { applyPatch, PatchNotApplicableError } from './patch/apply-patch.ts';
import type { BaseRun, BaseRunCache } from './judge/base-run-cache.ts';
import { chooseRunner, type ChosenRunner } from './runners/choose-runner.ts';
import { alterExpectations } from './control/alter-expectations.ts';
import { declaredSkips } from './control/declared-skips.ts';
import type { WorkspaceSnapshot } from './copies/copy-pool.ts';
import { embeddedTests, weakensEmbeddedTests } from './judge/embedded-tests.ts';
import { differing, settle } from './judge/flaky.ts';
import { counted } from '../common/counted.ts';
import { brokenTests, byId, hasEvidence, judge, mendedTests, type JudgedRun, type Judgement } from './judge/judge.ts';
import { isMachineError } from './sandbox/machine-error.ts';
import type { FileEdit, Patch } from './patch/patch.ts';
import { protectedReason } from './files/protected-paths.ts';
import { SandboxUnavailableError } from './sandbox/sandbox.ts';
import { ID_SEPARATOR, type TestReport } from './runners/test-report.ts';
import { lastWords, TestRuns, UnusableRunError, type TestRunsParts } from './judge/test-runs.ts';
import type { Verdict } from '../protocol/verdict.ts';
import { WorkspaceCopyError } from './copies/workspace-listing.ts';

export type VerifyProgress =
  'copying' | 'running the tests before the change' | 'running the tests with the change' | 'running the tests with the change again';

/** What a patch is applied to. */
export interface Base {
  /** The workspace, absolute. It is read and never written. */
  readonly base: string;
  /** Where dependencies are installed, if not in `base`: for a base that is a checkout of its own. */
  readonly installed?: string;
  /** What is otherwise in the base than in the folder: a bug that a task has put there. */
  readonly baseEdits?: readonly FileEdit[];
}

export interface VerifyOptions extends Base {
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
  /** The container image in which the tests run, instead of in the sandbox on this machine. */
  readonly image?: string;
  readonly signal: AbortSignal;
  /** False only where a person has agreed to run the tests without a sandbox. */
  readonly sandboxed?: boolean;
  /** For one run of the tests. */
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

export interface VerifierParts extends TestRunsParts {
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
   * Runs the tests without and with the patch, each time on a clean copy, and compares. Base is run twice, and so is a patch that looks
   * good: tests that are not the same both times prove nothing. Then, as a negative control, the mended tests run with what they expect
   * altered, and have to fail. Whatever is wrong with patch, tests or machine is an outcome. On abort it throws the signal's reason,
   * with nothing left behind.
   */
  async verify(options: VerifyOptions): Promise<Verdict> {
    const started = performance.now();
    options.signal.throwIfAborted();
    const attempt = new Attempt(this.#parts, options);
    const found = await attempt.verdict();
    const { command, sandboxed = true } = options;
    return { ...found, notes: attempt.notes, command, sandboxed, durationMs: performance.now() - started };
  }

  /**
   * Hands a clean copy of the base (absolute), and the paths of its files, to `use`, to be read until that resolves. Throws PatchNotApplicableError where the base's
   * edits do not fit the workspace any more, WorkspaceCopyError, the signal's reason, and what `use` throws.
   */
  async onBase<Result>(
    { base, installed = base, baseEdits = [] }: Base, signal: AbortSignal, use: (folder: string, paths: ReadonlySet<string>) => Promise<Result>,
  ): Promise<Result> {
    const { copies } = this.#parts;
    const snapshot = await copies.snapshot({ folder: base, installed }, signal);
    const copy = await copies.lease(snapshot, signal);
    try {
      await applyPatch(copy.folder, { edits: baseEdits });
      return await use(copy.folder, snapshot.paths);
    } finally {
      await copy.release({ reusable: true });
    }
  }
}

const without = (outcome: 'refused' | 'infrastructure', reason: string): Judgement => ({
  verified: false,
  score: 0,
  outcome,
  reason,
  tests: [],
});

/** The patch may not be judged; the message says why. */
class RefusedPatch extends Error {}

/** One verification: the state that its stages share. */
class Attempt {
  readonly notes: string[] = [];
  readonly #parts: VerifierParts;
  readonly #options: VerifyOptions;
  readonly #sandboxed: boolean;
  readonly #targets: readonly string[] | undefined;
  readonly #image: string | undefined;

  constructor(parts: VerifierParts, options: VerifyOptions) {
    this.#parts = parts;
    this.#options = options;
    // An option that is there but undefined means the default: above all, it never means "without a sandbox".
    this.#sandboxed = options.sandboxed ?? true;
    this.#targets = options.targets?.length ? options.targets : undefined;
    // Somebody has agreed that the tests run on this machine.
    this.#image = this.#sandboxed ? options.image : undefined;
  }

  async verdict(): Promise<Judgement> {
    const { patch, command, base, signal } = this.#options;
    const [refused] = patch.refused;
    if (refused) return without('refused', `The change may not be applied: ${refused.path}: ${refused.reason}`);
    if (patch.edits.length === 0) return without('refused', 'The patch changes no file.');
    const chosen = await chooseRunner(this.#options, base);
    if (!chosen) return without('infrastructure', unreadableCommand(command));
    try {
      return await this.#judge(chosen, this.#admissible(patch, chosen));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RefusedPatch || error instanceof PatchNotApplicableError) return without('refused', error.message);
      if (error instanceof SandboxUnavailableError || error instanceof WorkspaceCopyError)
        return without('infrastructure', error.message);
      if (isMachineError(error)) return without('infrastructure', `The tests could not be run: ${error.message}`);
      throw error;
    }
  }

  /** The patch without what it may not change. Throws `RefusedPatch`. */
  #admissible({ edits }: Patch, { runner }: ChosenRunner): Pick<Patch, 'edits'> {
    const rest = edits.filter(({ path }) => {
      const reason = protectedReason(path, runner.configuration);
      if (reason === undefined) return true;
      if (this.#options.protectedEdits !== 'leave out')
        throw new RefusedPatch(`The change may not be applied: ${path}: ${reason}`);
      this.notes.push(`${path} was left as it is: ${reason}`);
      return false;
    });
    if (rest.length === 0) throw new RefusedPatch('The change is to nothing but protected files, such as the tests themselves.');
    return { edits: rest };
  }

  async #judge(chosen: ChosenRunner, patch: Pick<Patch, 'edits'>): Promise<Judgement> {
    const { base, installed = base, reports, signal, timeoutMs = DEFAULT_TIMEOUT_MS, onProgress } = this.#options;
    const sandboxed = this.#sandboxed;
    // All runs of one verification are of one image, whatever its name comes to mean meanwhile.
    const image = this.#image === undefined ? undefined : await this.#parts.sandbox.pinnedImage(this.#image);
    if (image !== undefined) this.notes.push(`The tests ran in a container of the image ${this.#image}.`);
    onProgress?.('copying');
    const snapshot = await this.#parts.copies.snapshot({ folder: base, installed }, signal);
    const runs = new TestRuns(this.#parts, { snapshot, chosen, base, installed, reports, image, sandboxed, timeoutMs, signal });

    let before: BaseRun;
    try {
      before = await this.#baseRun(runs, { snapshot, chosen, image });
    } catch (error) {
      if (!(error instanceof UnusableRunError)) throw error;
      return without('infrastructure', `The tests could not be run before the change: ${error.message}`);
    }
    if (!this.#targets && brokenTests(before.report, before.flaky).length === 0)
      return without('refused', nothingToProve(before));

    await this.#checkEmbeddedTests(patch, before.report);

    onProgress?.('running the tests with the change');
    const apply = async (copy: string): Promise<void> => {
      await this.#makeBase(copy);
      await applyPatch(copy, patch);
    };
    let first: JudgedRun;
    try {
      first = await runs.run(apply);
    } catch (error) {
      if (!(error instanceof UnusableRunError)) throw error;
      // Before the change the same command gave a usable report in time: that it does not now is the change's doing.
      const nothing = this.#compare(before, { report: { results: [] }, exitCode: null }, before.flaky);
      return { ...nothing, reason: `With the change, ${lowerFirst(error.message)}` };
    }
    return await this.#confirm(first, { runs, snapshot, chosen, before, apply });
  }

  /** Files in which base has tests are the judge, whatever their names; of sources only the tests in them. Throws `RefusedPatch`. */
  async #checkEmbeddedTests({ edits }: Pick<Patch, 'edits'>, before: TestReport): Promise<void> {
    const withTests = new Set(before.results.map(({ id }) => id.split(ID_SEPARATOR)[0]));
    for (const { path, before: text, after } of edits) {
      if (text === null) continue;
      const isSource = path.endsWith('.rs') || (withTests.has(path) && (await embeddedTests(text, path)).length > 0);
      if (isSource ? await weakensEmbeddedTests(path, text, after ?? '') : withTests.has(path))
        throw new RefusedPatch(`The change may not be applied: ${path}: There are tests in it, and tests are the judge.`);
    }
  }

  #compare({ report }: BaseRun, after: JudgedRun, flaky: ReadonlySet<string>, skips?: ReadonlySet<string>): Judgement {
    return judge(report, after, { flaky, ...(this.#targets && { targets: this.#targets }), ...(skips && { declaredSkips: skips }) });
  }

  /** Makes sure of what the first run says, where a second one could say otherwise. */
  async #confirm(first: JudgedRun, stage: Stage): Promise<Judgement> {
    const { before, runs, snapshot, chosen, apply } = stage;
    const found = this.#compare(before, first, before.flaky);
    if (!found.verified && mendedIn(found) === 0) return this.#noteFlaky(found);
    this.#options.onProgress?.('running the tests with the change again');
    const skipped = newSkips(before.report, first.report);
    const runAgain = runs.run(async (copy) => {
      await apply(copy);
      return await declaredSkips({ folder: copy, paths: snapshot.paths, runner: chosen.runner, ids: skipped });
    });
    const [second, distrust] = await bothDone(
      runAgain.catch(unusable),
      found.verified ? this.#negativeControl(first, stage) : Promise.resolve(undefined),
    );
    if (second instanceof UnusableRunError)
      return { ...found, verified: false, score: 0, outcome: 'failed', reason: `Run again with the change, ${lowerFirst(second.message)}` };
    const settled = settle(before.report, first, second);
    const flaky = new Set([...before.flaky, ...settled.flaky]);
    const judged = this.#noteFlaky(this.#compare(before, settled, flaky, second.changed));
    if (!judged.verified) return judged;
    // A flaky or skipped test kept the first run from looking good, and so from being controlled.
    const reason = found.verified ? distrust : await this.#negativeControl(settled, stage);
    return reason === undefined ? judged : { ...judged, verified: false, score: 0, outcome: 'failed', reason };
  }

  #noteFlaky(judgement: Judgement): Judgement {
    const count = judgement.tests.filter(({ flaky }) => flaky).length;
    if (count > 0) this.notes.push(`${counted(count, 'flaky test')} counted neither for nor against: in two runs of the same code they ended differently.`);
    return judgement;
  }

  /**
   * Runs the mended tests with what they expect altered: one that still passes would pass whatever the code does, because the patch has
   * reached the judge (an object that equals everything, a silenced assertion, a forged report). Returns why the tests cannot be
   * trusted, or undefined.
   */
  async #negativeControl(after: JudgedRun, { runs, snapshot, chosen, before, apply }: Stage): Promise<string | undefined> {
    const options = { flaky: before.flaky, ...(this.#targets && { targets: this.#targets }) };
    const ids = mendedTests(before.report, after.report, options);
    const runAltered = runs.run(async (copy) => {
      await apply(copy);
      return await alterExpectations({ folder: copy, paths: snapshot.paths, runner: chosen.runner, ids });
    });
    const control = await runAltered.catch(unusable);
    // Such a run says nothing of the patch: with what it expects altered, an honest test may wait for ever.
    const [altered, results] = control instanceof UnusableRunError ? [[]] : [[...control.changed], byId(control.report)];
    const stillPassing = altered.find((id) => results?.get(id)?.status === 'passed');
    if (stillPassing !== undefined)
      return `The tests cannot be trusted with this change: "${stillPassing}" passes even when what it expects is altered.`;
    if (!altered.some((id) => results?.get(id)?.status === 'failed'))
      this.notes.push('No negative control was made: in no mended test was there an expected value that could be altered.');
    return undefined;
  }

  /** Of a clean copy of the workspace. */
  #makeBase(copy: string): Promise<void> {
    return applyPatch(copy, { edits: this.#options.baseEdits ?? [] });
  }

  /** From the cache, or by two runs at once: tests of which they say different things are flaky. */
  async #baseRun(runs: TestRuns, { snapshot, chosen, image }: Pick<Stage, 'snapshot' | 'chosen'> & { readonly image: string | undefined }): Promise<BaseRun> {
    const { command, reports, baseEdits = [], signal, onProgress } = this.#options;
    const makeBase = (copy: string): Promise<void> => this.#makeBase(copy);
    const changes = baseEdits.map(({ path, after }) => [path, after]);
    const key = createHash('sha256')
      .update(JSON.stringify([snapshot.fingerprint, changes, command, this.#sandboxed, chosen.runner.name, reports, image]))
      .digest('hex');
    const { baseRuns } = this.#parts;
    return await baseRuns.get(key, signal, async () => {
      onProgress?.('running the tests before the change');
      const [first, second] = await bothDone(runs.run(makeBase), runs.run(makeBase));
      if (!hasEvidence(first.report)) throw new UnusableRunError(`No test was executed.${lastWords(first.outcome)}`);
      // Each test by its worse run: which of two runs at once a flaky one fails in is chance.
      const { report } = settle({ results: [] }, first, second);
      return { report, flaky: differing(first.report, second.report) };
    });
  }
}

/** What the stages after the base run need. */
interface Stage {
  readonly runs: TestRuns;
  readonly snapshot: WorkspaceSnapshot;
  readonly chosen: ChosenRunner;
  readonly before: BaseRun;
  readonly apply: (copy: string) => Promise<void>;
}

/** As `Promise.all`, but it waits for both also where one fails: nothing goes on behind a verdict. */
async function bothDone<First, Second>(first: Promise<First>, second: Promise<Second>): Promise<[First, Second]> {
  await Promise.allSettled([first, second]);
  return await Promise.all([first, second]);
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

function unusable(error: unknown): UnusableRunError {
  if (error instanceof UnusableRunError) return error;
  throw error;
}

/** Tests that the patch has made appear, and that are skipped. */
function newSkips(before: TestReport, after: TestReport): readonly string[] {
  const beforeById = byId(before);
  return after.results.filter(({ id, status }) => status === 'skipped' && !beforeById.has(id)).map(({ id }) => id);
}

const mendedIn = ({ tests }: Judgement): number => tests.filter(({ before, after }) => before !== 'passed' && after === 'passed').length;

function nothingToProve({ report, flaky }: BaseRun): string {
  return brokenTests(report).length === 0
    ? 'Nothing to prove: no test failed before the change.'
    : `Nothing to prove: the only ${flaky.size === 1 ? 'test' : 'tests'} that failed before the change did so in one of two runs.`;
}

const unreadableCommand = (command: string): string =>
  `The results of "${command}" cannot be read: its test runner is not known. Name the JUnit files that it writes, or another command.`;
