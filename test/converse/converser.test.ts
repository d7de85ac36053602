import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sessionKey } from '../../backend/converse/session-key.ts';
import type { ConverseRequest, ConverseResult, SpokenMessage } from '../../backend/protocol/conversation.ts';
import { workersFileSchema, type WorkersFile } from '../../backend/protocol/worker-config.ts';
import { startConversations } from '../support/conversations.ts';
import { png } from '../support/picture-bytes.ts';
import { ScriptedServer, type ScriptedAnswer, type ScriptedRequest } from '../support/scripted-server.ts';

/* Conversations on a real journal, with workers behind a real wire. The test is the program that holds the conversation. */

const PLAN = 'model_id = [0, 1]\nsubtasks = ["Find the cause.", "Mend it with the tools."]\naccess_list = [[], [0]]';
const READ = { name: 'read', description: 'Reads a file', parameters: { type: 'object', properties: { path: { type: 'string' } } } };

let folder: string;
let server: ScriptedServer;
let script: (request: ScriptedRequest) => ScriptedAnswer;
let workers: WorkersFile;
const open: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-converse-'));
  script = ({ model }) => (model === 'planner' ? PLAN : model === 'first' ? 'The bound is off by one.' : 'Mended.');
  server = await ScriptedServer.start((request) => script(request));
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, maxOutputTokens: 1_000, price: { inputPerMillion: 1, outputPerMillion: 1 } };
  workers = workersFileSchema.parse({
    version: 1, conductor: 'planner',
    workers: [{ ...worker, id: 'first', model: 'first' }, { ...worker, id: 'second', model: 'second' }, { ...worker, id: 'planner', model: 'planner', enabled: false }],
  });
});

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

function started(options: { waitMs?: number; quietMs?: number } = {}) {
  const conversations = startConversations(folder, () => workers, options);
  open.push(conversations);
  return { ...conversations, close: async () => { open.pop(); await conversations.close(); } };
}

let requests = 0;
function asked(messages: SpokenMessage[], more: Partial<ConverseRequest> = {}): ConverseRequest {
  requests += 1;
  return { requestId: `r${requests}`, model: 'conductor', messages, tools: [], ...more };
}
const user = (content: string): SpokenMessage => ({ role: 'user', content });
const spoke = ({ text, calls }: ConverseResult): SpokenMessage => ({ role: 'assistant', content: text, toolCalls: calls });
const returned = ({ calls }: ConverseResult, texts: readonly string[]): SpokenMessage[] => calls.map(({ id }, index) => ({ role: 'tool', callId: id, content: texts[index] ?? '' }));
const never = new AbortController().signal;
const quietly = { signal: never, onText: () => {} };

/** Asks for two files at once and then for none. */
const twoCalls = ({ model, messages }: ScriptedRequest): ScriptedAnswer => {
  if (model !== 'second') return model === 'planner' ? PLAN : 'The bound is off by one.';
  return messages.some(({ role }) => role === 'tool') ? 'Mended.' : { text: 'I look.', calls: [{ name: 'read', arguments: { path: 'a' } }, { name: 'read', arguments: { path: 'b' } }] };
};

describe('a call that the program makes of the text of an answer', () => {
  const made = (id: string, content: string): SpokenMessage[] => [
    { role: 'assistant', content: '', toolCalls: [{ id, name: 'read', arguments: '{"path":"a"}' }] }, { role: 'tool', callId: id, content },
  ];

  it('is answered by the speaker, and not planned anew, until the person says something', async () => {
    const { converser } = started();
    script = ({ model, messages }) => (model === 'planner' ? PLAN : model === 'first' ? 'The bound is off by one.' : messages.at(-1)?.role === 'tool' ? `Read ${messages.filter(({ role }) => role === 'tool').length}.` : '{"name": "read"}');
    const messages: SpokenMessage[] = [user('Mend the loop in a')];
    await converser.turn(asked(messages), quietly);
    for (const [index, id] of ['x', 'y'].entries()) {
      messages.push(...made(id, 'text'));
      expect(await converser.turn(asked(messages), quietly)).toMatchObject({ worker: 'second', text: `Read ${index + 1}.`, orchestration: { output: 0 } });
    }
    expect(server.of('planner')).toHaveLength(1);
    messages.push({ role: 'assistant', content: 'Read 2.' }, user('Mend the loop in a'), ...made('z', 'text'));
    await converser.turn(asked(messages), quietly);
    expect(server.of('planner')).toHaveLength(2);
  });

  it('is planned anew where nobody knows of an answer', async () => {
    const { converser } = started();
    await converser.turn(asked([user('Mend the loop in a'), ...made('x', 'text')]), quietly);
    expect(server.of('planner')).toHaveLength(1);
  });
});

describe('a conversation without tools', () => {
  it('is planned, and the last step speaks: streamed, with what the others cost apart', async () => {
    const { converser, runs } = started();
    const pieces: string[] = [];
    const system: SpokenMessage = { role: 'system', content: 'Be brief.' };
    const result = await converser.turn(asked([system, user('Mend it')]), { signal: never, onText: (text) => pieces.push(text) });
    expect(result).toMatchObject({ worker: 'second', text: 'Mended.', calls: [], finishReason: 'stop', usage: { output: 20 }, orchestration: { output: 40 } });
    expect(result.cost.usd).toBeCloseTo(3 * 120 / 1_000_000);
    expect(pieces.join('')).toBe('Mended.');
    const [speaker] = server.of('second');
    expect(speaker?.messages[0]).toMatchObject({ role: 'system', content: 'Be brief.' });
    expect(speaker?.messages[1]?.content).toMatch(/^Mend it\n\n<notes_of_colleagues>[^]*The bound is off by one\.[^]*Your part: Mend it with the tools\.$/);
    await vi.waitFor(() => expect(runs.snapshot(result.runId)).toMatchObject({ state: 'completed', request: { question: 'Mend it' } }));
  });

  it('tells the steps that advise what was said before', async () => {
    const { converser } = started();
    await converser.turn(asked([user('What is fib?'), { role: 'assistant', content: 'A sequence.' }, user('Write it.')]), quietly);
    expect(server.of('first')[0]?.text).toContain('A sequence.');
    expect(server.of('second')[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  it('tells the plan and the steps that advise what the program instructs, and not the long instructions of an agent', async () => {
    const { converser } = started();
    const system = (content: string): SpokenMessage => ({ role: 'system', content });
    await converser.turn(asked([system('Answer by this:\nThe bound of fib is 7.'), user('Mend it')]), quietly);
    for (const model of ['planner', 'first']) expect(server.of(model)[0]?.text).toContain('The bound of fib is 7.');
    expect(server.of('second')[0]?.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    await converser.turn(asked([system(`The bound of fib is 8. ${'Use your tools. '.repeat(500)}`), user('Mend it')]), quietly);
    for (const model of ['planner', 'first']) expect(server.of(model).at(-1)?.text).not.toContain('The bound of fib is 8.');
  });

  it('is planned by what the system says where nobody else says anything, and the speaker is told what the others found out', async () => {
    const { converser, runs } = started();
    const system = (content: string): SpokenMessage => ({ role: 'system', content });
    const result = await converser.turn(asked([system('Be brief.'), system('Find the fault in the loop, and mend it.')]), quietly);
    expect(runs.snapshot(result.runId).request.question).toBe('Find the fault in the loop, and mend it.');
    expect(server.of('first')[0]?.text).toContain('Find the fault in the loop');
    const [speaker] = server.of('second');
    expect(speaker?.messages.map(({ role }) => role)).toEqual(['system', 'user']);
    expect(speaker?.messages[1]?.content).toMatch(/^Find the fault in the loop, and mend it\.[^]*The bound is off by one\./);
  });

  it('goes straight to a worker that is named, with the messages as they are', async () => {
    const { converser } = started();
    const result = await converser.turn(asked([user('Hello')], { model: 'first', temperature: 0.5 }), quietly);
    expect(result).toMatchObject({ worker: 'first', orchestration: { output: 0 } });
    expect(server.requests.map(({ model, text }) => [model, text])).toEqual([['first', 'Hello']]);
    await expect(converser.turn(asked([user('Hello')], { model: 'nobody' }), quietly)).rejects.toMatchObject({ kind: 'unknown-worker', message: expect.stringContaining('conductor, first, second') });
  });
});

describe('a conversation with the client\'s tools', () => {
  it('hands calls out with their ids, and what they return to the same speaker, without another plan', async () => {
    script = twoCalls;
    const { converser, runs } = started();
    const first = await converser.turn(asked([user('Mend it')], { tools: [READ] }), quietly);
    expect(first).toMatchObject({ text: 'I look.', calls: [{ name: 'read', arguments: '{"path":"a"}' }, { name: 'read', arguments: '{"path":"b"}' }] });
    const messages = [user('Mend it'), spoke(first), ...returned(first, ['A', 'B']), user('Mind the tests.')];
    const second = await converser.turn(asked(messages, { tools: [READ] }), quietly);
    expect(second).toMatchObject({ runId: first.runId, worker: 'second', text: 'Mended.', calls: [], orchestration: { output: 0 } });
    expect(server.requests.map(({ model }) => model)).toEqual(['planner', 'first', 'second', 'second']);
    const last = server.requests.at(-1);
    expect(last?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
    expect(last?.text).toContain('Mind the tests.');
    expect(last?.tools).toEqual(['read']);
    await vi.waitFor(() => expect(runs.snapshot(first.runId).state).toBe('completed'));
    expect(runs.snapshot(first.runId).rounds[0]?.steps[1]?.turns).toMatchObject([{ reply: 'I look.', results: [{ text: 'A' }, { text: 'B' }] }]);
  });

  it('asks for a call alone where one has to be, whatever format a text should have', async () => {
    const { converser } = started();
    const format = { name: 'city', schema: { type: 'object' } };
    script = ({ model }) => (model === 'planner' ? PLAN : { calls: [{ name: 'read', arguments: {} }] });
    for (const toolChoice of ['required', { name: 'read' }, 'auto'] as const) await converser.turn(asked([user(`Mend it: ${JSON.stringify(toolChoice)}`)], { model: 'second', tools: [READ], toolChoice, format }), quietly);
    expect(server.of('second').map(({ body }) => body['response_format'] !== undefined)).toEqual([false, false, true]);
  });

  it('makes a new plan at the next message of the person, and cancels what waits for tools then', async () => {
    script = twoCalls;
    const { converser, runs } = started();
    const first = await converser.turn(asked([user('Mend it')], { tools: [READ] }), quietly);
    const stopped = [user('Mend it'), { role: 'assistant' as const, content: first.text }, user('No, mend the other one')];
    const second = await converser.turn(asked(stopped, { tools: [READ] }), quietly);
    expect(second.runId).not.toBe(first.runId);
    await vi.waitFor(() => expect(runs.snapshot(first.runId).state).toBe('cancelled'));
    expect(server.of('planner')).toHaveLength(2);
  });

  it('begins anew where the same is asked once more, as by an evaluation that tries a sample twice at once, and keeps the tries apart', async () => {
    script = twoCalls;
    const { converser } = started();
    const told = { tools: [READ] };
    const tries = [await converser.turn(asked([user('Mend it')], told), quietly), await converser.turn(asked([user('Mend it')], told), quietly)];
    expect(new Set(tries.map(({ runId }) => runId)).size).toBe(2);
    expect(new Set(tries.flatMap(({ calls }) => calls.map(({ id }) => id))).size).toBe(4);
    for (const one of tries) {
      const results = asked([user('Mend it'), spoke(one), ...returned(one, ['A', 'B'])], told);
      expect(await converser.turn(results, quietly)).toMatchObject({ runId: one.runId, text: 'Mended.', orchestration: { output: 0 } });
    }
  });

  it('goes on waiting while another try of the same sample, which was answered otherwise, goes on by itself', async () => {
    const { converser, runs } = started();
    const told = { tools: [READ] };
    script = twoCalls;
    const waits = await converser.turn(asked([user('Mend it')], told), quietly);
    script = ({ model }) => (model === 'planner' ? PLAN : 'I need no tool.');
    const other = await converser.turn(asked([user('Mend it')], told), quietly);
    await converser.turn(asked([user('Mend it'), spoke(other), user('Go on until you have submitted.')], told), quietly);
    expect(runs.snapshot(waits.runId).state).toBe('running');
    script = twoCalls;
    expect(await converser.turn(asked([user('Mend it'), spoke(waits), ...returned(waits, ['A', 'B'])], told), quietly)).toMatchObject({ runId: waits.runId, text: 'Mended.', orchestration: { output: 0 } });
  });

  it('finds its run again after the backend was started anew', async () => {
    script = twoCalls;
    const before = started();
    const first = await before.converser.turn(asked([user('Mend it')], { tools: [READ], session: 's' }), quietly);
    await before.close();
    const { converser, tools } = started();
    const messages = [user('Mend it'), spoke(first), ...returned(first, ['A', 'B'])];
    await vi.waitFor(() => expect(tools.claimed(requestSession(messages), messages, () => false)?.runId).toBe(first.runId));
    const second = await converser.turn(asked(messages, { tools: [READ], session: 's' }), quietly);
    expect(second).toMatchObject({ runId: first.runId, text: 'Mended.' });
    expect(server.of('planner')).toHaveLength(1);
  });

  it('shows the speaker the picture of the question again after that, from the journal', async () => {
    workers = { ...workers, workers: workers.workers.map((worker) => ({ ...worker, pictures: worker.id === 'second' })) };
    const began = Promise.withResolvers<undefined>();
    script = (request) => (request.model === 'second' ? { begin: 'I be', rest: new Promise(() => {}) } : twoCalls(request));
    const before = started();
    const picture = { type: 'image/png' as const, width: 30, height: 20, data: Buffer.from(png(30, 20)).toString('base64') };
    const message: SpokenMessage = { role: 'user', content: 'Mend it', pictures: [picture] };
    void before.converser.turn(asked([message]), { signal: never, onText: () => began.resolve(undefined) });
    await began.promise;
    const [{ runId } = { runId: '' }] = before.runs.list({ limit: 1 });
    await before.close();
    script = () => 'Mended.';
    const { runs } = started();
    await vi.waitFor(() => expect(runs.snapshot(runId).state).toBe('completed'));
    expect(server.of('second').map(({ messages }) => messages[0]?.pictures)).toEqual([[{ data: picture.data }], [{ data: picture.data }]]);
  });

  it('goes on where the client lets the model say something after the results, as OpenCode does in the last turn', async () => {
    script = twoCalls;
    const { converser } = started();
    const first = await converser.turn(asked([user('Mend it')], { tools: [READ] }), quietly);
    const said = { role: 'assistant', content: 'CRITICAL - MAXIMUM STEPS REACHED' } as const;
    expect(await converser.turn(asked([user('Mend it'), spoke(first), ...returned(first, ['A', 'B']), said], { tools: [READ] }), quietly)).toMatchObject({ runId: first.runId, text: 'Mended.' });
    expect(server.of('planner')).toHaveLength(1);
  });

  it('goes on where the client sends results with ids of its own, as Open Interpreter does, and not where it called something else', async () => {
    script = twoCalls;
    const { converser } = started();
    const first = await converser.turn(asked([user('Mend it')], { tools: [READ] }), quietly);
    const own = { ...first, calls: first.calls.map((call, index) => ({ ...call, id: `own_${index}`, arguments: JSON.stringify(JSON.parse(call.arguments), undefined, 1) })) };
    const next = await converser.turn(asked([user('Mend it'), spoke(own), ...returned(own, ['A', 'B'])], { tools: [READ] }), quietly);
    expect(next).toMatchObject({ runId: first.runId, text: 'Mended.' });
    expect(server.of('planner')).toHaveLength(1);
    // A later question in a conversation that began alike calls the same.
    const later = await converser.turn(asked([user('Mend it'), spoke({ ...next, calls: [] }), user('Mend the rest')], { tools: [READ] }), quietly);
    expect((await converser.turn(asked([user('Mend it'), spoke({ ...next, calls: [] }), user('Mend more'), spoke(own), ...returned(own, ['A', 'B'])], { tools: [READ] }), quietly)).runId).not.toBe(later.runId);
    const another = await converser.turn(asked([user('Mend that')], { tools: [READ] }), quietly);
    const changed = { ...another, calls: another.calls.map((call, index) => ({ ...call, id: `own_${index}`, arguments: '{"path":"z"}' })) };
    expect((await converser.turn(asked([user('Mend that'), spoke(changed), ...returned(changed, ['A', 'B'])], { tools: [READ] }), quietly)).runId).not.toBe(another.runId);
  });

  it('goes on where the client names its session anew with each request, and cancels the run where the person says something else then', async () => {
    script = twoCalls;
    const { converser, runs } = started();
    const first = await converser.turn(asked([user('Mend it')], { tools: [READ], session: '1' }), quietly);
    const results = [user('Mend it'), spoke(first), ...returned(first, ['A', 'B'])];
    // Another key, and another beginning.
    for (const other of [asked(results, { tools: [READ], session: '2', account: { id: 'k', name: 'k' } }), asked([user('Mend that'), ...results.slice(1)], { tools: [READ], session: '2' })]) {
      expect((await converser.turn(other, quietly)).runId).not.toBe(first.runId);
    }
    expect(await converser.turn(asked(results, { tools: [READ], session: '3' }), quietly)).toMatchObject({ runId: first.runId, text: 'Mended.' });
    const left = await converser.turn(asked([user('Mend more')], { tools: [READ], session: '4' }), quietly);
    await converser.turn(asked([user('Mend more'), spoke(left), ...returned(left, ['', '']), user('No, mend less')], { tools: [READ], session: '5' }), quietly);
    await vi.waitFor(() => expect(runs.snapshot(left.runId).state).toBe('cancelled'));
  });

  it('goes on waiting while another conversation of the key begins that has only what the agent says before the person in common with it', async () => {
    script = twoCalls;
    const { converser } = started();
    const before = user('<system_reminder>Your todo list is empty.</system_reminder>');
    const first = await converser.turn(asked([before, user('Mend it')], { tools: [READ] }), quietly);
    await converser.turn(asked([before, user('Mend another'), { role: 'assistant', content: 'Mended.' }, user('And the third')], { tools: [READ] }), quietly);
    expect(await converser.turn(asked([before, user('Mend it'), spoke(first), ...returned(first, ['A', 'B'])], { tools: [READ] }), quietly)).toMatchObject({ runId: first.runId, text: 'Mended.' });
  });

  it('gives up a run whose client is silent for too long', async () => {
    script = twoCalls;
    const { converser, runs } = started({ waitMs: 20 });
    const { runId } = await converser.turn(asked([user('Mend it')], { tools: [READ] }), quietly);
    await vi.waitFor(() => expect(runs.snapshot(runId)).toMatchObject({ state: 'failed', failure: { kind: 'client-gone' } }));
  });

  it.each(['attempt_completion', 'submit_and_exit', 'Exit'])('ends after a quiet time where the speaker ends by a tool, as by %s, of whose result nobody is told', async (name) => {
    script = ({ model }) => (model === 'planner' ? PLAN : model === 'first' ? 'Off by one.' : { calls: [{ name, arguments: { result: 'Mended, and the tests pass.', verified: true } }] });
    const { converser, runs } = started({ quietMs: 20 });
    const { runId, calls } = await converser.turn(asked([user('Mend it')], { tools: [READ, { ...READ, name }] }), quietly);
    expect(calls).toMatchObject([{ name }]);
    await vi.waitFor(() => expect(runs.snapshot(runId).state).toBe('completed'));
    expect(runs.snapshot(runId).rounds[0]?.steps[1]).toMatchObject({ output: 'Mended, and the tests pass.', finishReason: 'stop' });
    expect(server.of('second')).toHaveLength(1);
  });

  it('ends after a quiet time where the program asked for one tool by name, as for a structured answer, and goes on where it says what was wrong with it', async () => {
    script = ({ model }) => (model === 'planner' ? PLAN : model === 'first' ? 'Off by one.' : { calls: [{ name: 'read', arguments: { path: 'a' } }] });
    const { converser, runs } = started({ quietMs: 500 });
    const options = { tools: [READ], toolChoice: { name: 'read' } };
    const first = await converser.turn(asked([user('Mend it')], options), quietly);
    const again = await converser.turn(asked([user('Mend it'), spoke(first), ...returned(first, ['Validation error'])], options), quietly);
    expect(again).toMatchObject({ runId: first.runId, calls: [{ name: 'read' }] });
    await vi.waitFor(() => expect(runs.snapshot(first.runId)).toMatchObject({ state: 'completed', rounds: [{ steps: [{}, { output: '{"path":"a"}' }] }] }), { timeout: 10_000 });
  });

  it('ends such a run at once where the client says something else in its conversation, and goes on where the result comes all the same', async () => {
    script = ({ model, messages }) => (model === 'planner' ? PLAN : messages.some(({ role }) => role === 'tool') ? 'More.' : { text: 'Done.', calls: [{ name: 'task_done', arguments: {} }] });
    const { converser, runs } = started();
    const first = await converser.turn(asked([user('Mend it')]), quietly);
    const next = await converser.turn(asked([user('Mend it'), { role: 'assistant', content: 'Done.' }, user('And the other?')]), quietly);
    await vi.waitFor(() => expect(runs.snapshot(first.runId)).toMatchObject({ state: 'completed', rounds: [{ steps: [{}, { output: 'Done.' }] }] }));
    const told = [user('Mend it'), { role: 'assistant' as const, content: 'Done.' }, user('And the other?'), spoke(next), ...returned(next, ['No.'])];
    expect(await converser.turn(asked(told), quietly)).toMatchObject({ runId: next.runId, text: 'More.' });
  });

  it('lets another worker speak, with tools of its own, where the speaker fails in the middle', async () => {
    script = (request) => {
      if (request.model === 'second' && request.messages.some(({ role }) => role === 'tool')) return { status: 400 };
      return request.model === 'first' && request.tools.length > 0 ? { calls: [{ name: 'read', arguments: { path: 'c' } }] } : twoCalls(request);
    };
    const { converser } = started();
    const first = await converser.turn(asked([user('Mend it')], { tools: [READ] }), quietly);
    const next = await converser.turn(asked([user('Mend it'), spoke(first), ...returned(first, ['A', 'B'])], { tools: [READ] }), quietly);
    expect(next).toMatchObject({ runId: first.runId, worker: 'first', calls: [{ arguments: '{"path":"c"}' }] });
  });

  it('lets another worker speak where the speaker fails', async () => {
    script = (request) => (request.model === 'second' ? { status: 400 } : request.model === 'first' && request.tools.length > 0 ? 'I do it.' : twoCalls(request));
    const { converser } = started();
    expect(await converser.turn(asked([user('Mend it')], { tools: [READ] }), quietly)).toMatchObject({ worker: 'first', text: 'I do it.' });
  });
});

describe('what an agent asks for itself', () => {
  const SUMMARY = 'The sum in src/sum.js was off by one; the bound is mended, and its tests have not been run since then.';

  it('is answered without a plan by who spoke last, and so is what the agent goes on with from its summary', async () => {
    const { converser } = started();
    const spoken = await converser.turn(asked([user('Mend it')], { tools: [READ] }), quietly);
    script = ({ model, text }) => (model === 'planner' ? PLAN : text.includes('conversation so far') ? `<summary>\n${SUMMARY}\n</summary>` : 'I go on.');
    const before = server.requests.length;
    const summary = await converser.turn(asked([user('Mend it'), spoke(spoken), user('Your task is to create a detailed summary of the conversation so far.')], { tools: [READ] }), quietly);
    const next = await converser.turn(asked([user(`This session is being continued. Summary:\n${SUMMARY}\nContinue.`)], { tools: [READ] }), quietly);
    expect([summary, next].map(({ worker, text }) => [worker, text])).toEqual([['second', `<summary>\n${SUMMARY}\n</summary>`], ['second', 'I go on.']]);
    expect(server.requests.slice(before).map(({ model }) => model)).toEqual(['second', 'second']);
    await converser.turn(asked([user(`Summary:\n${SUMMARY}`), spoke(next), user('Mend the other one')], { tools: [READ] }), quietly);
    expect(server.of('planner')).toHaveLength(2);
  });

  it('is answered so where the last answer alone is asked for in another form, and not where a program begins the first answer itself', async () => {
    const { converser } = started();
    script = ({ model, messages }) => (model === 'planner' ? PLAN : messages.at(-1)?.role === 'assistant' ? '{"name":"sum"}' : 'The sum.');
    await converser.turn(asked([user('Mend the first'), { role: 'assistant', content: 'It is' }]), quietly);
    const first = await converser.turn(asked([user('Mend it')]), quietly);
    expect(server.of('planner')).toHaveLength(2);
    const formed = await converser.turn(asked([user('Mend it'), spoke(first)], { format: 'json' }), quietly);
    expect([formed.text, formed.worker]).toEqual(['{"name":"sum"}', 'second']);
    expect(server.of('planner')).toHaveLength(2);
  });

  it('is planned where a program begins each answer of a conversation itself, as often as it is asked', async () => {
    const { converser, runs } = started();
    const begun = { role: 'assistant', content: 'It is' } as const;
    const first = await converser.turn(asked([user('Mend it'), begun]), quietly);
    const second = await converser.turn(asked([user('Mend it'), { role: 'assistant', content: `It is ${first.text}` }, user('Mend the other'), begun]), quietly);
    expect(server.of('planner')).toHaveLength(2);
    expect(runs.snapshot(second.runId).request.question).toBe('Mend the other');
  });

  it('does not keep it from going on from a summary when it asks for a title between', async () => {
    const { converser } = started();
    const spoken = await converser.turn(asked([user('Mend it')], { tools: [READ] }), quietly);
    script = ({ model, text }) => (model === 'planner' ? PLAN : text.includes('conversation so far') ? SUMMARY : 'A sum');
    await converser.turn(asked([user('Mend it'), spoke(spoken), user('Your task is to create a detailed summary of the conversation so far.')], { tools: [READ] }), quietly);
    await converser.turn(asked([{ role: 'system', content: 'You are a title generator. You output ONLY a thread title.' }, user('"Mend another"')]), quietly);
    const before = server.requests.length;
    await converser.turn(asked([user(`Summary:\n${SUMMARY}\nContinue.`)], { tools: [READ] }), quietly);
    expect(server.requests.slice(before).map(({ model }) => model)).toEqual(['second']);
  });

  it('leaves a run alone that waits for tools in the same conversation', async () => {
    const { converser, runs } = started();
    script = twoCalls;
    const called = await converser.turn(asked([user('Mend it')], { tools: [READ] }), quietly);
    await converser.turn(asked([{ role: 'system', content: 'You are performing a managed memory dream.' }, user('Mend it'), user('Consolidate.')]), quietly);
    const done = await converser.turn(asked([user('Mend it'), spoke(called), ...returned(called, ['1', '2'])], { tools: [READ] }), quietly);
    expect(done).toMatchObject({ runId: called.runId, text: 'Mended.' });
    await vi.waitFor(() => expect(runs.snapshot(called.runId).state).toBe('completed'));
    expect(server.of('planner')).toHaveLength(1);
  });

  it('is answered so where it only reminds its model to go on, as Cline does after each answer without a call', async () => {
    const { converser, runs } = started();
    const reminder = user('[SYSTEM] This run is not complete until you call one of these terminal completion tools: submit_and_exit.');
    const begun = [user('<user_input mode="yolo">Mend it</user_input>'), reminder];
    const spoken = await converser.turn(asked(begun, { tools: [READ] }), quietly);
    expect(runs.snapshot(spoken.runId).request.question).toBe('Mend it');
    const next = await converser.turn(asked([...begun, spoke(spoken), reminder], { tools: [READ] }), quietly);
    expect(next).toMatchObject({ worker: 'second', text: 'Mended.' });
    expect(server.requests.map(({ model }) => model)).toEqual(['planner', 'first', 'second', 'second']);
  });

  it.each([
    ['Codex', [user('<hook_prompt hook_run_id="stop:0">The tests fail.</hook_prompt>')]],
    ['Claude Code, beside an instruction', [user('<system-reminder>\nStop hook feedback: the tests fail.\n</system-reminder>'), { role: 'system', content: 'Stop hook blocking error' }]],
  ] satisfies [string, SpokenMessage[]][])('is answered so where a hook keeps it from stopping, as %s says it', async (_client, hook) => {
    const { converser } = started();
    const spoken = await converser.turn(asked([user('Mend it')], { tools: [READ] }), quietly);
    await converser.turn(asked([user('Mend it'), spoke(spoken), ...hook], { tools: [READ] }), quietly);
    expect(server.requests.map(({ model }) => model)).toEqual(['planner', 'first', 'second', 'second']);
  });

  it('is answered by the cheapest worker where nobody has spoken', async () => {
    workers = { ...workers, workers: workers.workers.map((worker) => (worker.id === 'first' ? { ...worker, price: { inputPerMillion: 9, outputPerMillion: 9 } } : worker)) };
    const { converser } = started();
    const title: SpokenMessage[] = [{ role: 'system', content: 'You are a title generator. Generate a brief title that would help the user find this conversation later.' }, user('"Mend it"')];
    expect(await converser.turn(asked(title), quietly)).toMatchObject({ worker: 'second' });
    expect(server.requests.map(({ model }) => model)).toEqual(['second']);
  });
});

describe('an empty answer', () => {
  const nothing = ({ model, tools }: ScriptedRequest): ScriptedAnswer => (model === 'planner' ? PLAN : model === 'second' || tools.length > 0 ? '' : 'Off by one.');
  const question = (): ConverseRequest => asked([user('Mend it')], { tools: [READ] });

  it('ends the run where the client takes it', async () => {
    script = nothing;
    const { converser, runs } = started({ quietMs: 20 });
    const { runId, text, calls } = await converser.turn(question(), quietly);
    expect([text, calls]).toEqual(['', []]);
    await vi.waitFor(() => expect(runs.snapshot(runId).state).toBe('completed'));
  });

  it('is asked of the same worker again in the same run, and then of another one, without another plan', async () => {
    script = (request) => (request.model === 'first' && request.tools.length > 0 ? 'Mended by the first.' : nothing(request));
    const { converser, runs } = started();
    const turns = [await converser.turn(question(), quietly), await converser.turn(question(), quietly), await converser.turn(question(), quietly)];
    expect(turns.map(({ text, worker }) => [worker, text])).toEqual([['second', ''], ['second', ''], ['first', 'Mended by the first.']]);
    expect(new Set(turns.map(({ runId }) => runId)).size).toBe(1);
    expect(server.requests.map(({ model }) => model)).toEqual(['planner', 'first', 'second', 'second', 'first']);
    expect(server.of('second')[1]?.messages).toEqual(server.of('second')[0]?.messages);
    await vi.waitFor(() => expect(runs.snapshot(turns[0]?.runId ?? '').state).toBe('completed'));
  });

  it('fails where nobody has an answer, and begins anew when it is asked once more', async () => {
    script = nothing;
    const { converser } = started();
    for (let times = 0; times < 4; times += 1) await converser.turn(question(), quietly);
    await expect(converser.turn(question(), quietly)).rejects.toMatchObject({ kind: 'empty-answer', message: expect.stringContaining('answered twice with nothing') });
    expect(server.requests.map(({ model }) => model)).toEqual(['planner', 'first', 'second', 'second', 'first', 'first']);
    await converser.turn(question(), quietly);
    expect(server.of('planner')).toHaveLength(2);
  });
});

describe('a client that is gone', () => {
  it('cancels the run, and the same request takes it up without paying again for what is done', async () => {
    const held = Promise.withResolvers<string>();
    let isHeld = true;
    script = (request) => (request.model === 'second' && isHeld ? { begin: 'I be', rest: held.promise } : request.model === 'second' ? 'I begin and end.' : twoCalls(request));
    const { converser, runs } = started();
    const leaving = new AbortController();
    const turn = converser.turn(asked([user('Mend it')]), { signal: leaving.signal, onText: () => leaving.abort(new Error('gone')) });
    await expect(turn).rejects.toThrow('gone');
    await server.of('second')[0]?.abandoned;
    const [{ runId } = { runId: '' }] = runs.list({ limit: 1 });
    await vi.waitFor(() => expect(runs.snapshot(runId).state).toBe('cancelled'));
    isHeld = false;
    const again = await converser.turn(asked([user('Mend it')]), quietly);
    expect(again).toMatchObject({ runId, text: 'I begin and end.' });
    expect(server.requests.map(({ model }) => model)).toEqual(['planner', 'first', 'second', 'second']);
    held.resolve('');
  });
});

describe('the limit of a key', () => {
  it('holds over all its conversations, and refuses before anything is sent', async () => {
    const account = { id: 'k1', name: 'zed', maxUsd: 0.002 };
    const { converser, journal } = started();
    await converser.turn(asked([user('One')], { model: 'first', account }), quietly);
    expect(journal.budget.spent('key:k1').usd).toBeCloseTo(120 / 1_000_000);
    const many = await Promise.allSettled([1, 2, 3].map((number) => converser.turn(asked([user(`Two ${number}`)], { model: 'first', account }), quietly)));
    const refused = many.flatMap((one) => (one.status === 'rejected' ? [one.reason as { kind: string; message: string }] : []));
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ kind: 'budget-spent', message: expect.stringContaining('key "zed"') });
    expect(server.of('first')).toHaveLength(1 + many.length - refused.length);
    expect(journal.budget.spent('key:k1').usd).toBeLessThanOrEqual(account.maxUsd);
  });
});

function requestSession(messages: SpokenMessage[]): string {
  return sessionKey({ messages, session: 's' });
}
