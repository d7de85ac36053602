import { type ChildProcess, spawn } from 'node:child_process';
import { ModelDiedError, type ProcessEnd } from './errors.ts';
import { type ModelEvent, type ModelNotice, type ModelRequest, replySchema, RESULTS, type ResultOf } from './messages.ts';
import { OutputTail } from './output-tail.ts';
import { fromWireError } from './wire-error.ts';

export interface ModelChildOptions {
  /** backend/model-process.ts or its bundle. */
  readonly script: string;
  /** The Node executable. */
  readonly nodePath: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** A request without its id, which ModelChild assigns. */
export type Unnumbered<Request> = Request extends { readonly id: number } ? Omit<Request, 'id'> : never;

export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long the process may continue after an abort before it is killed. */
  readonly graceMs: number;
  readonly onEvent?: ((event: ModelEvent) => void) | undefined;
}

interface Pending {
  readonly type: ModelRequest['type'];
  readonly onEvent: AskOptions['onEvent'];
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const LAST_OUTPUT_CHARACTERS = 4_000;

/** A process with one model, and its pending requests. */
export class ModelChild {
  /** Resolves when the process has ended and all its output has been read. */
  readonly ended: Promise<ProcessEnd>;
  readonly #process: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  readonly #stderr = new OutputTail(LAST_OUTPUT_CHARACTERS);
  #lastId = 0;
  #hasEnded = false;

  constructor({ script, nodePath, environment }: ModelChildOptions) {
    this.#process = spawn(nodePath, [script], {
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      serialization: 'advanced',
      windowsHide: true,
    });
    this.#process.stderr?.setEncoding('utf8').on('data', (text: string) => this.#stderr.add(text));
    this.#process.on('message', (message) => this.#receive(message));
    this.ended = new Promise((resolve) => {
      const end = (exitCode: number | null, signal: NodeJS.Signals | null): void => {
        this.#hasEnded = true;
        const how = { exitCode, signal, lastOutput: this.#stderr.toString().trim() };
        for (const { reject } of this.#pending.values()) reject(diedAt(how));
        this.#pending.clear();
        resolve(how);
      };
      this.#process.on('error', (error) => {
        this.#stderr.add(error.message);
        // Also emitted if a message could not be sent. In that case, the end of the process gives a better explanation.
        if (this.#process.pid === undefined) end(null, null);
      });
      this.#process.once('close', end);
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  /**
   * Sends a request and waits for the answer.
   * @throws the error in the answer; ModelDiedError if the process ended first
   */
  async ask<Type extends ModelRequest['type']>(
    request: Unnumbered<Extract<ModelRequest, { type: Type }>> & { readonly type: Type }, options: AskOptions,
  ): Promise<ResultOf<Type>> {
    const { signal, graceMs, onEvent } = options;
    if (this.#hasEnded) throw diedAt(await this.ended);
    const id = (this.#lastId += 1);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#pending.set(id, { type: request.type, resolve, reject, onEvent });
    let timer: NodeJS.Timeout | undefined;
    const cancel = (): void => {
      this.#send({ type: 'cancel', id });
      timer = setTimeout(() => this.kill(), graceMs);
    };
    this.#send({ ...request, id });
    if (signal?.aborted) cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      // Validated on arrival with the schema of the request's type.
      return (await promise) as ResultOf<Type>;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Asks the process to end, and kills it if it does not. */
  async end(graceMs: number): Promise<void> {
    this.#send({ type: 'close' });
    const timer = setTimeout(() => this.kill(), graceMs);
    await this.ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  #send(message: ModelNotice | { readonly id: number }): void {
    // If the channel is closed, the end of the process rejects the request.
    if (this.#process.connected) this.#process.send(message, undefined, undefined, () => {});
  }

  #receive(message: unknown): void {
    const reply = replySchema.safeParse(message);
    // A message that cannot be parsed may answer any request, so the process can no longer be trusted.
    if (!reply.success) return this.#distrust(reply.error.message);
    const pending = this.#pending.get(reply.data.id);
    if (!pending) return;
    switch (reply.data.type) {
      case 'progress': case 'text': case 'tokens':
        return pending.onEvent?.(reply.data);
      case 'error':
        this.#pending.delete(reply.data.id);
        return pending.reject(fromWireError(reply.data.error));
      case 'result': {
        const value = RESULTS[pending.type].safeParse(reply.data.value);
        if (!value.success) return this.#distrust(value.error.message);
        this.#pending.delete(reply.data.id);
        return pending.resolve(value.data);
      }
    }
  }

  #distrust(problem: string): void {
    this.#stderr.add(`\nThe process sent an invalid message: ${problem.slice(0, 500)}`);
    this.kill();
  }
}

function diedAt(end: ProcessEnd): ModelDiedError {
  const exit = end.exitCode === null ? 'not started' : `ended with exit code ${end.exitCode}`;
  const how = end.signal ? `ended by ${end.signal}` : exit;
  const hint = end.signal === 'SIGKILL' ? ' (systems do this when memory runs out)' : '';
  return new ModelDiedError({
    ...end,
    retryable: true,
    message: `The model's process was ${how}${hint} while it worked on this; it is started again for the next request.`,
  });
}
