import type { BackendClient } from '../protocol/client/backend-client.ts';
import { RequestError } from '../protocol/request-error.ts';
import type { StoredEvent } from '../protocol/run-events.ts';
import { applyEvent, isOver, snapshotOf, type RunSnapshot } from '../protocol/run-snapshot.ts';
import type { RunPrinter } from './run-printer.ts';
import type { Terminal } from './terminal.ts';

export interface FollowOptions {
  readonly runId: string;
  /** The connection that the run was started on. Its opener closes it. */
  readonly client: BackendClient;
  /** Connects again, and starts the backend where none runs, with the same consent and keys. */
  readonly connect: () => Promise<BackendClient>;
  readonly terminal: Terminal;
  /** Absent where nothing is to be told on the way. */
  readonly printer?: RunPrinter | undefined;
  /** The first Ctrl+C: the run is cancelled and then ends by itself. */
  readonly interrupted: AbortSignal;
}

/** A backend that ends more often than this while one run is followed will not get it done either. */
const MAX_RECONNECTIONS = 5;

/**
 * Follows a run to its end, or to where nothing more happens by itself. When the backend ends before, it is started again: it finds the
 * run in its journal and goes on with it, with the keys of this client, and is followed from the last event that was seen.
 * @throws Error when the connection closes too often or cannot be had again.
 */
export async function followRun({ client: first, connect, ...options }: FollowOptions): Promise<RunSnapshot> {
  const { runId, terminal } = options;
  const followed = new FollowedRun(options);
  let client = first;
  for (let reconnections = 0; ; reconnections += 1) {
    try {
      const run = await followed.follow(client);
      if (run) return run;
    } finally {
      if (client !== first) client.close();
    }
    const resume = `"conductor runs resume ${runId}" goes on with the run.`;
    if (reconnections === MAX_RECONNECTIONS) {
      throw new Error(`The connection to the backend closed ${reconnections + 1} times, so this command no longer follows it. ${resume}`);
    }
    terminal.say('The connection to the backend closed; connecting again.');
    client = await connect().catch((error: unknown) => {
      throw new Error(`${error instanceof Error ? error.message : String(error)} ${resume}`, { cause: error });
    });
  }
}

/** A run as far as it was seen, over all connections. */
class FollowedRun {
  readonly #runId: string;
  readonly #printer: RunPrinter | undefined;
  readonly #interrupted: AbortSignal;
  #run: RunSnapshot | undefined;

  constructor({ runId, printer, interrupted }: Pick<FollowOptions, 'runId' | 'printer' | 'interrupted'>) {
    this.#runId = runId;
    this.#printer = printer;
    this.#interrupted = interrupted;
  }

  /** @returns the run once it is over, or undefined when the connection closes before. */
  async follow(client: BackendClient): Promise<RunSnapshot | undefined> {
    const runId = this.#runId;
    const over = Promise.withResolvers<RunSnapshot>();
    const early: StoredEvent[] = [];
    let caughtUp = false;
    const settle = (): void => {
      if (this.#run && isOver(this.#run.state)) over.resolve(this.#run);
    };
    const unsubscribe = client.on('run/event', (event) => {
      if (event.runId !== runId) return;
      if (!caughtUp) return void early.push(event);
      this.#take(event);
      settle();
    });
    const ignoreModels = client.on('model/status', (status) => { if (this.#run) this.#printer?.onModel(status, this.#run); });
    const cancel = (): void => void client.request('run/cancel', { runId }).catch(over.reject);
    try {
      // What happened before the subscription is told as well: it is read as events, and the subscription's come after them.
      await client.request('run/subscribe', { runId });
      const { events } = await client.request('run/events', { runId, afterSeq: this.#run?.seq ?? 0 });
      for (const event of [...events, ...early]) this.#take(event);
      caughtUp = true;
      // A run that was resumed was over once before; only where it stands now counts.
      settle();
      this.#interrupted.addEventListener('abort', cancel, { once: true });
      if (this.#interrupted.aborted) cancel();
      return await Promise.race([over.promise, client.closed.then(() => undefined)]);
    } catch (error) {
      if (error instanceof RequestError && error.kind === 'disconnected') return undefined;
      throw error;
    } finally {
      this.#interrupted.removeEventListener('abort', cancel);
      unsubscribe();
      ignoreModels();
    }
  }

  #take(event: StoredEvent): void {
    if (!this.#run) {
      this.#run = snapshotOf([event]);
      this.#printer?.begin(this.#run);
    } else if (event.seq > this.#run.seq) {
      this.#run = applyEvent(this.#run, event);
    } else {
      return;
    }
    this.#printer?.onEvent(event, this.#run);
  }
}
