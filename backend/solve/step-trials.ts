import { passedAndFailed, testsInWords } from '../hands/tests-in-words.ts';
import { shown } from '../hands/show.ts';
import type { Failure, Tried } from '../protocol/run-events.ts';
import type { RoundView } from '../protocol/run-snapshot.ts';
import { PatchNotApplicableError } from '../verify/patch/apply-patch.ts';
import type { Patch } from '../verify/patch/patch.ts';
import { wholeStepPatch } from './answer-patch.ts';
import type { Checker } from './checker.ts';
import type { RunFiles } from './run-files.ts';
import type { RunRecorder } from './run-recorder.ts';
import { mayAddTests } from './round.ts';
import type { JudgingCommand } from './test-command.ts';

/** For one run of the tests. A reader waits for it; what the judge allows for a verdict would be too long. */
export const TRIAL_MS = 120_000;
/** Characters of what the tests say of one change. A reader is told this of each change that it reads. */
const MAX_TEXT = 4_000;

export interface StepTrialsOptions {
  readonly recorder: RunRecorder;
  readonly checker: Pick<Checker, 'tryTests' | 'parsePatch'>;
  readonly files: RunFiles;
  /** What judges; undefined where nothing does. */
  readonly test: JudgingCommand | undefined;
  readonly round: number;
  /** The failure to report for an error; an unexpected one is logged by it. */
  readonly failureOf: (error: unknown) => Failure;
  readonly signal: AbortSignal;
}

/**
 * What the tests say of the changes of a round's steps, for a later step that reads two or more of them. Each change is tried by
 * one run of the tests, which begins when its step is done. The pool of copies says how many run at once.
 */
export class StepTrials {
  readonly #options: StepTrialsOptions;
  readonly #stop = new AbortController();
  readonly #changes = new Map<number, Promise<Patch | undefined>>();
  readonly #trials = new Map<number, Promise<void>>();

  constructor(options: StepTrialsOptions) {
    this.#options = options;
  }

  get #view(): Pick<RoundView, 'steps'> {
    return this.#options.recorder.snapshot.rounds[this.#options.round] ?? { steps: [] };
  }

  /** Begins to try the change of a step that is done, if a later step reads it beside another step that has one or is not done. */
  async begin(index: number): Promise<void> {
    const readers = this.#view.steps.filter(({ reads, output }) => output === undefined && reads.includes(index));
    const beside = readers.flatMap(({ reads }) => reads.filter((other) => other !== index));
    if (beside.length === 0 || !this.#options.checker.tryTests || !(await this.#changeOf(index))) return;
    for (const other of beside) {
      if (this.#view.steps[other]?.output === undefined || (await this.#changeOf(other))) return void this.#try(index);
    }
  }

  /** Resolves when what the tests say of the changes that a step reads is journalled. At once if it reads fewer than two. */
  async known(reads: readonly number[]): Promise<void> {
    if (reads.length < 2 || !this.#options.checker.tryTests) return;
    const changes = await Promise.all(reads.map(async (index) => ((await this.#changeOf(index)) ? [index] : [])));
    const changed = changes.flat();
    if (changed.length >= 2) await Promise.all(changed.map((index) => this.#try(index)));
  }

  /** Ends what nobody waits for any more. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('The plan is over.'));
    await Promise.allSettled(this.#trials.values());
  }

  /** The change of a step that is done; undefined if it has none. */
  #changeOf(index: number): Promise<Patch | undefined> {
    const known = this.#changes.get(index);
    if (known) return known;
    const { recorder: { snapshot }, checker, files, round, failureOf, signal } = this.#options;
    const { workspace } = snapshot.request;
    const step = this.#view.steps[index];
    if (workspace === undefined || step?.output === undefined) return Promise.resolve(undefined);
    const change = wholeStepPatch(checker, snapshot, round, { step, workspace, files }).then(
      (patch) => (patch.edits.length + patch.refused.length > 0 ? patch : undefined),
      (error: unknown) => {
        signal.throwIfAborted();
        // Its readers see its text, and the verdict will tell the fault if it lasts.
        failureOf(error);
        return undefined;
      },
    );
    this.#changes.set(index, change);
    return change;
  }

  #try(index: number): Promise<void> {
    const trial = this.#trials.get(index) ?? this.#tried(index);
    this.#trials.set(index, trial);
    // Whoever reads the step meets the failure, too.
    trial.catch(() => {});
    return trial;
  }

  async #tried(index: number): Promise<void> {
    const { recorder, round } = this.#options;
    const patch = await this.#changeOf(index);
    if (!patch || this.#view.steps[index]?.trial?.result) return;
    const signal = AbortSignal.any([this.#options.signal, this.#stop.signal]);
    signal.throwIfAborted();
    recorder.record([{ type: 'step.trying', round, step: index }]);
    const started = performance.now();
    const said = await this.#say(patch, signal);
    signal.throwIfAborted();
    recorder.record([{ type: 'step.tried', round, step: index, ...said, durationMs: performance.now() - started }]);
  }

  async #say(patch: Patch, signal: AbortSignal): Promise<Omit<Tried, 'durationMs'>> {
    const { recorder: { snapshot }, checker: { tryTests }, files, test, failureOf } = this.#options;
    const forbidden = [...patch.refused.filter(({ isForbidden }) => isForbidden), ...(patch.leftOut ?? [])];
    // Of a change that cannot be read as a whole, the tests would say something else.
    const refused = patch.refused.find(({ isForbidden }) => !isForbidden) ?? (patch.edits.length === 0 ? forbidden[0] : undefined);
    if (refused) return without(`its change of ${refused.path} ${refused.isForbidden ? 'may not be made' : 'cannot be read'}: ${refused.reason}`);
    if (!test || !tryTests) return without('no test command of this project is known.');
    try {
      const tried = await tryTests({ ...test, ...files.base(snapshot.request.workspace ?? ''), patch, newTests: mayAddTests(snapshot), timeoutMs: TRIAL_MS, signal });
      if (tried.problem !== undefined) return without(tried.problem);
      const { passed, failed } = passedAndFailed(tried.results);
      const all = { ...tried, forbidden: [...forbidden, ...(tried.forbidden ?? [])] };
      return { text: shown(testsInWords(all, 'its'), MAX_TEXT), passed: passed.length, failed: failed.length };
    } catch (error) {
      signal.throwIfAborted();
      return without(error instanceof PatchNotApplicableError ? error.message : failureOf(error).message);
    }
  }
}

/** One line is enough to go on by. */
function without(reason: string): Omit<Tried, 'durationMs'> {
  const problem = shown(reason.split('\n', 1)[0] ?? '', 300);
  return { text: `The tests were not run with it: ${problem}`, passed: 0, failed: 0, problem };
}
