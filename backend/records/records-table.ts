import { STEP_ROLES } from '../protocol/step-role.ts';
import type { Records, WorkerStanding } from '../protocol/records.ts';
import type { WorkersFile } from '../protocol/worker-config.ts';
import { usesRecords } from './uses-records.ts';
import type { RecordBook, WorkerName } from './record-book.ts';

/**
 * What is known of every worker, also of those that are no longer there: the one to expect most of first.
 * @param workspace absolute path; undefined: all projects
 */
export function recordsTable(book: RecordBook, workspace: string | undefined, file: WorkersFile): Records {
  const workers = book.workers().flatMap((name) => standingOf(book, name, workspace, file)).toSorted((a, b) => b.expected - a.expected);
  return { ...(workspace !== undefined && { workspace }), used: usesRecords(file), answers: book.answers(workspace), workers };
}

function standingOf(book: RecordBook, name: WorkerName, project: string | undefined, { workers }: WorkersFile): WorkerStanding[] {
  const total = book.tally(name, { project });
  if (!total) return [];
  const parts = STEP_ROLES.flatMap((role) => book.kindsOf(name, { role, project }).flatMap((kind) => {
    const tally = book.tally(name, { role, kind, project });
    return tally ? [{ role, kind, ...tally }] : [];
  })).toSorted((a, b) => b.answers - a.answers);
  const isInPool = workers.some(({ id, model, enabled }) => enabled && id === name.worker && model === name.model);
  return [{ ...name, isInPool, expected: book.expected(name, { project }), total, parts }];
}
