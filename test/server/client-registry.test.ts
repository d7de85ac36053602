import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BackendRequestHandlers } from '../../backend/protocol/client/backend-client.ts';
import type { Capability } from '../../backend/protocol/methods.ts';
import { RequestError } from '../../backend/protocol/request-error.ts';
import { WorkerError } from '../../backend/workers/errors.ts';
import { serve, type Serving } from './support/serving.ts';

let serving: Serving;
beforeEach(async () => { serving = await serve({ secretTimeoutMs: 200 }); });
afterEach(() => serving.close());

const never = new Promise<never>(() => {});
const noSignal = new AbortController().signal;

/** A client with a name that notes what it is asked, in one list for all clients. */
async function connect(
  asked: string[], name: string, handlers: BackendRequestHandlers, workspaces: string[] = [],
): ReturnType<Serving['open']> {
  const noted = Object.fromEntries(Object.entries(handlers).map(([method, handler]) => [
    method,
    (params: never, signal: AbortSignal) => {
      asked.push(name);
      return (handler as (params: never, signal: AbortSignal) => unknown)(params, signal);
    },
  ]));
  const capabilities = Object.keys(handlers).map((method) => method.slice('client/'.length) as Capability);
  return serving.open({ capabilities, workspaces, handlers: noted });
}

const hasKey = (value: string | null): BackendRequestHandlers => ({ 'client/secret': () => Promise.resolve({ value }) });

describe('keys', () => {
  test('are asked of whoever connected last first, until somebody has one', async () => {
    const asked: string[] = [];
    await connect(asked, 'first', hasKey('sk-1'));
    await connect(asked, 'second', hasKey('sk-2'));
    await connect(asked, 'without', hasKey(null));
    expect(await serving.clients.secret('OPENAI_API_KEY')).toBe('sk-2');
    expect(asked).toEqual(['without', 'second']);
  });

  test('are not remembered: another client is asked for its own, and one that left gives nothing', async () => {
    const asked: string[] = [];
    const client = await connect(asked, 'a', hasKey('sk-1'));
    expect(await serving.clients.secret('KEY')).toBe('sk-1');
    client.close();
    await client.closed;
    await connect(asked, 'b', hasKey('sk-2'));
    expect(await serving.clients.secret('KEY')).toBe('sk-2');
    expect(asked).toEqual(['a', 'b']);
  });

  test('that changed wake whoever waits for one', async () => {
    const asked: string[] = [];
    let value: string | null = null;
    const client = await connect(asked, 'a', { 'client/secret': () => Promise.resolve({ value }) });
    expect(await serving.clients.secret('KEY')).toBeNull();
    const changed = serving.clients.changed(noSignal);
    value = 'new';
    client.notify('client/secretChanged', { name: 'KEY' });
    await changed;
    expect(await serving.clients.secret('KEY')).toBe('new');
  });

  test('are undefined where nobody can be asked, and null where nobody has them', async () => {
    const asked: string[] = [];
    expect(await serving.clients.secret('KEY')).toBeUndefined();
    await connect(asked, 'cannot', { 'client/confirm': () => Promise.resolve({ accepted: true }) });
    expect(await serving.clients.secret('KEY')).toBeUndefined();
    await connect(asked, 'has not', hasKey(null));
    expect(await serving.clients.secret('KEY')).toBeNull();
    await connect(asked, 'has', hasKey('sk'));
    expect(await serving.clients.secret('KEY')).toBe('sk');
  });

  test.each([
    ['hangs', () => never],
    ['fails', () => Promise.reject(new Error('locked'))],
    ['gives nonsense', () => Promise.resolve({ value: 7 } as never)],
  ])('a client that %s does not keep them from the next', async (_how, handler) => {
    const asked: string[] = [];
    await connect(asked, 'good', hasKey('sk'));
    await connect(asked, 'bad', { 'client/secret': handler });
    expect(await serving.clients.secret('KEY')).toBe('sk');
    expect(asked).toEqual(['bad', 'good']);
  });

  test('never reach the log, nor another client', async () => {
    const asked: string[] = [];
    await connect(asked, 'a', hasKey('sk-very-secret'));
    const other = await serving.raw();
    await other.initialize();
    await serving.clients.secret('KEY');
    const pool = await other.request(1, 'pool/get', {});
    const health = await other.request(2, 'backend/health', {});
    expect(JSON.stringify([serving.log, pool, health])).not.toContain('sk-very-secret');
  });
});

describe('confirmations', () => {
  const question = { title: 'Run the tests?', detail: 'npm test', accept: 'Run' };
  const says = (accepted: boolean): BackendRequestHandlers => ({ 'client/confirm': () => Promise.resolve({ accepted }) });

  test('go to the client that has the workspace open, though others were there before', async () => {
    const asked: string[] = [];
    await connect(asked, 'elsewhere', says(false), ['/home/me/other', '/home/me/project-two']);
    await connect(asked, 'here', says(true), ['/home/me/project']);
    expect(await serving.clients.confirm({ ...question, workspace: '/home/me/project/packages/a' }, noSignal)).toBe(true);
    expect(asked).toEqual(['here']);
  });

  test('a no is an answer, and nobody else is asked', async () => {
    const asked: string[] = [];
    await connect(asked, 'a', says(false));
    await connect(asked, 'b', says(true));
    expect(await serving.clients.confirm(question, noSignal)).toBe(false);
    expect(asked).toEqual(['a']);
  });

  test('a client that leaves before it answers is followed by the next', async () => {
    const asked: string[] = [];
    const entered = Promise.withResolvers<void>();
    const leaving = await connect(asked, 'leaves', { 'client/confirm': () => { entered.resolve(); return never; } });
    await connect(asked, 'stays', says(true));
    const answer = serving.clients.confirm(question, noSignal);
    await entered.promise;
    leaving.close();
    expect(await answer).toBe(true);
    expect(asked).toEqual(['leaves', 'stays']);
  });

  test('without anybody to ask the answer is undefined', async () => {
    expect(await serving.clients.confirm(question, noSignal)).toBeUndefined();
  });

  test('cancelling takes the question back', async () => {
    const taken = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    await connect([], 'a', {
      'client/confirm': (_params, signal) => new Promise(() => {
        signal.addEventListener('abort', () => taken.resolve());
        entered.resolve();
      }),
    });
    const controller = new AbortController();
    const answer = serving.clients.confirm(question, controller.signal);
    await entered.promise;
    controller.abort(new Error('run cancelled'));
    await expect(answer).rejects.toThrow('run cancelled');
    await taken.promise;
  });
});

describe('the Python environment of a project', () => {
  test('is what a client says that has it open, and else another one', async () => {
    const says = (folder: string | null, asked: string[] = []) => ({
      capabilities: ['python'] as const,
      handlers: {
        'client/python': ({ workspace }: { workspace: string }) => {
          asked.push(workspace);
          return Promise.resolve({ python: folder === null ? null : { folder, isChosen: true } });
        },
      },
    });
    expect(await serving.clients.python('/code/shop')).toBeUndefined();
    const asked: string[] = [];
    await serving.open({ ...says('/envs/shop', asked), workspaces: ['/code/shop'] });
    await serving.open(says('/envs/shell'));
    await serving.open({ capabilities: ['python'], workspaces: ['/code/shop'], handlers: { 'client/python': () => Promise.reject(new Error('no')) } });
    await serving.open({ ...says(null), workspaces: ['/code'] });
    expect(await serving.clients.python('/code/shop')).toEqual({ folder: '/envs/shop', isChosen: true });
    expect(asked).toEqual(['/code/shop']);
    expect(await serving.clients.python('/code/other')).toEqual({ folder: '/envs/shell', isChosen: true });
  });
});

test('a Python environment that is chosen comes before one that is active in a shell, whoever came last', async () => {
  const says = (folder: string, isChosen: boolean) => ({
    capabilities: ['python'] as const, workspaces: ['/code/shop'], handlers: { 'client/python': () => Promise.resolve({ python: { folder, isChosen } }) },
  });
  await serving.open(says('/envs/old', false));
  await serving.open(says('/envs/shell', false));
  expect(await serving.clients.python('/code/shop')).toEqual({ folder: '/envs/shell', isChosen: false });
  await serving.open(says('/envs/chosen', true));
  await serving.open(says('/envs/shell', false));
  expect(await serving.clients.python('/code/shop')).toEqual({ folder: '/envs/chosen', isChosen: true });
});

describe('models that only a client can reach', () => {
  const call = { model: 'gpt', messages: [{ role: 'user', content: 'Hello' }], maxOutputTokens: 10 } as const;

  test('stream their text in order and end with the whole', async () => {
    const client = await serving.open({
      capabilities: ['model'],
      handlers: {
        'client/model': ({ callId, model, messages }) => {
          for (const text of ['Hel', 'lo ', `from ${model}`]) client.notify('client/modelText', { callId, text });
          client.notify('client/modelText', { callId: 'another', text: 'stray' });
          return Promise.resolve({ text: `Hello from ${model}`, inputTokens: messages.length, outputTokens: 3 });
        },
      },
    });
    const pieces: string[] = [];
    const reply = await serving.clients.model({ ...call, signal: noSignal, onText: (text) => pieces.push(text) });
    expect(reply).toEqual({ text: 'Hello from gpt', inputTokens: 1, outputTokens: 3 });
    expect(pieces).toEqual(['Hel', 'lo ', 'from gpt']);
  });

  test('text from a client that was not asked is dropped', async () => {
    const callIds = Promise.withResolvers<string>();
    const go = Promise.withResolvers<void>();
    await serving.open({
      capabilities: ['model'],
      handlers: {
        'client/model': async ({ callId }) => {
          callIds.resolve(callId);
          await go.promise;
          return { text: 'done', inputTokens: 1, outputTokens: 1 };
        },
      },
    });
    const intruder = await serving.open();
    const pieces: string[] = [];
    const reply = serving.clients.model({ ...call, signal: noSignal, onText: (text) => pieces.push(text) });
    intruder.notify('client/modelText', { callId: await callIds.promise, text: 'forged' });
    await intruder.request('backend/health', {});
    go.resolve();
    await reply;
    expect(pieces).toEqual([]);
  });

  test('no client, a lost client and a refusal are WorkerErrors of their kinds', async () => {
    const model = () => serving.clients.model({ ...call, signal: noSignal, onText: () => {} });
    await expect(model()).rejects.toMatchObject({ name: 'WorkerError', kind: 'not-found' });

    const entered = Promise.withResolvers<void>();
    const lost = await serving.open({
      capabilities: ['model'], handlers: { 'client/model': () => { entered.resolve(); return never; } },
    });
    const cutOff = model();
    await entered.promise;
    lost.close();
    await expect(cutOff).rejects.toMatchObject({ kind: 'network', retryable: true });

    const refusal = new RequestError({ code: -32_004, kind: 'rate-limit', message: 'Too many requests today.' });
    await serving.open({ capabilities: ['model'], handlers: { 'client/model': () => Promise.reject(refusal) } });
    await expect(model()).rejects.toMatchObject({ kind: 'rate-limit', message: 'Too many requests today.' });
  });

  test('cancelling reaches the client', async () => {
    const entered = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    await serving.open({
      capabilities: ['model'],
      handlers: {
        'client/model': (_params, signal) => new Promise(() => {
          signal.addEventListener('abort', () => aborted.resolve());
          entered.resolve();
        }),
      },
    });
    const controller = new AbortController();
    const reply = serving.clients.model({ ...call, signal: controller.signal, onText: () => {} });
    await entered.promise;
    controller.abort();
    await expect(reply).rejects.toBeInstanceOf(WorkerError);
    await expect(reply).rejects.toMatchObject({ kind: 'cancelled' });
    await aborted.promise;
  });
});

describe('changed', () => {
  test('resolves when a client connects', async () => {
    const changed = serving.clients.changed(noSignal);
    await serving.open();
    await changed;
  });

  test('rejects when the signal aborts, before or after', async () => {
    const controller = new AbortController();
    const waiting = serving.clients.changed(controller.signal);
    controller.abort(new Error('over'));
    await expect(waiting).rejects.toThrow('over');
    await expect(serving.clients.changed(controller.signal)).rejects.toThrow('over');
  });
});
