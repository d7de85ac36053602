import { once } from 'node:events';
import { connect } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { FAMILIES } from '../../backend/simulator/families/all-families.ts';
import { bugOf, questionOf } from '../../backend/simulator/sample-project.ts';
import { SimulatorServer, type SimulatorOptions } from '../../backend/simulator/server.ts';
import { suggestionPrompt } from '../../backend/suggest/suggestion-prompt.ts';
import { workerMessages } from '../../backend/workflow/worker-messages.ts';
import { contextOf } from './play.ts';

const servers: SimulatorServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(options: Partial<SimulatorOptions> = {}): Promise<SimulatorServer> {
  const server = await SimulatorServer.start({ seed: 1, latency: 0, ...options });
  servers.push(server);
  return server;
}

const openAi = (server: SimulatorServer, apiKey = 'none'): OpenAI =>
  new OpenAI({ baseURL: `${server.url}/v1`, apiKey, maxRetries: 0 });
const anthropic = (server: SimulatorServer, apiKey = 'none'): Anthropic =>
  new Anthropic({ baseURL: server.url, apiKey, maxRetries: 0 });

const SEED = 2;
const [{ content: prompt = '' } = {}] = workerMessages({
  question: questionOf(SEED),
  context: contextOf(bugOf(SEED)),
  editsFiles: true,
  inputs: [],
  subtask: 'Fix the reported bug and return the whole corrected file.',
});
const messages = [{ role: 'user' as const, content: prompt }];
const tokens = (text: string): number => Math.ceil(text.length / 4);

describe('Chat Completions, with the official SDK', () => {
  it('streams the text in pieces and ends with the usage', async () => {
    const server = await start();
    const stream = await openAi(server).chat.completions.create({
      model: 'sim-cedar',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    const pieces: string[] = [];
    let finish: string | null | undefined;
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      pieces.push(chunk.choices[0]?.delta.content ?? '');
      finish = chunk.choices[0]?.finish_reason ?? finish;
      usage = chunk.usage ?? usage;
    }
    const text = pieces.join('');
    expect(pieces.length).toBeGreaterThan(10);
    expect(text).toContain('Simulated by sim-cedar');
    expect(text).toContain(`\`\`\`js ${bugOf(SEED).family.path}\n`);
    expect(finish).toBe('stop');
    expect(usage).toMatchObject({ prompt_tokens: tokens(prompt), completion_tokens: tokens(text) });
  });

  it('answers in one piece with the same text as streamed', async () => {
    const server = await start();
    const client = openAi(server);
    const whole = await client.chat.completions.create({ model: 'sim-ember', messages });
    const streamed = client.chat.completions.stream({ model: 'sim-ember', messages });
    expect(await streamed.finalContent()).toBe(whole.choices[0]?.message.content);
  });

  it('sends no usage in a stream that did not ask for it', async () => {
    const stream = await openAi(await start()).chat.completions.create({ model: 'sim-ember', messages, stream: true });
    for await (const chunk of stream) expect(chunk.usage).toBeUndefined();
  });

  it('cuts the text at the limit of tokens and says so', async () => {
    const reply = await openAi(await start()).chat.completions.create({
      model: 'sim-ember',
      messages,
      max_completion_tokens: 20,
    });
    expect(reply.choices[0]?.finish_reason).toBe('length');
    expect(reply.usage?.completion_tokens).toBe(20);
  });

  it('takes another seed for another sample', async () => {
    const client = openAi(await start());
    const sample = async (seed: number): Promise<string | null | undefined> =>
      (await client.chat.completions.create({ model: 'sim-conductor', messages, seed })).choices[0]?.message.content;
    const samples = await Promise.all([1, 2, 3, 4, 5, 6].map(sample));
    expect(new Set(samples).size).toBeGreaterThan(1);
    expect(await sample(3)).toBe(samples[2]);
  });
});

describe('Responses, with the official SDK', () => {
  it('streams up to the completed response with its usage', async () => {
    const stream = openAi(await start()).responses.stream({ model: 'sim-atlas', input: messages });
    let streamed = '';
    stream.on('response.output_text.delta', ({ delta }) => (streamed += delta));
    const response = await stream.finalResponse();
    expect(response.status).toBe('completed');
    expect(response.output_text).toBe(streamed);
    expect(streamed).toContain('Simulated by sim-atlas');
    expect(response.usage).toMatchObject({ input_tokens: tokens(prompt), output_tokens: tokens(streamed) });
  });

  it('says that a response was cut off', async () => {
    const response = await openAi(await start()).responses.create({ model: 'sim-atlas', input: prompt, max_output_tokens: 16 });
    expect(response.status).toBe('incomplete');
    expect(response.incomplete_details).toEqual({ reason: 'max_output_tokens' });
    expect(response.output_text.length).toBeLessThanOrEqual(64);
  });

  it('gives the same answer as Chat Completions to the same messages', async () => {
    const client = openAi(await start());
    const response = await client.responses.create({ model: 'sim-atlas', input: messages });
    const completion = await client.chat.completions.create({ model: 'sim-atlas', messages });
    expect(response.output_text).toBe(completion.choices[0]?.message.content);
  });
});

describe('Messages, with the official SDK', () => {
  it('streams the text and its usage', async () => {
    const stream = anthropic(await start()).messages.stream({ model: 'sim-dune', max_tokens: 4_096, messages });
    let streamed = '';
    stream.on('text', (text) => (streamed += text));
    const message = await stream.finalMessage();
    expect(message.stop_reason).toBe('end_turn');
    expect(message.content).toMatchObject([{ type: 'text', text: streamed }]);
    expect(message.usage).toMatchObject({ input_tokens: tokens(prompt), output_tokens: tokens(streamed) });
  });

  it('reads a turn the same way, whether it comes whole or in blocks', async () => {
    const client = anthropic(await start());
    const blocks = [
      { type: 'text' as const, text: prompt.slice(0, 500) },
      { type: 'text' as const, text: prompt.slice(500) },
    ];
    const [whole, parts] = await Promise.all(
      [prompt, blocks].map((content) =>
        client.messages.create({ model: 'sim-birch', max_tokens: 4_096, messages: [{ role: 'user', content }] }),
      ),
    );
    expect(parts?.content).toEqual(whole?.content);
  });
});

describe('the simulator', () => {
  it('labels every response and every model as simulated', async () => {
    const server = await start();
    for (const path of ['/v1/models', '/nowhere']) {
      expect((await fetch(server.url + path)).headers.get('x-conductor-simulated')).toBe('true');
    }
    const listed = [await openAi(server).models.list(), await anthropic(server).models.list()].flatMap(({ data }) =>
      data.map(({ id }) => id),
    );
    expect(listed).toHaveLength(6);
    for (const id of listed) expect(id).toMatch(/^sim-/);
  });

  it('describes its models as entries of workers.json', async () => {
    const server = await start({ key: 'secret' });
    const workers = server.workers().map((worker) => workerConfigSchema.parse(worker));
    expect(new Set(workers.map(({ provider }) => provider))).toEqual(new Set(['openai', 'openai-compatible', 'anthropic']));
    expect(workers.every(({ simulated, price, key }) => simulated && price && key === 'CONDUCTOR_SIMULATOR_KEY')).toBe(true);
    expect(workerConfigSchema.parse(server.conductor()).model).toBe('sim-conductor');
  });

  it('gives equal answers to equal calls, on another server too, and others with another seed', async () => {
    const answers = async (seed: number): Promise<string[]> => {
      const client = openAi(await start({ seed }));
      const replies = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          client.chat.completions.create({
            model: 'sim-ember',
            messages: [{ role: 'user', content: `${prompt}${' '.repeat(index)}` }],
          }),
        ),
      );
      return replies.map(({ choices }) => choices[0]?.message.content ?? '');
    };
    const first = await answers(1);
    expect(await answers(1)).toEqual(first);
    expect(await answers(2)).not.toEqual(first);
  });

  it('listens on the loopback address only', async () => {
    expect((await start()).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('stops answering when the client goes away', async () => {
    // Slowed down so much that the answer would take hours.
    const server = await start({ latency: 1_000 });
    const { port } = new URL(server.url);
    const body = JSON.stringify({ model: 'sim-ember', messages, stream: true });
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    await once(socket, 'ready');
    while (server.answering === 0) await new Promise(setImmediate);
    socket.destroy();
    await server.idle();
    expect(server.answering).toBe(0);
  });

  it('breaks off its answers when it is closed', async () => {
    const server = await start({ latency: 1_000 });
    const answer = fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'sim-ember', messages }),
    });
    const outcome = expect(answer).rejects.toThrow();
    while (server.answering === 0) await new Promise(setImmediate);
    await server.close();
    servers.splice(servers.indexOf(server), 1);
    await outcome;
  });
});

describe('errors, as the official SDKs see them', () => {
  it('says 404 for a model that is not there, or not in this format', async () => {
    const server = await start();
    await expect(openAi(server).chat.completions.create({ model: 'gpt-x', messages })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    await expect(openAi(server).responses.create({ model: 'sim-dune', input: 'hi' })).rejects.toMatchObject({
      code: 'model_not_found',
    });
    await expect(anthropic(server).messages.create({ model: 'sim-atlas', max_tokens: 9, messages })).rejects.toBeInstanceOf(
      Anthropic.NotFoundError,
    );
  });

  it('says 401 where a key is wanted and missing', async () => {
    const server = await start({ key: 'secret' });
    await expect(openAi(server).chat.completions.create({ model: 'sim-ember', messages })).rejects.toBeInstanceOf(
      OpenAI.AuthenticationError,
    );
    await expect(anthropic(server).messages.create({ model: 'sim-dune', max_tokens: 9, messages })).rejects.toBeInstanceOf(
      Anthropic.AuthenticationError,
    );
    await openAi(server, 'secret').chat.completions.create({ model: 'sim-ember', messages });
    await anthropic(server, 'secret').messages.create({ model: 'sim-dune', max_tokens: 9, messages });
  });

  it('says 400 for what is no JSON or no request', async () => {
    const server = await start();
    const post = (path: string, body: string): Promise<Response> => fetch(server.url + path, { method: 'POST', body });
    const broken = await post('/v1/chat/completions', '{"model":');
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({
      error: { message: 'The request is not valid JSON.', type: 'invalid_request_error' },
    });
    const incomplete = await post('/v1/messages', JSON.stringify({ model: 'sim-dune', messages }));
    expect(incomplete.status).toBe(400);
    expect(await incomplete.json()).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    expect((await post('/v1/responses', JSON.stringify({ model: 'sim-atlas', input: 7 }))).status).toBe(400);
  });

  it('says 413 for a body over 8 MB, and goes on serving', async () => {
    const server = await start();
    const huge = [{ role: 'user' as const, content: 'x'.repeat(9_000_000) }];
    await expect(openAi(server).chat.completions.create({ model: 'sim-ember', messages: huge })).rejects.toMatchObject({
      status: 413,
    });
    await expect(anthropic(server).messages.create({ model: 'sim-dune', max_tokens: 9, messages: huge })).rejects.toMatchObject({
      status: 413,
    });
    await openAi(server).chat.completions.create({ model: 'sim-ember', messages });
  });
});

describe('gaps in code', () => {
  const [family] = FAMILIES;
  const source = family?.source ?? '';
  const at = source.indexOf('\n', source.indexOf('export function')) + 1;
  const before = source.slice(0, at);
  const [line = ''] = source.slice(at).split('\n');

  it('are filled as Ollama fills them, by the model that was made for it', async () => {
    const server = await start();
    const stream = await openAi(server).completions.create({
      model: 'sim-ember', prompt: before, suffix: '\n}\n', stop: ['\n'], max_tokens: 64, stream: true, stream_options: { include_usage: true },
    });
    let text = '';
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.text ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(text).toBe(line);
    expect(usage).toMatchObject({ completion_tokens: tokens(text) });
  });

  it('are refused by every other model', async () => {
    const asked = openAi(await start()).completions.create({ model: 'sim-cedar', prompt: before, suffix: '\n}\n' });
    await expect(asked).rejects.toMatchObject({ status: 400, message: expect.stringContaining('does not support insert') as unknown });
  });

  it('are filled by every model where a chat asks for it', async () => {
    const prompted = suggestionPrompt({ path: 'a.js', language: 'javascript', before, after: '\n}\n', multiline: false });
    const reply = await openAi(await start()).chat.completions.create({
      model: 'sim-cedar', messages: prompted?.messages.map(({ role, content }) => ({ role, content })) ?? [],
    });
    expect(reply.choices[0]?.message.content?.split('\n')[0]).toBe(line);
  });
});
