import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { NO_USAGE } from '../../backend/protocol/token-counts.ts';
import type { Provider } from '../../backend/protocol/providers.ts';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { WorkerError, type WorkerErrorKind } from '../../backend/workers/errors.ts';
import { FaultServer, faults, type Fault } from './fault-server.ts';
import { HELLO, KEY, rejection, setUp, workersAt } from './harness.ts';

/*
 * What a call does when a server goes wrong. For every wire format: the kind of error, the number of requests the server saw, and
 * what the log and the ledger were told. Whatever happens, every reservation is settled and every attempt ends.
 */

let server: FaultServer;
let other: FaultServer;
let workers: WorkerConfig[];

beforeAll(async () => {
  [server, other] = await Promise.all([FaultServer.start(), FaultServer.start()]);
  workers = workersAt(server.url);
});
afterEach(() => void vi.useRealTimers());
afterAll(() => Promise.all([server.stop(), other.stop()]));

const FIRST_TOKEN_TIMEOUT_MS = 150;

/** The timeout for the first token passes once the server has the request, however long that takes on a busy machine. */
const timingOut = (fault: Fault): Fault => async (response, wire) => {
  await fault(response, wire);
  // What the server says meanwhile arrives.
  await pause(50);
  vi.advanceTimersByTime(FIRST_TOKEN_TIMEOUT_MS);
};

/** Only the timer that a case is about is short, so that a busy machine changes no outcome. */
const IMPATIENCE: Partial<Record<WorkerErrorKind, Partial<WorkerConfig>>> = {
  'first-token-timeout': { firstTokenTimeoutMs: FIRST_TOKEN_TIMEOUT_MS },
  'idle-timeout': { idleTimeoutMs: 150 },
};

function workerFor(provider: Provider, fields: Partial<WorkerConfig> = {}): WorkerConfig {
  return { ...workers.find((worker) => worker.provider === provider)!, ...fields };
}

interface Case {
  readonly name: string;
  readonly fault: () => Fault;
  readonly kind: WorkerErrorKind;
  readonly requests: number;
  /** Nothing is charged for what was refused; the rest is estimated. */
  readonly charged: boolean;
  readonly waits?: readonly number[];
}

const CASES: readonly Case[] = [
  {
    name: 'no headers',
    fault: () => faults.noHeaders,
    kind: 'first-token-timeout', requests: 2, charged: true,
  },
  {
    name: 'a stall before the first token',
    fault: () => faults.stallBeforeFirstToken,
    kind: 'first-token-timeout', requests: 2, charged: true,
  },
  {
    name: 'keep-alives without a token',
    fault: () => faults.keepAlivesOnly,
    kind: 'first-token-timeout', requests: 2, charged: true,
  },
  {
    name: 'a stall mid-stream',
    fault: () => faults.stallMidStream,
    kind: 'idle-timeout', requests: 2, charged: true,
  },
  {
    name: 'a clean end without the terminal event',
    fault: () => faults.cleanEndWithoutTerminal,
    kind: 'incomplete', requests: 4, charged: true,
  },
  { name: 'a reset mid-stream', fault: () => faults.reset, kind: 'network', requests: 4, charged: true },
  {
    name: 'an error event for overload',
    fault: () => faults.errorEvent('overloaded_error', 'Overloaded'),
    kind: 'overloaded', requests: 4, charged: true,
  },
  {
    name: 'an error event of a type nobody knows',
    fault: () => faults.errorEvent('constructor', 'Oops'),
    kind: 'server', requests: 4, charged: true,
  },
  {
    name: 'an error event for a server error',
    fault: () => faults.errorEvent('server_error', 'Oops'),
    kind: 'server', requests: 4, charged: true,
  },
  {
    name: 'invalid JSON mid-stream',
    fault: () => faults.invalidJson,
    kind: 'invalid-response', requests: 2, charged: true,
  },
  { name: 'an endless answer', fault: () => faults.endless, kind: 'too-large', requests: 1, charged: true },
  { name: 'an endless line', fault: () => faults.endlessLine, kind: 'too-large', requests: 1, charged: true },
  { name: 'a web page', fault: () => faults.page, kind: 'not-found', requests: 1, charged: true },
  {
    name: 'a refusal whose body never ends',
    fault: () => faults.refuseAndStall(500),
    kind: 'first-token-timeout', requests: 2, charged: true,
  },
  {
    name: '429 with a Retry-After that can be waited for',
    fault: () => faults.refuse(429, { error: { message: 'slow down' } }, { 'retry-after': '7' }),
    kind: 'rate-limit', requests: 4, charged: false, waits: [7_000, 7_000, 7_000],
  },
  {
    name: '429 without a Retry-After',
    fault: () => faults.refuse(429, { error: { message: 'slow down' } }),
    kind: 'rate-limit', requests: 4, charged: false, waits: [2_500, 5_000, 10_000],
  },
  {
    name: '429 with a Retry-After beyond patience',
    fault: () => faults.refuse(429, { error: { message: 'slow down' } }, { 'retry-after': '600' }),
    kind: 'rate-limit', requests: 1, charged: false, waits: [],
  },
  {
    name: '429 for an empty account',
    fault: () => faults.refuse(429, { error: { message: 'no quota', code: 'insufficient_quota' } }),
    kind: 'payment', requests: 1, charged: false,
  },
  {
    name: '529',
    fault: () => faults.refuse(529, { error: { type: 'overloaded_error' } }),
    kind: 'overloaded', requests: 4, charged: false,
  },
  {
    name: '500',
    fault: () => faults.refuse(500, 'Internal Server Error', { 'content-type': 'text/plain' }),
    kind: 'server', requests: 4, charged: false, waits: [250, 500, 1_000],
  },
  {
    name: '401',
    fault: () => faults.refuse(401, { error: { message: 'bad key' } }),
    kind: 'authentication', requests: 1, charged: false,
  },
  {
    name: '403',
    fault: () => faults.refuse(403, { error: { message: 'no' } }),
    kind: 'permission', requests: 1, charged: false,
  },
  {
    name: '404',
    fault: () => faults.refuse(404, { error: { message: 'no such model' } }),
    kind: 'not-found', requests: 1, charged: false,
  },
  {
    name: '400',
    fault: () => faults.refuse(400, { error: { message: 'top_p is bad' } }),
    kind: 'invalid-request', requests: 1, charged: false,
  },
  {
    name: 'a prompt that is too long',
    fault: () => faults.refuse(400, { error: { message: 'long', code: 'context_length_exceeded' } }),
    kind: 'context-overflow', requests: 1, charged: false,
  },
  {
    name: 'a prompt that is too long, said in words alone',
    fault: () => faults.refuse(400, { error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens' } }),
    kind: 'context-overflow', requests: 1, charged: false,
  },
  {
    name: 'a redirect',
    fault: () => faults.redirect(`${other.url}/v1`),
    kind: 'not-found', requests: 1, charged: false,
  },
];

describe.each(['openai', 'openai-compatible', 'anthropic'] as const)('%s', (provider) => {
  test.each(CASES)('$name ends as $kind', async ({ fault, kind, requests, charged, waits }) => {
    const timesOut = kind === 'first-token-timeout';
    if (timesOut) vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    server.script(timesOut ? timingOut(fault()) : fault());
    other.script(faults.answer('stolen'));
    const worker = workerFor(provider, IMPATIENCE[kind]);
    const { caller, books, options, waits: waited } = await setUp();

    const error = await rejection(caller.call(worker, HELLO, options));

    expect(error).toBeInstanceOf(WorkerError);
    expect((error as WorkerError).kind).toBe(kind);
    expect((error as WorkerError).message).toContain('"ada"');
    expect((error as WorkerError).message).not.toContain(KEY);
    expect(server.requests).toHaveLength(requests);
    expect(other.requests).toHaveLength(0);
    expect(books.events).toEqual(Array.from({ length: requests }, () => ['reserved', 'started', 'failed']).flat());
    expect(books.open.size).toBe(0);
    expect(books.failures.map(({ failure }) => failure.kind)).toEqual(Array(requests).fill(kind));
    expect(books.failures.at(-1)?.retryInMs).toBeUndefined();
    expect(books.failures.slice(0, -1).map(({ retryInMs }) => retryInMs)).toEqual(waited);
    if (waits) expect(waited).toEqual(waits);
    for (const { spent } of books.failures) {
      if (charged) {
        expect(spent.usage.estimated).toBe(true);
        expect(spent.usage.uncachedInput).toBeGreaterThan(0);
      } else expect(spent.usage).toEqual(NO_USAGE);
    }
  });

  test('a slow answer is taken as long as its pauses are shorter than the idle timeout', async () => {
    server.script(faults.slow(300, 'slow', ' and', ' steady', ' wins', ' the', ' race'));
    const worker = workerFor(provider, { idleTimeoutMs: 1_500 });
    const { caller, options } = await setUp();
    const { reply } = await caller.call(worker, HELLO, options);
    expect(reply.text).toBe('slow and steady wins the race');
  });

  test('a retry begins from scratch and the reply holds only its own text', async () => {
    server.script(faults.reset, faults.refuse(500, {}), faults.answer('whole', ' answer'));
    const worker = workerFor(provider);
    const { caller, books, options } = await setUp();
    const byAttempt: string[] = [];
    const { reply, attempt } = await caller.call(worker, HELLO, {
      ...options,
      onText: (text, { number }) => (byAttempt[number] = (byAttempt[number] ?? '') + text),
    });
    expect(reply).toMatchObject({ text: 'whole answer', finishReason: 'stop', model: 'served' });
    expect(reply.usage).toMatchObject({ uncachedInput: 20, output: 7, estimated: false });
    expect(attempt.number).toBe(3);
    expect(byAttempt[3]).toBe('whole answer');
    expect(books.events.filter((event) => event !== 'reserved')).toEqual([
      'started', 'failed', 'started', 'failed', 'started', 'succeeded',
    ]);
    expect(books.open.size).toBe(0);
  });

  test('a cancelled stream ends at once, is not tried again, and is paid for as far as it came', async () => {
    server.script(faults.stallMidStream);
    const worker = workerFor(provider);
    const { caller, books, options, controller } = await setUp();
    const error = await rejection(caller.call(worker, HELLO, { ...options, onText: () => controller.abort() }));
    expect((error as WorkerError).kind).toBe('cancelled');
    expect(server.requests).toHaveLength(1);
    expect(books.events).toEqual(['reserved', 'started', 'failed']);
    expect(books.open.size).toBe(0);
    const { usage } = books.failures[0]!.spent;
    expect(usage.estimated).toBe(true);
    expect(usage.output).toBeGreaterThan(0);
  });
});

test('nothing listening is said so, with the address', async () => {
  const gone = await FaultServer.start();
  const { url } = gone;
  await gone.stop();
  for (const worker of workersAt(url)) {
    const { caller, books, options } = await setUp();
    const error = await rejection(caller.call(worker, HELLO, options));
    expect((error as WorkerError).kind).toBe('network');
    expect((error as WorkerError).message).toBe(
      `Worker "ada": nothing answers at ${url}; is the server running and the address right?`,
    );
    expect(books.failures.map(({ spent }) => spent.usage)).toEqual(Array(4).fill(NO_USAGE));
  }
});

test('a server whose name leads nowhere may be for want of a network', async () => {
  for (const worker of workersAt('https://no-such-host.invalid')) {
    const { caller, options } = await setUp();
    const error = await rejection(caller.call(worker, HELLO, options));
    expect((error as WorkerError).kind).toBe('network');
    expect((error as WorkerError).message).toBe(
      'Worker "ada": the server no-such-host.invalid cannot be found; is there a network connection, and is the address right?',
    );
  }
});

test('a redirect names where it leads and sends no key there', async () => {
  server.script(faults.redirect(`${other.url}/v1/chat/completions`));
  other.script(faults.answer('stolen'));
  for (const worker of workers) {
    const { caller, options } = await setUp();
    const error = await rejection(caller.call(worker, HELLO, options));
    expect((error as WorkerError).message).toContain(other.url);
  }
  expect(other.requests).toHaveLength(0);
});

test('a key that a server echoes is not repeated, nor is the prompt', async () => {
  const { caller, options } = await setUp();
  server.script(faults.refuse(401, { error: { message: `Incorrect API key provided: ${KEY}.` } }));
  const refused = await rejection(caller.call(workers[1]!, HELLO, options));
  expect((refused as WorkerError).message).toContain('Incorrect API key provided: [key]');
  server.script(faults.refuse(400, { error: { message: `cannot parse: ${HELLO.messages[0].content}` } }));
  const echoed = await rejection(caller.call(workers[1]!, HELLO, options));
  expect((echoed as WorkerError).message).not.toContain('fox');
});

test('a key that is refused is forgotten', async () => {
  server.script(faults.refuse(401, {}));
  const { caller, keys, options } = await setUp();
  await rejection(caller.call(workers[0]!, HELLO, options));
  expect(keys.forgotten).toEqual(['TEST_KEY']);
});

test('a refusal for want of a key says that the worker names none', async () => {
  server.script(faults.refuse(401, {}));
  const { caller, options } = await setUp();
  const { key: _key, ...keyless } = workers[1]!;
  const error = await rejection(caller.call(keyless, HELLO, options));
  expect((error as WorkerError).kind).toBe('missing-key');
});
