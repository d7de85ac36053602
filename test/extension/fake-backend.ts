import type { BackendClient } from '../../backend/protocol/client/backend-client.ts';
import { BackendConnection } from '../../extension/common/backend-connection.ts';

interface Call {
  readonly method: string;
  readonly params: unknown;
}

/**
 * One connection, in memory, whose every answer and notification the test gives by hand: what a socket does in some order,
 * this does in the order that the test is about.
 */
export class FakeBackend {
  readonly calls: Call[] = [];
  readonly notified: Call[] = [];
  readonly #answers = new Map<string, (params: unknown) => unknown>();
  readonly #listeners = new Map<string, Set<(params: unknown) => void>>();
  readonly #closed = Promise.withResolvers<string>();

  readonly client: BackendClient = {
    request: async (method, params) => {
      this.calls.push({ method, params });
      const answer = this.#answers.get(method);
      if (!answer) throw new Error(`The test has no answer to ${method}.`);
      return (await answer(params)) as never;
    },
    notify: (method, params) => void this.notified.push({ method, params }),
    on: (method, listener) => {
      const listeners = this.#listeners.get(method) ?? new Set();
      this.#listeners.set(method, listeners);
      listeners.add(listener as (params: unknown) => void);
      return () => void listeners.delete(listener as (params: unknown) => void);
    },
    closed: this.#closed.promise,
    close: () => this.#closed.resolve('closed by this side'),
  };

  answer(method: string, answer: (params: unknown) => unknown): this {
    this.#answers.set(method, answer);
    return this;
  }

  emit(method: string, params: unknown): void {
    for (const listener of this.#listeners.get(method) ?? []) listener(params);
  }

  lose(reason = 'the process was killed'): void {
    this.#closed.resolve(reason);
  }

  callsOf(method: string): unknown[] {
    return this.calls.filter((call) => call.method === method).map(({ params }) => params);
  }
}

/** A connection that finds these backends one after the other, and how often it has looked for one; an error among them is a start that fails. */
export function connectionOver(
  backends: readonly (FakeBackend | Error)[], { wait = async () => undefined }: { readonly wait?: (ms: number) => Promise<void> } = {},
): { readonly connection: BackendConnection; readonly starts: () => number } {
  let starts = 0;
  const connection = new BackendConnection({
    connect: async () => {
      const backend = backends[starts];
      starts += 1;
      if (!backend) throw new Error('the test has no more backends');
      if (backend instanceof Error) throw backend;
      return backend.client;
    },
    stop: async () => {
      const current = backends[starts - 1];
      if (current instanceof FakeBackend) current.lose('stopped');
    },
    wait,
    log: () => undefined,
  });
  return { connection, starts: () => starts };
}
