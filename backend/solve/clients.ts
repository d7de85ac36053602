import type { ClientModelCall, ClientModelReply } from '../workers/adapters/client-model.ts';

/** What a run can ask the connected clients. `server` implements it on the socket. */
export interface Clients {
  /**
   * The value of a key, from the most recently connected client that has it.
   * @returns `undefined` if no client could be asked, `null` if no client has the key.
   */
  secret(name: string): Promise<string | null | undefined>;
  /** Asks a person; clients that have the workspace open come first. `undefined` if no client can show the question. */
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
  /** A command line, to copy, that makes the question unnecessary. */
  readonly remedy?: string | undefined;
  readonly workspace?: string | undefined;
  /** The run that asks. */
  readonly runId?: string | undefined;
}
