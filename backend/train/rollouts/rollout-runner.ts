import { ablation } from '../../conductor/plan/ablations.ts';
import type { PastRound } from '../../conductor/prompt-input.ts';
import type { BudgetScope } from '../../journal/budget.ts';
import { readQuestion } from '../../conductor/question/read-question.ts';
import type { AppendEffects, Journal } from '../../journal/journal.ts';
import type { AblationName } from '../../protocol/ablations.ts';
import type { Failure, PolicySnapshot, RunEvent, RunKind, StoredEvent } from '../../protocol/run-events.ts';
import { runRequestSchema } from '../../protocol/run-request.ts';
import { answerOf } from '../../protocol/run-facts.ts';
import { snapshotOf } from '../../protocol/fold-run.ts';
import { isOver, type RunSnapshot } from '../../protocol/run-snapshot.ts';
import { totalTokens } from '../../protocol/token-counts.ts';
import { passesOnly } from '../../protocol/verdict-facts.ts';
import type { Budget, WorkerConfig } from '../../protocol/worker-config.ts';
import type { Checker } from '../../solve/checker.ts';
import { failureOf } from '../../solve/failure.ts';
import { lostAttempts } from '../../solve/lost-attempts.ts';
import type { RunCall } from '../../solve/round-driver.ts';
import { RunDriver, type RunDriverOptions } from '../../solve/run-driver.ts';
import { RunLedger, unpricedScope } from '../../solve/run-ledger.ts';
import { pastRound } from '../../solve/round.ts';
import { profileOf } from '../../conductor/prompt-profile.ts';
import { RunRecorder } from '../../solve/run-recorder.ts';
import { handsOf } from '../../solve/step-prompt.ts';
import { ONE_CALL } from '../../solve/step-work.ts';
import { workWithHands, type HandsParts } from '../../solve/work-with-hands.ts';
import { Slots } from '../../common/slots.ts';
import { unlessAborted } from '../../common/unless-aborted.ts';
import { answerKey, type AnswerCache } from '../../workers/answer-cache.ts';
import { requestFor, type WorkerCaller } from '../../workers/call-worker.ts';
import type { ClientModel } from '../../workers/adapters/client-model.ts';
import { localUsage } from '../../workers/adapters/local-adapter.ts';
import type { KeySource } from '../../workers/key-source.ts';
import type { AttemptSpent } from '../../workers/limits/ledger.ts';
import { isFree } from '../../workers/limits/is-free.ts';
import type { ModelReply } from '../../workers/model.ts';
import { costOf, type Prices } from '../../workers/limits/prices.ts';
import type { GroupPlace, SampledPlan } from '../grpo/gatherer.ts';
import type { RolloutOutcome } from '../grpo/reward.ts';
import type { ProjectTask, Task } from '../tasks/task.ts';
import { type RolloutBudget, TrainingBudgetError, whenBudgetAllows } from './training-budget.ts';

export interface RolloutRunnerOptions {
  readonly journal: Journal;
  readonly caller: WorkerCaller;
  readonly prices: Prices;
  readonly keys: KeySource;
  readonly clientModel?: ClientModel | undefined;
  /** Without it no worker has hands. */
  readonly hands?: Omit<HandsParts, 'checker'> | undefined;
  /** The training's answers so far: none is paid for twice. */
  readonly answers: AnswerCache;
  /**
   * Has a paid worker answer a step once for all plans of a group that share it, and at most so many times in a training. Absent: once for
   * each sample. Outcomes of a group then depend on each other where answers vary: what differs between its plans is compared under the same
   * answers, and a lucky answer counts in each plan that has the step.
   */
  readonly sharedAnswers?: number | undefined;
  /** Name of the training or evaluation; part of each run's id. */
  readonly name: string;
  /** Answers and budget are shared within this scope. */
  readonly scope: string;
  readonly kind: Exclude<RunKind, 'solve'>;
  /** Read before each call, since it can be raised while rollouts run. */
  readonly budget: () => RolloutBudget;
  readonly planner: WorkerConfig;
  /** Features that are taken from each plan before it is carried out. */
  readonly ablations?: readonly AblationName[] | undefined;
  /** Maximum number of concurrent rollouts. */
  readonly parallel: number;
  /** Called with the reason when the training has to wait, and with undefined when it goes on. */
  readonly onWaiting: (message: string | undefined) => void;
  /** Called for each rollout when its plan is parsed or rejected, and again with its outcome. */
  readonly onRollout?: ((progress: RolloutProgress) => void) | undefined;
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now: () => number;
}

export interface RolloutProgress {
  readonly at: GroupPlace;
  readonly plan: SampledPlan;
  readonly run: RunSnapshot;
  /** Absent while it runs. */
  readonly outcome?: RolloutOutcome;
}

/** Waits before an unavailable worker is called again; the last one repeats. */
const OUTAGE_WAITS_MS = [30_000, 60_000, 120_000, 300_000] as const;

/** Failures that concern one call only. Any other failure (no network, no key, no credit) is an outage: the training waits. */
const FAILURES_OF_ONE_CALL: ReadonlySet<string> = new Set(['invalid-request', 'context-overflow', 'too-large', 'invalid-response']);

/**
 * Runs sampled plans as Solve does: each is a run in the journal whose plan is given; its steps are paid for and recorded, its answer is
 * judged. A rollout that an earlier process left goes on where it stopped; one that has ended is only read.
 */
export class RolloutRunner {
  readonly #options: RolloutRunnerOptions;
  readonly #slots: Slots;
  readonly #scope: BudgetScope;
  /** Answers under way, by their keys in the cache. */
  readonly #asked = new Map<string, Promise<ModelReply>>();

  constructor(options: RolloutRunnerOptions) {
    this.#options = options;
    this.#slots = new Slots(options.parallel);
    this.#scope = {
      name: options.scope,
      get limitUsd() {
        return options.budget().usd;
      },
      get limitTokens() {
        return options.budget().tokens;
      },
    };
  }

  /** What this training has spent in all processes: dollars, tokens, and tokens of workers without a known price. */
  get spent(): { readonly usd: number; readonly tokens: number; readonly unpricedTokens: number } {
    const { budget } = this.#options.journal;
    return { ...budget.spent(this.#scope.name), unpricedTokens: budget.spent(unpricedScope(this.#scope).name).tokens };
  }

  /**
   * The outcomes of a group's plans, in order.
   * @throws TrainingBudgetError; the signal's reason, when everything under way has ended; the journal's errors
   */
  async run(
    task: Task, pool: readonly WorkerConfig[], plans: readonly SampledPlan[], at: GroupPlace, signal: AbortSignal,
  ): Promise<readonly RolloutOutcome[]> {
    // The first rollout that cannot go on ends the others.
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const outcomes = await Promise.allSettled(plans.map(async (plan) => {
      await this.#slots.take(either);
      try {
        return await this.#rollout(this.#runId(at, plan), { task, pool, plan, at, signal: either });
      } catch (error) {
        failed.abort(error);
        throw error;
      } finally {
        this.#slots.giveBack();
      }
    }));
    await this.#options.journal.onDisk();
    signal.throwIfAborted();
    if (failed.signal.aborted) throw failed.signal.reason;
    return outcomes.map((settled) => (settled as PromiseFulfilledResult<RolloutOutcome>).value);
  }

  /** The rounds of a plan that has run, for the Conductor to revise; none where it has no answer. */
  pastRounds(at: GroupPlace, plan: Pick<SampledPlan, 'sample' | 'revises'>): readonly PastRound[] {
    const { rounds = [] } = this.#options.journal.snapshot(this.#runId(at, plan)) ?? {};
    return rounds.flatMap((round) => (round.answer ? [pastRound(round)] : []));
  }

  #runId({ step, place }: GroupPlace, { sample, revises }: Pick<SampledPlan, 'sample' | 'revises'>): string {
    return `${this.#options.name}.${step}.${place}.${sample}${revises ? `.revised${revises.length > 1 ? revises.length : ''}` : ''}`;
  }

  async #rollout(runId: string, rollout: RolloutRequest): Promise<RolloutOutcome> {
    let recorder = this.#begin(runId, rollout);
    let internal: unknown;
    const explain = (error: unknown): Failure => {
      const failure = failureOf(error);
      if (failure.kind === 'internal') internal = error;
      return failure;
    };
    for (let waits = 0; ; waits += 1) {
      if (!isOver(recorder.snapshot.state)) await this.#driver(recorder, rollout, explain).drive();
      const { state, failure, message = '', stoppedBy: by = 'usd', needed = 0 } = recorder.snapshot;
      if (failure?.kind === 'internal') throw internal ?? new Error(message);
      if (state === 'stopped') throw new TrainingBudgetError(message, { by, limit: this.#options.budget()[by] ?? 0, needed });
      if (state === 'completed' || failure === undefined || !isOutage(recorder.snapshot, failure)) break;
      const { onWaiting } = this.#options;
      onWaiting(message);
      await this.#options.delay(OUTAGE_WAITS_MS[Math.min(waits, OUTAGE_WAITS_MS.length - 1)] as number, rollout.signal);
      onWaiting(undefined);
      recorder = this.#goOn(this.#options.journal.read(runId), rollout);
    }
    const outcome = await outcomeOf(recorder.snapshot, rollout);
    // Its events are announced before its outcome.
    await this.#options.journal.onDisk();
    this.#announce(rollout, recorder.snapshot, outcome);
    return outcome;
  }

  #announce({ at, plan }: RolloutRequest, run: RunSnapshot, outcome?: RolloutOutcome): void {
    this.#options.onRollout?.({ at, plan, run, ...(outcome && { outcome }) });
  }

  #begin(runId: string, rollout: RolloutRequest): RunRecorder {
    const { task, pool, plan: { sample, completion, revises } } = rollout;
    const { journal, kind, planner } = this.#options;
    const events = journal.read(runId);
    const planned = events.find(({ event }) => event.type === 'plan.proposed' || event.type === 'plan.rejected')?.event;
    if (planned && 'text' in planned && planned.text !== (revises?.[0] ?? completion).text) {
      throw new Error(`The journal has another rollout "${runId}": give this training a name of its own.`);
    }
    if (events.length > 0) {
      const snapshot = snapshotOf(events);
      return snapshot.state === 'completed' || isUnreadable(snapshot) ? this.#recorder(snapshot, rollout) : this.#goOn(events, rollout);
    }
    const policy: PolicySnapshot = { kind: 'local', worker: planner, model: planner.model, promptVersion: profileOf(planner).version };
    const accepted = journal.transactionSoon(() => journal.accept(runId, {
      type: 'run.accepted',
      kind,
      taskId: task.id,
      parentId: this.#options.name,
      seed: sample,
      ...('base' in task && { countsAs: { project: task.installed, kind: readQuestion(task.question).kind } }),
      request: runRequestSchema.parse({
        question: task.question,
        rounds: 1 + (revises?.length ?? 0),
        ...('base' in task && { workspace: task.base, testCommand: task.testCommand, testRunner: task.testRunner }),
      }),
      pool: [...pool],
      policy,
      budget: this.#limitsOfRun(),
    }));
    return this.#recorder(snapshotOf([accepted]), rollout);
  }

  /** Continues a run that was interrupted, or that failed because of an outage. */
  #goOn(events: readonly StoredEvent[], rollout: RolloutRequest): RunRecorder {
    const recorder = this.#recorder(snapshotOf(events), rollout);
    // The training's limits may have changed since the run started.
    recorder.record([...lostAttempts(events), { type: 'run.resumed', reason: 'restart', budget: this.#limitsOfRun() }], { closeAbandoned: true });
    return recorder;
  }

  #limitsOfRun(): Budget {
    const { runUsd, runTokens, dayUsd, dayTokens } = this.#options.budget();
    return { runUsd, runTokens, dayUsd, dayTokens };
  }

  #recorder(run: RunSnapshot, rollout: RolloutRequest): RunRecorder {
    const { journal } = this.#options;
    const append = (events: readonly RunEvent[], effects?: AppendEffects): StoredEvent[] => {
      const written = (): StoredEvent[] => journal.append(run.runId, events, effects);
      // As in Solve (decisions/0029): only what is reserved has to be on disk at once.
      return effects?.reserve ? journal.transaction(written) : journal.transactionSoon(written);
    };
    return new RunRecorder(run, { append, whenOnDisk: (told) => journal.whenOnDisk(told) }, {
      onEvent: ({ event: { type } }, now) => {
        if (type === 'plan.proposed' || type === 'plan.rejected' || type === 'run.resumed') this.#announce(rollout, now);
      },
      onText: () => {},
    });
  }

  #driver(recorder: RunRecorder, rollout: RolloutRequest, explain: (error: unknown) => Failure): RunDriver {
    const { task, signal } = rollout;
    const { journal, hands, now, ablations = [] } = this.#options;
    const checker = 'base' in task ? checkerOf(task) : NO_CHECKER;
    return new RunDriver({
      recorder,
      ledger: new RunLedger({ run: recorder.snapshot, budget: journal.budget, now, training: this.#scope }),
      call: this.#call(rollout),
      gatherContext: async () => contextOf(task),
      checker,
      ...('base' in task && { taskBase: { installed: task.installed, baseEdits: task.baseEdits } }),
      ...(hands && {
        workOf: (_worker, place) => (handsOf(place.run, place.step.worker) ? workWithHands({ ...hands, checker }, place) : ONE_CALL),
      }),
      failureOf: explain,
      planTries: 1,
      ablate: (plan) => ablations.reduce((changed, name) => ablation(name, 0).change(changed), plan),
      everyRound: true,
      confirmUnsandboxed: async () => false,
      signal,
    });
  }

  /** Calls workers as Solve does. An answer to the same messages for the same sample, or for the same group, is never paid for twice. */
  #call({ at, plan: { sample, completion, revises } }: Pick<RolloutRequest, 'at' | 'plan'>): RunCall {
    const { caller, prices, keys, clientModel, answers, scope, sharedAnswers } = this.#options;
    const plans = [...revises ?? [], completion];
    const unpaid = (worker: WorkerConfig, { usage }: ModelReply): AttemptSpent => ({ usage, cost: costOf(worker, usage, prices), durationMs: 0 });
    return async (worker, request, { ledger, attempts, signal }) => {
      if (attempts.purpose.kind === 'plan') {
        // The plan is sampled already: no model is called, and none has to be free.
        const { text, finishReason, promptTokens, tokens } = plans[attempts.round] ?? completion;
        const usage = localUsage({ promptTokenIds: promptTokens, tokenIds: tokens });
        const reply: ModelReply = { text, finishReason, usage, model: worker.model };
        attempts.remembered(reply, unpaid(worker, reply));
        return reply;
      }
      const ask = (): Promise<ModelReply> => whenBudgetAllows(async () => {
        const { reply } = await caller.call(worker, request, { ledger, attempts, keys, clientModel, signal, onText: attempts.onText, onAct: attempts.onAct });
        return reply;
      }, signal);
      // What an agent did is in its copy, and not in its reply.
      if (request.place) return await ask();
      // As it is sent: the comparison may ask a worker with other settings than the training.
      const sampleIndex = sharedAnswers === undefined || isFree(worker) ? sample : at.step % sharedAnswers;
      const question = { worker, request: requestFor(worker, request), sampleIndex, scope };
      const key = answerKey(question);
      // The plan that asks first pays; if its call fails, the next one asks.
      for (let other = this.#asked.get(key); other; other = this.#asked.get(key)) await unlessAborted(other.then(() => {}, () => {}), signal);
      const known = answers.get(question);
      if (known) {
        attempts.remembered(known, unpaid(worker, known));
        return known;
      }
      const asked = ask().then((reply) => {
        answers.set(question, reply);
        return reply;
      }).finally(() => this.#asked.delete(key));
      this.#asked.set(key, asked);
      return await asked;
    };
  }
}

interface RolloutRequest {
  readonly task: Task;
  readonly pool: readonly WorkerConfig[];
  readonly plan: SampledPlan;
  readonly at: GroupPlace;
  readonly signal: AbortSignal;
}

function checkerOf({ checker, testRunner }: ProjectTask): Checker {
  return {
    ...checker,
    findTestCommands: async () => [],
    runnerOf: async () => testRunner,
  };
}

const NO_CHECKER: Checker = {
  findTestCommands: async () => [],
  runnerOf: async () => undefined,
  sandboxAvailability: async () => ({ available: false }),
  parsePatch: () => Promise.reject(new Error('A task without a project has no files to change.')),
  verify: () => Promise.reject(new Error('A task without a project has no tests to run.')),
};

function contextOf(task: Task): Awaited<ReturnType<RunDriverOptions['gatherContext']>> {
  const shown = 'base' in task ? task.shown : [];
  const pieces = shown.map((path) => ({ path, startLine: 1, endLine: 0, reason: 'the task\'s', tokens: 0 }));
  return { pieces, leftOut: [], tokens: 0, text: task.context };
}

/** The given text is not a valid plan; another try cannot change that. */
const isUnreadable = ({ rounds }: RunSnapshot): boolean => rounds.some(({ rejections }) => rejections.length > 0);

/** Whether the failure is independent of the plan and can pass. */
function isOutage(run: RunSnapshot, { kind }: Failure): boolean {
  return !isUnreadable(run) && !FAILURES_OF_ONE_CALL.has(kind);
}

async function outcomeOf(run: RunSnapshot, { task, signal }: RolloutRequest): Promise<RolloutOutcome> {
  if (isUnreadable(run)) return { kind: 'unparseable' };
  const steps = run.rounds.at(-1)?.steps ?? [];
  const costUsd = steps.reduce((sum, { spent }) => sum + spent.usd, 0);
  const tokens = steps.reduce((sum, { spent }) => sum + totalTokens(spent.usage), 0);
  // The last round counts, even if an earlier one scored better: it is the one that was sampled.
  const answer = answerOf({ ...run, answerRound: run.rounds.findLastIndex((round) => round.answer !== undefined) });
  if (!answer) return { kind: 'infrastructure' };
  // An answer without permitted changes was not tested: it solves nothing.
  const untested = { verified: false, score: 0, outcome: 'failed' } as const;
  const grade = 'grader' in task ? await task.grader.grade({ answer: answer.text, signal }) : (answer.round.verdict ?? untested);
  if (grade.outcome === 'infrastructure') return { kind: 'infrastructure' };
  return { kind: 'judged', verified: grade.verified, ...(passesOnly(grade) && { passes: true }), score: grade.score, costUsd, tokens };
}
