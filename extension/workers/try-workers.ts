import * as vscode from 'vscode';
import { withVersion } from '../../backend/protocol/server-address.ts';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { withProgressNotice } from '../common/progress-notice.ts';

export interface TriedWorker {
  /** With the address that answered, and with the hands that the try showed, and with whether it sees pictures. */
  readonly worker: WorkerConfig;
  /** Why it failed, in one sentence; undefined if it answered. */
  readonly problem: string | undefined;
}

/** Kinds of failures that a missing `/v1` may explain. */
const MAY_LACK_VERSION = new Set(['not-found', 'invalid-response']);

/**
 * Tests workers one after another with one or two small real calls: a local server has room for one model at a time. An address without a version
 * that does not answer is also tried with `/v1`.
 */
export async function tryWorkers(
  connection: Pick<BackendConnection, 'request'>, workers: readonly WorkerConfig[],
): Promise<TriedWorker[]> {
  const [first] = workers;
  const title = workers.length === 1 && first
    ? vscode.l10n.t('Conductor: trying "{0}"', first.id)
    : vscode.l10n.t('Conductor: trying {0} models', workers.length);
  return withProgressNotice(title, async (report, signal) => {
    const tried: TriedWorker[] = [];
    for (const worker of workers) {
      if (workers.length > 1) report({ message: worker.model });
      tried.push(await tryOne(connection, worker, signal));
      report({ increment: 100 / workers.length });
    }
    return tried;
  });
}

async function tryOne(connection: Pick<BackendConnection, 'request'>, worker: WorkerConfig, signal: AbortSignal): Promise<TriedWorker> {
  if (signal.aborted) return { worker, problem: vscode.l10n.t('The try was cancelled.') };
  try {
    const { ok, kind, message, ...abilities } = await connection.request('worker/try', { worker }, signal);
    if (ok) return { worker: withAbilities(worker, abilities), problem: undefined };
    const baseUrl = worker.provider === 'openai-compatible' && worker.baseUrl !== undefined ? withVersion(worker.baseUrl) : undefined;
    if (baseUrl !== undefined && MAY_LACK_VERSION.has(kind ?? '')) {
      const versioned = { ...worker, baseUrl };
      const again = await connection.request('worker/try', { worker: versioned }, signal);
      if (again.ok) return { worker: withAbilities(versioned, again), problem: undefined };
    }
    return { worker, problem: message };
  } catch (error) {
    if (signal.aborted) return { worker, problem: vscode.l10n.t('The try was cancelled.') };
    throw error;
  }
}

function withAbilities(worker: WorkerConfig, { hands, pictures }: Pick<WorkerConfig, 'hands' | 'pictures'>): WorkerConfig {
  return { ...worker, ...(hands !== undefined && { hands }), ...(pictures !== undefined && { pictures }) };
}
