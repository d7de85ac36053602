import { randomBytes } from 'node:crypto';
import type { ContextRequest, GatheredContext } from '../context/context.ts';
import { LeaseLostError } from '../journal/errors.ts';
import type { AppendEffects, Journal } from '../journal/journal.ts';
import type { FileEdit, ModelMessage, RunFileFormat, RunSummary } from '../protocol/methods.ts';
import type { Failure, RunEvent, RunEventOf, RunText, StoredEvent } from '../protocol/run-events.ts';
import type { RunRequest } from '../protocol/run-request.ts';
import { answerOf, isOver, snapshotOf, type RunSnapshot } from '../protocol/run-snapshot.ts';
import type { FoundTests, TestCommand } from '../protocol/test-command.ts';
import { budgetSchema, type WorkerConfig, type WorkersFile } from '../protocol/worker-config.ts';
import type { WorkerCaller } from '../workers/call-worker.ts';
import { admit } from './admit.ts';
import { askClients } from './ask-clients.ts';
import { budgetWarnings } from './budget-warnings.ts';
import type { Checker } from './checker.ts';
import type { Clients } from './clients.ts';
import { RunNotFoundError, RunRefusedError } from './errors.ts';
import { exportedRun } from './export/exported-run.ts';
import { runMarkdown } from './export/run-markdown.ts';
import { failureOf, RunError } from './failure.ts';
import { keptContext, keptOnRetry, type StepPlace } from './kept-events.ts';
import { lostAttempts } from './lost-attempts.ts';
import { contextRequestOf, RunDriver, shownFiles, type RunCall } from './run-driver.ts';
import { planPromptOf } from './plan-prompt.ts';
import { RunKeys, waitingForKey, type RunKeysOptions } from './run-keys.ts';
import { RunLedger } from './run-ledger.ts';
import { castFor, emptyCast, type Cast, type CastSources } from './run-pool.ts';
import { RunRecorder } from './run-recorder.ts';
import type { AgainRequest, ContextPreview, RunListener, RunService } from './run-service.ts';
import { promptOf } from './step-prompt.ts';
import { judgingCommand } from './test-command.ts';

export interface RunManagerOptions {
  readonly journal: Journal;
  readonly clients: Clients;
  readonly caller: WorkerCaller;
  readonly checker: Checker;
  readonly gatherContext: (request: ContextRequest) => Promise<GatheredContext>;
  /** Reads workers.json afresh. @throws with a sentence that names the file and the field. */
  readonly loadWorkers: () => Promise<WorkersFile>;
  /** The worker with its price filled in, where one is known. */
  readonly priced: (worker: WorkerConfig) => WorkerConfig;
  /** Of a worker of this machine that plans. */
  readonly adapterVersion: CastSources['adapterVersion'];
  /** Plans where workers.json names nobody. */
  readonly bundledConductor?: WorkerConfig | undefined;
  /** A question and simulated workers that can answer it, for people who have no worker yet. */
  readonly demonstration?: () => Promise<Demonstration>;
  /** Has a simulated worker answer again that an earlier process began a demonstration with. */
  readonly awakenSimulated?: (worker: WorkerConfig) => Promise<void>;
  /** Name of this process as a holder of leases. */
  readonly holder: string;
  readonly now?: () => number;
  /** For errors that no run can tell of, such as a journal that cannot be written. */
  readonly log: (message: string) => void;
}

/** What is asked while nobody has a worker yet, and who answers. */
export interface Demonstration {
  readonly request: RunRequest;
  readonly workers: readonly WorkerConfig[];
  /** Id of one of them that plans; absent: whoever plans where nobody is named. */
  readonly conductor?: string | undefined;
}

/** Who takes part, with the keys that were there, or why nobody can. */
interface Casting {
  readonly cast: Cast;
  readonly keys?: ReadonlyMap<string, string>;
  readonly refusal?: unknown;
}

/** The run that another one comes from. */
interface Origin extends Pick<RunEventOf<'run.accepted'>, 'parentId' | 'retried'> {
  readonly kept?: readonly RunEvent[];
}

/** A run that is being worked on in this process. */
interface ActiveRun {
  readonly recorder: RunRecorder;
  readonly controller: AbortController;
  readonly done: Promise<void>;
}

const LEASE_TTL_MS = 30_000;
const LEASE_RENEWAL_MS = 10_000;

class Cancelled extends Error {}
class Stopping extends Error {}

/** Events after which a list of runs looks different. */
const LISTED: ReadonlySet<RunEvent['type']> = new Set([
  'run.accepted', 'run.resumed', 'run.waiting', 'plan.proposed', 'verify.completed', 'run.stopped', 'run.completed', 'run.failed',
  'run.cancelled',
]);

/** All runs of this process: begins them, drives them, resumes what an earlier process left, and tells whoever listens. */
export class RunManager implements RunService {
  readonly #options: RunManagerOptions;
  readonly #now: () => number;
  readonly #active = new Map<string, ActiveRun>();
  readonly #listeners = new Set<RunListener>();
  #lookAgain: NodeJS.Timeout | undefined;

  constructor(options: RunManagerOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  start(request: RunRequest): Promise<string> {
    return this.#start(request, this.#options.loadWorkers);
  }

  async demonstrate(): Promise<string> {
    const { demonstration, loadWorkers } = this.#options;
    const file = await loadWorkers();
    if (!demonstration) throw new RunRefusedError('This build of Conductor has no demonstration.');
    if (file.workers.some(({ enabled }) => enabled)) throw new RunRefusedError('There is a worker now, so nothing is simulated any more: ask it a question.');
    const { request, workers, conductor } = await demonstration();
    // Nobody of the person's own takes part, whoever workers.json names: that could cost something.
    return this.#start(request, () => Promise.resolve({ ...file, workers: [...workers], conductor }));
  }

  async #start(request: RunRequest, loadWorkers: () => Promise<WorkersFile>): Promise<string> {
    return this.#begin(request, await this.#cast(request, loadWorkers));
  }

  async retry(runId: string, place: StepPlace, raised: RunRequest['budget'] = {}): Promise<string> {
    const { budget } = await this.#options.loadWorkers();
    const run = this.#ended(runId);
    if (!run.rounds[place.round]?.steps[place.step]) {
      throw new RunRefusedError(`Run "${runId}" has no step ${place.step + 1} in round ${place.round + 1}.`);
    }
    const { pool, policy } = run;
    const request = { ...run.request, budget: { ...run.request.budget, ...raised } };
    const cast: Cast = { pool, policy, budget: { ...budget, ...request.budget } };
    const refusal = await admit(request).then(() => undefined, (error: unknown) => error);
    return this.#begin(request, { cast, refusal }, { parentId: runId, retried: place, kept: keptOnRetry(this.events(runId, 0), place) });
  }

  async remove(runId: string): Promise<void> {
    const { kind, state } = this.snapshot(runId);
    if (kind !== 'solve') throw new RunRefusedError(`Run "${runId}" belongs to a training, and is removed with it.`);
    if (!isOver(state)) throw new RunRefusedError(`Run "${runId}" is under way: wait for its end, or cancel it.`);
    await this.#active.get(runId)?.done;
    this.#options.journal.remove([runId]);
    for (const listener of this.#listeners) listener.onRemoved(runId);
  }

  async again(runId: string, { workers, conductor, trusted, budget }: AgainRequest): Promise<string> {
    const { request: asked } = this.#ended(runId);
    const request = { ...asked, workers, conductor, trusted, budget: { ...asked.budget, ...budget } };
    const cast = await this.#cast(request, this.#options.loadWorkers);
    return this.#begin(request, cast, { parentId: runId, kept: keptContext(this.events(runId, 0)) });
  }

  /** @throws RunRefusedError for a run that goes on, or was not asked by a person */
  #ended(runId: string): RunSnapshot {
    const run = this.snapshot(runId);
    if (run.kind !== 'solve') throw new RunRefusedError(`Run "${runId}" belongs to a training and cannot be asked again.`);
    if (!isOver(run.state)) throw new RunRefusedError(`Run "${runId}" is under way: wait for its end, or cancel it.`);
    return run;
  }

  /** @param origin the run that it comes from, with what it keeps of that one */
  #begin(request: RunRequest, { cast, keys, refusal }: Casting, { kept = [], ...from }: Origin = {}): string {
    const runId = `${this.#now().toString(36)}-${randomBytes(4).toString('hex')}`;
    const { journal, holder } = this.#options;
    // One transaction: killed after the first event, a refused run would be one that nobody can resume, and another would pay for what it
    // has to keep.
    const stored = journal.transaction(() => {
      const accepted = journal.accept(runId, {
        type: 'run.accepted', kind: 'solve', ...from, request, pool: [...cast.pool], policy: cast.policy, budget: cast.budget,
      });
      const rest: RunEvent[] = refusal ? [{ type: 'run.failed', failure: this.#failureOf(refusal) }] : [...kept];
      if (!refusal) journal.leases.acquire(runId, holder, LEASE_TTL_MS);
      return [accepted, ...journal.append(runId, rest)];
    });
    for (const event of stored) this.#tell(event);
    if (!refusal) this.#drive(this.#recorder(snapshotOf(stored)), { patient: false, known: keys });
    return runId;
  }

  cancel(runId: string): void {
    const active = this.#active.get(runId);
    if (active) return active.controller.abort(new Cancelled());
    if (isOver(this.snapshot(runId).state)) return;
    this.#adopt(runId, { type: 'run.cancelled' });
    this.#options.journal.leases.release(runId, this.#options.holder);
  }

  async resume(runId: string, raised: RunRequest['budget'] = {}): Promise<void> {
    const { budget } = await this.#options.loadWorkers();
    const ending = this.#active.get(runId);
    if (ending && isOver(ending.recorder.snapshot.state)) await ending.done;
    // Nothing is awaited from here on: of two clients that resume a run at once, the second finds it under way.
    if (this.#active.has(runId)) return;
    const run = this.snapshot(runId);
    if (run.state === 'completed') throw new RunRefusedError(`Run "${runId}" has ended with an answer: ask again for another one.`);
    if (run.pool.length === 0) throw new RunRefusedError(`Run "${runId}" never had a worker: ask again.`);
    const limits = { ...budget, ...run.request.budget, ...raised };
    this.#drive(this.#adopt(runId, { type: 'run.resumed', reason: 'user', budget: limits }), { patient: false });
  }

  /**
   * Goes on with every run that an ended process left under way. One that somebody else holds is looked at again when its lease may
   * have ended: the system may by now have given the ended process's id to another, this one included, as containers do.
   */
  resumeUnfinished(): void {
    const { journal, log } = this.#options;
    let held = false;
    for (const runId of journal.unfinished()) {
      if (this.#active.has(runId)) continue;
      try {
        this.#drive(this.#adopt(runId, { type: 'run.resumed', reason: 'restart' }), { patient: true });
      } catch (error) {
        held ||= error instanceof RunRefusedError;
        log(`Run ${runId} was not resumed: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    clearTimeout(this.#lookAgain);
    if (held) this.#lookAgain = setTimeout(() => this.resumeUnfinished(), LEASE_TTL_MS).unref();
  }

  snapshot(runId: string): RunSnapshot {
    const run = this.#active.get(runId)?.recorder.snapshot ?? this.#options.journal.snapshot(runId);
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

  prompt(runId: string, round: number, step: number | undefined): ModelMessage[] {
    const run = this.snapshot(runId);
    const messages = step === undefined ? planPromptOf(run, round) : promptOf(run, round, step);
    if (!messages) {
      throw new RunRefusedError(step === undefined
        ? 'The Conductor has not been asked for this plan yet.'
        : 'The step has not been sent anything yet: what it reads is not there.');
    }
    return messages.map(({ role, content }) => ({ role, content }));
  }

  async export(runId: string, format: RunFileFormat): Promise<{ text: string; fileName: string }> {
    const run = this.snapshot(runId);
    const names = new Set([...run.pool, run.policy.worker].flatMap((worker) => worker?.key ?? []));
    const keys = await Promise.all([...names].map((name) => this.#options.clients.secret(name)));
    const exported = exportedRun(run, keys.flatMap((key) => key ?? []));
    return format === 'json'
      ? { text: `${JSON.stringify(exported, undefined, 2)}\n`, fileName: `conductor-${runId}.json` }
      : { text: runMarkdown(exported), fileName: `conductor-${runId}.md` };
  }

  async edits(runId: string): Promise<{ edits: FileEdit[]; refused: { path: string; reason: string }[] }> {
    const run = this.snapshot(runId);
    const answer = answerOf(run);
    if (!answer) throw new RunRefusedError(`Run "${runId}" has no answer yet.`);
    if (run.request.workspace === undefined) return { edits: [], refused: [] };
    const { edits, refused } = await this.#options.checker.parsePatch(answer.text, run.request.workspace, shownFiles(run));
    return { edits: [...edits], refused: [...refused] };
  }

  async previewContext(request: RunRequest, signal: AbortSignal): Promise<ContextPreview> {
    await admit(request);
    const { pieces, leftOut, tokens, text } = await this.#options.gatherContext(contextRequestOf({ request }, signal));
    const test = await judgingCommand(request, this.#options.checker);
    return { pieces, leftOut, tokens, text, testCommand: test?.command ?? null, testRunner: test?.runner };
  }

  findTests(workspace: string): Promise<readonly FoundTests[]> {
    return this.#options.checker.findTestCommands(workspace);
  }

  runnerOf(test: TestCommand, workspace: string): Promise<string | undefined> {
    return this.#options.checker.runnerOf(test, workspace);
  }

  listen(listener: RunListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get activeRuns(): number {
    return [...this.#active.values()].filter(({ recorder }) => recorder.snapshot.state === 'running').length;
  }

  /** Lets go of every run; each goes on when a backend next starts. */
  async close(): Promise<void> {
    clearTimeout(this.#lookAgain);
    const active = [...this.#active.values()];
    for (const { controller } of active) controller.abort(new Stopping());
    await Promise.all(active.map(({ done }) => done));
  }

  async #cast(
    request: RunRequest, loadWorkers: () => Promise<WorkersFile>,
  ): Promise<Casting> {
    const fallback = (budget = budgetSchema.parse({})): Cast => emptyCast({ ...budget, ...request.budget });
    const file = await loadWorkers().catch((error: unknown) => error as Error);
    if (file instanceof Error) return { cast: fallback(), refusal: new RunError('workers-file', file.message) };
    try {
      await admit(request);
      const keys = new Map<string, string>();
      const hasKey = async (name: string): Promise<boolean> => {
        const value = await this.#options.clients.secret(name);
        if (value) keys.set(name, value);
        return Boolean(value);
      };
      const { priced, bundledConductor, adapterVersion } = this.#options;
      return { cast: await castFor(request, { file, hasKey, priced, bundledConductor, adapterVersion }), keys };
    } catch (error) {
      return { cast: fallback(file.budget), refusal: error };
    }
  }

  /**
   * Takes a run over from whoever left it: what they left open is closed in one transaction with the event by which it goes on.
   * @throws RunRefusedError
   */
  #adopt(runId: string, event: RunEvent): RunRecorder {
    const { journal, holder } = this.#options;
    if (!journal.summary(runId)) throw new RunNotFoundError(runId);
    if (!journal.leases.acquire(runId, holder, LEASE_TTL_MS)) {
      throw new RunRefusedError(`Run "${runId}" is being worked on by another process of Conductor.`);
    }
    const events = journal.read(runId);
    const recorder = this.#recorder(snapshotOf(events));
    recorder.record([...lostAttempts(events), event], { closeAbandoned: true });
    return recorder;
  }

  #recorder(run: RunSnapshot): RunRecorder {
    const { journal, holder } = this.#options;
    const append = (events: readonly RunEvent[], effects?: AppendEffects): StoredEvent[] => journal.transaction(() => {
      const stored = journal.append(run.runId, events, { ...effects, holder });
      // Only what was paid can have brought a limit nearer.
      const warnings = effects?.settle ? budgetWarnings(recorder.snapshot, journal.budget, this.#now()) : [];
      return warnings.length > 0 ? [...stored, ...journal.append(run.runId, warnings, { holder })] : stored;
    });
    const recorder = new RunRecorder(run, append, {
      onEvent: (event) => this.#tell(event),
      onText: (text: RunText) => this.#listeners.forEach((listener) => listener.onText(text)),
    });
    return recorder;
  }

  #tell(event: StoredEvent): void {
    const summary = LISTED.has(event.event.type) ? this.#options.journal.summary(event.runId) : undefined;
    for (const listener of this.#listeners) {
      listener.onEvent(event);
      if (summary) listener.onChanged(summary);
    }
  }

  /** What people are told of an error. One that nobody foresaw is for the log, too. */
  #failureOf(error: unknown): Failure {
    const failure = failureOf(error);
    if (failure.kind === 'internal') this.#options.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return failure;
  }

  #drive(recorder: RunRecorder, keySource: Pick<RunKeysOptions, 'patient' | 'known'>): void {
    const { runId } = recorder.snapshot;
    const controller = new AbortController();
    const { journal, holder, log } = this.#options;
    const renewal = setInterval(() => {
      try {
        if (!journal.leases.renew(runId, holder, LEASE_TTL_MS)) controller.abort(new LeaseLostError(runId));
      } catch (error) {
        // The lease stands for a while yet, and whoever writes to the run without one is refused.
        log(`The lease of run ${runId} was not renewed: ${String(error)}`);
      }
    }, LEASE_RENEWAL_MS);
    const done = this.#driver(recorder, controller.signal, keySource).drive()
      .catch((error: unknown) => {
        recorder.flush();
        if (error instanceof Cancelled) recorder.record([{ type: 'run.cancelled' }]);
        else if (!(error instanceof Stopping)) log(`Run ${runId} was left as it stands: ${String(error)}`);
      })
      .catch((error: unknown) => log(`Run ${runId} was left as it stands: ${String(error)}`))
      .finally(() => {
        clearInterval(renewal);
        // Where the run was left as it stands, a call may still be under way; nobody would take its answer.
        controller.abort(new Stopping());
        this.#active.delete(runId);
        journal.leases.release(runId, holder);
      });
    this.#active.set(runId, { recorder, controller, done });
  }

  #driver(recorder: RunRecorder, signal: AbortSignal, keySource: Pick<RunKeysOptions, 'patient' | 'known'>): RunDriver {
    const { journal, clients, caller, checker, gatherContext, awakenSimulated } = this.#options;
    const { runId } = recorder.snapshot;
    const keys = new RunKeys({ ...keySource, clients, signal, onWaiting: (name) => recorder.waiting('secret', waitingForKey(name, 'conductor runs resume')) });
    const call: RunCall = async (worker, request, { ledger, attempts, signal: callSignal }) => {
      if (worker.simulated) await awakenSimulated?.(worker);
      const { reply } = await caller.call(worker, request, {
        ledger, attempts, keys, clientModel: (modelCall) => clients.model(modelCall), signal: callSignal, onText: attempts.onText,
      });
      return reply;
    };
    return new RunDriver({
      recorder,
      ledger: new RunLedger({ run: recorder.snapshot, budget: journal.budget, now: this.#now }),
      call,
      gatherContext,
      checker,
      failureOf: (error) => this.#failureOf(error),
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
