import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import OpenAI, { type APIError } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ScriptedServer, type ScriptedAnswer, type ScriptedRequest } from '../support/scripted-server.ts';
import { conductorCommand } from './run-conductor.ts';

/* OpenAI's own client against the built command, with workers behind a real wire. */

const { places, run, start } = conductorCommand();

const PLAN = 'model_id = [0, 1]\nsubtasks = ["Find the cause.", "Mend it with the tools."]\naccess_list = [[], [0]]';
const plainly = ({ model }: ScriptedRequest): ScriptedAnswer => (model === 'planner' ? PLAN : model === 'first' ? 'The bound is off by one.' : 'Mended.');
const READ = { type: 'function', function: { name: 'read', description: 'Reads a file', parameters: { type: 'object', properties: { path: { type: 'string' } } } } } as const;

let workers: ScriptedServer;
let script: (request: ScriptedRequest) => ScriptedAnswer = plainly;
let served: ReturnType<typeof start>;
let baseURL: string;
let apiKey: string;

beforeAll(async () => {
  workers = await ScriptedServer.start((asked) => script(asked));
  await mkdir(places.home, { recursive: true, mode: 0o700 });
  const worker = { provider: 'openai-compatible', baseUrl: workers.baseUrl, maxOutputTokens: 500, price: { inputPerMillion: 1, outputPerMillion: 1 } };
  await writeFile(path.join(places.home, 'workers.json'), JSON.stringify({
    version: 1, conductor: 'planner', workers: [{ ...worker, id: 'first', model: 'first' }, { ...worker, id: 'second', model: 'second' }, { ...worker, id: 'planner', model: 'planner', enabled: false }],
  }));
  apiKey = (await run(['serve', 'key', 'add', 'tests'])).stdout.trim();
  served = start(['serve', '--port', '0']);
  baseURL = await vi.waitFor(() => {
    expect(served.output.stdout).toMatch(/^http:.*\n/);
    return served.output.stdout.trim();
  }, { timeout: 60_000, interval: 50 });
}, 120_000);

afterAll(async () => {
  served.child.kill('SIGINT');
  expect((await served.result).code).toBe(0);
  // The backend had the port as long as its client was there.
  await vi.waitFor(() => expect(client().models.list()).rejects.toThrow('Connection error'), { timeout: 10_000, interval: 50 });
  await run(['backend', 'stop']);
  await workers.close();
});

beforeEach(() => {
  script = plainly;
});

const client = (key = apiKey): OpenAI => new OpenAI({ baseURL, apiKey: key, maxRetries: 0 });
const problem = async (call: Promise<unknown>): Promise<APIError> => await call.then(() => Promise.reject(new Error('It was answered.')), (error: unknown) => error as APIError);

describe('conductor serve', { timeout: 120_000 }, () => {
  it('has the models that a client may name', async () => {
    expect((await client().models.list()).data.map(({ id }) => id)).toEqual(['conductor', 'first', 'second']);
  });

  it('answers by a plan: one step advises, the last one speaks', async () => {
    const { choices: [choice], usage, model } = await client().chat.completions.create({ model: 'conductor', messages: [{ role: 'developer', content: 'Be brief.' }, { role: 'user', content: [{ type: 'text', text: 'Mend it' }] }] });
    expect(choice).toMatchObject({ message: { role: 'assistant', content: 'Mended.' }, finish_reason: 'stop' });
    expect([model, usage]).toMatchObject(['conductor', { prompt_tokens: 100, completion_tokens: 20, orchestration_tokens: 240 }]);
    expect(workers.of('second').at(-1)?.text).toContain('The bound is off by one.');
  });

  it('streams what the speaker says as it comes, with usage if it is asked for', async () => {
    const rest = Promise.withResolvers<string>();
    script = ({ model }) => (model === 'first' ? { begin: 'One, ', rest: rest.promise } : 'no');
    const pieces: string[] = [];
    const stream = await client().chat.completions.create({ model: 'first', messages: [{ role: 'user', content: 'Count' }], stream: true, stream_options: { include_usage: true } });
    let usage: unknown;
    let finish: unknown;
    for await (const { choices: [choice], usage: counted } of stream) {
      if (choice?.delta.content) pieces.push(choice.delta.content);
      // The rest is not written before its beginning was read.
      if (pieces.join('') === 'One, ') rest.resolve('two.');
      finish = choice?.finish_reason ?? finish;
      usage = counted ?? usage;
    }
    expect([pieces.join(''), finish]).toEqual(['One, two.', 'stop']);
    expect(usage).toMatchObject({ total_tokens: 120, orchestration_tokens: 0 });
  });

  it('hands the speaker the client\'s tools, and its calls and their results to and fro with their ids', async () => {
    script = ({ model, messages, tools }) => {
      if (model !== 'second') return plainly({ model } as ScriptedRequest);
      if (messages.some(({ role }) => role === 'tool')) return `Mended ${tools.join()}.`;
      return { text: 'I look.', calls: [{ name: 'read', arguments: { path: 'a' } }, { name: 'read', arguments: { path: 'b' } }] };
    };
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Mend both files' }];
    const { choices: [asks] } = await client().chat.completions.create({ model: 'conductor', messages, tools: [READ] });
    expect(asks?.finish_reason).toBe('tool_calls');
    const calls = asks?.message.tool_calls ?? [];
    expect(calls.map((call) => call.type === 'function' && call.function.arguments)).toEqual(['{"path":"a"}', '{"path":"b"}']);
    messages.push(asks!.message, ...calls.map(({ id }, index) => ({ role: 'tool', tool_call_id: id, content: `text ${index}` }) as const));
    const planned = workers.of('planner').length;
    const stream = await client().chat.completions.create({ model: 'conductor', messages, tools: [READ], stream: true });
    let text = '';
    for await (const { choices: [choice] } of stream) text += choice?.delta.content ?? '';
    expect(text).toBe('Mended read.');
    // The same speaker goes on: no new plan was made.
    expect(workers.of('planner')).toHaveLength(planned);
    expect(workers.of('second').at(-1)?.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual(['text 0', 'text 1']);
  });

  it('cancels what a client does not wait for any more', async () => {
    let abandoned: Promise<void> | undefined;
    script = (asked) => {
      abandoned = asked.abandoned;
      return { begin: 'Well, ', rest: new Promise(() => {}) };
    };
    const stream = await client().chat.completions.create({ model: 'first', messages: [{ role: 'user', content: 'Wait' }], stream: true });
    for await (const { choices: [choice] } of stream) if (choice?.delta.content) break;
    stream.controller.abort();
    await abandoned;
  });

  it('tells what is wrong in the form that clients read', async () => {
    const messages = [{ role: 'user', content: 'Hello' }] as const;
    expect(await problem(client('wrong').chat.completions.create({ model: 'first', messages: [...messages] }))).toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(await problem(client().chat.completions.create({ model: 'nobody', messages: [...messages] }))).toMatchObject({ status: 404, code: 'model_not_found', message: expect.stringContaining('conductor, first, second') });
    expect(await problem(client().chat.completions.create({ model: 'first', messages: [] }))).toMatchObject({ status: 400, message: expect.stringContaining('messages') });
    expect(await problem(client().chat.completions.create({ model: 'first', messages: [{ role: 'user', content: 'x'.repeat(20 * 2 ** 20) }] }))).toMatchObject({ status: 413 });
    script = () => ({ status: 400 });
    expect((await problem(client().chat.completions.create({ model: 'first', messages: [...messages], stream: true }))).status).toBe(400);
  });

  it('is closed to web pages and to other names of the host', async () => {
    const status = async (headers: Record<string, string>): Promise<number | undefined> => {
      const asked = request(`${baseURL}/models`, { headers: { authorization: `Bearer ${apiKey}`, ...headers } }).end();
      const [response] = (await once(asked, 'response')) as [{ statusCode?: number; resume(): void }];
      response.resume();
      return response.statusCode;
    };
    expect([await status({}), await status({ origin: 'http://evil.example' }), await status({ host: 'evil.example' })]).toEqual([200, 403, 403]);
  });

  it('holds a program to its limit, and takes a key back at once', async () => {
    const { stdout } = await run(['serve', 'key', 'add', 'small', '--max-usd', '0.00001']);
    const small = stdout.trim();
    expect(await problem(client(small).chat.completions.create({ model: 'first', messages: [{ role: 'user', content: 'Hello' }] }))).toMatchObject({ status: 402, code: 'insufficient_quota' });
    expect((await run(['serve', 'key', 'list'])).stdout).toBe('small  at most <$0.0001\ntests\n');
    expect(await run(['serve', 'key', 'add', 'small'])).toMatchObject({ code: 2, stderr: expect.stringContaining('already') });
    expect(await run(['serve', 'key', 'add', 'endless', '--max-usd', '1e999'])).toMatchObject({ code: 2, stderr: expect.stringContaining('an amount in dollars') });
    await run(['serve', 'key', 'remove', 'small']);
    expect(await problem(client(small).models.list())).toMatchObject({ status: 401 });
  });

  it('says that its port is taken, and how another one is named to who knows it', async () => {
    const { port } = new URL(baseURL);
    expect(await run(['serve', '--port', port])).toMatchObject({ code: 1, stderr: expect.stringContaining(`Port ${port} is taken. Name another one with --port.`) });
    expect((await run(['serve', '--port', port, '--until-input-ends'])).stderr).toMatch(new RegExp(`Port ${port} is taken\\.\n$`));
  });

  it('has the endpoint again at its port when the backend was stopped', async () => {
    await run(['backend', 'stop']);
    await vi.waitFor(async () => expect((await client().chat.completions.create({ model: 'first', messages: [{ role: 'user', content: 'Are you there?' }] })).choices[0]?.message.content).toBe('The bound is off by one.'), { timeout: 60_000, interval: 200 });
  });

  it('ends with its input for whoever started it, however that ended', async () => {
    // The input of this one ends at once; that of the one before has ended, too.
    expect(await run(['serve', '--port', '0', '--until-input-ends'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^http:.*\n/) });
  });
});
