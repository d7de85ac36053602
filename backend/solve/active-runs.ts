import { JournalUnavailableError, LeaseLostError } from '../journal/errors.ts';
import type { AppendEffects, Journal } from '../journal/journal.ts';
import { NO_LOCAL_RECORD } from '../protocol/local-first.ts';
import type { Failure, RunEvent, RunText, StoredEvent } from '../protocol/run-events.ts';
import { snapshotOf } from '../protocol/fold-run.ts';
import type { RunSummary } from '../protocol/methods.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import type { WorkerConfig } from '../protocol/worker-config.ts';
import type { WorkEstimate } from '../protocol/work-estimate.ts';
import { ALL_ALIKE, expectation, planValue, recordBook, type Expectation } from '../records/worker-records.ts';
import type { WorkerCaller } from '../workers/call-worker.ts';
import type { Plan } from '../workflow/plan.ts';
import { askClients } from './ask-clients.ts';
import { budgetWarnings } from './budget-warnings.ts';
import type { Checker } from './checker.ts';
import { chosenPlan } from './choose-plan.ts';
import type { Clients } from './clients.ts';
import { RunNotFoundError, RunRefusedError } from './errors.ts';
import { estimateWork } from './estimate-work.ts';
import type { VerdictDecision } from './failed-before.ts';
import { failureOf } from './failure.ts';
import { lostAttempts } from './lost-attempts.ts';
import type { PlanDecision } from './plan-review.ts';
import type { RunCall } from './round-driver.ts';
import { RunDriver, type RunDriverOptions } from './run-driver.ts';
import { RunKeys, waitingForKey, type RunKeysOptions } from './run-keys.ts';
import { dayScope, RunLedger, runScope } from './run-ledger.ts';
import { RunRecorder } from './run-recorder.ts';
import type { RunListener } from './run-service.ts';
import { handsOf } from './step-prompt.ts';
import { ONE_CALL, type StepWork, type WorkPlace } from './step-work.ts';
import { workWithHands, type HandsParts } from './work-with-hands.ts';
import { workWithNeeds, type Supply } from './work-with-needs.ts';

export interface ActiveRunsOptions {
  readonly journal: Journal;
  readonly clients: Clients;
  readonly caller: WorkerCaller;
  readonly checker: Checker;
  readonly gatherContext: RunDriverOptions['gatherContext'];
  readonly supply: Supply;
  /** Private copies for workers with hands; absent where there are none to be had. */
  readonly hands?: Omit<HandsParts, 'checker'> | undefined;
  /** How the last step speaks in a conversation of another program. Without it no such run begins. */
  readonly spoken?: ((place: WorkPlace) => StepWork) | undefined;
  readonly baseWaitMs?: number | undefined;
  /** Starts a simulated worker again that an earlier process began a demonstration with. */
  readonly awakenSimulated?: ((worker: WorkerConfig) => Promise<void>) | undefined;
  /** Name of this process as a holder of leases. */
  readonly holder: string;
  readonly now: () => number;
  /** For errors that no run can report, such as a journal that cannot be written. */
  readonly log: (message: string) => void;
  /** Called for a run that stands at its last event because the journal could not be written. `isCancelled`: it was about to end. */
  readonly onStalled: (runId: string, isCancelled: boolean) => void;
}

/** What a person decided about what a run waits with. */
export type Decision = PlanDecision | VerdictDecision;

/** Where the keys of a run come from. */
export type KeySourceOptions = Pick<RunKeysOptions, 'patient' | 'known'>;

interface ActiveRun {
  readonly recorder: RunRecorder;
  readonly driver: RunDriver;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

/** Older runs say little about a model that its provider may have changed, and about code that has changed. */
const RECORD_RUNS = 50;

export const LEASE_TTL_MS = 30_000;
const LEASE_RENEWAL_MS = 10_000;

class Cancelled extends Error {}
class Stopping extends Error {}

/** Events after which a list of runs looks different. */
const LISTED: ReadonlySet<RunEvent['type']> = new Set([
  'run.accepted', 'run.resumed', 'run.waiting', 'plan.proposed', 'plan.held', 'plan.approved', 'plan.discarded', 'verify.completed',
  'verdict.held', 'verdict.decided', 'run.stopped', 'run.completed', 'run.failed', 'run.cancelled',
]);

/** The runs that this process works on: each holds a lease, is driven to its end, and reports what happens to the listeners. */
export class ActiveRuns {
  readonly #options: ActiveRunsOptions;
  readonly #active = new Map<string, ActiveRun>();
  readonly #listeners = new Set<RunListener>();

  constructor(options: ActiveRunsOptions) {
    this.#options = options;
  }

  has(runId: string): boolean {
    return this.#active.has(runId);
  }

  /** With the text that is streaming at the moment; undefined for a run that nothing works on. What it holds is on disk. */
  snapshot(runId: string): RunSnapshot | undefined {
    this.#options.journal.commit();
    return this.#active.get(runId)?.recorder.snapshot;
  }

  /**
   * Records what a person decided about what waits; the run goes on by it.
   * @param decide the events, from the run as it is; its error is thrown
   * @returns whether this process works on the run
   */
  decide(runId: string, decide: (run: RunSnapshot) => readonly Decision[]): boolean {
    const active = this.#active.get(runId);
    if (!active || active.controller.signal.aborted) return false;
    active.recorder.record(decide(active.recorder.snapshot));
    this.#options.journal.commit();
    return true;
  }

  /** What the steps of a plan are expected to take. */
  estimate(run: RunSnapshot, round: number, plan: Plan): WorkEstimate {
    const { journal, now } = this.#options;
    const { runId, request: { workspace }, budget } = run;
    const [ofRun, ofDay] = [runScope(runId, budget), dayScope(budget, now())].map((scope) => {
      const { usd, tokens } = journal.budget.spent(scope.name);
      return { usd: (scope.limitUsd ?? Infinity) - usd, tokens: (scope.limitTokens ?? Infinity) - tokens };
    }) as [WorkEstimate['left'], WorkEstimate['left']];
    const left = { usd: Math.max(0, Math.min(ofRun.usd, ofDay.usd)), tokens: Math.max(0, Math.min(ofRun.tokens, ofDay.tokens)) };
    return estimateWork(run, round, plan, journal.paidSteps(workspace, RECORD_RUNS), left);
  }

  /** Resolves when this process has let go of the run. */
  async released(runId: string): Promise<void> {
    await this.#active.get(runId)?.done;
  }

  /** Runs that go on by themselves; one that waits for a person is not among them. */
  get running(): number {
    return [...this.#active.values()].filter(({ recorder }) => recorder.snapshot.state === 'running').length;
  }

  listen(listener: RunListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Who drives the run. @throws RunNotFoundError, RunRefusedError for a run that nothing works on */
  driver(runId: string): Pick<RunDriver, 'stopStep' | 'tellStep'> {
    const active = this.#active.get(runId);
    if (active) return active.driver;
    if (!this.#options.journal.summary(runId)) throw new RunNotFoundError(runId);
    throw new RunRefusedError(`Run "${runId}" is not under way.`);
  }

  /** @returns whether the run was active */
  cancel(runId: string): boolean {
    const active = this.#active.get(runId);
    active?.controller.abort(new Cancelled());
    return active !== undefined;
  }

  /** Lets go of every run; each goes on when a backend next starts. */
  async close(): Promise<void> {
    const active = [...this.#active.values()];
    for (const { controller } of active) controller.abort(new Stopping());
    await Promise.all(active.map(({ done }) => done));
  }

  /**
   * Takes a run over from the process that left it: its open attempts are closed in one transaction with the event by which the run goes on.
   * @throws RunRefusedError
   */
  adopt(runId: string, event: RunEvent): RunRecorder {
    const { journal, holder } = this.#options;
    if (!journal.summary(runId)) throw new RunNotFoundError(runId);
    if (!journal.leases.acquire(runId, holder, LEASE_TTL_MS)) {
      throw new RunRefusedError(`Run "${runId}" is being worked on by another process of Conductor.`);
    }
    const events = journal.read(runId);
    const recorder = this.recorder(snapshotOf(events));
    recorder.record([...lostAttempts(events), event], { closeAbandoned: true });
    journal.commit();
    return recorder;
  }

  /** Writes the events of a run whose lease this process holds. */
  recorder(run: RunSnapshot): RunRecorder {
    const { journal, holder } = this.#options;
    const append = (events: readonly RunEvent[], effects?: AppendEffects): StoredEvent[] => {
      const written = (): StoredEvent[] => {
        const stored = journal.append(run.runId, events, { ...effects, holder });
        // Only a payment can bring a limit nearer.
        const warnings = effects?.settle ? budgetWarnings(recorder.snapshot, journal.budget, this.#options.now()) : [];
        return warnings.length > 0 ? [...stored, ...journal.append(run.runId, warnings, { holder })] : stored;
      };
      // What is reserved is on disk before its request leaves. All else only has to be there before somebody hears of it.
      return effects?.reserve ? journal.transaction(written) : journal.transactionSoon(written);
    };
    const recorder = new RunRecorder(run, { append, whenOnDisk: (told) => journal.whenOnDisk(told) }, {
      onEvent: (event) => this.tell(event),
      onText: (text: RunText) => this.#listeners.forEach((listener) => listener.onText(text)),
      onLost: (error) => this.#active.get(run.runId)?.controller.abort(error),
    });
    return recorder;
  }

  tell(event: StoredEvent): void {
    let summary: RunSummary | undefined;
    const isListed = LISTED.has(event.event.type);
    for (const listener of this.#listeners) {
      listener.onEvent(event);
      if (!isListed || !listener.onChanged) continue;
      summary ??= this.#options.journal.summary(event.runId);
      if (summary) listener.onChanged(summary);
    }
  }

  tellRemoved(runId: string): void {
    for (const listener of this.#listeners) listener.onRemoved(runId);
  }

  /** The words for an error. An unexpected one is logged, too. */
  failureOf(error: unknown): Failure {
    const failure = failureOf(error);
    if (failure.kind === 'internal') this.#options.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return failure;
  }

  /** Drives a run whose lease this process holds. */
  drive(recorder: RunRecorder, keySource: KeySourceOptions): void {
    const { runId } = recorder.snapshot;
    const controller = new AbortController();
    const { journal, holder, log, onStalled } = this.#options;
    const renewal = setInterval(() => {
      try {
        if (!journal.leases.renew(runId, holder, LEASE_TTL_MS)) controller.abort(new LeaseLostError(runId));
      } catch (error) {
        // The lease still holds for a while. Without a lease the journal refuses writes to the run.
        log(`The lease of run ${runId} was not renewed: ${String(error)}`);
      }
    }, LEASE_RENEWAL_MS);
    const driver = this.#driver(recorder, controller.signal, keySource);
    const done = driver.drive()
      .catch((error: unknown) => {
        recorder.flush();
        if (error instanceof Cancelled) recorder.record([{ type: 'run.cancelled' }]);
        else if (!(error instanceof Stopping)) throw error;
      })
      // In one commit with the last event.
      .then(() => journal.leases.release(runId, holder))
      .catch((error: unknown) => {
        log(`Run ${runId} was left as it stands: ${String(error)}`);
        if (error instanceof JournalUnavailableError) onStalled(runId, controller.signal.reason instanceof Cancelled);
        try {
          journal.leases.release(runId, holder);
        } catch (failed) {
          // The lease ends by itself.
          log(`The lease of run ${runId} was not released: ${String(failed)}`);
        }
      })
      .finally(() => {
        clearInterval(renewal);
        // A call may still be in progress, and nothing would use its answer.
        controller.abort(new Stopping());
        this.#active.delete(runId);
      });
    this.#active.set(runId, { recorder, driver, controller, done });
  }

  #driver(recorder: RunRecorder, signal: AbortSignal, keySource: KeySourceOptions): RunDriver {
    const { journal, clients, caller, checker, gatherContext, supply, hands, spoken, baseWaitMs, awakenSimulated } = this.#options;
    const { runId, request: { workspace }, conversation } = recorder.snapshot;
    const keys = new RunKeys({ ...keySource, clients, signal, onWaiting: (name) => recorder.waiting('secret', waitingForKey(name, 'conductor runs resume')) });
    const call: RunCall = async (worker, request, { ledger, attempts, signal: callSignal }) => {
      if (worker.simulated) await awakenSimulated?.(worker);
      const { reply } = await caller.call(worker, request, {
        ledger, attempts, keys, clientModel: (modelCall) => clients.model(modelCall), signal: callSignal, onText: attempts.onText, onAct: attempts.onAct,
      });
      return reply;
    };
    const expected = (): Expectation => {
      const { asks, recordsOff } = recorder.snapshot;
      return recordsOff ? ALL_ALIKE : expectation(recordBook(journal), { project: workspace, kind: asks?.kind });
    };
    return new RunDriver({
      recorder,
      ledger: new RunLedger({ run: recorder.snapshot, budget: journal.budget, now: this.#options.now }),
      call,
      verifiedCost: (run) => (run.request.workspace === undefined ? undefined : journal.verifiedCost(run.request.workspace, run)),
      estimateOf: (run, round, plan) => this.estimate(run, round, plan),
      gatherContext,
      ...(workspace !== undefined && {
        workOf: (_worker, place) => (hands && handsOf(place.run, place.step.worker) ? workWithHands({ ...hands, checker }, place) : workWithNeeds(workspace, supply, place.files)),
      }),
      ...(conversation && { workOf: (_worker, place) => (spoken && isLastStep(place) ? spoken(place) : ONE_CALL) }),
      triesBy: () => ({
        expected: expected(),
        tries: workspace === undefined ? NO_LOCAL_RECORD : journal.localTries(workspace, runId),
      }),
      standInsBy: expected,
      planBy: (run, round, plan) => chosenPlan(run, round, plan, () => planValue(journal)),
      checker,
      failureOf: (error) => this.failureOf(error),
      baseWaitMs,
      confirmUnsandboxed: ({ reason, remedy, command }) => askClients({
        clients,
        signal,
        ask: () => clients.confirm({
          title: 'Run the project\'s tests without a sandbox?',
          detail: `The answer is code that a model wrote, and no sandbox can be had here.\n${reason}\nThe command is: ${command}`,
          accept: 'Run Without Sandbox',
          remedy,
          workspace: recorder.snapshot.request.workspace,
          runId,
        }, signal),
        onNobody: () => recorder.waiting('confirmation', 'Waiting for somebody to say whether the tests may run without a sandbox.'),
      }),
      signal,
    });
  }
}

/** Whether the step gives the answer. */
function isLastStep({ run, round, step }: WorkPlace): boolean {
  return step.index + 1 === run.rounds[round]?.steps.length;
}
