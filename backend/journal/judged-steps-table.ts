import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { JudgedStep } from '../protocol/judged-step.ts';
import { judgedStepsIn, type StoredRow } from './judged-steps.ts';

/*
 * The table of the tests' results by step. Its rows are derived from the events and written when a run ends. When a run is resumed and ends
 * again, its rows are written again, including those that a person had removed.
 */

const COLUMNS = ['run_id', 'round', 'step', 'steps', 'source', 'project', 'kind', 'at', 'judgement', 'worker', 'model', 'role', 'usd', 'tokens', 'duration_ms', 'refuted'] as const;
const INSERT = `INSERT OR REPLACE INTO judged_steps (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`;
const EVENTS = 'SELECT seq, at, body FROM events WHERE run_id = ? ORDER BY seq';
const HAS_VERDICT = `SELECT 1 FROM events WHERE run_id = ? AND type = 'verify.completed' LIMIT 1`;

export class JudgedStepsTable {
  readonly #statements: Readonly<Record<'events' | 'hasVerdict' | 'insert' | 'remove' | 'newest' | 'forget' | 'forgetAll', StatementSync>>;

  constructor(prepare: (sql: string) => StatementSync) {
    this.#statements = {
      events: prepare(EVENTS),
      hasVerdict: prepare(HAS_VERDICT),
      insert: prepare(INSERT),
      remove: prepare('DELETE FROM judged_steps WHERE run_id = ?'),
      newest: prepare('SELECT * FROM judged_steps ORDER BY at DESC, run_id, round, step LIMIT ?'),
      forget: prepare('DELETE FROM judged_steps WHERE project = ?'),
      forgetAll: prepare('DELETE FROM judged_steps'),
    };
  }

  /** Writes the rows of a run that is over. Must be called inside a transaction. */
  write(runId: string): void {
    // Reading all events of a run takes longer than writing its last one.
    if (!this.#statements.hasVerdict.get(runId)) return;
    const steps = judgedStepsIn(runId, this.#statements.events.all(runId) as unknown as StoredRow[]);
    this.remove(runId);
    for (const step of steps) this.#statements.insert.run(...valuesOf(step));
  }

  remove(runId: string): void {
    this.#statements.remove.run(runId);
  }

  /** Newest first. */
  newest(limit: number): JudgedStep[] {
    return this.#statements.newest.all(limit).map(stepOf);
  }

  /** @param project undefined means all projects. @returns the number of rows removed */
  forget(project: string | undefined): number {
    const { changes } = project === undefined ? this.#statements.forgetAll.run() : this.#statements.forget.run(project);
    return Number(changes);
  }
}

/** Writes the rows of all runs in a journal that has no rows yet. Must be called inside a transaction. */
export function fillJudgedSteps(database: DatabaseSync): void {
  const table = new JudgedStepsTable((sql) => database.prepare(sql));
  const judged = database.prepare(
    `SELECT DISTINCT events.run_id AS run_id FROM events JOIN runs ON runs.run_id = events.run_id
     WHERE events.type = 'verify.completed' AND runs.simulated = 0 AND runs.state NOT IN ('running', 'waiting')`,
  );
  for (const { run_id: runId } of judged.all()) table.write(String(runId));
}

function valuesOf(step: JudgedStep): (string | number | null)[] {
  const { runId, round, step: index, steps, source, project = null, kind, at, judgement, worker, model, role, usd = null, tokens, durationMs = null, isRefuted } = step;
  return [runId, round, index, steps, source, project, kind, at, judgement, worker, model, role, usd, tokens, durationMs, Number(isRefuted ?? false)];
}

function stepOf({ run_id: runId, project, usd, duration_ms: durationMs, refuted, ...row }: Record<string, unknown>): JudgedStep {
  return { ...row, runId, ...(project !== null && { project }), ...(usd !== null && { usd }), ...(durationMs !== null && { durationMs }), ...(refuted === 1 && { isRefuted: true }) } as JudgedStep;
}
