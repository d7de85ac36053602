import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { BackendRequests, Capability, ParamsInput, Result } from '../protocol/methods.ts';
import { RequestError } from '../protocol/request-error.ts';
import type { Clients, Confirmation } from '../solve/clients.ts';
import type { ClientModelCall, ClientModelReply } from '../workers/adapters/client-model.ts';
import { WorkerError, type WorkerErrorKind } from '../workers/errors.ts';

/** A client that has shaken hands, as far as the backend asks it for things. */
export interface ConnectedClient {
  readonly capabilities: ReadonlySet<Capability>;
  /** Absolute paths of the folders it has open. */
  readonly workspaces: readonly string[];
  request<K extends keyof BackendRequests & string>(
    method: K, params: ParamsInput<BackendRequests, K>, signal?: AbortSignal,
  ): Promise<Result<BackendRequests, K>>;
}

/** A client reads a key from a key ring, which may first ask its owner for a password; one that takes longer counts as gone. */
const SECRET_TIMEOUT_MS = 60_000;

/**
 * The clients that are connected and what the backend asks of them. Keys are kept here, in memory and nowhere else: never in a
 * log, a message to another client, or a file.
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
   * Whoever connected last is asked first: that is who just began or resumed a run, and whose account is to be billed. Nothing is
   * remembered here; a run keeps the keys it was given for as long as it lasts.
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
        // It left, hangs or cannot look: what it might have had, the next client may have.
      }
    }
    return answered ? null : undefined;
  }

  /** A client has a new or another key: whoever waits for one asks again. */
  secretChanged(): void {
    this.#change();
  }

  async confirm({ workspace, ...question }: Confirmation, signal: AbortSignal): Promise<boolean | undefined> {
    const clients = this.#withCapability('confirm');
    const near = clients.filter(
      (client) => workspace !== undefined && client.workspaces.some((open) => isWithin(workspace, open)),
    );
    for (const client of new Set([...near, ...clients])) {
      if (!this.#clients.has(client)) continue;
      try {
        const { accepted } = await client.request('client/confirm', question, signal);
        return accepted;
      } catch (error) {
        // A client that left or could not ask answers nothing: the next one is asked.
        signal.throwIfAborted();
        if (!(error instanceof RequestError)) throw error;
      }
    }
    return undefined;
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

  /** Text of a model call; what belongs to no call of this client is dropped. */
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

/** Kinds that a client may name; whatever else goes wrong in it is a fault of that server, and worth another attempt. */
const KINDS_FROM_CLIENTS: ReadonlySet<string> = new Set<WorkerErrorKind>([
  'authentication', 'payment', 'permission', 'not-found', 'invalid-request', 'context-overflow', 'rate-limit', 'overloaded',
  'cancelled',
]);

function modelError(error: RequestError): WorkerError {
  const other = error.kind === 'disconnected' ? 'network' : 'server';
  const kind = KINDS_FROM_CLIENTS.has(error.kind) ? (error.kind as WorkerErrorKind) : other;
  return new WorkerError({ kind, message: error.message, cause: error });
}

function isWithin(folder: string, open: string): boolean {
  const relative = path.relative(open, folder);
  return relative === '' || (!relative.startsWith('..') && !path.isAbsolute(relative));
}
