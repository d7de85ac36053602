import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { healthDetailsSchema } from '../../backend/protocol/methods.ts';
import { lookAround } from '../../backend/server/look-around.ts';
import type { LastCall } from '../../backend/workers/call-worker.ts';
import { loadWorkersFile } from '../../backend/workers/workers-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function around(workers: unknown, called: ReadonlyMap<string, LastCall> = new Map()): Promise<Awaited<ReturnType<typeof lookAround>>> {
  const home = await temporaryFolder();
  const file = path.join(home, 'workers.json');
  await writeFile(file, typeof workers === 'string' ? workers : JSON.stringify({ version: 1, workers }));
  await writeFile(path.join(home, 'journal.sqlite'), 'x'.repeat(1_000));
  const found = await lookAround({
    home, loadWorkers: () => loadWorkersFile(file), caller: { lastCall: ({ id }) => called.get(id) },
    spent: (scope) => (scope.startsWith('day:') ? { usd: 1.5, tokens: 20 } : { usd: 0, tokens: 0 }),
    signal: new AbortController().signal,
  });
  expect(found.storage).toMatchObject({ home, writable: true, journalBytes: 1_000, freeBytes: expect.any(Number) });
  expect(healthDetailsSchema.pick({ storage: true, servers: true, budget: true, workersFileProblem: true }).safeParse(found).error).toBeUndefined();
  return found;
}

/** @returns the address of a server with these models, and what it was asked. */
async function serverWith(...models: string[]): Promise<{ baseUrl: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? 'no key'}`);
    response.end(JSON.stringify({ object: 'list', data: models.map((id) => ({ id })) }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked };
}

const compatible = (id: string, model: string, baseUrl: string) => ({ id, provider: 'openai-compatible', model, baseUrl });

it('asks the servers of this machine for their models, without a key, and nobody else', async () => {
  const { baseUrl, asked } = await serverWith('qwen3:latest', 'qwen3:8b');
  const { servers } = await around([
    { ...compatible('there', 'qwen3:8b', baseUrl), key: 'SOME_KEY' },
    compatible('latest', 'qwen3', `${baseUrl}/`),
    compatible('gone', 'gemma3', baseUrl),
    compatible('elsewhere', 'm', 'https://192.0.2.1/v1'),
    { id: 'hosted', provider: 'anthropic', model: 'm', key: 'ANTHROPIC_API_KEY' },
    { ...compatible('off', 'm', baseUrl), enabled: false },
  ]);
  expect(servers).toEqual([
    { worker: 'there', state: 'answers' },
    { worker: 'latest', state: 'answers' },
    { worker: 'gone', state: 'silent', reason: expect.stringContaining('has no model "gemma3"') },
    { worker: 'elsewhere', state: 'unasked' },
    { worker: 'hosted', state: 'unasked' },
  ]);
  expect(new Set(asked)).toEqual(new Set(['GET /v1/models no key']));
});

it.each([
  [401, { error: 'Unauthorized' }, { state: 'unlisted' }],
  [503, { error: { code: 503, message: 'Loading model' } }, { state: 'unlisted' }],
  [404, 'no JSON', { state: 'silent', reason: expect.stringContaining('lists no models') }],
  [200, { status: 'ok' }, { state: 'silent', reason: expect.stringContaining('lists no models') }],
])('does not say that a server has a model which does not say so (%i %j)', async (status, body, expected) => {
  const server = createServer((_request, response) => {
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { servers } = await around([compatible('w', 'm', `http://127.0.0.1:${port}/v1`)]);
  expect(servers).toEqual([{ worker: 'w', ...expected }]);
});

it('says what to do where nothing answers', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const { servers } = await around([compatible('w', 'm', `http://127.0.0.1:${port}/v1`)]);
  expect(servers).toEqual([{ worker: 'w', state: 'silent', reason: `Nothing answers at http://127.0.0.1:${port}: start the server.` }]);
});

it('says why workers.json cannot be read, and what it can all the same', async () => {
  expect(await around('{ "version": 1, ')).toMatchObject({ servers: [], workersFileProblem: expect.stringContaining('workers.json') });
});

it('says how the last call of a worker ended, and nothing of one that was not called', async () => {
  const off = { id: 'off', provider: 'anthropic', model: 'm', enabled: false };
  const workers = ['answered', 'failed', 'idle'].map((id) => ({ id, provider: 'anthropic', model: 'm' }));
  const { lastCalls } = await around([...workers, off], new Map([['answered', {}], ['failed', { problem: 'No credit is left.' }], ['off', {}]]));
  expect(lastCalls).toEqual([{ worker: 'answered' }, { worker: 'failed', problem: 'No credit is left.' }]);
});

it('says what today has cost, and the limits it is held by', async () => {
  expect((await around([])).budget).toEqual({ today: { usd: 1.5, tokens: 20 }, limits: expect.objectContaining({ dayUsd: 10, runTokens: 400_000 }) });
});
