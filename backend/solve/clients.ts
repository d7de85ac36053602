import type { ClientModelCall, ClientModelReply } from '../workers/adapters/client-model.ts';

/** What the backend can ask of the clients that are connected to it, seen from a run. `server` implements it on the socket. */
export interface Clients {
  /**
   * The value of a key, from the client that connected last of those that have it.
   * @returns `undefined` when no client is connected that could be asked, `null` when those that were asked have no such key.
   */
  secret(name: string): Promise<string | null | undefined>;
  /** Asks a person. `undefined` when no client is there to show the question; clients with the workspace open are asked first. */
  confirm(question: Confirmation, signal: AbortSignal): Promise<boolean | undefined>;
  /** A call of a model that only a client can reach. @throws WorkerError `not-found` when no client offers models. */
  model(call: ClientModelCall): Promise<ClientModelReply>;
  /** Resolves when the next client connects or a key changes; rejects when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
}

export interface Confirmation {
  readonly title: string;
  readonly detail: string;
  /** Label of the button that accepts. */
  readonly accept: string;
  /** A command line that would make the question needless, for the person to copy. */
  readonly remedy?: string | undefined;
  readonly workspace?: string | undefined;
  /** The run that asks. */
  readonly runId?: string | undefined;
}
