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
  /** The person ended the backend; the next use starts it again. */
  | { readonly kind: 'stopped' }
  | { readonly kind: 'unavailable'; readonly message: string };

export interface BackendConnectionOptions {
  /** Finds the running backend or starts one. @throws an error whose message tells a person what is wrong. */
  readonly connect: (signal: AbortSignal) => Promise<BackendClient>;
  /** Ends the backend that runs, if one does. */
  readonly stop: () => Promise<void>;
  /** Resolves after so many milliseconds, rejects when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: (line: string) => void;
}

/** Waits before each attempt to come back, about fifteen seconds in all: a backend takes one or two to start. */
const RECONNECT_AFTER_MS = [0, 500, 1_000, 2_000, 4_000, 8_000];

type Payload<K extends keyof BackendNotifications> = z.output<BackendNotifications[K]>;

/**
 * The window's way to the backend. Nothing is started before somebody needs it; everybody who needs it at the same time waits
 * for the same start; a lost connection is taken up again, and whoever listens keeps listening.
 */
export class BackendConnection {
  /** After every change of `state`. */
  readonly stateChanged = new Signal<ConnectionState>();
  /** A connection is there, the first or a new one: what was subscribed on the last one is not on this one. */
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

  /** The live connection; starts the backend where there is none. @throws the sentence that `state` then shows, too. */
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

  /** Tells the backend, if there is a connection; a backend that is not there has nothing to be told. */
  notify<K extends keyof ClientNotifications & string>(method: K, params: z.output<ClientNotifications[K]>): void {
    this.#client?.notify(method, params);
  }

  /** Listens on this connection and on every later one. @returns a function that ends it. */
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

  /** Ends the backend. Runs under way go on when it is next started. */
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
    void client.closed.then((reason) => this.#lost(client, reason));
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
    // Nobody may be waiting for it; the state says how it went.
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

