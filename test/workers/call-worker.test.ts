import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { BudgetSpentError, WorkerError } from '../../backend/workers/errors.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { FaultServer, faults } from './fault-server.ts';
import { HELLO, rejection, setUp, workerOf, workersAt } from './harness.ts';

let server: FaultServer;
let worker: WorkerConfig;

beforeAll(async () => {
  server = await FaultServer.start();
  worker = workersAt(server.url)[1]!;
});
afterAll(() => server.stop());

test('a spent budget stops the call before anything is sent', async () => {
  server.script(faults.answer('fine'));
  const { caller, books, options } = await setUp({ budgetTokens: 10 });
  expect(await rejection(caller.call(worker, HELLO, options))).toBeInstanceOf(BudgetSpentError);
  expect(server.requests).toHaveLength(0);
  expect(books.events).toEqual([]);
});

test('the reservation covers the prompt and the whole answer, and is priced', async () => {
  server.script(faults.answer('fine'));
  const { caller, options } = await setUp();
  const priced = { ...worker, maxOutputTokens: 1_000, price: { inputPerMillion: 1, outputPerMillion: 10 } };
  const { attempt, spent } = await caller.call(priced, HELLO, options);
  expect(attempt.reserved.tokens).toBeGreaterThan(1_000);
  expect(attempt.reserved.usd).toBeGreaterThan(0.01);
  expect(spent.cost).toEqual({ usd: (20 * 1 + 7 * 10) / 1_000_000, estimated: false });
});

test('the last call of a worker is remembered as it ended, until the worker is another', async () => {
  const { caller, options } = await setUp();
  expect(caller.lastCall(worker)).toBeUndefined();
  server.script(faults.refuse(401, { error: { message: 'no' } }));
  const error = await rejection(caller.call(worker, HELLO, options));
  expect(caller.lastCall(worker)).toEqual({ problem: (error as WorkerError).message });
  expect(caller.lastCall({ ...worker, key: 'ANOTHER_KEY' })).toBeUndefined();
  server.script(faults.answer('fine'));
  await caller.call(worker, HELLO, options);
  expect(caller.lastCall(worker)).toEqual({});
});

test('the attempt is on record before its request is sent', async () => {
  server.script(faults.answer('fine'));
  const { caller, books, options } = await setUp();
  let seen = -1;
  await caller.call(worker, HELLO, {
    ...options,
    onAttempt: () => {
      expect(books.events).toEqual(['reserved', 'started']);
      seen = server.requests.length;
    },
  });
  expect(seen).toBe(0);
});

test('a clock that is set back during a call costs nobody the reply', async () => {
  server.script(faults.answer('fine'));
  const { options } = await setUp();
  let at = 1_000_000;
  const caller = new WorkerCaller({ limits: new ProviderLimits(), prices: await loadPrices(), now: () => (at -= 60_000) });
  expect((await caller.call(worker, HELLO, options)).spent.durationMs).toBe(0);
});

test('a log that fails ends the call and is no failure of the worker', async () => {
  server.script(faults.answer('fine'));
  const { caller, books, options } = await setUp();
  const attempts = {
    started: books.started.bind(books),
    failed: books.failed.bind(books),
    succeeded: () => {
      throw new Error('disk full');
    },
  };
  await expect(caller.call(worker, HELLO, { ...options, attempts })).rejects.toThrow('disk full');
  expect(server.requests).toHaveLength(1);
});

describe('cancelling', () => {
  test('before the call begins sends nothing', async () => {
    server.script(faults.answer('fine'));
    const { caller, books, options, controller } = await setUp();
    controller.abort();
    expect(((await rejection(caller.call(worker, HELLO, options))) as WorkerError).kind).toBe('cancelled');
    expect(server.requests).toHaveLength(0);
    expect(books.events).toEqual([]);
  });

  test('while waiting for a slot sends nothing', async () => {
    server.script(faults.answer('fine'));
    const { caller, limits, books, options, controller } = await setUp();
    const slot = await limits.acquire({ ...worker, concurrency: 1 }, new AbortController().signal);
    const call = caller.call({ ...worker, concurrency: 1 }, HELLO, options);
    controller.abort();
    expect(((await rejection(call)) as WorkerError).kind).toBe('cancelled');
    slot.release();
    expect(books.events).toEqual([]);
  });

  test('while waiting for a key sends nothing', async () => {
    const { caller, books, options, controller } = await setUp();
    const keys = {
      get: (_name: string, signal: AbortSignal) =>
        new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(new Error('nobody answered')))),
      forget: () => undefined,
    };
    const call = caller.call(worker, HELLO, { ...options, keys });
    controller.abort();
    expect(((await rejection(call)) as WorkerError).kind).toBe('cancelled');
    expect(books.events).toEqual([]);
  });

  test('between two attempts makes no other', async () => {
    server.script(faults.refuse(500, {}));
    const { limits, prices, books, options, controller } = await setUp();
    const caller = new WorkerCaller({
      limits,
      prices,
      delay: (_ms, signal) => {
        controller.abort();
        return Promise.reject(signal.reason as Error);
      },
    });
    expect(((await rejection(caller.call(worker, HELLO, options))) as WorkerError).kind).toBe('cancelled');
    expect(server.requests).toHaveLength(1);
    expect(books.events).toEqual(['reserved', 'started', 'failed']);
    expect(books.open.size).toBe(0);
  });
});

test('no more calls are open at a server than its workers allow', async () => {
  let open = 0;
  let most = 0;
  const two = Promise.withResolvers<void>();
  server.script(async (response, wire) => {
    open += 1;
    most = Math.max(most, open);
    if (open === 2) two.resolve();
    await two.promise;
    open -= 1;
    await faults.answer('fine')(response, wire);
  });
  const { caller, options } = await setUp();
  const narrow = { ...worker, concurrency: 2 };
  await Promise.all(Array.from({ length: 6 }, () => caller.call(narrow, HELLO, options)));
  expect(server.requests).toHaveLength(6);
  expect(most).toBe(2);
});

test('a compatible worker without an address is told to name one', async () => {
  const { caller, options } = await setUp();
  expect(() => workerOf({ provider: 'openai-compatible' })).toThrow('needs the address of its server');
  // A snapshot of a pool that was never validated.
  const worker = { ...workerOf({ provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1' }), baseUrl: undefined };
  const error = await rejection(caller.call(worker, HELLO, options));
  expect((error as WorkerError).message).toContain('has no address');
});

describe('a model of VS Code', () => {
  const editor = workerOf({ provider: 'vscode', model: 'copilot/gpt-5.5', firstTokenTimeoutMs: 150, idleTimeoutMs: 150 });

  test('is asked through the client and its usage is an estimate', async () => {
    const { caller, options, texts } = await setUp();
    const { reply, spent } = await caller.call(editor, HELLO, {
      ...options,
      clientModel: ({ model, messages, onText }) => {
        expect(model).toBe('copilot/gpt-5.5');
        expect(messages).toEqual(HELLO.messages);
        onText('Hel');
        onText('lo');
        return Promise.resolve({ text: 'Hello!', inputTokens: 12, outputTokens: 3 });
      },
    });
    expect(texts.join('')).toBe('Hello!');
    expect(reply).toMatchObject({ text: 'Hello!', finishReason: 'stop' });
    expect(reply.usage).toMatchObject({ uncachedInput: 12, output: 3, estimated: true });
    expect(spent.cost).toEqual({ estimated: true });
  });

  test('that never answers is given up although it ignores the signal', async () => {
    const { caller, books, options } = await setUp();
    const error = await rejection(caller.call(editor, HELLO, { ...options, clientModel: () => new Promise(() => undefined) }));
    expect((error as WorkerError).kind).toBe('first-token-timeout');
    expect(books.open.size).toBe(0);
  });

  test('that floods is stopped', async () => {
    const { caller, options } = await setUp();
    const error = await rejection(
      caller.call(editor, HELLO, {
        ...options,
        clientModel: ({ onText }) => {
          for (let piece = 0; piece < 20; piece += 1) onText('x'.repeat(100_000));
          return new Promise(() => undefined);
        },
      }),
    );
    expect((error as WorkerError).kind).toBe('too-large');
  });

  test('keeps the kind of failure that the client gave', async () => {
    const { caller, options } = await setUp();
    const refused = new WorkerError({ kind: 'permission', message: 'VS Code was not allowed to use the model: allow it there.' });
    expect(await rejection(caller.call(editor, HELLO, { ...options, clientModel: () => Promise.reject(refused) }))).toBe(refused);
  });

  test('without a client says what to do', async () => {
    const { caller, options } = await setUp();
    const error = await rejection(caller.call(editor, HELLO, options));
    expect((error as WorkerError).kind).toBe('not-found');
    expect((error as WorkerError).message).toContain('open VS Code');
  });
});
