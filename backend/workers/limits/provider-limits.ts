import { factsOf } from '../../protocol/providers.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { delay as realDelay, type Delay } from './delay.ts';
import { concurrencyOf, serverKey } from '../servers/server-of.ts';

/** Permission for one concurrent call to a server. */
export interface Slot {
  /** Gives the slot to the next in line; a second call does nothing. */
  release(): void;
}

interface Waiter {
  readonly concurrency: number;
  readonly start: () => void;
}

interface Server {
  running: number;
  readonly waiting: Waiter[];
  coolUntil: number;
  /** Ends the wait for the end of a cooldown. */
  cooling?: AbortController | undefined;
}

export interface ProviderLimitsOptions {
  readonly workers?: readonly WorkerConfig[];
  readonly now?: () => number;
  readonly delay?: Delay;
}

/**
 * Limits concurrent calls to each server (provider and origin) across all runs to the lowest `concurrency` of its workers. Callers are
 * served first come, first served. After a refusal for load, a cooldown delays all of them.
 */
export class ProviderLimits {
  readonly #servers = new Map<string, Server>();
  readonly #now: () => number;
  readonly #delay: Delay;
  #lowest: ReadonlyMap<string, number> = new Map();

  constructor({ workers = [], now = Date.now, delay = realDelay }: ProviderLimitsOptions = {}) {
    this.#now = now;
    this.#delay = delay;
    this.setWorkers(workers);
  }

  /** Replaces the pool. Running calls continue; the new limits apply from the next slot on. */
  setWorkers(workers: readonly WorkerConfig[]): void {
    const lowest = new Map<string, number>();
    for (const worker of workers) {
      const { reach, baseUrl } = factsOf(worker.provider);
      if (reach === 'server' && (worker.baseUrl ?? baseUrl) === undefined) continue;
      const key = serverKey(worker);
      lowest.set(key, Math.min(concurrencyOf(worker), lowest.get(key) ?? concurrencyOf(worker)));
    }
    this.#lowest = lowest;
    for (const key of this.#servers.keys()) this.#startNext(key);
  }

  /** Waits for a slot of the worker's server. Rejects with the signal's reason when it aborts first. */
  async acquire(worker: WorkerConfig, signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    const key = serverKey(worker);
    const server = this.#server(key);
    const turn = Promise.withResolvers<void>();
    const waiter: Waiter = { concurrency: concurrencyOf(worker), start: turn.resolve };
    const leave = () => {
      const position = server.waiting.indexOf(waiter);
      if (position === -1) return;
      server.waiting.splice(position, 1);
      turn.reject(signal.reason);
      this.#startNext(key);
    };
    server.waiting.push(waiter);
    signal.addEventListener('abort', leave, { once: true });
    this.#startNext(key);
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        server.running -= 1;
        this.#startNext(key);
      },
    };
  }

  /** Starts no call to the worker's server for this time. A longer cooldown that is active stays. */
  coolDown(worker: WorkerConfig, ms: number): void {
    const server = this.#server(serverKey(worker));
    server.coolUntil = Math.max(server.coolUntil, this.#now() + ms);
  }

  #server(key: string): Server {
    let server = this.#servers.get(key);
    if (!server) {
      server = { running: 0, waiting: [], coolUntil: 0 };
      this.#servers.set(key, server);
    }
    return server;
  }

  #startNext(key: string): void {
    const server = this.#server(key);
    if (server.waiting.length === 0) {
      server.cooling?.abort();
      server.cooling = undefined;
      if (server.running === 0 && server.coolUntil <= this.#now()) this.#servers.delete(key);
      return;
    }
    const coolMs = server.coolUntil - this.#now();
    if (coolMs > 0) {
      this.#startAfterCooldown(key, server, coolMs);
      return;
    }
    for (let first = server.waiting[0]; first; first = server.waiting[0]) {
      if (server.running >= Math.min(first.concurrency, this.#lowest.get(key) ?? first.concurrency)) return;
      server.waiting.shift();
      server.running += 1;
      first.start();
    }
  }

  #startAfterCooldown(key: string, server: Server, ms: number): void {
    if (server.cooling) return;
    const cooling = new AbortController();
    server.cooling = cooling;
    const again = () => {
      if (server.cooling !== cooling) return;
      server.cooling = undefined;
      this.#startNext(key);
    };
    this.#delay(ms, cooling.signal).then(again, again);
  }
}
