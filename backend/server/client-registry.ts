import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { BackendRequests, Capability, ParamsInput, Result } from '../protocol/methods.ts';
import type { PersonPython } from '../protocol/person-python.ts';
import { RequestError } from '../protocol/request-error.ts';
import type { Clients, Confirmation } from '../solve/clients.ts';
import type { ClientModelCall, ClientModelReply } from '../workers/adapters/client-model.ts';
import { WorkerError, type WorkerErrorKind } from '../workers/errors.ts';

/** A client after the handshake, as the backend sees it. */
export interface ConnectedClient {
  readonly capabilities: ReadonlySet<Capability>;
  /** Absolute paths of its open folders. */
  readonly workspaces: readonly string[];
  request<K extends keyof BackendRequests & string>(
    method: K, params: ParamsInput<BackendRequests, K>, signal?: AbortSignal,
  ): Promise<Result<BackendRequests, K>>;
}

/** A client may read a key from a key ring that first asks the user for a password. After this time the client counts as unavailable. */
const SECRET_TIMEOUT_MS = 60_000;
/** Tests wait for the answer. */
const PYTHON_TIMEOUT_MS = 3_000;

/**
 * The connected clients and the backend's requests to them. Keys pass through in memory only, never into a log, a file or a message to
 * another client.
 */
export class ClientRegistry implements Clients {
  readonly #clients = new Set<ConnectedClient>();
  readonly #modelCalls = new Map<string, { client: ConnectedClient; onText: (text: string) => void }>();
  readonly #waiting = new Set<() => void>();
  readonly #countListeners = new Set<() => void>();
  readonly #secretTimeoutMs: number;

  constructor({ secretTimeoutMs = SECRET_TIMEOUT_MS }: { secretTimeoutMs?: number } = {}) {
    this.#secretTimeoutMs = secretTimeoutMs;
  }

  get size(): number {
    return this.#clients.size;
  }

  /** @returns a function that ends the subscription. */
  onCountChanged(listener: () => void): () => void {
    this.#countListeners.add(listener);
    return () => this.#countListeners.delete(listener);
  }

  add(client: ConnectedClient): void {
    this.#clients.add(client);
    this.#count();
    this.#change();
  }

  remove(client: ConnectedClient): void {
    if (this.#clients.delete(client)) this.#count();
  }

  can(capability: Capability): boolean {
    return this.#withCapability(capability).length > 0;
  }

  /**
   * Asks the client that connected last first: it has just started or resumed a run, and its account is to be billed. Nothing is
   * cached here; a run keeps its keys while it lasts.
   */
  async secret(name: string): Promise<string | null | undefined> {
    let answered = false;
    for (const client of this.#withCapability('secret').reverse()) {
      if (!this.#clients.has(client)) continue;
      try {
        const { value } = await client.request('client/secret', { name }, AbortSignal.timeout(this.#secretTimeoutMs));
        if (value) return value;
        answered = true;
      } catch {
        // This client left, hangs or cannot read keys: try the next one.
      }
    }
    return answered ? null : undefined;
  }

  /** A client's keys have changed: runs that wait for a key ask again. */
  secretChanged(): void {
    this.#change();
  }

  async confirm({ workspace, ...question }: Confirmation, signal: AbortSignal): Promise<boolean | undefined> {
    const clients = this.#withCapability('confirm');
    for (const client of nearFirst(clients, workspace)) {
      if (!this.#clients.has(client)) continue;
      try {
        const { accepted } = await client.request('client/confirm', question, signal);
        return accepted;
      } catch (error) {
        // This client left or could not ask the user: try the next one.
        signal.throwIfAborted();
        if (!(error instanceof RequestError)) throw error;
      }
    }
    return undefined;
  }

  /**
   * The Python environment that the person uses for a project (absolute): one that is chosen for it, or else one that is active. Asks the clients
   * that have the project open first.
   */
  async python(workspace: string): Promise<PersonPython | undefined> {
    let active: PersonPython | undefined;
    for (const client of nearFirst(this.#withCapability('python').reverse(), workspace)) {
      if (!this.#clients.has(client)) continue;
      try {
        const { python } = await client.request('client/python', { workspace }, AbortSignal.timeout(PYTHON_TIMEOUT_MS));
        if (python?.isChosen) return python;
        active ??= python ?? undefined;
      } catch {
        // This client left or hangs: try the next one.
      }
    }
    return active;
  }

  async model({ model, messages, maxOutputTokens, signal, onText }: ClientModelCall): Promise<ClientModelReply> {
    const [client] = this.#withCapability('model');
    if (!client) {
      throw new WorkerError({
        kind: 'not-found',
        message: `The model "${model}" is VS Code's own and no VS Code is connected: open VS Code and try again.`,
      });
    }
    const callId = randomUUID();
    this.#modelCalls.set(callId, { client, onText });
    try {
      return await client.request(
        'client/model', { callId, provider: 'vscode', model, messages: [...messages], maxOutputTokens }, signal,
      );
    } catch (error) {
      if (signal.aborted) throw new WorkerError({ kind: 'cancelled', message: 'The call was cancelled.', cause: error });
      throw error instanceof RequestError ? modelError(error) : error;
    } finally {
      this.#modelCalls.delete(callId);
    }
  }

  /** Handles streamed text of a model call. Text for unknown calls, or calls of other clients, is dropped. */
  modelText(client: ConnectedClient, callId: string, text: string): void {
    const call = this.#modelCalls.get(callId);
    if (call?.client === client) call.onText(text);
  }

  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const done = () => {
        signal.removeEventListener('abort', abort);
        this.#waiting.delete(done);
        resolve();
      };
      const abort = () => {
        this.#waiting.delete(done);
        reject(signal.reason);
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.add(done);
    });
  }

  #withCapability(capability: Capability): ConnectedClient[] {
    return [...this.#clients].filter((client) => client.capabilities.has(capability));
  }

  #change(): void {
    for (const done of [...this.#waiting]) done();
  }

  #count(): void {
    for (const listener of [...this.#countListeners]) listener();
  }
}

/** Kinds of errors that a client may report. All other errors count as server or network errors, which are retried. */
const KINDS_FROM_CLIENTS: ReadonlySet<string> = new Set<WorkerErrorKind>([
  'authentication', 'payment', 'permission', 'not-found', 'invalid-request', 'context-overflow', 'rate-limit', 'overloaded',
  'cancelled',
]);

function modelError(error: RequestError): WorkerError {
  const other = error.kind === 'disconnected' ? 'network' : 'server';
  const kind = KINDS_FROM_CLIENTS.has(error.kind) ? (error.kind as WorkerErrorKind) : other;
  return new WorkerError({ kind, message: error.message, cause: error });
}

/** Those first that have the folder open. */
function nearFirst(clients: readonly ConnectedClient[], workspace: string | undefined): Iterable<ConnectedClient> {
  const near = clients.filter((client) => workspace !== undefined && client.workspaces.some((open) => isWithin(workspace, open)));
  return new Set([...near, ...clients]);
}

function isWithin(folder: string, open: string): boolean {
  const relative = path.relative(open, folder);
  return relative === '' || (!relative.startsWith('..') && !path.isAbsolute(relative));
}
