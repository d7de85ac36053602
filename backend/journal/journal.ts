import { isProcessAlive } from '../protocol/client/process-alive.ts';
import type { JudgedStep } from '../protocol/judged-step.ts';
import type { LocalRecord } from '../protocol/local-first.ts';
import type { RunSummary } from '../protocol/methods.ts';
import { runEventSchema, type RunEvent, type RunEventOf, type RunKind, type StoredEvent, type VerifiedCost } from '../protocol/run-events.ts';
import { snapshotOf } from '../protocol/fold-run.ts';
import { isOver, type RunSnapshot } from '../protocol/run-snapshot.ts';
import { Budget, type Settlement } from './budget.ts';
import { LeaseLostError, RunIdentityError, UnreadableRunError } from './errors.ts';
import { decodeEvent, encodeEvent, UndecodableError } from './event-codec.ts';
import { JournalFile, type OnDisk } from './journal-file.ts';
import { JudgedStepsTable } from './judged-steps-table.ts';
import { LeftOutTable } from './left-out-table.ts';
import { Leases } from './leases.ts';
import { localRecordOf, type TriedRow } from './local-tries.ts';
import { paidStepsIn, type PaidRow, type PaidStep } from './paid-steps.ts';
import { rowAfter, rowOf, summaryOf, type RunProgress, type RunRow } from './run-row.ts';

export interface JournalOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  readonly isAlive?: (pid: number) => boolean;
  /** False for a simulation, whose loss costs only time; true where absent. */
  readonly isDurable?: boolean;
  /** How long a write waits while another process has the file locked; five seconds where absent. */
  readonly lockTimeoutMs?: number;
}

/** Further changes in the transaction of an append. */
export interface AppendEffects {
  /** Refuses the append when this holder no longer has the run's lease. */
  readonly holder?: string | undefined;
  /** Reserves the money for a request that is sent next, and returns the reservation's id. */
  readonly reserve?: (() => string) | undefined;
  readonly settle?: readonly Settlement[] | undefined;
  /** Reservations whose requests were not sent. */
  readonly release?: readonly string[] | undefined;
  /** First closes the reservations of a process that died; for the event that resumes a run. */
  readonly closeAbandoned?: boolean | undefined;
}

export interface RunFilter {
  readonly kind?: RunKind | undefined;
  /** Absolute path, compared as it was given when the run began. */
  readonly workspace?: string | undefined;
  /** Part of the question, upper or lower case alike. */
  readonly search?: string | undefined;
  readonly limit: number;
}

/** The first text of a run's Conductor. */
export interface FirstPlan {
  /** Id and model of the worker that planned. */
  readonly planner: string;
  readonly model: string;
  readonly isValid: boolean;
  /** Absent without a known price. */
  readonly usd?: number | undefined;
  readonly durationMs: number;
}

interface EventRow {
  readonly seq: number;
  readonly at: number;
  readonly body: string;
}

/**
 * The store of all events of runs. When an append returns, its events are on disk: SQLite with a write-ahead log and
 * `synchronous = FULL`, so that neither a killed process nor a power cut loses it. Several processes may have the same file open.
 * Within `transactionSoon` they are so a little later (decisions/0029); who reads events is given none that are not on disk.
 */
export class Journal {
  readonly leases: Leases;
  readonly budget: Budget;
  readonly #file: JournalFile;
  readonly #now: () => number;
  /** By run: what is once written of a run stays as it is. */
  #firstPlans: ReadonlyMap<string, FirstPlan | 'not counted'> = new Map();
  readonly #judged: JudgedStepsTable;
  readonly #leftOut: LeftOutTable;
  readonly #statements;

  private constructor(file: JournalFile, { now = Date.now, isAlive = isProcessAlive }: JournalOptions) {
    this.#file = file;
    this.#now = now;
    this.leases = new Leases(file, { now, isAlive });
    this.budget = new Budget(file, now);
    this.#judged = new JudgedStepsTable((sql) => file.prepare(sql));
    this.#leftOut = new LeftOutTable((sql) => file.prepare(sql));
    file.defineFunction('has_part', (text, part) => Number(String(text).toLowerCase().includes(String(part).toLowerCase())));
    this.#statements = {
      insertRun: file.prepare(
        `INSERT INTO runs (run_id, kind, workspace, question, parent, task, seed, state, outcome, accepted_at, updated_at,
                           usd, unpriced_tokens, simulated, thread)
         VALUES ($run_id, $kind, $workspace, $question, $parent, $task, $seed, $state, $outcome, $accepted_at, $updated_at,
                 $usd, $unpriced_tokens, $simulated, $thread)`,
      ),
      updateRun: file.prepare(
        `UPDATE runs SET state = ?, outcome = ?, updated_at = ?, usd = ?, unpriced_tokens = ? WHERE run_id = ?`,
      ),
      findRun: file.prepare('SELECT * FROM runs WHERE run_id = ?'),
      findProgress: file.prepare(
        `SELECT state, outcome, updated_at, usd, unpriced_tokens, simulated, (SELECT coalesce(max(seq), 0) FROM events WHERE run_id = $run_id) AS seq
         FROM runs WHERE run_id = $run_id`,
      ),
      listRuns: file.prepare(
        `SELECT * FROM runs
         WHERE kind = $kind
           AND ($workspace IS NULL OR workspace = $workspace)
           AND ($search IS NULL OR has_part(question, $search))
         ORDER BY accepted_at DESC, rowid DESC LIMIT $limit`,
      ),
      latestRuns: file.prepare(`SELECT run_id FROM runs WHERE kind = 'solve' AND simulated = 0 ORDER BY accepted_at DESC LIMIT ?`),
      firstPlan: file.prepare(
        `SELECT json_extract(accepted.body, '$.event.policy.worker.id') AS planner, json_extract(accepted.body, '$.event.policy.model') AS model,
                plan.type AS type, json_extract(plan.body, '$.event.cost.usd') AS usd, json_extract(plan.body, '$.event.durationMs') AS ms,
                json_extract(plan.body, '$.event.keptFrom') AS kept, json_extract(plan.body, '$.event.attemptId') = '' AS unasked,
                json_type(accepted.body, '$.event.conversation') IS NOT NULL AS spoken
         FROM events AS plan JOIN events AS accepted ON accepted.run_id = plan.run_id AND accepted.seq = 1
         WHERE plan.run_id = ? AND plan.type IN ('plan.proposed', 'plan.rejected') AND json_valid(accepted.body) AND json_valid(plan.body)
         ORDER BY unasked, plan.seq LIMIT 1`,
      ),
      paidSteps: file.prepare(
        `SELECT recent.run_id AS run_id, events.body AS body
         FROM (SELECT run_id FROM runs WHERE kind = 'solve' AND workspace IS ? ORDER BY accepted_at DESC LIMIT ?) AS recent
         JOIN events ON events.run_id = recent.run_id AND events.type IN ('run.accepted', 'plan.proposed', 'plan.edited', 'step.reassigned', 'step.turned', 'step.completed')
         ORDER BY recent.run_id, events.seq`,
      ),
      verifiedCost: file.prepare(
        `SELECT total(usd) AS usd, count(CASE WHEN outcome = 'verified' THEN 1 END) AS answers FROM runs
         WHERE kind = 'solve' AND simulated = 0 AND workspace = ? AND run_id <> ? AND state = 'completed'
           AND EXISTS (SELECT 1 FROM events WHERE run_id = runs.run_id AND type = 'verify.completed')`,
      ),
      localTries: file.prepare(
        `SELECT usd, unpriced, is_verified, is_judged, began,
                CASE WHEN began IS NOT NULL THEN (
                  SELECT max(at) FROM events WHERE run_id = tried.run_id AND type IN ('answer.ready', 'verify.completed', 'round.failed')
                    AND json_valid(body) AND json_extract(body, '$.event.round') = 0
                ) END AS ended,
                CASE WHEN began IS NOT NULL THEN (
                  SELECT json_extract(body, '$.event.round') FROM events WHERE run_id = tried.run_id AND type = 'run.completed' AND json_valid(body)
                  ORDER BY seq DESC LIMIT 1
                ) END AS answer_round
         FROM (SELECT run_id, usd, unpriced_tokens AS unpriced, state = 'completed' AND outcome = 'verified' AS is_verified,
                      EXISTS (SELECT 1 FROM events WHERE run_id = runs.run_id AND type = 'verify.completed') AS is_judged,
                      (SELECT at FROM events WHERE run_id = runs.run_id AND type = 'try.begun' AND json_valid(body)
                         AND json_extract(body, '$.event.keptFrom') IS NULL) AS began
               FROM runs WHERE kind = 'solve' AND simulated = 0 AND workspace = ? AND run_id <> ?) AS tried`,
      ),
      unfinished: file.prepare(
        `SELECT run_id FROM runs WHERE kind = ? AND state IN ('running', 'waiting') ORDER BY accepted_at, rowid`,
      ),
      insertEvent: file.prepare('INSERT INTO events (run_id, seq, type, at, body) VALUES (?, ?, ?, ?, ?)'),
      events: file.prepare('SELECT seq, at, body FROM events WHERE run_id = ? AND seq > ? ORDER BY seq'),
      insertBlob: file.prepare('INSERT OR IGNORE INTO blobs (hash, body) VALUES (?, ?)'),
      insertRunBlob: file.prepare('INSERT OR IGNORE INTO run_blobs (hash, run_id) VALUES (?, ?)'),
      blobsOf: file.prepare('SELECT hash FROM run_blobs WHERE run_id = ?'),
      removeUnusedBlob: file.prepare('DELETE FROM blobs WHERE hash = $hash AND NOT EXISTS (SELECT 1 FROM run_blobs WHERE hash = $hash)'),
      // Only its share in the cost of the day stays.
      removal: [
        'DELETE FROM run_blobs WHERE run_id = ?', 'DELETE FROM events WHERE run_id = ?', 'DELETE FROM leases WHERE run_id = ?',
        'DELETE FROM runs WHERE run_id = ?',
      ].map((sql) => file.prepare(sql)),
      forgetSpending: file.prepare('DELETE FROM spending WHERE scope = ?'),
      children: file.prepare('SELECT run_id FROM runs WHERE parent = ?'),
      findBlob: file.prepare('SELECT body FROM blobs WHERE hash = ?'),
    };
  }

  /**
   * Opens the file, or makes it where there is none.
   * @throws NotAJournalError, NewerJournalError, JournalUnavailableError; the file is then as it was
   */
  static open(file: string, options: JournalOptions = {}): Journal {
    const { isDurable = true, lockTimeoutMs } = options;
    const journalFile = new JournalFile(file, { isDurable, lockTimeoutMs });
    try {
      return journalFile.reading(() => new Journal(journalFile, options));
    } catch (error) {
      journalFile.close();
      throw error;
    }
  }

  close(): void {
    this.#file.close();
  }

  /** Runs `work`: what it writes is on disk together, or none of it. */
  transaction<T>(work: () => T): T {
    return this.#file.transaction(work);
  }

  /**
   * Runs `work`: what it writes is on disk together, or none of it, at the end of this turn of the event loop. Before that nobody outside may hear
   * of it, and nothing may be done outside because of it; `whenOnDisk` says when.
   */
  transactionSoon<T>(work: () => T): T {
    return this.#file.transactionSoon(work);
  }

  /** Has all that was written on disk on return. @throws JournalUnavailableError */
  commit(): void {
    this.#file.commit();
  }

  /** Calls `told` when all that was written is on disk; with the error when it was lost. At once where nothing waits. */
  whenOnDisk(told: OnDisk): void {
    this.#file.whenOnDisk(told);
  }

  /** Resolves when all that was written is on disk. @throws JournalUnavailableError when it was lost */
  onDisk(): Promise<void> {
    return new Promise((resolve, reject) => this.#file.whenOnDisk((error) => (error === undefined ? resolve() : reject(error as Error))));
  }

  /** Begins a run. @throws RunIdentityError when there is one of this id. */
  accept(runId: string, event: RunEventOf<'run.accepted'>, effects: AppendEffects = {}): StoredEvent {
    const accepted = runEventSchema.parse(event) as RunEventOf<'run.accepted'>;
    return this.#file.transaction(() => {
      if (this.#row(runId)) throw new RunIdentityError(runId, `There is already a run "${runId}".`);
      const at = this.#now();
      this.#statements.insertRun.run({ ...rowOf(runId, accepted, at) });
      const stored = this.#insertEvent(runId, 1, at, accepted);
      this.#applyEffects(runId, effects);
      return stored;
    });
  }

  /**
   * Writes the events and the effects on the budget in one transaction: all of it is on disk on return, or nothing was written.
   * @throws RunIdentityError for a run that never began, LeaseLostError, ReservationClosedError; ZodError for a malformed event
   */
  append(runId: string, events: readonly RunEvent[], effects: AppendEffects = {}): StoredEvent[] {
    const checked = events.map((event) => runEventSchema.parse(event));
    return this.#file.transaction(() => {
      const before = this.#statements.findProgress.get({ run_id: runId }) as
        | (RunProgress & Pick<RunRow, 'simulated'> & { readonly seq: number })
        | undefined;
      if (!before) throw new RunIdentityError(runId, `The journal holds no run "${runId}".`);
      let row: RunProgress = before;
      let { seq } = before;
      const stored = checked.map((event) => {
        if (event.type === 'run.accepted') throw new RunIdentityError(runId, `Run "${runId}" has already begun.`);
        const at = this.#now();
        row = rowAfter(row, event, at);
        seq += 1;
        this.#leftOut.apply(runId, event);
        return this.#insertEvent(runId, seq, at, event);
      });
      this.#statements.updateRun.run(row.state, row.outcome, row.updated_at, row.usd, row.unpriced_tokens, runId);
      if (isOver(row.state) && before.simulated === 0) this.#judged.write(runId);
      this.#applyEffects(runId, effects);
      return stored;
    });
  }

  /** The run's events after `afterSeq`, oldest first; none for an unknown run. @throws UnreadableRunError */
  read(runId: string, afterSeq = 0): StoredEvent[] {
    this.#file.commit();
    return this.#file.reading(() => {
      const rows = this.#statements.events.all(runId, afterSeq) as unknown as EventRow[];
      return rows.map((row, index) => {
        const expected = afterSeq + index + 1;
        if (row.seq !== expected) throw new UnreadableRunError(runId, expected, 'it is missing');
        return { runId, seq: row.seq, at: row.at, event: this.#decode(runId, row) };
      });
    });
  }

  /** The state of the run; undefined for an unknown one. @throws UnreadableRunError */
  snapshot(runId: string): RunSnapshot | undefined {
    const events = this.read(runId);
    if (events.length === 0) return undefined;
    if (events[0]?.event.type !== 'run.accepted') throw new UnreadableRunError(runId, 1, 'it does not begin the run');
    return snapshotOf(events);
  }

  /** The run's line in the list, without reading its events. */
  summary(runId: string): RunSummary | undefined {
    this.#file.commit();
    const row = this.#file.reading(() => this.#row(runId));
    return row && summaryOf(row);
  }

  /** Newest first. */
  list({ kind = 'solve', workspace, search, limit }: RunFilter): RunSummary[] {
    this.#file.commit();
    const parameters = { kind, workspace: workspace ?? null, search: search ?? null, limit };
    const rows = this.#file.reading(() => this.#statements.listRuns.all(parameters)) as unknown as RunRow[];
    return rows.map(summaryOf);
  }

  /** The first plans of the latest runs that asked real workers. @param limit of runs */
  firstPlans(limit: number): FirstPlan[] {
    return this.#file.reading(() => {
      const runIds = this.#statements.latestRuns.all(limit).map((row) => String(row.run_id));
      const known = new Map(runIds.flatMap((runId) => {
        const plan = this.#firstPlans.get(runId) ?? this.#firstPlan(runId);
        return plan === undefined ? [] : [[runId, plan] as const];
      }));
      this.#firstPlans = known;
      return [...known.values()].filter((plan) => plan !== 'not counted');
    });
  }

  /** What the tests said of steps in runs that are over, newest first. Simulated workers do not count. */
  judgedSteps(limit: number): JudgedStep[] {
    return this.#file.reading(() => this.#judged.newest(limit));
  }

  /**
   * Forgets what the tests said of steps; the runs stay as they are. @param project absolute path; undefined: of all projects
   * @returns the number of steps that were forgotten
   */
  forgetJudgedSteps(project: string | undefined): number {
    return this.#file.transaction(() => this.#judged.forget(project));
  }

  /** The tests of a project that a person left out of verdicts while they fail. */
  leftOutTests(project: string): string[] {
    return this.#file.reading(() => this.#leftOut.list(project));
  }

  /** Has left-out tests of a project count again. @param tests undefined: all. @returns how many do */
  takeBackLeftOut(project: string, tests?: readonly string[]): number {
    return this.#file.transaction(() => this.#leftOut.remove(project, tests));
  }

  /** The steps that were finished in the latest runs about a workspace, or without one. @param limit of runs */
  paidSteps(workspace: string | undefined, limit: number): PaidStep[] {
    const rows = this.#file.reading(() => this.#statements.paidSteps.all(workspace ?? null, limit)) as unknown as PaidRow[];
    return paidStepsIn(rows);
  }

  /**
   * What verified answers cost in a project: all that its runs with a verdict cost, also those that were not verified, for each verified one. Simulated workers do not
   * count. @param last a run that ends verified and is not over in the journal yet
   */
  verifiedCost(workspace: string, last: { readonly runId: string; readonly spent: { readonly usd: number } }): VerifiedCost {
    const row = this.#file.reading(() => this.#statements.verifiedCost.get(workspace, last.runId));
    const answers = Number(row?.answers ?? 0) + 1;
    return { usd: (Number(row?.usd ?? 0) + last.spent.usd) / answers, answers };
  }

  /**
   * How tries of workers that cost nothing turned out in a project. A try counts once it has ended. What a verified one saved is what runs with a verdict cost on
   * average in which somebody was paid, at a known price. Simulated workers do not count.
   * @param except a run that does not count yet
   */
  localTries(workspace: string, except = ''): LocalRecord {
    return localRecordOf(this.#file.reading(() => this.#statements.localTries.all(workspace, except)) as unknown as TriedRow[]);
  }

  /** Ids of the runs of a kind whose last event is not a final one; oldest first. */
  unfinished(kind: RunKind = 'solve'): string[] {
    return this.#file.reading(() => this.#statements.unfinished.all(kind)).map((row) => String(row.run_id));
  }

  /** Ids of the runs that were begun for another run or a training. */
  childrenOf(parentId: string): string[] {
    return this.#file.reading(() => this.#statements.children.all(parentId)).map((row) => String(row.run_id));
  }

  /**
   * Removes runs and the texts that no other run has; ignores unknown ones. Their cost stays in the sum of its day.
   * @param options.unfinished also removes unfinished runs; for a caller that knows that nothing resumes them
   * @throws RunIdentityError if one is unfinished; then nothing was removed
   */
  remove(runIds: readonly string[], { unfinished = false }: { readonly unfinished?: boolean } = {}): void {
    this.#file.transaction(() => {
      for (const runId of runIds) this.#remove(runId, unfinished);
    });
  }

  /** The run's events as JSON Lines, one stored event a line, long texts in place. Empty for an unknown run. */
  exportRun(runId: string): string {
    return this.read(runId).map((event) => `${JSON.stringify(event)}\n`).join('');
  }

  /** Undefined for a run without a plan as yet. A plan that was kept from another run is counted there; one that nobody was asked for has no attempt. */
  #firstPlan(runId: string): FirstPlan | 'not counted' | undefined {
    const row = this.#statements.firstPlan.get(runId);
    if (!row) return undefined;
    const { planner, model, type, usd, ms, kept, unasked, spoken } = row;
    // A local try is such a plan, and a Conductor's may follow it. In a conversation with a worker by its name none does.
    if (unasked === 1) return spoken === 1 ? 'not counted' : undefined;
    if (kept !== null || typeof planner !== 'string') return 'not counted';
    return { planner, model: String(model), isValid: type === 'plan.proposed', durationMs: Number(ms), ...(typeof usd === 'number' && { usd }) };
  }

  #row(runId: string): RunRow | undefined {
    return this.#statements.findRun.get(runId) as RunRow | undefined;
  }

  #remove(runId: string, unfinished: boolean): void {
    const row = this.#row(runId);
    if (!row) return;
    if (!unfinished && (row.state === 'running' || row.state === 'waiting')) {
      throw new RunIdentityError(runId, `Run "${runId}" is under way: cancel it before it is removed.`);
    }
    const hashes = this.#statements.blobsOf.all(runId).map(({ hash }) => String(hash));
    for (const statement of this.#statements.removal) statement.run(runId);
    this.#judged.remove(runId);
    for (const hash of hashes) this.#statements.removeUnusedBlob.run({ hash });
    this.#statements.forgetSpending.run(`run:${runId}`);
  }

  #insertEvent(runId: string, seq: number, at: number, event: RunEvent): StoredEvent {
    const { body, blobs } = encodeEvent(event);
    for (const blob of blobs) {
      this.#statements.insertBlob.run(blob.hash, blob.body);
      this.#statements.insertRunBlob.run(blob.hash, runId);
    }
    this.#statements.insertEvent.run(runId, seq, event.type, at, body);
    return { runId, seq, at, event };
  }

  #applyEffects(runId: string, { holder, reserve, settle = [], release = [], closeAbandoned }: AppendEffects): void {
    if (holder !== undefined && !this.leases.isHeldBy(runId, holder)) throw new LeaseLostError(runId);
    if (closeAbandoned) this.budget.closeAbandoned(runId);
    if (reserve) this.budget.markSent(reserve());
    for (const { reservationId, ...amount } of settle) this.budget.settle(reservationId, amount);
    for (const id of release) this.budget.release(id);
  }

  #decode(runId: string, row: EventRow): RunEvent {
    try {
      return decodeEvent(row.body, (hash) => this.#statements.findBlob.get(hash)?.body as Uint8Array | undefined);
    } catch (error) {
      if (!(error instanceof UndecodableError)) throw error;
      throw new UnreadableRunError(runId, row.seq, error.message, { cause: error });
    }
  }
}
