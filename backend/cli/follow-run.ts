import type { BackendClient } from '../protocol/client/backend-client.ts';
import { applyEvent, isOver, snapshotOf, type RunSnapshot } from '../protocol/run-snapshot.ts';
import type { StoredEvent } from '../protocol/run-events.ts';
import type { RunPrinter } from './run-printer.ts';

export interface FollowOptions {
  readonly runId: string;
  readonly client: BackendClient;
  /** Absent where nothing is to be told on the way. */
  readonly printer?: RunPrinter | undefined;
  /** The first Ctrl+C: the run is cancelled and then ends by itself. */
  readonly interrupted: AbortSignal;
}

/**
 * Follows a run to its end, or to where nothing more happens by itself.
 * @throws Error when the connection closes before; the run goes on in the backend.
 */
export async function followRun({ runId, client, printer, interrupted }: FollowOptions): Promise<RunSnapshot> {
  const over = Promise.withResolvers<RunSnapshot>();
  const waiting: StoredEvent[] = [];
  let run: RunSnapshot | undefined;

  const take = (event: StoredEvent): void => {
    if (!run || event.seq <= run.seq) return;
    run = applyEvent(run, event);
    printer?.onEvent(event, run);
  };
  const unsubscribe = client.on('run/event', (event) => {
    if (event.runId !== runId) return;
    if (!run) return void waiting.push(event);
    take(event);
    if (isOver(run.state)) over.resolve(run);
  });
  const cancel = (): void => void client.request('run/cancel', { runId }).catch(over.reject);
  try {
    // What happened before the subscription is told as well: it is read as events, and the subscription's come after them.
    await client.request('run/subscribe', { runId });
    const { events } = await client.request('run/events', { runId });
    run = snapshotOf(events.slice(0, 1));
    printer?.begin(run);
    for (const event of [...events, ...waiting]) take(event);
    // A run that was resumed was over once before; only where it stands now counts.
    if (isOver(run.state)) over.resolve(run);
    interrupted.addEventListener('abort', cancel, { once: true });
    if (interrupted.aborted) cancel();
    return await Promise.race([
      over.promise,
      client.closed.then((reason) => {
        throw new Error(`The connection to the backend closed (${reason}); the run goes on there: conductor runs show ${runId}`);
      }),
    ]);
  } finally {
    interrupted.removeEventListener('abort', cancel);
    unsubscribe();
  }
}
