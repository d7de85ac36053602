import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type * as vscode from 'vscode';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Pool, WorkerStatus } from '../../backend/protocol/methods.ts';
import { RequestError } from '../../backend/protocol/request-error.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import type { NextStepError } from '../../extension/common/next-step.ts';
import { ModelProvider, type ModelRequest } from '../../extension/model-provider/model-provider.ts';
import { PoolStore } from '../../extension/workers/pool-store.ts';
import { connectionOver, FakeBackend } from './fake-backend.ts';

const code = vi.hoisted(() => ({ isTrusted: true, folders: ['file:///project'] }));

vi.mock('vscode', () => {
  class Part {
    readonly value: unknown;
    constructor(value: unknown) { this.value = value; }
  }
  class Call {
    readonly callId: string;
    readonly name: string;
    readonly input: object;
    constructor(callId: string, name: string, input: object) {
      this.callId = callId;
      this.name = name;
      this.input = input;
    }
  }
  class Result {
    readonly callId: string;
    readonly content: unknown[];
    constructor(callId: string, content: unknown[]) {
      this.callId = callId;
      this.content = content;
    }
  }
  class LanguageModelError extends Error {
    code = '';
    static of(name: string) { return (message: string) => Object.assign(new LanguageModelError(message), { code: name }); }
    static NotFound = LanguageModelError.of('NotFound');
    static Blocked = LanguageModelError.of('Blocked');
  }
  return {
    env: { language: 'en', sessionId: 'session' },
    l10n: { t: (text: string, ...values: unknown[]) => text.replace(/\{(\d)\}/g, (_, index: string) => String(values[Number(index)])) },
    workspace: { get isTrusted() { return code.isTrusted; }, get workspaceFolders() { return code.folders.map((uri) => ({ uri })); } },
    CancellationError: class CancellationError extends Error {},
    LanguageModelError,
    LanguageModelTextPart: class extends Part {}, LanguageModelPromptTsxPart: class extends Part {}, LanguageModelToolCallPart: Call, LanguageModelToolResultPart: Result,
    LanguageModelChatMessageRole: { User: 1, Assistant: 2 },
    LanguageModelChatToolMode: { Auto: 1, Required: 2 },
  };
});
const { LanguageModelTextPart, LanguageModelToolCallPart, LanguageModelToolResultPart, LanguageModelChatToolMode } = await import('vscode');

let home: string;
let file: string;
let backend: FakeBackend;
let poolStore: PoolStore;
let starts: () => number;
let memory: Map<string, unknown>;
let reported: unknown[];
let changes: number;
let provider: ModelProvider;

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'conductor-models-'));
  file = path.join(home, 'workers.json');
});
afterAll(() => rm(home, { recursive: true, force: true }));

beforeEach(async () => {
  Object.assign(code, { isTrusted: true, folders: ['file:///project'] });
  await writeFile(file, JSON.stringify({ version: 1, workers: [{ id: 'written', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', model: 'model' }] }));
  memory = new Map();
  window();
});

/** A window that has just been opened. What it knows from before is in the memory. */
function window(pool = poolOf(status('first'), status('second', { worker: { maxOutputTokens: 4_000 }, contextTokens: 400_000 }))): void {
  backend = new FakeBackend().answer('pool/get', () => pool).answer('converse/count', () => ({ tokens: 7 }));
  const { connection, starts: counted } = connectionOver([backend]);
  starts = counted;
  poolStore = new PoolStore(connection);
  reported = [];
  changes = 0;
  provider = new ModelProvider({
    connection, poolStore, version: '1', workersFile: async () => file, report: (error) => void reported.push(error),
    memory: { get: <T>(key: string) => memory.get(key) as T, update: async (key: string, value: unknown) => void memory.set(key, JSON.parse(JSON.stringify(value))) } as Pick<vscode.Memento, 'get' | 'update'>,
  }, () => { changes += 1; });
}

function status(id: string, { worker, ...rest }: { worker?: object } & Partial<Omit<WorkerStatus, 'worker'>> = {}): WorkerStatus {
  const config = workerConfigSchema.parse({ id, provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', model: `model-${id}`, ...worker });
  return { worker: config, ready: true, priced: false, ...rest };
}
const poolOf = (...workers: WorkerStatus[]): Pool => ({ file, workers, runUsd: 1 });

/** After the first use of the backend. */
async function connected(): Promise<void> {
  await poolStore.refresh();
}

const ids = async (silent = true): Promise<string[]> => (await provider.models({ silent })).map(({ id }) => id);

describe('the list of models', () => {
  it('has Conductor and each enabled worker, for agents, subagents and every list', async () => {
    window(poolOf(status('first'), status('off', { worker: { enabled: false } })));
    await connected();
    const models = await provider.models({ silent: true });
    expect(models.map(({ id, name }) => [id, name])).toEqual([['conductor', 'Conductor'], ['first', 'first']]);
    for (const model of models) {
      expect(model).toMatchObject({ isUserSelectable: true, capabilities: { toolCalling: true } });
      // A subagent may not cost more than its parent, so a model with this field can be refused there.
      expect(model).not.toHaveProperty('multiplierNumeric');
    }
    expect(models[0]?.tooltip).toContain('a plan across first');
    expect(models[0]?.tooltip).toContain('$1.00');
  });

  it('says of no model that it holds too little for an agent: what is known, else what is usual', async () => {
    await connected();
    expect((await provider.models({ silent: true })).map(({ maxInputTokens, maxOutputTokens }) => [maxInputTokens, maxOutputTokens]))
      .toEqual([[396_000, 8_192], [119_808, 8_192], [396_000, 4_000]]);
    window(poolOf(status('wordy', { worker: { maxOutputTokens: 128_000 } }), status('local', { worker: { provider: 'local', model: 'Qwen/Qwen3-1.7B', baseUrl: undefined } })));
    await connected();
    expect((await provider.models({ silent: true })).map(({ id, maxInputTokens }) => [id, maxInputTokens])).toEqual([['conductor', 64_000], ['wordy', 64_000], ['local', 24_576]]);
  });

  it('offers tools only of workers that take them', async () => {
    window(poolOf(status('own', { worker: { provider: 'vscode', model: 'copilot/gpt', baseUrl: undefined } })));
    await connected();
    expect((await provider.models({ silent: true })).map(({ capabilities }) => capabilities.toolCalling)).toEqual([false, false]);
  });

  it('starts no backend, and knows what was known before', async () => {
    expect(await ids()).toEqual(['conductor', 'written']);
    expect(starts()).toBe(0);
    await connected();
    await ids();
    expect(await ids()).toEqual(['conductor', 'first', 'second']);
    window();
    expect(await ids()).toEqual(['conductor', 'first', 'second']);
    await rm(file);
    expect(await ids()).toEqual([]);
    expect(starts()).toBe(0);
  });

  it('reads workers.json again where it has changed while no window looked', async () => {
    await provider.take(poolOf(status('first')));
    await utimes(file, new Date(), new Date(Date.now() + 5_000));
    window();
    expect(await ids()).toEqual(['conductor', 'written']);
    // What only the backend knows is not said, and not denied.
    expect(JSON.stringify(await provider.models({ silent: true }))).not.toMatch(/[Pp]rice/);
    await writeFile(file, 'not JSON');
    window();
    expect(await ids()).toEqual([]);
    expect([reported, starts()]).toEqual([[], 0]);
  });

  it('is empty in Restricted Mode, and says why where a person asked', async () => {
    code.isTrusted = false;
    expect(await ids()).toEqual([]);
    expect([reported, starts()]).toEqual([[], 0]);
    expect(await ids(false)).toEqual([]);
    expect(reported).toMatchObject([{ name: 'NextStepError', message: expect.stringContaining('not trusted') }]);
  });

  it('offers to add a worker where there is none', async () => {
    await writeFile(file, JSON.stringify({ version: 1, workers: [] }));
    window(poolOf());
    expect(await ids()).toEqual([]);
    expect(reported).toEqual([]);
    await ids(false);
    expect((reported[0] as NextStepError).steps.map(({ command }) => command)).toEqual(['conductor.addWorker', 'conductor.showDemonstration']);
  });

  it('tells VS Code when it has become another one, and only then', async () => {
    const pool = poolOf(status('first'));
    await provider.take(pool);
    expect(changes).toBe(0);
    await ids();
    expect(changes).toBe(0);
    await provider.take(poolOf(status('first'), status('third')));
    await provider.take(poolOf(status('first'), status('third')));
    expect(changes).toBe(1);
  });

  it('is empty and not broken where the backend cannot start', async () => {
    backend.answer('pool/get', () => { throw new Error('It cannot start.'); });
    expect(await ids(false)).toEqual([]);
    expect(reported).toMatchObject([{ message: 'It cannot start.' }]);
  });
});

const cost = { runId: 'run', worker: 'first', usage: {}, orchestration: {}, cost: { estimated: false }, finishReason: 'stop' };
const user = (...content: unknown[]): vscode.LanguageModelChatRequestMessage => ({ role: 1, content, name: undefined });

function ask(request: Partial<ModelRequest> = {}): { readonly said: unknown[]; readonly end: Promise<void>; readonly cancel: () => void } {
  const said: unknown[] = [];
  let cancel = (): void => undefined;
  const token = { isCancellationRequested: false, onCancellationRequested: (listener: () => void) => { cancel = () => { token.isCancellationRequested = true; listener(); }; return { dispose: () => undefined }; } };
  const end = provider.respond({
    model: { id: 'first' }, messages: [user(new LanguageModelTextPart('Hello'))], options: { toolMode: LanguageModelChatToolMode.Auto },
    progress: { report: (part) => void said.push(part) }, token: token as vscode.CancellationToken, ...request,
  });
  return { said, end, cancel: () => cancel() };
}
const asked = (): { requestId: string; messages: unknown[]; tools: unknown[]; session: string } => backend.callsOf('converse/turn').at(-1) as never;
const READ = { name: 'read', description: 'Reads a file', inputSchema: { type: 'object', properties: { path: { type: 'string' } } } };

describe('a turn', () => {
  it('streams the text of this request, and ends with the calls and their ids', async () => {
    backend.answer('converse/turn', async (params) => {
      const { requestId } = params as { requestId: string };
      backend.emit('converse/text', { requestId, text: 'I ' });
      backend.emit('converse/text', { requestId: 'other', text: 'not mine' });
      backend.emit('converse/text', { requestId, text: 'look.' });
      return { ...cost, text: 'I look.', calls: [{ id: 'call-1', name: 'read', arguments: '{"path":"a"}' }, { id: 'call-2', name: 'read', arguments: 'no json' }] };
    });
    const { said, end } = ask({ options: { toolMode: LanguageModelChatToolMode.Auto, tools: [READ, { name: 'now', description: '' }], modelOptions: { temperature: 0.5, top_p: 'much', max_tokens: 100.7 } } });
    await end;
    expect(said).toEqual([new LanguageModelTextPart('I '), new LanguageModelTextPart('look.'), new LanguageModelToolCallPart('call-1', 'read', { path: 'a' }), new LanguageModelToolCallPart('call-2', 'read', { value: 'no json' })]);
    expect(asked()).toMatchObject({
      model: 'first', messages: [{ role: 'user', content: 'Hello' }], temperature: 0.5, maxOutputTokens: 100,
      tools: [{ name: 'read', description: 'Reads a file', parameters: READ.inputSchema }, { name: 'now', parameters: { type: 'object', properties: {} } }],
    });
    expect(asked()).not.toHaveProperty('topP');
    expect(said).toHaveLength(4);
    backend.emit('converse/text', { requestId: asked().requestId, text: 'late' });
    expect(said).toHaveLength(4);
  });

  it('hands results of tools back with their ids', async () => {
    backend.answer('converse/turn', () => ({ ...cost, text: 'Done.', calls: [] }));
    await ask({ messages: [user(new LanguageModelTextPart('Hello')), { role: 2, content: [new LanguageModelToolCallPart('call-1', 'read', { path: 'a' })], name: undefined }, user(new LanguageModelToolResultPart('call-1', [new LanguageModelTextPart('text')]))] }).end;
    expect(asked().messages.slice(1)).toEqual([{ role: 'assistant', content: '', toolCalls: [{ id: 'call-1', name: 'read', arguments: '{"path":"a"}' }] }, { role: 'tool', callId: 'call-1', content: 'text' }]);
  });

  it('reads system messages, data and thinking, for which the stable interface has no class', async () => {
    backend.answer('converse/turn', () => ({ ...cost, text: 'Done.', calls: [] }));
    await ask({ messages: [{ role: 3 as never, content: [new LanguageModelTextPart('Be brief.')], name: undefined }, user({ mimeType: 'image/png', data: new Uint8Array(3) }, { value: 'I think', id: 'x', metadata: {} })] }).end;
    expect(asked().messages).toEqual([{ role: 'system', content: 'Be brief.' }, { role: 'user', content: expect.stringContaining('image/png: not shown') }]);
  });

  it('belongs to the folders of the window, also after it was opened again', async () => {
    backend.answer('converse/turn', () => ({ ...cost, text: 'Done.', calls: [] }));
    await ask().end;
    const { session } = asked();
    await ask().end;
    expect(asked().session).toBe(session);
    code.folders = ['file:///elsewhere'];
    await ask().end;
    expect(asked().session).not.toBe(session);
  });

  it('insists on a call where one is required', async () => {
    const required = { toolMode: LanguageModelChatToolMode.Required, tools: [READ] };
    backend.answer('converse/turn', () => ({ ...cost, text: 'No.', calls: [] }));
    await expect(ask({ options: required }).end).rejects.toThrow('first called none of the tools');
    expect(asked()).toMatchObject({ toolChoice: 'required', messages: [{ role: 'user', content: 'Hello' }] });
    await ask({ options: { toolMode: LanguageModelChatToolMode.Auto, tools: [READ] } }).end;
    expect(asked()).not.toHaveProperty('toolChoice');
  });

  it('is cancelled with its request', async () => {
    const { CancellationError } = await import('vscode');
    const refused = Promise.withResolvers<never>();
    const began = Promise.withResolvers<void>();
    backend.answer('converse/turn', () => { began.resolve(); return refused.promise; });
    const { end, cancel } = ask();
    await began.promise;
    cancel();
    refused.reject(new RequestError({ code: -32_800, kind: 'cancelled', message: 'cancelled' }));
    await expect(end).rejects.toBeInstanceOf(CancellationError);
  });

  it.each([['unknown-worker', 'NotFound'], ['budget-spent', 'Blocked'], ['overloaded', undefined]])('says what went wrong: %s', async (kind, wanted) => {
    backend.answer('converse/turn', () => { throw new RequestError({ code: 1, kind, message: `It is ${kind}.` }); });
    await expect(ask().end).rejects.toMatchObject({ message: `It is ${kind}.`, ...(wanted && { code: wanted }) });
  });

  it('asks nobody in Restricted Mode, without workers, for one that is gone, or without its key', async () => {
    code.isTrusted = false;
    await expect(ask().end).rejects.toThrow('not trusted');
    code.isTrusted = true;
    await expect(ask({ model: { id: 'gone' } }).end).rejects.toMatchObject({ code: 'NotFound' });
    window(poolOf());
    await expect(ask({ model: { id: 'conductor' } }).end).rejects.toThrow('no worker yet');
    window(poolOf(status('first', { worker: { key: 'KEY' }, ready: false, reason: 'Its key KEY is missing.' })));
    await expect(ask().end).rejects.toThrow('Its key KEY is missing.');
    expect((reported[0] as NextStepError).steps.map(({ command }) => command)).toEqual(['conductor.setKey']);
    window();
    await expect(ask({ messages: [user()] }).end).rejects.toThrow('the message is empty');
    expect(backend.callsOf('converse/turn')).toEqual([]);
  });

  it('shows the plan for the last message in the tooltip, once for a run', async () => {
    const run = { pool: [{ id: 'first' }, { id: 'second' }], rounds: [{ steps: [{ worker: 1, subtask: 'Find  the\ncause.' }, { worker: 0, subtask: 'Mend it.' }] }] };
    backend.answer('converse/turn', () => ({ ...cost, text: 'Done.', calls: [] })).answer('run/get', () => ({ run }));
    await connected();
    await ids();
    await ask({ model: { id: 'conductor' } }).end;
    await vi.waitFor(() => expect(changes).toBe(1));
    expect((await provider.models({ silent: true }))[0]?.tooltip).toContain('1. second: Find the cause.\n2. first: Mend it.');
    await ask({ model: { id: 'conductor' } }).end;
    expect(backend.callsOf('run/get')).toHaveLength(1);
    // Other windows have plans of their own.
    expect(JSON.stringify([...memory])).not.toContain('Mend it.');
  });
});

describe('the count of tokens', () => {
  const token = { isCancellationRequested: false, onCancellationRequested: () => undefined } as unknown as vscode.CancellationToken;

  it('is the backend\'s, of text and of messages', async () => {
    expect(await provider.count('some text', token)).toBe(7);
    expect(backend.callsOf('converse/count')).toEqual([{ messages: [{ role: 'user', content: 'some text' }] }]);
    expect(await provider.count(user(new LanguageModelToolResultPart('a', [new LanguageModelTextPart('x')]), new LanguageModelTextPart('y')), token)).toBe(14);
    expect(await provider.count(user(), token)).toBe(0);
  });

  it('is taken in pieces where the text is larger than a message to the backend', async () => {
    expect(await provider.count('x'.repeat(2_500_000), token)).toBe(21);
  });
});
