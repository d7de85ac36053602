import { execFile } from 'node:child_process';
import type { RequestListener } from 'node:http';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { foundServersSchema, type ServerKind } from '../../backend/protocol/found-servers.ts';
import { findServers, placesOf, USUAL_PLACES } from '../../backend/workers/servers/find-servers.ts';
import { LocalServer } from '../support/local-server.ts';

const servers: LocalServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function listen(listener: RequestListener): Promise<number> {
  const server = await LocalServer.start(listener);
  servers.push(server);
  return server.port;
}

/** Answers these paths with JSON, every other one with 404. */
const answering = (pages: Record<string, unknown>, status = 200): RequestListener => (request, response) => {
  const page = pages[request.url ?? ''];
  response.writeHead(page === undefined ? 404 : status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(page ?? { detail: 'Not Found' }));
};

async function find(kind: ServerKind, listener: RequestListener): Promise<Awaited<ReturnType<typeof findServers>>['servers']> {
  const port = await listen(listener);
  const found = await findServers({ places: [{ kind, port }] });
  expect(foundServersSchema.safeParse(found).error).toBeUndefined();
  expect(found.servers.every(({ baseUrl }) => baseUrl === `http://127.0.0.1:${port}/v1`)).toBe(true);
  return found.servers;
}

describe('a server of this machine', () => {
  it('Ollama names the models that can answer, their size, and which its cloud runs', async () => {
    expect(await find('ollama', answering({
      '/api/tags': {
        models: [
          { name: 'qwen2.5-coder:7b', size: 4_683_087_332, details: { family: 'qwen2', parameter_size: '7.6B' } },
          { name: 'gpt-oss:120b-cloud', remote_host: 'https://ollama.com:443', details: { family: 'gptoss', parameter_size: '116.8B' } },
          { name: 'nomic-embed-text:latest', details: { family: 'nomic-bert', parameter_size: '137M' } },
          { name: 'snowflake:latest', capabilities: ['embedding'] },
          { name: 'gemma3:latest', capabilities: ['completion', 'vision'] },
        ],
      },
    }))).toMatchObject([{
      kind: 'ollama', needsKey: false,
      models: [
        { name: 'qwen2.5-coder:7b', parameters: 7.6e9, remote: false },
        { name: 'gpt-oss:120b-cloud', parameters: 116.8e9, remote: true },
        { name: 'gemma3:latest', remote: false },
      ],
    }]);
  });

  it('LM Studio names its models and how much they read, embeddings left out', async () => {
    expect(await find('lm-studio', answering({
      '/api/v0/models': {
        data: [
          { id: 'meta-llama-3.1-8b-instruct', type: 'llm', state: 'not-loaded', max_context_length: 131_072 },
          { id: 'text-embedding-nomic-embed-text-v1.5', type: 'embeddings', state: 'not-loaded' },
        ],
      },
    }))).toMatchObject([{ kind: 'lm-studio', models: [{ name: 'meta-llama-3.1-8b-instruct', parameters: 8e9, contextTokens: 131_072 }] }]);
  });

  it.each([
    ['vllm', 'vllm', { id: 'Qwen/Qwen3-30B-A3B', owned_by: 'vllm', max_model_len: 40_960 }, { parameters: 30e9, contextTokens: 40_960 }],
    ['llama.cpp', 'llamacpp', { id: 'model.gguf', owned_by: 'llamacpp', meta: { n_params: 8.2e9, n_ctx_train: 32_768 } }, { parameters: 8.2e9, contextTokens: 32_768 }],
    ['other', 'somebody', { id: 'mixtral', owned_by: 'somebody' }, { name: 'mixtral' }],
  ] as const)('is known as %s by what it says of its models, whatever port it has', async (kind, _owner, model, expected) => {
    expect(await find('vllm', answering({ '/v1/models': { object: 'list', data: [model] } }))).toMatchObject([{ kind, models: [expected] }]);
  });

  it('of an older version is asked as every other is', async () => {
    expect(await find('lm-studio', answering({ '/v1/models': { data: [{ id: 'qwen3-8b', owned_by: 'organization_owner' }] } })))
      .toMatchObject([{ kind: 'other', models: [{ name: 'qwen3-8b' }] }]);
  });

  it('that wants a key is found without its models', async () => {
    expect(await find('vllm', answering({ '/v1/models': { error: 'Unauthorized' } }, 401)))
      .toMatchObject([{ kind: 'vllm', needsKey: true, models: [] }]);
  });

  it.each<[string, RequestListener]>([
    ['another program', answering({ '/': 'hello' })],
    ['a page that wants a password', (_request, response) => response.writeHead(401).end('<h1>Log in</h1>')],
    ['a list of something else', answering({ '/v1/models': { data: [{ id: 7 }] } })],
    ['one that sends on to another machine', (_request, response) => response.writeHead(302, { location: 'http://192.0.2.1/v1/models' }).end()],
    ['one that says too much', (_request, response) => response.end('x'.repeat(2 * 1024 * 1024))],
  ])('is not %s', async (_name, listener) => {
    expect(await find('vllm', listener)).toEqual([]);
  });

  it.each<[string, RequestListener]>([
    ['accepts and never answers', () => undefined],
    ['begins to answer and never ends', (_request, response) => void response.writeHead(200).write('{ "data": [')],
  ])('that %s is given up', async (_name, listener) => {
    const port = await listen(listener);
    expect((await findServers({ places: [{ kind: 'vllm', port }], timeoutMs: 50 })).servers).toEqual([]);
  });

  it('is asked past every proxy', async () => {
    const port = await listen(answering({ '/v1/models': { data: [{ id: 'm', owned_by: 'vllm' }] } }));
    const script = `const { findServers } = await import(${JSON.stringify(new URL('../../backend/workers/servers/find-servers.ts', import.meta.url).href)});
      console.log((await findServers({ places: [{ kind: 'vllm', port: ${port} }] })).servers.length);`;
    const env = { PATH: process.env.PATH, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:9' };
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
    expect(stdout.trim()).toBe('1');
  });

  it('is asked nothing but its list, with nothing of the user\'s', async () => {
    const asked: string[] = [];
    await find('ollama', (request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? 'no key'}`);
      response.writeHead(404).end();
    });
    expect(asked).toEqual(['GET /api/tags no key', 'GET /v1/models no key']);
  });
});

it('all places are looked at together, and the list says where', async () => {
  const both = Promise.withResolvers<void>();
  let arrived = 0;
  const together: RequestListener = (request, response) => {
    arrived += 1;
    if (arrived === 2) both.resolve();
    void both.promise.then(() => answering({ '/v1/models': { data: [{ id: 'm', owned_by: 'vllm' }] } })(request, response));
  };
  const places = await Promise.all([0, 1].map(async () => ({ kind: 'vllm' as const, port: await listen(together) })));
  const found = await findServers({ places });
  expect(found.servers).toHaveLength(2);
  expect(found.looked).toEqual(places);
});

it('a search that is aborted rejects', async () => {
  const controller = new AbortController();
  const port = await listen(() => controller.abort(new Error('changed my mind')));
  await expect(findServers({ places: [{ kind: 'vllm', port }], signal: controller.signal })).rejects.toThrow('changed my mind');
});

describe('OLLAMA_HOST', () => {
  it.each([
    ['127.0.0.1:9999', 9_999], ['http://localhost:9999', 9_999], ['0.0.0.0:9999', 9_999], [':9999', 9_999],
    ['0.0.0.0', 11_434], ['example.com:9999', 11_434], ['127.0.0.1:99999', 11_434], ['http://127.0.0.1@example.com:9999', 11_434], ['', 11_434],
  ])('%j has Ollama looked for at port %i of this machine', (OLLAMA_HOST, port) => {
    expect(placesOf({ OLLAMA_HOST }).find(({ kind }) => kind === 'ollama')?.port).toBe(port);
  });

  it('is not needed', () => {
    expect(placesOf({})).toEqual(USUAL_PLACES);
  });
});
