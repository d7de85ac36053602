import * as vscode from 'vscode';
import type { StoredEvent } from '../../backend/protocol/run-events.ts';
import { isOver, type RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { RunStore } from './run-store.ts';
import type { RunSubscriptions } from './run-subscriptions.ts';

export interface FollowOptions {
  readonly connection: BackendConnection;
  readonly subscriptions: RunSubscriptions;
  readonly runId: string;
  /** Cancels the run, which is then followed to its end. */
  readonly signal: AbortSignal;
  readonly onChange?: (run: RunSnapshot) => void;
  readonly onEvent?: (event: StoredEvent) => void;
  /** Whether this is as far as the run is followed; by default until it is over. */
  readonly isEnd?: (run: RunSnapshot) => boolean;
}

/**
 * Follows a run, whichever one the panel shows, over losses of the connection.
 * @throws an error with a sentence if the backend cannot be reached again, or the run is removed
 */
export async function followRun(options: FollowOptions): Promise<RunSnapshot> {
  const { connection, subscriptions, runId, signal, onChange, onEvent, isEnd = ({ state }) => isOver(state) } = options;
  const ended = Promise.withResolvers<RunSnapshot>();
  const store = new RunStore({ connection, subscriptions, memory: { runId: undefined, remember: () => undefined } });
  const cancel = (): void => {
    connection.request('run/cancel', { runId }).catch((error: unknown) => ended.reject(error instanceof Error ? error : new Error(String(error))));
  };
  const stopListening = [
    store.changed.on((run) => {
      if (!run) return ended.reject(new Error(vscode.l10n.t('The run was removed.')));
      onChange?.(run);
      if (isEnd(run) || isOver(run.state)) ended.resolve(run);
    }),
    store.happened.on((event) => onEvent?.(event)),
    store.problem.on((problem) => ended.reject(new Error(problem))),
    connection.stateChanged.on((state) => {
      if (state.kind === 'unavailable') ended.reject(new Error(state.message));
      if (state.kind === 'stopped') ended.reject(new Error(vscode.l10n.t('The backend was stopped. The run goes on when it starts again.')));
    }),
  ];
  try {
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    await store.open(runId);
    return await ended.promise;
  } finally {
    signal.removeEventListener('abort', cancel);
    for (const stop of stopListening) stop();
    // What happens with it from now on is nobody's concern here.
    ended.promise.catch(() => undefined);
    store.dispose();
  }
}
