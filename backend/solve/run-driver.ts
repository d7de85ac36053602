import { readQuestion } from '../conductor/question/read-question.ts';
import type { ContextRequest, GatheredContext } from '../context/context.ts';
import { JournalUnavailableError } from '../journal/errors.ts';
import { isVerified } from '../protocol/verdict-facts.ts';
import type { Failure, RunEvent, RunEventOf, VerifiedCost } from '../protocol/run-events.ts';
import { answerText, bestAttempt, firstPlanned, hasAttempts } from '../protocol/run-facts.ts';
import type { RoundView, RunSnapshot } from '../protocol/run-snapshot.ts';
import { BudgetSpentError } from '../workers/errors.ts';
import { isInProject } from './asked-question.ts';
import { cheapestFirst } from './attempts.ts';
import { BaseRun } from './base-run.ts';
import { LimitReachedError } from './errors.ts';
import { RunError } from './failure.ts';
import type { StepPlace } from './kept-events.ts';
import { beginTry, type TryFacts } from './local-first.ts';
import { notAtWork, RoundDriver, type RoundDriverOptions } from './round-driver.ts';
import { bestRound, conclusionOf, wantedOf, worthAnotherRound } from './round.ts';
import { RunContexts } from './run-contexts.ts';
import { RunFiles, type RunFilesOptions } from './run-files.ts';
import { judgingCommand, type JudgingCommand } from './test-command.ts';

/** What a run is driven with: what its rounds are, and what they share. */
export interface RunDriverOptions extends RoundDriverOptions {
  /** What verified answers cost in the project of a run that ends verified, with this run; undefined where nothing says so. */
  readonly verifiedCost?: ((run: RunSnapshot) => VerifiedCost | undefined) | undefined;
  /** What is known of the project where a worker that costs nothing may try first. Without it none does, as in a training. */
  readonly triesBy?: (() => Omit<TryFacts, 'hasTests'>) | undefined;
  /** See `RunFilesOptions`. */
  readonly taskBase?: RunFilesOptions['taskBase'];
  readonly gatherContext: (request: ContextRequest) => Promise<GatheredContext>;
  /** Runs all rounds even if the tests are green. Training needs that: the Conductor learns to keep a good answer. */
  readonly everyRound?: boolean;
  /** How long the plan waits for the tests on the code as it is; see `BASE_WAIT_MS`. */
  readonly baseWaitMs?: number | undefined;
}

/**
 * Drives one run from its journalled state to its end: context, then rounds of plan, execution and verdict. Every decision follows from
 * the snapshot, so a run that was killed continues as if it had not been.
 */
export class RunDriver {
  readonly #options: RunDriverOptions;
  readonly #base: BaseRun;
  readonly #contexts: RunContexts;
  readonly #files: RunFiles;
  /** What judges, read when the run begins. */
  #test: JudgingCommand | undefined;
  /** Why the latest attempt that failed did. */
  #failed: unknown;
  /** By their number. */
  readonly #rounds = new Map<number, RoundDriver>();

  constructor(options: RunDriverOptions) {
    this.#options = options;
    this.#files = new RunFiles({ ...options, begins: options.recorder.snapshot.earlier?.change });
    this.#base = new BaseRun({ ...options, files: this.#files, waitMs: options.baseWaitMs });
    this.#contexts = new RunContexts({ ...options, files: this.#files });
  }

  get #run(): RunSnapshot {
    return this.#options.recorder.snapshot;
  }

  /** Ends with a final event. @throws the signal's reason and the journal's errors; the run then stays as it is */
  async drive(): Promise<void> {
    const { signal } = this.#options;
    let last: RunEvent;
    try {
      await this.#prepare();
      last = await this.#solve();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // The run has not failed: it goes on from its last event when the journal can be written again.
      if (error instanceof JournalUnavailableError) throw error;
      last = this.#endingOf(error);
    } finally {
      await this.#base.stop();
      this.#files.letGo();
    }
    signal.throwIfAborted();
    this.#record(last);
  }

  /** Stops a step that is at work; it hands on what it has. @throws RunRefusedError for one that is not */
  stopStep(place: StepPlace): void {
    this.#driverOf(place).stopStep(place.step);
  }

  /** Says something to the worker of a step, which reads it at its next turn. @throws RunRefusedError if there will be none */
  tellStep(place: StepPlace, text: string): void {
    this.#driverOf(place).tellStep(place.step, text);
  }

  #driverOf(place: StepPlace): RoundDriver {
    const driver = this.#rounds.get(place.round);
    if (!driver) throw notAtWork(place);
    return driver;
  }

  #endingOf(error: unknown): RunEvent {
    if (!(error instanceof BudgetSpentError)) return { type: 'run.failed', failure: this.#options.failureOf(error) };
    const { limit, needed } = error instanceof LimitReachedError ? error : {};
    return { type: 'run.stopped', reason: 'budget', limit, needed, message: error.message };
  }

  async #prepare(): Promise<void> {
    const { request, context, rounds, kind } = this.#run;
    // A test command that cannot be read fails here, before a worker is paid.
    const test = await judgingCommand(request, this.#options.checker, { before: this.#run.base?.command, about: () => this.#contexts.about() });
    this.#test = test;
    const isJudged = context !== undefined && rounds.at(-1)?.verdict !== undefined;
    if (test && request.workspace !== undefined && kind === 'solve' && concernsTests(this.#run)) {
      await this.#files.hold(request.workspace);
      if (!isJudged) await this.#base.begin(request.workspace, test);
    }
    await this.#contexts.first(this.#base, test?.command);
  }

  async #solve(): Promise<RunEvent> {
    const tried = await this.#tryFirst();
    if (tried) return { type: 'run.completed', round: tried.index, ...this.#conclusion(tried) };
    if (hasAttempts(this.#run)) return await this.#tryAttempts();
    const { rounds, request } = this.#run;
    const first = firstPlanned(this.#run);
    // The parts of the last round that are done are skipped.
    for (let index = Math.max(first, rounds.length - 1); index < first + request.rounds; index += 1) {
      const round = this.#round(index);
      await round.plan();
      await letRun(round);
      if (this.#run.rounds[index]?.kept) break;
      await round.execute();
      await round.judge();
      if (!this.#options.everyRound && !this.#isWorthAnother(index)) break;
    }
    const best = bestRound(this.#run.rounds);
    if (!best) throw new RunError('plan-rejected', 'The Conductor kept an answer that does not exist: ask again.');
    return { type: 'run.completed', round: best.index, ...this.#conclusion(best) };
  }

  /**
   * Lets a worker that costs nothing try the question, where that was asked for. Whatever goes wrong with it, the run goes on.
   * @returns the try if it is verified, and nobody has to be paid
   */
  async #tryFirst(): Promise<RoundView | undefined> {
    const { triesBy, signal } = this.#options;
    const { request, rounds, noTry } = this.#run;
    if (request.localFirst && triesBy && rounds.length === 0 && !noTry) {
      this.#options.recorder.record(beginTry(this.#run, { hasTests: this.#test !== undefined, ...triesBy() }));
    }
    const [first, next] = this.#run.rounds;
    if (!first?.localTry || next) return undefined;
    if (!first.failure) {
      const round = this.#round(0);
      try {
        await round.execute();
        await round.judge();
      } catch (error) {
        if (signal.aborted || error instanceof JournalUnavailableError) throw error;
        this.#record({ type: 'round.failed', round: 0, failure: this.#options.failureOf(error) });
      }
    }
    const [tried] = this.#run.rounds;
    return tried?.verdict && isVerified(tried.verdict) ? tried : undefined;
  }

  /** The driver of a round, in place of an earlier one. */
  #round(index: number, signal = this.#options.signal): RoundDriver {
    const driver = new RoundDriver({ ...this.#options, signal }, { files: this.#files, contexts: this.#contexts, test: this.#test }, index);
    this.#rounds.set(index, driver);
    return driver;
  }

  #isWorthAnother(index: number): boolean {
    const round = this.#run.rounds[index];
    return !round?.answer || worthAnotherRound(round, wantedOf(this.#run));
  }

  /** Tries plans, the cheapest first or all at once, until the tests verify an answer or no other answer could fare better. */
  async #tryAttempts(): Promise<RunEvent> {
    const { attempts: asked, atOnce } = this.#run.request;
    // Without tests nothing could choose.
    const first = firstPlanned(this.#run);
    const attempts = Array.from({ length: this.#test ? asked : 1 }, (_, index) => first + index);
    // One call to a served Conductor writes the plans of all: those after the first stand when their turn comes.
    const isTogether = this.#run.policy.worker?.served !== undefined;
    const after = (index: number): RoundDriver[] => attempts.filter((other) => other > index).map((other) => this.#round(other));
    for (const group of atOnce && !isTogether ? [attempts] : attempts.map((index) => [index])) {
      await this.#attempt(group, (round, index) => round.plan(isTogether ? after(index) : []));
    }
    const order = cheapestFirst(this.#run, attempts.length, this.#options.estimateOf);
    for (const group of groupsOf(order, this.#run)) {
      // A person looks at one plan after another.
      for (const index of group) await this.#attempt([index], async (round) => void (this.#run.rounds[index]?.answer || (await letRun(round))));
      await this.#attemptUntilDecided(group);
      // One question after another, and none where an answer stands already.
      for (const index of group) {
        if (this.#hasAnswer(index) && group.every((other) => this.#isWorthAnother(other))) await this.#attempt([index], (round) => round.judge());
      }
      if (group.some((index) => !this.#isWorthAnother(index))) break;
    }
    // The local try is no answer in the place of all others: a person can resume the run.
    const best = attempts.some((index) => this.#hasAnswer(index)) ? bestAttempt(this.#run.rounds) : undefined;
    if (best) return { type: 'run.completed', round: best.index, ...this.#conclusion(best) };
    // After a restart, the failures are known from the journal alone.
    throw this.#failed ?? new RunError('plan-rejected', this.#run.rounds.findLast(({ failure }) => failure)?.failure?.message ?? 'No attempt has an answer: ask again.');
  }

  #hasAnswer(index: number): boolean {
    const round = this.#run.rounds[index];
    return round !== undefined && answerText(round) !== undefined;
  }

  /** Tries some attempts at the same time. The first whose answer no other could better ends the others, which are not paid any further. */
  async #attemptUntilDecided(group: readonly number[]): Promise<void> {
    const ended = new AbortController();
    const isDecided = (): boolean => group.some((index) => !this.#isWorthAnother(index));
    // After a restart, one of them may have been verified before.
    if (!isDecided()) {
      await this.#attempt(group, async (round, index) => {
        await round.execute();
        await round.check();
        if (!this.#isWorthAnother(index)) ended.abort(new Error('Another attempt has ended the run.'));
      }, ended.signal);
    }
    if (!isDecided()) return;
    for (const index of group) {
      const { answer, verdict, failure } = this.#run.rounds[index] ?? {};
      if (!failure && (!answer || !verdict) && this.#isWorthAnother(index)) this.#record({ type: 'round.failed', round: index, failure: ENDED });
    }
  }

  /**
   * Does something for some attempts at the same time. A failure ends its attempt, unless it concerns all.
   * @param ended aborts once another attempt has made the rest needless
   */
  async #attempt(group: readonly number[], act: (round: RoundDriver, index: number) => Promise<void>, ended?: AbortSignal): Promise<void> {
    const { signal } = this.#options;
    const one = async (index: number): Promise<void> => {
      if (this.#run.rounds[index]?.failure) return;
      try {
        await act(this.#round(index, ended ? AbortSignal.any([signal, ended]) : signal), index);
      } catch (error) {
        // What concerns all attempts ends the run.
        if (signal.aborted || error instanceof JournalUnavailableError || error instanceof BudgetSpentError) throw error;
        if (ended?.aborted) return;
        this.#failed = error;
        this.#record({ type: 'round.failed', round: index, failure: this.#options.failureOf(error) });
      }
    };
    for (let left = group; left.length > 0;) {
      const results = await Promise.allSettled(left.map(one));
      signal.throwIfAborted();
      if (ended?.aborted) return;
      const reasons = results.map((result): unknown => (result.status === 'rejected' ? result.reason : undefined));
      const over = left.filter((_, at) => reasons[at] instanceof BudgetSpentError);
      const [first] = reasons.filter((reason) => reason !== undefined).toSorted((a, b) => Number(a instanceof BudgetSpentError) - Number(b instanceof BudgetSpentError));
      // What the others had reserved beyond their cost is free again.
      if (first !== undefined && (!(first instanceof BudgetSpentError) || over.length === left.length)) throw first;
      left = over;
    }
  }

  #conclusion(round: RoundView): Omit<RunEventOf<'run.completed'>, 'type' | 'round'> {
    const conclusion = conclusionOf(round, wantedOf(this.#run));
    const verifiedCost = conclusion.outcome === 'verified' ? this.#options.verifiedCost?.(this.#run) : undefined;
    return { ...conclusion, ...(verifiedCost && { verifiedCost }) };
  }

  #record(event: RunEvent): void {
    this.#options.recorder.record([event]);
  }
}

/** Whether failing tests could help to answer the question: not if it wants words and says of nothing that it is wrong. */
function concernsTests(run: RunSnapshot): boolean {
  const { wants, reportsFault } = readQuestion(run.request.question, { inProject: isInProject(run) });
  return wants !== 'words' || reportsFault;
}

/** An attempt that was not finished, because another one's answer cannot be bettered. */
const ENDED: Failure = { kind: 'cancelled', message: 'Another attempt ended the run first: nothing more is paid for this one.', retryable: false };

/** The attempts in the order in which they are tried; those of one group at the same time. */
function groupsOf(order: readonly number[], { request, retried }: RunSnapshot): (readonly number[])[] {
  if (!request.atOnce) return order.map((index) => [index]);
  // Of a step that is asked again, its attempt comes first: another one may be verified already.
  return retried ? [order.slice(0, 1), order.slice(1)] : [order];
}

/** Has a person let the plan run, or another one in its place. */
async function letRun(round: RoundDriver): Promise<void> {
  while (!(await round.isLetRun())) await round.plan();
}
