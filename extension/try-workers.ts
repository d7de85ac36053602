import * as vscode from 'vscode';
import type { WorkerConfig } from '../backend/protocol/worker-config.ts';
import type { BackendConnection } from './backend-connection.ts';

export interface TriedWorker {
  readonly worker: WorkerConfig;
  /** Why it did not work, in one sentence; undefined where it answered. */
  readonly problem: string | undefined;
}

/** One small real call of each, one after the other: a server of this machine has room for one model at a time. */
export async function tryWorkers(
  connection: Pick<BackendConnection, 'request'>, workers: readonly WorkerConfig[],
): Promise<TriedWorker[]> {
  const [first] = workers;
  const title = workers.length === 1 && first
    ? vscode.l10n.t('Conductor: trying "{0}"', first.id)
    : vscode.l10n.t('Conductor: trying {0} models', workers.length);
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return vscode.window.withProgress(options, async (progress, token) => {
    const cancelled = new AbortController();
    token.onCancellationRequested(() => cancelled.abort());
    const tried: TriedWorker[] = [];
    for (const worker of workers) {
      if (workers.length > 1) progress.report({ message: worker.model });
      tried.push({ worker, problem: await problemOf(connection, worker, cancelled.signal) });
      progress.report({ increment: 100 / workers.length });
    }
    return tried;
  });
}

async function problemOf(
  connection: Pick<BackendConnection, 'request'>, worker: WorkerConfig, signal: AbortSignal,
): Promise<string | undefined> {
  if (signal.aborted) return vscode.l10n.t('The try was cancelled.');
  try {
    const { ok, message } = await connection.request('worker/try', { worker }, signal);
    return ok ? undefined : message;
  } catch (error) {
    if (signal.aborted) return vscode.l10n.t('The try was cancelled.');
    throw error;
  }
}
