import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Budget } from '../journal/budget.ts';
import type { Health, HealthDetails } from '../protocol/methods.ts';
import type { WorkersFile } from '../protocol/worker-config.ts';
import { dayScope } from '../solve/run-ledger.ts';
import type { WorkerCaller } from '../workers/call-worker.ts';
import { reachWorker } from '../workers/servers/reach-worker.ts';

export interface LookAroundOptions {
  /** Folder of workers.json and the journal. */
  readonly home: string;
  /** @throws an error that names the file and the field */
  readonly loadWorkers: () => Promise<WorkersFile>;
  readonly caller: Pick<WorkerCaller, 'lastCall'>;
  /** The cost of the calls in a scope. */
  readonly spent: Budget['spent'];
  readonly signal: AbortSignal;
}

/** Collects what can change at any time: the disk, workers.json, and which servers answer. */
export async function lookAround({ home, loadWorkers, caller, spent, signal }: LookAroundOptions): Promise<Omit<HealthDetails, keyof Health>> {
  const [storage, file] = await Promise.all([storageOf(home), loadWorkers().catch((error: unknown) => error as Error)]);
  if (file instanceof Error) return { storage, servers: [], workersFileProblem: file.message };
  const enabled = file.workers.filter((worker) => worker.enabled);
  const servers = await Promise.all(enabled.map(async (worker) => ({ worker: worker.id, ...(await reachWorker(worker, signal)) })));
  const lastCalls = enabled.flatMap((worker) => {
    const call = caller.lastCall(worker);
    return call ? [{ worker: worker.id, ...call }] : [];
  });
  const budget = { today: spent(dayScope(file.budget, Date.now()).name), limits: file.budget };
  return { storage, budget, servers, lastCalls };
}

async function storageOf(home: string): Promise<HealthDetails['storage']> {
  // The latest writes are in the write-ahead log until the next checkpoint.
  const files = ['journal.sqlite', 'journal.sqlite-wal'].map((name) => path.join(home, name));
  const [writable, disk, sizes] = await Promise.all([
    access(home, constants.W_OK).then(() => true, () => false),
    statfs(home).catch(() => undefined),
    Promise.all(files.map((file) => stat(file).then(({ size }) => size, () => 0))),
  ]);
  return {
    home, writable, journalBytes: sizes.reduce((sum, size) => sum + size, 0), ...(disk && { freeBytes: disk.bavail * disk.bsize }),
  };
}
