import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { SOUNDS_PASSING } from '../../backend/serve/endpoint-error.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { failureSentence } from '../../backend/workers/failure-sentences.ts';
import { FORMATS, post } from './formats.ts';
import { PLAN, served } from './served.ts';

/* What goes wrong at the endpoint, in all of its formats alike. */

const place = served();

/** With headers that `fetch` does not let a program choose. */
async function asked(path: string, { method = 'POST', headers = {}, body = '' }: { method?: string; headers?: Record<string, string>; body?: string }): Promise<IncomingMessage> {
  const sent = request(`${place.url}${path}`, { method, headers: { authorization: `Bearer ${place.key}`, ...headers } }).end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response;
}

/** Reads a stream up to some text. */
async function readTo(response: Response, wanted: string): Promise<void> {
  const decoder = new TextDecoder();
  let read = '';
  for await (const piece of response.body!) {
    read += decoder.decode(piece, { stream: true });
    if (read.includes(wanted)) return;
  }
  throw new Error(`The stream ended without "${wanted}": ${read}`);
}

describe.each(FORMATS)('in $name', ({ name, path, ask, typeIn }) => {
  const problem = async (response: Response): Promise<[status: number, type: string | undefined]> => [response.status, typeIn((await response.json()) as object)];

  it('a client that is gone in mid-stream cancels its run, and the same request goes on without paying again for the plan and the steps before', async () => {
    let abandoned: Promise<void> | undefined;
    place.script = ({ model, abandoned: gone }) => {
      if (model !== 'second') return model === 'planner' ? PLAN : 'The bound is off by one.';
      abandoned = gone;
      return { begin: 'Well, ', rest: new Promise(() => {}) };
    };
    const paid = (): number[] => ['planner', 'first', 'second'].map((model) => place.workers.of(model).length);
    const before = paid();
    const leaving = new AbortController();
    const question = ask(`Mend it in ${name}`, { model: 'conductor', stream: true });
    await readTo(await post(place, path, question, { signal: leaving.signal }), 'Well, ');
    leaving.abort();
    await abandoned;
    const { runs } = place.conversations;
    const [{ runId } = { runId: '' }] = runs.list({ limit: 1 });
    await vi.waitFor(() => expect(runs.snapshot(runId).state).toBe('cancelled'));
    place.script = () => 'Well, well.';
    const again = await post(place, path, question);
    expect(await again.text()).toContain('Well, well.');
    expect(paid().map((count, index) => count - before[index]!)).toEqual([1, 1, 2]);
    expect(runs.list({ limit: 1 })).toMatchObject([{ runId }]);
  });

  it('a wrong key and none are refused before the request is read', async () => {
    const before = place.workers.requests.length;
    for (const key of ['wrong', '']) expect(await problem(await post(place, path, ask('Hello'), { key }))).toEqual([401, 'authentication_error']);
    expect((await asked(path, { headers: { authorization: `Basic ${place.key}` } })).statusCode).toBe(401);
    expect(place.workers.requests).toHaveLength(before);
  });

  it('what is no request is refused in one sentence', async () => {
    const before = place.workers.requests.length;
    const bodies = ['', '{"model":', '[]', 'null', '1', '{}', Uint8Array.from([0x22, 0xff, 0xfe, 0x22])];
    for (const body of bodies) expect(await problem(await post(place, path, body))).toEqual([400, 'invalid_request_error']);
    const nested = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const spoilt = JSON.stringify(ask('Hello', { tools: [{ type: 'function', name: 'read', input_schema: 'NESTED', parameters: 'NESTED', function: { name: 'read', parameters: 'NESTED' } }], metadata: 'NESTED' })).replaceAll('"NESTED"', `{"x":${nested}}`);
    const deep = await post(place, path, spoilt);
    expect([deep.status, await deep.text()]).toEqual([400, expect.stringContaining('nested')]);
    expect(place.workers.requests).toHaveLength(before);
  });

  it('a key that is taken back while it is answered is answered to the end, and asks nothing more', async () => {
    const rest = Promise.withResolvers<string>();
    const key = await place.keys.add(`leaving in ${name}`, undefined);
    place.script = () => ({ begin: 'Well, ', rest: rest.promise });
    const answered = await post(place, path, ask('Go on', { stream: true }), { key });
    await place.keys.remove(`leaving in ${name}`);
    expect(await problem(await post(place, path, ask('And this?'), { key }))).toEqual([401, 'authentication_error']);
    rest.resolve('that is all.');
    expect(await answered.text()).toContain('that is all.');
  });

  it('a client that is gone before it sent its request is nothing to tell a person of', async () => {
    const before = place.logged.length;
    const { port } = new URL(place.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${place.key}\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n`);
    // The endpoint has begun to read.
    await once(socket, 'data');
    socket.write('{"model":');
    socket.destroy();
    // A request that comes later is answered later.
    await once(socket, 'close');
    for (let count = 0; count < 3; count += 1) expect((await post(place, path, ask('Hello'))).status).toBe(200);
    expect(place.logged.slice(before)).toEqual([]);
  });

  it('a request of 20 MB is refused, and one whose text alone takes 4, and the connection serves the next one', async () => {
    expect(await problem(await post(place, path, ask('x'.repeat(4 * 2 ** 20))))).toEqual([413, name === 'Messages' ? 'request_too_large' : 'invalid_request_error']);
    expect(await problem(await post(place, path, ask('x'.repeat(20 * 2 ** 20))))).toEqual([413, name === 'Messages' ? 'request_too_large' : 'invalid_request_error']);
    expect((await post(place, path, ask('Hello'))).status).toBe(200);
  });

  it('a web page is refused, whatever it sends', async () => {
    const before = place.workers.requests.length;
    const body = JSON.stringify(ask('Hello'));
    const { port } = new URL(place.url);
    const pages: Record<string, string>[] = [
      { origin: 'http://evil.example' }, { origin: 'null' }, { origin: place.url }, { 'origin': 'http://evil.example', 'content-type': 'text/plain' },
      { host: `evil.example:${port}` }, { host: '127.0.0.1' }, { host: `127.0.0.1.evil.example:${port}` }, { 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of pages) {
      const { statusCode, headers: answered } = await asked(path, { headers, body });
      expect([headers, statusCode, Object.keys(answered).filter((header) => header.startsWith('access-control'))]).toEqual([headers, 403, []]);
    }
    const preflight = await asked(path, { method: 'OPTIONS', headers: { 'origin': 'http://evil.example', 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' } });
    expect([preflight.statusCode, preflight.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    expect(place.workers.requests).toHaveLength(before);
  });
});

describe('an error of a worker, in a stream', () => {
  const codex = { originator: 'codex_exec' };
  const streamed = async ({ path, ask }: (typeof FORMATS)[number], question: string, headers = {}): Promise<[status: number, text: string]> => {
    const response = await post(place, path, ask(question, { stream: true }), { headers });
    return [response.status, await response.text()];
  };
  const [chat, responses, messages] = FORMATS as [(typeof FORMATS)[number], (typeof FORMATS)[number], (typeof FORMATS)[number]];

  it('that lasts ends a response of Codex as failed, since it tries again after each status, is told who serves, and has a status in the other formats', async () => {
    place.script = () => ({ status: 401 });
    const before = place.logged.length;
    const [status, text] = await streamed(responses, 'No key', codex);
    expect(place.logged.slice(before)).toEqual([expect.stringContaining('requires a key')]);
    expect([status, text]).toEqual([200, expect.stringMatching(/event: response\.failed\ndata: .*"code":"invalid_prompt","message":".*requires a key/)]);
    for (const format of [chat, messages]) expect((await streamed(format, 'No key'))[0]).toBe(400);
  });

  it('that lasts has a status for other clients of Responses: Droid tries again after each response that failed', async () => {
    place.script = () => ({ status: 401 });
    expect(await streamed(responses, 'No key')).toEqual([400, expect.stringContaining('requires a key')]);
    const key = await place.keys.add('nothing left', 0.000_001);
    expect((await post(place, responses.path, responses.ask('Hello', { stream: true }), { key })).status).toBe(402);
  });

  it('that lasts has a status and a type after which no client tries again, and is told who serves', async () => {
    place.script = () => ({ status: 401 });
    for (const { name, path, ask, typeIn } of FORMATS) {
      const before = place.logged.length;
      const response = await post(place, path, ask('No key'));
      // LangChain tries again after all but some statuses, Continue and OpenCode after a type.
      const body = (await response.json()) as Parameters<typeof typeIn>[0];
      expect([response.status, typeIn(body)]).toEqual([400, name === 'Messages' ? 'invalid_request_error' : 'worker_error']);
      expect(place.logged.slice(before)).toEqual([expect.stringContaining('requires a key')]);
    }
  });

  it('that lasts is told without what a provider said of it, where programs would take that for one of a moment', async () => {
    const said = 'Provider returned error 500: try again later';
    for (const { path, ask } of FORMATS) {
      const before = place.logged.length;
      place.script = () => ({ status: 402, message: said });
      const response = await post(place, path, ask('Who pays?'));
      const told = await response.text();
      expect([response.status, told]).toEqual([400, expect.stringContaining('has no credit left (what it said stands in Conductor\'s run); top it up')]);
      expect(told).not.toMatch(SOUNDS_PASSING);
      expect(place.logged.slice(before)).toEqual([expect.stringContaining(said)]);
      place.script = () => ({ status: 402, message: 'See example.org' });
      expect(await (await post(place, path, ask('Who pays then?'))).text()).toContain('See example.org');
    }
  });

  it('that lasts is not told by words that programs take for one of a moment', () => {
    const worker = workerConfigSchema.parse({ id: 'first', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:4100/v1', model: 'm', maxOutputTokens: 1_000 });
    const lasting = ['authentication', 'missing-key', 'payment', 'permission', 'not-found', 'invalid-request', 'context-overflow', 'too-large', 'empty-answer', 'model-unusable', 'agent-failed'] as const;
    for (const kind of lasting) expect(failureSentence(kind, worker)).not.toMatch(SOUNDS_PASSING);
  });

  it('of a moment, or of the request, has a status in every format', async () => {
    for (const [answer, expected] of [[{ status: 429, retryAfter: 7_200 }, 429], [{ status: 400 }, 400]] as const) {
      place.script = () => answer;
      for (const format of FORMATS) expect((await streamed(format, `Not now: ${expected}`))[0]).toBe(expected);
    }
  });

  it('that is a limit tells a response which one it is, where Codex would tell of a bill at OpenAI', async () => {
    const key = await place.keys.add('spent', 0.000_001);
    const { path, ask } = responses;
    const response = await post(place, path, ask('Hello', { stream: true }), { key, headers: codex });
    expect([response.status, await response.text()]).toEqual([200, expect.stringMatching(/response\.failed.*"code":"invalid_prompt","message":"The limit of the key .*spent/s)]);
  });
});

describe('two sessions that begin alike', () => {
  it.each([
    ...FORMATS.slice(0, 2).map((format) => ({ ...format, by: 'the name that their client gives its cache', named: (key: string) => ({ fields: { prompt_cache_key: key } }) })),
    // Mistral's Vibe.
    ...FORMATS.slice(0, 1).map((format) => ({ ...format, by: 'a header', named: (key: string) => ({ headers: { 'x-affinity': key } }) })),
  ])('are told apart in $name by $by', async ({ path, ask, name, by, named }) => {
    place.script = ({ model, messages }) => (model === 'planner' ? PLAN : messages.some(({ role }) => role === 'tool') ? 'Mended.' : model === 'second' ? { calls: [{ name: 'read', arguments: {} }] } : 'Off by one.');
    const read = { name: 'read', parameters: { type: 'object', properties: {} } };
    const tools = [name === 'Responses' ? { type: 'function', ...read } : { type: 'function', function: read }];
    const list = name === 'Responses' ? 'input' : 'messages';
    const said = [{ role: 'user', content: `Mend it alike in ${name} by ${by}` }];
    const asked = async (messages: object[], key: string): Promise<string> => {
      const { fields = {}, headers = {} }: { fields?: object; headers?: Record<string, string> } = named(key);
      return await (await post(place, path, { ...ask(''), model: 'conductor', tools, [list]: messages, ...fields }, { headers })).text();
    };
    const [id] = /call_\d+/.exec(await asked(said, 'a')) ?? [];
    await asked([...said, { role: 'user', content: 'And the other one' }], 'b');
    const planned = place.workers.of('planner').length;
    const results = name === 'Responses'
      ? [{ type: 'function_call', call_id: id, name: 'read', arguments: '{}' }, { type: 'function_call_output', call_id: id, output: '1' }]
      : [{ role: 'assistant', content: '', tool_calls: [{ id, type: 'function', function: { name: 'read', arguments: '{}' } }] }, { role: 'tool', tool_call_id: id, content: '1' }];
    expect(await asked([...said, ...results], 'a')).toContain('Mended.');
    expect(place.workers.of('planner')).toHaveLength(planned);
  });
});

describe('two clients with one key', () => {
  it('are held to its limit together, in whatever format they ask', async () => {
    const maxUsd = 0.003;
    const key = await place.keys.add('shared', maxUsd);
    const { id } = (await place.keys.find(key))!;
    const before = place.workers.requests.length;
    const asks = Array.from({ length: 4 }, (_, index) => FORMATS.map(({ path, ask }) => post(place, path, ask(`Say ${index}`), { key }))).flat();
    const statuses = (await Promise.all(asks)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 402]));
    const { usd } = place.conversations.journal.budget.spent(`key:${id}`);
    expect(usd).toBeGreaterThan(0);
    expect(usd).toBeLessThanOrEqual(maxUsd);
    expect(place.workers.requests.length - before).toBe(statuses.filter((status) => status === 200).length);
  });
});
