import type { BackendClient } from '../../backend/protocol/client/backend-client.ts';
import type {
  BackendNotifications, ClientNotifications, ClientRequests, ParamsInput, Result,
} from '../../backend/protocol/methods.ts';
import type { z } from 'zod';
import { Signal } from './signal.ts';

export type ConnectionState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'connected' }
  /** The user stopped the backend. It starts again when it is next used. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'unavailable'; readonly message: string };

export interface BackendConnectionOptions {
  /** Finds the running backend or starts one. @throws an error with a message for users */
  readonly connect: (signal: AbortSignal) => Promise<BackendClient>;
  /** Stops the backend if it is running. */
  readonly stop: () => Promise<void>;
  /** Resolves after `ms` milliseconds; rejects when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: (line: string) => void;
}

/** Delays before each reconnection attempt, about fifteen seconds in all: a backend takes one or two to start. */
const RECONNECT_AFTER_MS = [0, 500, 1_000, 2_000, 4_000, 8_000];

type Payload<K extends keyof BackendNotifications> = z.output<BackendNotifications[K]>;

/**
 * The window's connection to the backend. Starts the backend on first use; concurrent callers share one start. Reconnects after a loss and
 * keeps all listeners.
 */
export class BackendConnection {
  /** Emitted after every change of `state`. */
  readonly stateChanged = new Signal<ConnectionState>();
  /** Emitted for the first and for every new connection. Subscriptions do not carry over to a new connection. */
  readonly connected = new Signal<BackendClient>();
  readonly #options: BackendConnectionOptions;
  readonly #attachments = new Set<(client: BackendClient) => () => void>();
  readonly #disposed = new AbortController();
  #state: ConnectionState = { kind: 'idle' };
  #client: BackendClient | undefined;
  #starting: Promise<BackendClient> | undefined;
  #stopping = false;

  constructor(options: BackendConnectionOptions) {
    this.#options = options;
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Returns the live connection and starts the backend if necessary. @throws an error with the sentence that `state` then holds */
  client(): Promise<BackendClient> {
    if (this.#client) return Promise.resolve(this.#client);
    return (this.#starting ??= this.#start([0]));
  }

  async request<K extends keyof ClientRequests & string>(
    method: K, params: ParamsInput<ClientRequests, K>, signal?: AbortSignal,
  ): Promise<Result<ClientRequests, K>> {
    const client = await this.client();
    return client.request(method, params, signal);
  }

  /** Sends a notification if there is a connection; otherwise does nothing. */
  notify<K extends keyof ClientNotifications & string>(method: K, params: z.output<ClientNotifications[K]>): void {
    this.#client?.notify(method, params);
  }

  /** Listens on this and on every later connection. @returns a function that ends the subscription */
  on<K extends keyof BackendNotifications & string>(method: K, listener: (params: Payload<K>) => void): () => void {
    let active = true;
    const attach = (client: BackendClient): (() => void) => client.on(method, (params) => active && listener(params));
    this.#attachments.add(attach);
    if (this.#client) attach(this.#client);
    return () => {
      active = false;
      this.#attachments.delete(attach);
    };
  }

  /** Stops the backend. Active runs continue when it next starts. */
  async stopBackend(): Promise<void> {
    this.#stopping = true;
    try {
      await this.#options.stop();
      await this.#client?.closed;
      this.#enter({ kind: 'stopped' });
    } finally {
      this.#stopping = false;
    }
  }

  dispose(): void {
    this.#disposed.abort();
    this.#client?.close();
  }

  async #start(waitsMs: readonly number[]): Promise<BackendClient> {
    this.#enter({ kind: 'starting' });
    let failure: unknown;
    try {
      for (const waitMs of waitsMs) {
        if (waitMs > 0) await this.#options.wait(waitMs, this.#disposed.signal);
        this.#disposed.signal.throwIfAborted();
        try {
          return this.#adopt(await this.#options.connect(this.#disposed.signal));
        } catch (error) {
          failure = error;
          this.#options.log(`The backend did not answer: ${messageOf(error)}`);
        }
      }
      throw failure;
    } catch (error) {
      this.#enter({ kind: 'unavailable', message: messageOf(error) });
      throw error;
    } finally {
      this.#starting = undefined;
    }
  }

  #adopt(client: BackendClient): BackendClient {
    if (this.#disposed.signal.aborted) {
      client.close();
      throw this.#disposed.signal.reason;
    }
    this.#client = client;
    for (const attach of this.#attachments) attach(client);
    client.closed.then((reason) => this.#lost(client, reason)).catch((error: unknown) => this.#options.log(messageOf(error)));
    this.#enter({ kind: 'connected' });
    this.connected.emit(client);
    return client;
  }

  #lost(client: BackendClient, reason: string): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#options.log(`The connection to the backend ended: ${reason}`);
    if (this.#disposed.signal.aborted) return;
    if (this.#stopping) return;
    this.#starting = this.#start(RECONNECT_AFTER_MS);
    // There may be no caller waiting; `state` holds the result.
    this.#starting.catch(() => undefined);
  }

  #enter(state: ConnectionState): void {
    if (this.#disposed.signal.aborted) return;
    this.#state = state;
    this.stateChanged.emit(state);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

