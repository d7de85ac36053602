import { unlessAborted } from '../common/unless-aborted.ts';
import { planRequest } from '../conductor/plan-request.ts';
import { readPlan, type ReadPlan } from '../conductor/plan/read-plan.ts';
import { profileOf } from '../conductor/prompt-profile.ts';
import { JournalUnavailableError } from '../journal/errors.ts';
import type { Expectation } from '../records/worker-records.ts';
import type { PlanMend } from '../protocol/plan-mend.ts';
import type { Failure, PlanTokens, Purpose, RunEvent, RunEventOf } from '../protocol/run-events.ts';
import { answerText, roundsBefore } from '../protocol/run-facts.ts';
import type { RoundView, RunSnapshot } from '../protocol/run-snapshot.ts';
import type { Verdict } from '../protocol/verdict.ts';
import { BudgetSpentError } from '../workers/errors.ts';
import type { Attempt, AttemptSpent, Ledger } from '../workers/limits/ledger.ts';
import { isFree } from '../workers/limits/is-free.ts';
import type { ModelReply, ModelRequest } from '../workers/model.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import { NO_USAGE } from '../protocol/token-counts.ts';
import type { WorkEstimate } from '../protocol/work-estimate.ts';
import { executePlan, type ReadableOutput } from '../workflow/execute-plan.ts';
import type { Patch } from '../verify/patch/patch.ts';
import { stepsOf, type Plan, type Step } from '../workflow/plan.ts';
import { answerPatch, changesOfAnswer } from './answer-patch.ts';
import { withWorker } from './assigned.ts';
import { askedQuestion, isInProject } from './asked-question.ts';
import { editSummaries, type Checker } from './checker.ts';
import { RunRefusedError } from './errors.ts';
import { judgedBy, saidOf, testsToAskOf } from './failed-before.ts';
import { RunError } from './failure.ts';
import { changeOnTop, isBuiltOn, wholeChange } from './follow-up/build-on.ts';
import type { StepPlace } from './kept-events.ts';
import { newTestsIn, wantedOf } from './round.ts';
import { planInput } from './plan-prompt.ts';
import { isReviewDue, plannedSteps } from './plan-review.ts';
import { planTokens } from './plan-tokens.ts';
import { RunAttemptLog } from './run-calls.ts';
import type { RunContexts } from './run-contexts.ts';
import { secondReading, whatToReturn } from './returned-answer.ts';
import type { RunFiles } from './run-files.ts';
import type { RunRecorder } from './run-recorder.ts';
import { isHandedOn, lastingFailure, noneLeft, standInFor } from './stand-in.ts';
import { readsMeanwhile, stepPrompt } from './step-prompt.ts';
import { StepTrials } from './step-trials.ts';
import { lastWords, noAnswer, stoppedOutput } from './stopped-step.ts';
import { ONE_CALL, type StepWork, type Turn, type WorkPlace } from './step-work.ts';
import type { JudgingCommand } from './test-command.ts';

/** Calls a model for this run, with retries, limits and keys. */
export type RunCall = (
  worker: WorkerConfig, request: Pick<ModelRequest, 'messages'> & Partial<ModelRequest>,
  account: { ledger: Ledger; attempts: RunAttemptLog; signal: AbortSignal },
) => Promise<ModelReply>;

export interface NoSandbox {
  readonly reason: string;
  /** A command line that installs what is missing, if one is known. */
  readonly remedy: string | undefined;
  /** The test command that would run without a sandbox. */
  readonly command: string;
}

/** What each round of a run is driven with. */
export interface RoundDriverOptions {
  readonly recorder: RunRecorder;
  readonly ledger: Ledger;
  readonly call: RunCall;
  /** How a worker does a step; by default with one call. */
  readonly workOf?: ((worker: WorkerConfig, place: WorkPlace) => StepWork) | undefined;
  /**
   * What is expected of workers by their records. By it a step is given to another worker when its own fails; without it no step is: in a
   * training, what a plan is worth follows from the workers that it names.
   */
  readonly standInsBy?: (() => Expectation) | undefined;
  /**
   * Another plan in the place of the one that the Conductor wrote, by records; undefined where it stays. Without it every plan stays, as in a
   * training.
   */
  readonly planBy?: ((run: RunSnapshot, round: number, plan: Plan) => Plan | undefined) | undefined;
  /** What a plan is expected to take. Without it no plan waits for a person, as in a training. */
  readonly estimateOf?: ((run: RunSnapshot, round: number, plan: Plan) => WorkEstimate) | undefined;
  readonly checker: Checker;
  /** The failure to report for an error. */
  readonly failureOf: (error: unknown) => Failure;
  /** After this many invalid plans in one round the run fails; resuming it allows as many again. */
  readonly planTries?: number;
  /** Takes a feature from each plan before it is carried out, as a training may that measures what the feature is worth. */
  readonly ablate?: ((plan: Plan) => Plan) | undefined;
  /** Asks a person whether tests may run without a sandbox, and waits for an answer. */
  readonly confirmUnsandboxed: (missing: NoSandbox) => Promise<boolean>;
  readonly signal: AbortSignal;
}

const PLAN_TRIES = 3;

/** What the rounds of a run share. */
export interface RoundParts {
  readonly files: RunFiles;
  readonly contexts: RunContexts;
  /** What judges; undefined without tests. */
  readonly test: JudgingCommand | undefined;
}

/**
 * Drives one round from its journalled state: plan, execution and verdict. What the journal has is not done again. Rounds may be driven at
 * the same time: each writes of itself alone.
 */
export class RoundDriver {
  readonly #options: RoundDriverOptions;
  readonly #parts: RoundParts;
  readonly #round: number;
  /** The steps that are at work, by their index; aborted for one that a person stops. */
  readonly #atWork = new Map<number, AbortController>();

  constructor(options: RoundDriverOptions, parts: RoundParts, round: number) {
    this.#options = options;
    this.#parts = parts;
    this.#round = round;
  }

  get #run(): RunSnapshot {
    return this.#options.recorder.snapshot;
  }

  get #view(): RoundView {
    return this.#run.rounds[this.#round] ?? { index: this.#round, rejections: [], kept: false, steps: [] };
  }

  /**
   * Has the Conductor write a plan, unless there is one. A served Conductor writes those of other rounds with it, in one call: of rounds that are
   * asked the same.
   * @param others further attempts at the question @throws RunError if none of its tries is valid
   */
  async plan(others: readonly RoundDriver[] = []): Promise<void> {
    const { call, ledger, signal, planTries = PLAN_TRIES } = this.#options;
    const { worker: planner, model } = this.#run.policy;
    if (!planner) throw new RunError('no-conductor', 'No model plays the Conductor: name one in workers.json.');
    while (!this.#view.plan && !this.#view.kept) {
      const { rejections, forgivenRejections = 0 } = this.#view;
      const rejection = rejections.at(-1);
      if (rejection && rejections.length - forgivenRejections >= planTries) {
        throw new RunError(
          'plan-rejected',
          `The Conductor (${model}) wrote no valid plan in ${planTries} ${planTries === 1 ? 'try' : 'tries'}; the last one: ${rejection.message} ` +
            'No worker was paid in this round. Resume the run to try again, or let another model play the Conductor.',
        );
      }
      const context = await this.#parts.contexts.current(this.#round);
      const input = planInput(this.#run, this.#round, this.#run.contexts[context]);
      const ask = async (together: readonly RoundDriver[]): Promise<void> => {
        const attempts = new RunAttemptLog({
          recorder: this.#options.recorder, round: this.#round, purpose: { kind: 'plan' }, context,
          onReply: (...reply) => this.#planEvent(...reply),
          others: together.map((other) => ({ round: other.#round, onReply: (...reply) => other.#planEvent(...reply) })),
        });
        await call(planner, planRequest(planner, input, { plans: 1 + together.length }), { ledger, attempts, signal });
      };
      const together = planner.served && this.#isUnasked ? others.filter((other) => other.#isUnasked) : [];
      try {
        await ask(together);
      } catch (error) {
        // What is left may hold one plan. Nothing was sent.
        if (together.length === 0 || !(error instanceof BudgetSpentError)) throw error;
        await ask([]);
      }
    }
  }

  /** Nobody has planned this round yet, so its plan is asked for as those of the other attempts are. */
  get #isUnasked(): boolean {
    const { plan, planAttempt, kept, failure, rejections, discarded = [] } = this.#view;
    return !plan && !planAttempt && !kept && !failure && rejections.length === 0 && discarded.length === 0;
  }

  /** The event for the Conductor's text. It is parsed in the transaction that pays for it, so that no paid text is lost. */
  #planEvent({ attemptId }: Pick<Attempt, 'attemptId'>, reply: ModelReply, spent: AttemptSpent): RunEvent {
    const { request, pool, policy: { worker: planner } } = this.#run;
    const { rejections, forgivenRejections = 0 } = this.#view;
    const { planTries = PLAN_TRIES } = this.#options;
    const before = roundsBefore(this.#run, this.#round);
    const revisions = before.length;
    const parsed = readPlan(reply.text, {
      workerCount: pool.length, round: revisions, mayKeep: !before.at(-1)?.localTry, truncated: reply.finishReason === 'length',
      question: askedQuestion(request),
      inProject: isInProject(this.#run),
      profile: profileOf(planner ?? { provider: 'openai' }),
      // Told once; a call more costs money, and another text may be no better.
      mayAskAgain: rejections.length - forgivenRejections + 1 < planTries && !rejections.some(({ reason }) => reason === 'senseless'),
    });
    const common = { round: this.#round, attemptId, text: reply.text, ...sampledIn(reply), ...spent };
    switch (parsed.kind) {
      case 'plan':
        return { type: 'plan.proposed', ...common, ...this.#planned(parsed, revisions, reply) };
      case 'keep':
        return { type: 'plan.kept', ...common };
      case 'rejected':
        return { type: 'plan.rejected', ...common, ...parsed.rejection };
    }
  }

  /** The plan to carry out, which need not be the one that was written. */
  #planned({ plan, mended }: Extract<ReadPlan, { kind: 'plan' }>, revisions: number, reply: ModelReply): ReturnType<typeof plannedSteps> & { mended?: PlanMend; tokens?: PlanTokens } {
    const { ablate = (own) => own, planBy } = this.#options;
    // Without tests nothing is known of answers like this one.
    const better = this.#parts.test && !mended ? planBy?.(this.#run, this.#round, plan) : undefined;
    if (better) return { ...plannedSteps(better, revisions), mended: { wrong: [], written: plan.modelIds.length, reworded: [], rewired: [], byRecords: true } };
    const tokens = mended ? undefined : planTokens(reply);
    return { ...plannedSteps(ablate(plan), revisions), ...(mended && { mended }), ...(tokens && { tokens }) };
  }

  /** Waits for a person where the plan is to be seen first. @returns false if the person wants another plan */
  async isLetRun(): Promise<boolean> {
    const { recorder, estimateOf, signal } = this.#options;
    const { reviewPlan } = this.#run.request;
    for (;;) {
      const { plan, planKeptFrom, review } = this.#view;
      if (this.#view.kept) return true;
      if (!plan) return false;
      // A plan that is kept from another run was let run there, if it was begun.
      const wasLetRun = planKeptFrom !== undefined && (this.#round === this.#run.retried?.round || this.#view.steps.some(({ output }) => output !== undefined));
      if (!reviewPlan || !estimateOf || wasLetRun || review?.state === 'approved') return true;
      const estimate = estimateOf(this.#run, this.#round, plan);
      if (!review && !isReviewDue(reviewPlan, estimate)) return true;
      await unlessAborted(recorder.wait({ type: 'plan.held', round: this.#round, estimate }), signal);
    }
  }

  /** Runs the steps of the plan, and reads their answer. */
  async execute(): Promise<void> {
    const { plan, steps, answer } = this.#view;
    if (!plan || answer) return;
    const answerStep = plan.modelIds.length - 1;
    const first = await this.#runSteps(plan, () => true);
    let patch = await this.#read(first);
    const { finishReason } = this.#view.steps[answerStep] ?? {};
    const back = patch && finishReason !== 'stopped' && whatToReturn(patch, wantedOf(this.#run) === 'words' ? undefined : { text: first, finishReason });
    if (patch && typeof back === 'string' && !steps[answerStep]?.returned?.isAnswered) {
      const second = await this.#returnAnswer(plan, back);
      if (second !== undefined) patch = secondReading(patch, (await this.#read(second)) ?? patch);
    }
    this.#record({
      type: 'answer.ready',
      round: this.#round,
      step: answerStep,
      edits: patch ? editSummaries(patch, { whole: isBuiltOn(this.#run) }) : [],
      refused: patch ? patch.refused.map(({ path, reason, isForbidden }) => ({ path, reason, ...(!isForbidden && { isUnreadable: true }) })) : [],
      ...(patch?.leftOut && { leftOut: patch.leftOut.map(({ path, reason }) => ({ path, reason })) }),
    });
  }

  /** The answer of a plan. Outputs that the journal has and that are kept are not asked for again. */
  async #runSteps(plan: Plan, isKept: (step: number) => boolean): Promise<string> {
    const finished = new Map(this.#view.steps.flatMap(({ index, output }) => (output === undefined || !isKept(index) ? [] : [[index, output] as const])));
    const trials = new StepTrials({ ...this.#options, files: this.#parts.files, test: this.#parts.test, round: this.#round });
    // Whoever reads a step waits for its trial, and meets what is wrong with it.
    const tryLater = (index: number): void => void trials.begin(index).catch(() => {});
    for (const index of finished.keys()) tryLater(index);
    const result = await executePlan({
      steps: stepsOf(plan),
      finished,
      signal: this.#options.signal,
      runStep: async (step, inputs, signal) => {
        await trials.known(step.reads);
        const output = await this.#handedOn(step, inputs, signal);
        tryLater(step.index);
        return output;
      },
      onSkipped: (step, because, error) => {
        if (error instanceof JournalUnavailableError) return;
        const reason = error instanceof BudgetSpentError ? 'The budget does not hold the next call.' : `Step ${because.index + 1} failed.`;
        this.#record({ type: 'step.skipped', round: this.#round, step: step.index, reason });
      },
    }).finally(() => trials.stop());
    if (!result.ok) throw result.error;
    return result.answer;
  }

  async #read(answer: string): Promise<Patch | undefined> {
    const { workspace } = this.#run.request;
    return workspace === undefined ? undefined : await this.#patchIn(answer, workspace);
  }

  /** As a patch of the workspace, with the earlier change that the run begins with. */
  async #patchIn(answer: string, workspace: string): Promise<Patch> {
    const begins = await this.#parts.files.begins(workspace);
    const read = (folder: string): Promise<Patch> => answerPatch(this.#options.checker, this.#run, this.#round, { output: answer, folder });
    // What a step with hands changed holds the earlier change already.
    if (changesOfAnswer(this.#run, this.#round).length === 0) return wholeChange(begins, await this.#parts.files.read(workspace, read));
    const patch = await this.#parts.files.readWorkspace(workspace, read);
    return changeOnTop(begins, patch.edits).length > 0 ? patch : { ...patch, edits: [] };
  }

  /** Gives an answer back to its worker. @returns the next one; undefined if there is none, and the first one stays */
  async #returnAnswer(plan: Plan, text: string): Promise<string | undefined> {
    const step = plan.modelIds.length - 1;
    if (!this.#view.steps[step]?.returned) this.#record({ type: 'answer.returned', round: this.#round, step, text });
    try {
      return await this.#runSteps(plan, (index) => index !== step);
    } catch (error) {
      if (this.#options.signal.aborted || error instanceof JournalUnavailableError) throw error;
      return undefined;
    }
  }

  /** Gives a step to one worker after another, until it is done or nobody is left. */
  async #handedOn(planned: Step, inputs: readonly ReadableOutput[], signal: AbortSignal): Promise<string> {
    const seen = inputs.map(({ step, output }) => ({ step: withWorker(step, this.#view), output }));
    for (;;) {
      const step = withWorker(planned, this.#view);
      const { index, worker } = step;
      const known = lastingFailure(this.#run, worker);
      const next = known && this.#reassignment(step, known);
      if (next) {
        this.#record(next);
        continue;
      }
      try {
        return await this.#step(step, seen, signal);
      } catch (error) {
        if (this.#view.steps[index]?.worker === worker) throw noneLeft(this.#run, { round: this.#round, step: index }, error);
      }
    }
  }

  /** Undefined if nobody is left. An output that was given back stays its worker's. */
  #reassignment({ index, worker }: Step, failure: Failure): RunEvent | undefined {
    const { standInsBy } = this.#options;
    if (!standInsBy || this.#view.steps[index]?.output !== undefined) return undefined;
    // Nobody is paid for a try.
    const mayStandIn = this.#view.localTry ? isFree : undefined;
    const to = standInFor(this.#run, { round: this.#round, step: index }, failure, standInsBy(), mayStandIn);
    return to === undefined ? undefined : { type: 'step.reassigned', round: this.#round, step: index, from: worker, to, failure };
  }

  async #step(step: Step, inputs: readonly ReadableOutput[], runSignal: AbortSignal): Promise<string> {
    const worker = this.#run.pool[step.worker] as WorkerConfig;
    const { call, ledger, workOf = () => ONE_CALL } = this.#options;
    const work = workOf(worker, { run: this.#run, round: this.#round, step, files: this.#parts.files });
    const stop = new AbortController();
    const signal = AbortSignal.any([runSignal, stop.signal]);
    const startedAt = performance.now();
    this.#atWork.set(step.index, stop);
    try {
      // Stopped before a crash, and not yet at its end.
      if (this.#view.steps[step.index]?.stopped) return await this.#endStopped(step, work, startedAt, runSignal);
      await this.#begin(step, work, signal);
      const context = await this.#contextOf(step);
      const messages = stepPrompt(this.#run, this.#round, step, inputs, this.#run.contexts[context]);
      const attempts = this.#attempts({ kind: 'step', step: step.index }, context, (...reply) => this.#stepEvent(step, work, ...reply));
      for (;;) {
        const over = await this.#observe(step, work, signal);
        if (over !== undefined) return over;
        const reply = await call(worker, work.request(messages, this.#taken(step.index)), { ledger, attempts, signal }).catch((error: unknown) => {
          if (signal.aborted || !work.shorten?.(error)) throw error;
          return undefined;
        });
        const { state, output } = this.#view.steps[step.index] ?? {};
        if (reply && state === 'completed') return output ?? reply.text;
      }
    } catch (error) {
      if (runSignal.aborted || error instanceof JournalUnavailableError) throw error;
      if (stop.signal.aborted) return await this.#endStopped(step, work, startedAt, runSignal);
      if (!(error instanceof BudgetSpentError)) {
        const failure = this.#options.failureOf(error);
        const next = isHandedOn(error) ? this.#reassignment(step, failure) : undefined;
        this.#record(next ?? { type: 'step.failed', round: this.#round, step: step.index, failure });
      }
      throw error;
    } finally {
      this.#atWork.delete(step.index);
      await work.end?.();
    }
  }

  /** The end of a step that a person stopped. @returns what it hands on. @throws RunError if it was to give the answer and has none */
  async #endStopped({ index }: Step, work: StepWork, startedAt: number, signal: AbortSignal): Promise<string> {
    const view = this.#view.steps[index];
    // Its first output stays.
    if (!view || view.output !== undefined) throw new RunError('step-stopped', `Step ${index + 1} was stopped.`);
    const { begun } = view;
    const words = lastWords(view);
    const has = (await work.stopped?.(words, { begun, turns: this.#taken(index) }, signal)) ?? { output: words };
    if (has.output === '' && index === this.#view.steps.length - 1) {
      const error = new RunError('step-stopped', noAnswer(index));
      this.#record({ type: 'step.failed', round: this.#round, step: index, failure: this.#options.failureOf(error) });
      throw error;
    }
    const output = stoppedOutput(has.output);
    this.#completeUnpaid(index, { ...has, output, finishReason: 'stopped', durationMs: performance.now() - startedAt });
    return output;
  }

  /** The step is over without another call. */
  #completeUnpaid(index: number, has: Pick<RunEventOf<'step.completed'>, 'output' | 'changes' | 'finishReason' | 'durationMs'>): void {
    const { attempt } = this.#view.steps[index] ?? {};
    this.#record({
      type: 'step.completed', round: this.#round, step: index, attemptId: attempt?.attemptId ?? '', ...has, usage: NO_USAGE, cost: { usd: 0, estimated: false },
    });
  }

  async #begin({ index }: Step, work: StepWork, signal: AbortSignal): Promise<void> {
    const { begun } = this.#view.steps[index] ?? {};
    const beginning = await work.begin?.({ begun, turns: this.#taken(index) }, signal);
    if (beginning && !begun) this.#record({ type: 'step.begun', round: this.#round, step: index, text: beginning.text, changes: [...beginning.changes] });
  }

  /** A step keeps its context: its next turn continues a conversation. */
  async #contextOf({ index }: Step): Promise<number> {
    const { turns = [], attempt } = this.#view.steps[index] ?? {};
    return turns.length > 0 && attempt ? attempt.context : await this.#parts.contexts.current(this.#round);
  }

  #stepEvent({ index }: Step, work: StepWork, { attemptId }: Pick<Attempt, 'attemptId'>, reply: ModelReply, spent: AttemptSpent): RunEvent {
    const common = { round: this.#round, step: index, attemptId, ...sampledIn(reply), ...spent };
    return this.#isOutput(index, work, reply)
      ? { type: 'step.completed', ...common, output: reply.text, ...work.output?.(reply), finishReason: reply.finishReason }
      : { type: 'step.turned', ...common, text: reply.text, ...(reply.toolCalls && { calls: [...reply.toolCalls] }), ...(reply.verbatim && { verbatim: reply.verbatim }) };
  }

  /** Whether a reply is the output of a step. What a person has said meanwhile is read first, unless the reply had to be the last. */
  #isOutput(index: number, work: StepWork, reply: ModelReply): boolean {
    const { turns = [], told = [], worker = 0 } = this.#view.steps[index] ?? {};
    const isUnread = told.length > 0 && readsMeanwhile(this.#run, worker) && turns.at(-1)?.isLast !== true;
    return work.isOutput(reply, turns) && !isUnread;
  }

  /** Makes the observation of the last turn, unless it has one. @returns the step's output where the step is over by it */
  async #observe({ index }: Step, work: StepWork, signal: AbortSignal): Promise<string | undefined> {
    const last = this.#view.steps[index]?.turns?.at(-1);
    if (!last || last.observation !== undefined) return undefined;
    const { text, results, pieces = [], changes = [], isLast, output } = await work.observe(last.reply, signal, this.#taken(index), last.calls);
    if (output === undefined) {
      this.#record({
        type: 'step.observed', round: this.#round, step: index, text, ...(results && { results: [...results] }),
        ...(pieces.length > 0 && { pieces: [...pieces] }), ...(changes.length > 0 && { changes: [...changes] }), ...(isLast && { isLast }),
      });
    } else {
      this.#completeUnpaid(index, { output, finishReason: 'stop', durationMs: 0 });
    }
    return output;
  }

  /** The turns with what was given for them. */
  #taken(index: number): Turn[] {
    return (this.#view.steps[index]?.turns ?? []).flatMap(({ observation, ...turn }) => (observation === undefined ? [] : [{ ...turn, observation }]));
  }

  /** The verdict on the answer, with what a person says of tests that failed before, where the answer fails for them alone. */
  async judge(): Promise<void> {
    const { recorder, signal } = this.#options;
    for (;;) {
      await this.check();
      const tests = testsToAskOf(this.#run, this.#view);
      if (tests.length === 0) return;
      const failedBefore = saidOf(this.#run, tests);
      if (failedBefore) this.#record({ type: 'verdict.decided', round: this.#round, tests, failedBefore });
      else await unlessAborted(recorder.wait({ type: 'verdict.held', round: this.#round, tests }), signal);
    }
  }

  /** Runs the project's tests on the round's answer, if it changes files and there is a test command. */
  async check(): Promise<void> {
    const { checker, signal } = this.#options;
    const { workspace } = this.#run.request;
    const text = answerText(this.#view);
    if (this.#view.verdict || workspace === undefined || text === undefined) return;
    const newTests = newTestsIn(this.#run);
    const patch = await this.#patchIn(text, workspace);
    if (patch.edits.length === 0) return;
    const test = this.#parts.test;
    if (!test) return;

    const { available: sandboxed, reason = 'No sandbox can be had here.', remedy } = await checker.sandboxAvailability(test.image);
    const verdict = sandboxed || (await this.#options.confirmUnsandboxed({ reason, remedy, command: test.command }))
      ? await this.#verify({ ...this.#parts.files.base(workspace), patch, newTests, nothingFailed: 'run', ...judgedBy(this.#run), ...test, sandboxed, signal })
      : notRun(test.command, { reason: `Running the tests without a sandbox was declined. ${reason}`, remedy });
    this.#record({ type: 'verify.completed', round: this.#round, verdict: { ...verdict, runner: test.runner } });
  }

  #verify(request: Parameters<Checker['verify']>[0]): Promise<Verdict> {
    const { command, runner, sandboxed } = request;
    this.#record({ type: 'verify.started', round: this.#round, command, runner, sandboxed });
    return this.#options.checker.verify(request);
  }

  #attempts(
    purpose: Purpose, context: number, onReply: (attempt: Pick<Attempt, 'attemptId'>, reply: ModelReply, spent: AttemptSpent) => RunEvent,
  ): RunAttemptLog {
    return new RunAttemptLog({ recorder: this.#options.recorder, round: this.#round, purpose, context, onReply });
  }

  /** Stops a step that is at work; it hands on what it has. @throws RunRefusedError for one that is not */
  stopStep(index: number): void {
    const { step, stop } = this.#stepAtWork(index);
    if (step.stopped) return;
    this.#record({ type: 'step.stopped', round: this.#round, step: index });
    stop.abort(new Error('A person stopped the step.'));
  }

  /** Says something to the worker of a step, which reads it at its next turn. @throws RunRefusedError if there will be none */
  tellStep(index: number, text: string): void {
    const { step: { worker, turns, stopped } } = this.#stepAtWork(index);
    if (!readsMeanwhile(this.#run, worker)) throw new RunRefusedError(`Step ${index + 1} reads nothing while it works: stop it, or wait for its answer.`);
    if (stopped || turns?.at(-1)?.isLast) throw new RunRefusedError(`Step ${index + 1} is at its end and reads nothing any more.`);
    this.#record({ type: 'step.told', round: this.#round, step: index, text });
  }

  #stepAtWork(index: number): { step: RoundView['steps'][number]; stop: AbortController } {
    const step = this.#view.steps[index];
    const stop = this.#atWork.get(index);
    if (step && stop && (step.state === 'running' || step.state === 'pending')) return { step, stop };
    throw notAtWork({ round: this.#round, step: index });
  }

  #record(event: RunEvent): void {
    this.#options.recorder.record([event]);
  }
}

/** A step that cannot be stopped or told anything. */
export function notAtWork({ round, step }: StepPlace): RunRefusedError {
  return new RunRefusedError(`Step ${step + 1} of round ${round + 1} is not at work.`);
}

function sampledIn({ sampled }: ModelReply): Pick<ModelReply, 'sampled'> {
  return sampled ? { sampled } : {};
}

function notRun(command: string, { reason, remedy }: { readonly reason: string; readonly remedy: string | undefined }): Verdict {
  return {
    verified: false, score: 0, outcome: 'infrastructure', reason, tests: [], notes: [], command, sandboxed: false, durationMs: 0,
    ...(remedy !== undefined && { remedy }),
  };
}
