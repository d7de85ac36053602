import type { Journal } from '../../journal/journal.ts';
import type { ClientRequests } from '../../protocol/methods.ts';
import type { RequestHandlers } from '../../protocol/typed-connection.ts';
import { recordsTable } from '../../records/records-table.ts';
import { ALL_STEPS, recordBook } from '../../records/worker-records.ts';
import type { PoolEditor } from './workers-handlers.ts';

type RecordsMethods = Extract<keyof ClientRequests, `records/${string}`>;

export type JudgedSteps = Pick<Journal, 'judgedSteps' | 'forgetJudgedSteps'>;

export function recordsHandlers(judged: JudgedSteps, pool: Pick<PoolEditor, 'file' | 'change'>): RequestHandlers<ClientRequests, RecordsMethods> {
  return {
    'records/get': async ({ workspace }) => recordsTable(recordBook(judged, ALL_STEPS), workspace, await pool.file()),
    'records/forget': ({ workspace }) => ({ steps: judged.forgetJudgedSteps(workspace) }),
    'records/use': async ({ used }) => {
      await pool.change(({ useRecords: _before, ...file }) => (used ? file : { ...file, useRecords: false }));
      return {};
    },
  };
}
