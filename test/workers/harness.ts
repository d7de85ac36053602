import type { Failure } from '../../backend/protocol/run-events.ts';
import { SERVER_PROVIDER_NAMES, type ServerProvider } from '../../backend/protocol/providers.ts';
import { workerConfigSchema, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { WorkerCaller, type CallOptions } from '../../backend/workers/call-worker.ts';
import type { Delay } from '../../backend/workers/limits/delay.ts';
import { BudgetSpentError } from '../../backend/workers/errors.ts';
import type { KeySource } from '../../backend/workers/key-source.ts';
import type { Attempt, AttemptLog, AttemptSpent, Ledger, NextAttempt, Reservation, Reserved } from '../../backend/workers/limits/ledger.ts';
import type { ModelReply } from '../../backend/workers/model.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';

export const KEY = 'sk-test-0123456789abcdef';

export function workerOf(fields: Partial<WorkerConfig> & Pick<WorkerConfig, 'provider'>): WorkerConfig {
  return workerConfigSchema.parse({ id: 'ada', model: 'some-model', key: 'TEST_KEY', ...fields });
}

/** Where a fault server has each provider's API. */
const BASE_PATHS: Readonly<Record<ServerProvider, string>> = { 'openai': '/v1', 'openai-compatible': '/v1', 'anthropic': '' };

/** A worker of each wire format at the same server. */
export function workersAt(url: string, fields: Partial<WorkerConfig> = {}): WorkerConfig[] {
  return SERVER_PROVIDER_NAMES.map((provider) => workerOf({ provider, baseUrl: `${url}${BASE_PATHS[provider]}`, ...fields }));
}

/** Lends money up to a bound and remembers every loan and every attempt. */
export class MemoryBooks implements Ledger, AttemptLog {
  readonly open = new Map<string, Reserved>();
  readonly events: string[] = [];
  readonly failures: { failure: Failure; spent: AttemptSpent; retryInMs: number | undefined }[] = [];
  readonly replies: { reply: ModelReply; spent: AttemptSpent }[] = [];
  readonly tokens: number;
  #count = 0;

  constructor(tokens = Number.POSITIVE_INFINITY) {
    this.tokens = tokens;
  }

  reserve(amount: Reserved): Reservation {
    if (amount.tokens > this.tokens) throw new BudgetSpentError('run', 'The budget of the run is spent: raise it and resume.');
    this.#count += 1;
    const id = `r${this.#count}`;
    this.open.set(id, amount);
    this.events.push('reserved');
    return { id };
  }

  started(_attempt: NextAttempt, reserve: () => Reservation): Reservation {
    const reservation = reserve();
    this.events.push('started');
    return reservation;
  }

  succeeded(attempt: Attempt, reply: ModelReply, spent: AttemptSpent): void {
    this.#settle(attempt);
    this.events.push('succeeded');
    this.replies.push({ reply, spent });
  }

  failed(attempt: Attempt, failure: Failure, spent: AttemptSpent, retryInMs?: number): void {
    this.#settle(attempt);
    this.events.push('failed');
    this.failures.push({ failure, spent, retryInMs });
  }

  #settle(attempt: Attempt): void {
    if (!this.open.delete(attempt.reservation.id)) throw new Error('A reservation was settled twice.');
  }
}

export class MemoryKeys implements KeySource {
  readonly forgotten: string[] = [];

  get(): Promise<string> {
    return Promise.resolve(KEY);
  }

  forget(name: string): void {
    this.forgotten.push(name);
  }
}

/** Time that passes only when somebody waits for it. */
export class FakeClock {
  time = 1_000_000;
  readonly waits: number[] = [];
  readonly now = () => this.time;
  readonly delay: Delay = (ms, signal) => {
    signal.throwIfAborted();
    this.waits.push(ms);
    this.time += ms;
    return Promise.resolve();
  };
}

/** A caller whose waits between attempts take no time, with everything it writes down. */
export async function setUp({ budgetTokens }: { budgetTokens?: number } = {}) {
  const clock = new FakeClock();
  const retryClock = new FakeClock();
  const limits = new ProviderLimits({ now: clock.now, delay: clock.delay });
  const prices = await loadPrices();
  const caller = new WorkerCaller({ limits, prices, random: () => 0.5, delay: retryClock.delay });
  const books = new MemoryBooks(budgetTokens);
  const keys = new MemoryKeys();
  const texts: string[] = [];
  const controller = new AbortController();
  const options: CallOptions = {
    ledger: books,
    attempts: books,
    keys,
    signal: controller.signal,
    onText: (text) => texts.push(text),
  };
  return { caller, limits, prices, books, keys, texts, controller, options, waits: retryClock.waits };
}

export const HELLO = { messages: [{ role: 'user', content: 'Say hello to the quiet fox in the garden' }] } as const;

/** The error that a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('It was expected to reject and did not.');
    },
    (error: unknown) => error,
  );
}
