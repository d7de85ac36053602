import type { IncomingMessage, RequestListener } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { listedModelsSchema, type ListedModels, type NamedServer } from '../../backend/protocol/found-servers.ts';
import { withVersion } from '../../backend/protocol/server-address.ts';
import { listModels } from '../../backend/workers/servers/list-models.ts';
import { LocalServer } from '../support/local-server.ts';

const KEY = 'sk-test-0123456789abcdef';

const servers: LocalServer[] = [];
const asked: IncomingMessage[] = [];
afterEach(async () => {
  asked.length = 0;
  for (const server of servers.splice(0)) await server.stop();
});

async function listen(listener: RequestListener): Promise<string> {
  const server = await LocalServer.start((request, response) => {
    asked.push(request);
    listener(request, response);
  });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

/** Answers one path with JSON to who has the key, and every other path with a web page. */
const listingAt = (path: string, body: unknown): RequestListener => (request, response) => {
  const isThere = request.url === path;
  const isAllowed = [request.headers.authorization, request.headers['x-api-key']].some((value) => value === KEY || value === `Bearer ${KEY}`);
  response.writeHead(!isThere ? 404 : isAllowed ? 200 : 401, { 'content-type': isThere ? 'application/json' : 'text/html' });
  response.end(!isThere ? '<h1>Not here</h1>' : JSON.stringify(isAllowed ? body : { error: { message: 'no key' } }));
};
const models = (...names: string[]): unknown => ({ object: 'list', data: names.map((id) => ({ id, object: 'model' })) });

async function list(server: NamedServer, signal = new AbortController().signal): Promise<ListedModels> {
  const listed = await listModels(server, signal);
  expect(listedModelsSchema.safeParse(listed).error).toBeUndefined();
  return listed;
}

describe('a server that somebody named', () => {
  it('is asked for its models with its key, and names those that can answer', async () => {
    const url = await listen(listingAt('/v1/models', models('qwen3-coder:30b', 'text-embedding-3-small', 'gpt-image-1', 'gpt-4o-realtime-preview')));
    expect(await list({ provider: 'openai-compatible', baseUrl: `${url}/v1`, key: KEY })).toEqual({
      state: 'listed', baseUrl: `${url}/v1`, models: [{ name: 'qwen3-coder:30b', parameters: 30e9, remote: false }],
    });
  });

  it('is asked with /v1, too, where its address names no version', async () => {
    const url = await listen(listingAt('/v1/models', models('m')));
    expect(await list({ provider: 'openai-compatible', baseUrl: `${url}/`, key: KEY })).toMatchObject({ state: 'listed', baseUrl: `${url}/v1` });
    expect(await list({ provider: 'openai-compatible', baseUrl: url, key: 'wrong' })).toMatchObject({ state: 'refused', baseUrl: `${url}/v1` });
  });

  it('is taken at the address that was given where that lists models', async () => {
    const url = await listen(listingAt('/models', models('m')));
    expect(await list({ provider: 'openai-compatible', baseUrl: url, key: KEY })).toMatchObject({ state: 'listed', baseUrl: url });
    expect(asked).toHaveLength(1);
  });

  it('is asked in Anthropic’s way where it is Anthropic’s', async () => {
    const url = await listen(listingAt('/v1/models?limit=1000', { data: [{ type: 'model', id: 'claude', display_name: 'Claude' }], has_more: false }));
    expect(await list({ provider: 'anthropic', baseUrl: url, key: KEY })).toMatchObject({ state: 'listed', models: [{ name: 'claude' }] });
    expect(asked[0]?.headers).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01' });
  });

  it('names models as Google’s server wants to be asked for them', async () => {
    const url = await listen(listingAt('/v1beta/openai/models', models('models/gemini-2.5-pro')));
    const listed = await list({ provider: 'openai-compatible', baseUrl: `${url}/v1beta/openai/`, key: KEY });
    expect(listed.models.map(({ name }) => name)).toEqual(['gemini-2.5-pro']);
  });

  it.each<[string, number, string, ListedModels['state']]>([
    ['no key', 401, '{"error": "who are you?"}', 'refused'],
    ['a key that it may not take', 403, '', 'refused'],
    ['a key that Google does not know', 400, '[{"error": {"code": 400, "message": "API key not valid."}}]', 'refused'],
    ['a path that it does not have', 404, '{"detail": "Not Found"}', 'unlisted'],
    ['a way that it does not have', 200, '<h1>Welcome</h1>', 'unlisted'],
  ])('refuses or does not list: %s', async (_name, status, body, state) => {
    const url = await listen((_request, response) => void response.writeHead(status).end(body));
    expect(await list({ provider: 'openai-compatible', baseUrl: `${url}/v1` })).toMatchObject({ state, models: [] });
  });

  it('is followed nowhere: a key is for one server', async () => {
    const other = await listen(listingAt('/v1/models', models('stolen')));
    const url = await listen((_request, response) => void response.writeHead(302, { location: `${other}/v1/models` }).end());
    expect(await list({ provider: 'openai-compatible', baseUrl: `${url}/v1`, key: KEY })).toMatchObject({ state: 'unlisted' });
    expect(asked).toHaveLength(1);
  });

  it('is silent where nothing answers, and unknown where its name leads nowhere', async () => {
    const server = await LocalServer.start(() => undefined);
    await server.stop();
    expect(await list({ provider: 'openai-compatible', baseUrl: `http://127.0.0.1:${server.port}/v1` })).toMatchObject({ state: 'silent' });
    expect(await list({ provider: 'openai-compatible', baseUrl: 'https://no-such-host.invalid/v1' })).toMatchObject({ state: 'unknown-host' });
  });

  it('is left alone once nobody waits', async () => {
    const url = await listen(() => undefined);
    const controller = new AbortController();
    const listing = list({ provider: 'openai-compatible', baseUrl: `${url}/v1` }, controller.signal);
    controller.abort(new Error('changed my mind'));
    await expect(listing).rejects.toThrow('changed my mind');
  });
});

describe('withVersion', () => {
  it.each([
    ['https://api.acme.com', 'https://api.acme.com/v1'],
    ['https://api.acme.com/llm/', 'https://api.acme.com/llm/v1'],
    ['https://api.acme.com/v1', undefined],
    ['https://generativelanguage.googleapis.com/v1beta/openai/', undefined],
  ])('of %s is %s', (address, expected) => {
    expect(withVersion(address)).toBe(expected);
  });
});
