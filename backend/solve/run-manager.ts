import { randomBytes } from 'node:crypto';
import { profileOf } from '../conductor/prompt-profile.ts';
import { readQuestion } from '../conductor/question/read-question.ts';
import type { ContextRequest, GatheredContext } from '../context/context.ts';
import { JournalUnavailableError } from '../journal/errors.ts';
import type { Journal } from '../journal/journal.ts';
import type { RunSummary } from '../protocol/methods.ts';
import type { RunEvent, RunEventOf, StoredEvent } from '../protocol/run-events.ts';
import type { Conversation } from '../protocol/conversation.ts';
import { PictureError, takenPictures } from '../protocol/pictures.ts';
import { NO_USAGE } from '../protocol/token-counts.ts';
import { runRequestSchema, type RunRequest } from '../protocol/run-request.ts';
import { snapshotOf } from '../protocol/fold-run.ts';
import { isOver, type RunSnapshot } from '../protocol/run-snapshot.ts';
import { isTrained, type WorkerConfig, type WorkersFile } from '../protocol/worker-config.ts';
import type { WorkerRecord } from '../protocol/worker-record.ts';
import type { WorkEstimate } from '../protocol/work-estimate.ts';
import { recordBook, workerRecords } from '../records/worker-records.ts';
import { usesRecords } from '../records/uses-records.ts';
import type { RawPlan } from '../workflow/validate-plan.ts';
import type { WorkerCaller } from '../workers/call-worker.ts';
import { ActiveRuns, LEASE_TTL_MS, type ActiveRunsOptions, type Decision } from './active-runs.ts';
import { admit } from './admit.ts';
import { isInProject } from './asked-question.ts';
import { castRun, type Casting } from './cast-run.ts';
import type { Checker } from './checker.ts';
import type { Clients } from './clients.ts';
import { RunNotFoundError, RunRefusedError } from './errors.ts';
import { followsEarlier, verdictDecision } from './failed-before.ts';
import { readEarlier } from './follow-up/read-earlier.ts';
import { keptContext, keptOnRetry, type StepPlace } from './kept-events.ts';
import type { Cast, CastSources } from './run-pool.ts';
import { approval, checkedPlan, plannedSteps, waitingPlan } from './plan-review.ts';
import { planningRecords } from './planning-records.ts';
import { RunReader } from './run-reader.ts';
import type { Supply } from './work-with-needs.ts';
import type { AgainRequest, FailedBeforeDecision, PlanApproval, PlanRefusal, RunListener, RunQuestions, RunService } from './run-service.ts';

export interface RunManagerOptions {
  readonly journal: Journal;
  readonly clients: Clients;
  readonly caller: WorkerCaller;
  readonly checker: Checker;
  readonly gatherContext: (request: ContextRequest) => Promise<GatheredContext>;
  /** Gives a step the code that it asks for. */
  readonly supply: Supply;
  /** Private copies for workers with hands; absent where there are none to be had. */
  readonly hands?: ActiveRunsOptions['hands'];
  /** How the last step speaks in a conversation of another program. */
  readonly spoken?: ActiveRunsOptions['spoken'];
  /** How long a plan waits for the tests on the code as it is; see `BASE_WAIT_MS`. */
  readonly baseWaitMs?: number | undefined;
  /** Reads workers.json. @throws with a sentence that names the file and the field. */
  readonly loadWorkers: () => Promise<WorkersFile>;
  /** The worker with its price filled in, where one is known. */
  readonly priced: (worker: WorkerConfig) => WorkerConfig;
  /** The version of a local planner's adapter. */
  readonly adapterVersion: CastSources['adapterVersion'];
  /** The planner if no worker can plan. */
  readonly bundledConductor?: WorkerConfig | undefined;
  /** A question and simulated workers that can answer it, for people who have no worker yet. */
  readonly demonstration?: () => Promise<Demonstration>;
  /** Starts a simulated worker again that an earlier process began a demonstration with. */
  readonly awakenSimulated?: (worker: WorkerConfig) => Promise<void>;
  /** Name of this process as a holder of leases. */
  readonly holder: string;
  readonly now?: () => number;
  /** For errors that no run can report, such as a journal that cannot be written. */
  readonly log: (message: string) => void;
}

/** The question of the demonstration, and its workers. */
export interface Demonstration {
  readonly request: RunRequest;
  readonly workers: readonly WorkerConfig[];
  /** Id of the worker that plans; by default the bundled model. */
  readonly conductor?: string | undefined;
}

/** The origin of a run that repeats another one, or continues from one. */
interface Origin extends Pick<RunEventOf<'run.accepted'>, 'parentId' | 'retried' | 'records' | 'earlier' | 'conversation'> {
  readonly kept?: readonly RunEvent[];
}

/** The commands about runs: begins, repeats, cancels, resumes and removes them. */
export class RunManager implements RunService {
  readonly questions: RunQuestions;
  readonly #options: RunManagerOptions;
  readonly #now: () => number;
  readonly #active: ActiveRuns;
  #lookAgain: NodeJS.Timeout | undefined;
  #isClosing = false;
  /** Cancelled runs whose cancellation the journal could not take yet. */
  readonly #toCancel = new Set<string>();

  constructor(options: RunManagerOptions) {
    const { journal, clients, caller, checker, gatherContext, supply, hands, spoken, baseWaitMs, awakenSimulated, holder, log, now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    this.#active = new ActiveRuns({
      journal, clients, caller, checker, gatherContext, supply, hands, spoken, baseWaitMs, awakenSimulated, holder, log, now,
      onStalled: (runId, isCancelled) => {
        if (isCancelled) this.#toCancel.add(runId);
        this.#resumeLater();
      },
    });
    this.questions = new RunReader({
      snapshot: (runId) => this.snapshot(runId), clients, checker, gatherContext, journal,
      // Whoever it is, they do not depend on the question.
      castNext: async (workspace) => (await this.#cast(runRequestSchema.parse({ question: '?', workspace }), options.loadWorkers)).cast,
    });
  }

  start(request: RunRequest): Promise<string> {
    return this.#start(request, this.#options.loadWorkers);
  }

  async converse(asked: RunRequest, conversation: Conversation, { isPlanned }: { readonly isPlanned: boolean }): Promise<string> {
    const request = withCheckedPictures(asked);
    const cast = await this.#cast(request, this.#options.loadWorkers, { isPlanned });
    return this.#begin(request, cast, { conversation, kept: isPlanned ? [] : [givenPlan()] });
  }

  async demonstrate(): Promise<string> {
    const { demonstration, loadWorkers } = this.#options;
    const file = await loadWorkers();
    if (!demonstration) throw new RunRefusedError('This build of Conductor has no demonstration.');
    if (file.workers.some(({ enabled }) => enabled)) throw new RunRefusedError('There is a worker now, so nothing is simulated any more: ask it a question.');
    const { request, workers, conductor } = await demonstration();
    // The person's own workers do not take part: they could cost money.
    return this.#start(request, () => Promise.resolve({ ...file, workers: [...workers], conductor }));
  }

  async #start(asked: RunRequest, loadWorkers: () => Promise<WorkersFile>): Promise<string> {
    const request = withCheckedPictures(asked);
    const earlier = request.continues === undefined ? undefined : await readEarlier(this.snapshot(request.continues), request);
    return this.#begin(request, await this.#cast(request, loadWorkers), earlier && { earlier });
  }

  async retry(runId: string, place: StepPlace, raised: RunRequest['budget'] = {}): Promise<string> {
    const file = await this.#options.loadWorkers();
    const run = this.#ended(runId);
    if (!run.rounds[place.round]?.steps[place.step]) {
      throw new RunRefusedError(`Run "${runId}" has no step ${place.step + 1} in round ${place.round + 1}.`);
    }
    const { pool, policy, records, earlier } = run;
    const request = { ...run.request, budget: { ...run.request.budget, ...raised } };
    const cast: Cast = { pool, policy, budget: { ...file.budget, ...request.budget }, ...(!usesRecords(file) && { recordsOff: true }) };
    const refusal = await admit(request).then(() => undefined, (error: unknown) => error);
    return this.#begin(request, { cast, refusal }, {
      parentId: runId, retried: place, kept: keptOnRetry(this.events(runId, 0), place), ...(records && { records: [...records] }), ...(earlier && { earlier }),
    });
  }

  async remove(runId: string): Promise<void> {
    const { kind, state } = this.snapshot(runId);
    if (kind !== 'solve') throw new RunRefusedError(`Run "${runId}" belongs to a training, and is removed with it.`);
    if (!isOver(state)) throw new RunRefusedError(`Run "${runId}" is under way: wait for its end, or cancel it.`);
    await this.#active.released(runId);
    this.#options.journal.remove([runId]);
    this.#active.tellRemoved(runId);
  }

  async again(runId: string, { workers, conductor, trusted, reviewPlan, budget }: AgainRequest): Promise<string> {
    const { request: asked, earlier } = this.#ended(runId);
    const request = { ...asked, workers, conductor, trusted, reviewPlan, budget: { ...asked.budget, ...budget } };
    const cast = await this.#cast(request, this.#options.loadWorkers);
    return this.#begin(request, cast, { parentId: runId, kept: keptContext(this.events(runId, 0)), ...(earlier && { earlier }) });
  }

  /** @throws RunRefusedError for a run that is not over, or belongs to a training */
  #ended(runId: string): RunSnapshot {
    const run = this.snapshot(runId);
    if (run.kind !== 'solve') throw new RunRefusedError(`Run "${runId}" belongs to a training and cannot be asked again.`);
    if (!isOver(run.state)) throw new RunRefusedError(`Run "${runId}" is under way: wait for its end, or cancel it.`);
    return run;
  }

  /** @param origin the run that it repeats, with the events to keep, or what it continues from */
  async #begin(request: RunRequest, { cast, keys, refusal }: Casting, { kept = [], ...from }: Origin = {}): Promise<string> {
    const runId = `${this.#now().toString(36)}-${randomBytes(4).toString('hex')}`;
    const { journal, holder } = this.#options;
    // One transaction: if the process were killed after the first event, a refused run could not be resumed, and a repeated one would
    // pay again for what it keeps.
    // Where nobody plans and nothing judges, nobody needs to know what is asked for.
    const { kind, wants, wantsTests } = from.conversation && kept.length > 0 ? UNREAD : readQuestion(request.question, { inProject: isInProject({ kind: 'solve', request }) });
    const stored = journal.transactionSoon(() => {
      const accepted = journal.accept(runId, {
        type: 'run.accepted', kind: 'solve', ...this.#toldRecords(request, cast, kind), ...from, request, asks: { kind, wants, ...(wantsTests && { tests: true }) }, pool: [...cast.pool], policy: cast.policy,
        budget: cast.budget, ...(cast.recordsOff && { recordsOff: true }), ...(!from.conversation && this.#leftOut(request)),
      });
      const rest: RunEvent[] = refusal ? [{ type: 'run.failed', failure: this.#active.failureOf(refusal) }] : [...kept];
      if (!refusal) journal.leases.acquire(runId, holder, LEASE_TTL_MS);
      return [accepted, ...(rest.length > 0 ? journal.append(runId, rest) : [])];
    });
    journal.whenOnDisk((lost) => { if (lost === undefined) for (const event of stored) this.#active.tell(event); });
    const onDisk = journal.onDisk();
    if (!refusal) this.#active.drive(this.#active.recorder(snapshotOf(stored)), { patient: false, known: keys });
    await onDisk;
    return runId;
  }

  /**
   * What the Conductor is told of what tests said of the workers. They are journalled, so that the prompt of a run stays what it was. A
   * Conductor that was trained is told nothing: its trainings' prompts have no records (`train/rollouts/rollout-gatherer.ts`).
   */
  #toldRecords({ workspace }: RunRequest, { pool, policy: { worker: planner }, recordsOff }: Cast, kind: string): { records?: WorkerRecord[] } {
    if (recordsOff || workspace === undefined || !planner || isTrained(planner) || !profileOf(planner).isInstructed) return {};
    const records = workerRecords(recordBook(this.#options.journal), { project: workspace, kind }, pool);
    return records.length > 0 ? { records } : {};
  }

  #leftOut(request: RunRequest): { leftOut?: string[] } {
    const leftOut = request.workspace !== undefined && followsEarlier(request) ? this.leftOutTests(request.workspace) : [];
    return leftOut.length > 0 ? { leftOut } : {};
  }

  leftOutTests(workspace: string): string[] {
    return this.#options.journal.leftOutTests(workspace);
  }

  takeBackLeftOut(workspace: string, tests?: readonly string[]): number {
    return this.#options.journal.takeBackLeftOut(workspace, tests);
  }

  estimatePlan(runId: string, round: number, plan: RawPlan): WorkEstimate {
    const run = this.snapshot(runId);
    return this.#active.estimate(run, round, checkedPlan(run, plan));
  }

  approvePlan(runId: string, decision: PlanApproval): void {
    this.#decide(runId, (run) => approval(run, decision));
  }

  replan(runId: string, { round, attemptId, wish }: PlanRefusal): void {
    this.#decide(runId, (run) => {
      waitingPlan(run, round, attemptId);
      return [{ type: 'plan.discarded', round, ...(wish && { wish }) }];
    });
  }

  decideFailedBefore(runId: string, decision: FailedBeforeDecision): void {
    this.#decide(runId, (run) => verdictDecision(run, decision));
  }

  #decide(runId: string, decide: (run: RunSnapshot) => readonly Decision[]): void {
    if (this.#active.decide(runId, decide)) return;
    decide(this.snapshot(runId));
    throw new RunRefusedError(`Run "${runId}" is being taken up again: try it in a moment.`);
  }

  cancel(runId: string): void {
    if (this.#active.cancel(runId)) return;
    if (isOver(this.snapshot(runId).state)) return;
    this.#active.adopt(runId, { type: 'run.cancelled' });
    this.#options.journal.leases.release(runId, this.#options.holder);
  }

  stopStep(runId: string, place: StepPlace): void {
    this.#active.driver(runId).stopStep(place);
    this.#options.journal.commit();
  }

  tellStep(runId: string, place: StepPlace, text: string): void {
    this.#active.driver(runId).tellStep(place, text);
    this.#options.journal.commit();
  }

  async resume(runId: string, raised: RunRequest['budget'] = {}): Promise<void> {
    const { budget } = await this.#options.loadWorkers();
    const ending = this.#active.snapshot(runId);
    if (ending && isOver(ending.state)) await this.#active.released(runId);
    // No await from here on: of two clients that resume a run at the same time, the second finds it active.
    if (this.#active.has(runId)) return;
    const run = this.snapshot(runId);
    if (run.state === 'completed') throw new RunRefusedError(`Run "${runId}" has ended with an answer: ask again for another one.`);
    if (run.pool.length === 0) throw new RunRefusedError(`Run "${runId}" never had a worker: ask again.`);
    const limits = { ...budget, ...run.request.budget, ...raised };
    this.#active.drive(this.#active.adopt(runId, { type: 'run.resumed', reason: 'user', budget: limits }), { patient: false });
    this.#toCancel.delete(runId);
  }

  /**
   * Resumes every run that an ended process left under way, or that stopped because the journal could not be written. A run that
   * another process holds is tried again when its lease may have expired: by now the system may have given the id of the ended
   * process to another one, this one included, as containers do.
   */
  resumeUnfinished(): void {
    const { journal, log } = this.#options;
    try {
      for (const runId of journal.unfinished()) {
        if (!this.#active.has(runId)) this.#resumeUnfinished(runId);
      }
    } catch (error) {
      log(`Unfinished runs were not resumed: ${String(error)}`);
      if (error instanceof JournalUnavailableError) this.#resumeLater();
    }
  }

  #resumeUnfinished(runId: string): void {
    try {
      if (this.#toCancel.has(runId)) this.cancel(runId);
      else this.#active.drive(this.#active.adopt(runId, { type: 'run.resumed', reason: 'restart' }), { patient: true });
      this.#toCancel.delete(runId);
    } catch (error) {
      this.#options.log(`Run ${runId} was not resumed: ${error instanceof Error ? error.message : String(error)}`);
      if (error instanceof RunRefusedError || error instanceof JournalUnavailableError) this.#resumeLater();
    }
  }

  #resumeLater(): void {
    clearTimeout(this.#lookAgain);
    if (!this.#isClosing) this.#lookAgain = setTimeout(() => this.resumeUnfinished(), LEASE_TTL_MS).unref();
  }

  snapshot(runId: string): RunSnapshot {
    const run = this.#active.snapshot(runId) ?? this.#options.journal.snapshot(runId);
    if (!run) throw new RunNotFoundError(runId);
    return run;
  }

  events(runId: string, afterSeq: number): StoredEvent[] {
    if (!this.#options.journal.summary(runId)) throw new RunNotFoundError(runId);
    return this.#options.journal.read(runId, afterSeq);
  }

  list(filter: { workspace?: string | undefined; search?: string | undefined; limit: number }): RunSummary[] {
    return this.#options.journal.list({ ...filter, kind: 'solve' });
  }

  listen(listener: RunListener): () => void {
    return this.#active.listen(listener);
  }

  get activeRuns(): number {
    return this.#active.running;
  }

  /** Lets go of every run; each goes on when a backend next starts. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#lookAgain);
    await this.#active.close();
  }

  /** @param isPlanned false where nobody is asked for a plan: then nothing has to be known of earlier ones */
  #cast(request: RunRequest, loadWorkers: () => Promise<WorkersFile>, { isPlanned = true }: { readonly isPlanned?: boolean } = {}): Promise<Casting> {
    const { clients, priced, adapterVersion, hands, checker } = this.#options;
    return castRun(request, loadWorkers, {
      clients, priced, adapterVersion,
      hasHands: async () => hands !== undefined && request.workspace !== undefined && (await checker.sandboxAvailability(request.testImage)).available,
      bundledConductor: () => this.#options.bundledConductor,
      ...(isPlanned && { recordOf: planningRecords(this.#options.journal) }),
    });
  }
}

/** @throws RunRefusedError for a picture that no model takes */
function withCheckedPictures(request: RunRequest): RunRequest {
  if (!request.pictures || request.pictures.length === 0) return request;
  try {
    return { ...request, pictures: takenPictures(request.pictures) };
  } catch (error) {
    if (error instanceof PictureError) throw new RunRefusedError(error.message);
    throw error;
  }
}

const UNREAD = { kind: 'unclear', wants: 'any', wantsTests: false } as const;

/** The plan of a run whose only worker was named: nobody is asked for one. */
function givenPlan(): RunEventOf<'plan.proposed'> {
  const plan = { modelIds: [0], subtasks: ['Answer.'], accessList: [[]] };
  return { type: 'plan.proposed', round: 0, attemptId: '', text: '', ...plannedSteps(plan, 0), usage: NO_USAGE, cost: { usd: 0, estimated: false }, durationMs: 0 };
}
