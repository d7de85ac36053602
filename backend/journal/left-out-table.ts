import type { StatementSync } from 'node:sqlite';
import type { RunEvent } from '../protocol/run-events.ts';

/*
 * The tests of each project that a person left out of verdicts while they fail. The rows follow from what was decided in runs, and are written in
 * the transaction of the decision. They outlive the run.
 */

export class LeftOutTable {
  readonly #statements: Readonly<Record<'insert' | 'remove' | 'removeAll' | 'list' | 'workspace', StatementSync>>;

  constructor(prepare: (sql: string) => StatementSync) {
    this.#statements = {
      insert: prepare('INSERT OR IGNORE INTO left_out_tests (project, test) VALUES (?, ?)'),
      remove: prepare('DELETE FROM left_out_tests WHERE project = ? AND test = ?'),
      removeAll: prepare('DELETE FROM left_out_tests WHERE project = ?'),
      list: prepare('SELECT test FROM left_out_tests WHERE project = ? ORDER BY test'),
      workspace: prepare('SELECT workspace FROM runs WHERE run_id = ?'),
    };
  }

  list(project: string): string[] {
    return this.#statements.list.all(project).map(({ test }) => String(test));
  }

  /** @param tests undefined: all. @returns how many are gone */
  remove(project: string, tests?: readonly string[]): number {
    if (!tests) return Number(this.#statements.removeAll.run(project).changes);
    return tests.reduce((gone, test) => gone + Number(this.#statements.remove.run(project, test).changes), 0);
  }

  /** What an event of a run says of the tests of its project. To be called inside its transaction. */
  apply(runId: string, event: RunEvent): void {
    if (event.type !== 'verdict.decided' && event.type !== 'verify.completed') return;
    const project = this.#statements.workspace.get(runId)?.workspace;
    if (typeof project !== 'string') return;
    if (event.type === 'verify.completed') {
      // A test that passes before a change need not be left out any more.
      const leftOut = new Set(this.list(project));
      if (leftOut.size > 0) this.remove(project, event.verdict.tests.filter(({ id, before, flaky }) => leftOut.has(id) && before === 'passed' && !flaky).map(({ id }) => id));
    } else if (event.keptFrom === undefined) {
      if (event.failedBefore === 'must-pass') this.remove(project, event.tests);
      else for (const test of event.tests) this.#statements.insert.run(project, test);
    }
  }
}
