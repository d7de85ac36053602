import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

/*
 * A simulation of an agent, for tests: a program that speaks the Agent Client Protocol and has no model. Its first argument says what it does
 * when it is asked something. It writes the JSON-RPC by hand, because it also has to break it.
 */

type Json = Record<string, unknown>;

const [mode = 'edit', ...values] = process.argv.slice(2);
const SESSION = 'session-1';
let nextId = 1_000;
let folder = '';
const waiting = new Map<number, (result: Json) => void>();

const send = (message: Json): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (content: Json): void => send({ method: 'session/update', params: { sessionId: SESSION, update: content } });
const say = (text: string): void => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
const act = (toolCallId: string, fields: Json): void => {
  update({ sessionUpdate: 'tool_call', toolCallId, status: 'pending', ...fields });
  update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' });
};

function ask(toolCall: Json): Promise<string> {
  const id = nextId++;
  const options = [
    { optionId: 'always', name: 'Always', kind: 'allow_always' }, { optionId: 'once', name: 'Once', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ];
  send({ id, method: 'session/request_permission', params: { sessionId: SESSION, toolCall: { toolCallId: `call-${id}`, ...toolCall }, options } });
  return new Promise((resolve) => waiting.set(id, ({ outcome }) => resolve(String((outcome as Json)['optionId'] ?? 'cancelled'))));
}

const tried = (work: () => unknown): string => {
  try {
    return `ok: ${String(work()).slice(0, 60)}`;
  } catch (error) {
    return String((error as { code?: string }).code ?? error);
  }
};

const reached = (host: string, port: number): Promise<string> => new Promise((resolve) => {
  const socket = connect({ host, port, timeout: 3_000 }, () => (socket.destroy(), resolve('reached')));
  socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)));
  socket.on('timeout', () => (socket.destroy(), resolve('timeout')));
});

/** What the proxy says of a host. */
const throughProxy = (host: string): Promise<string> => new Promise((resolve) => {
  const { hostname, port } = new URL(process.env['HTTPS_PROXY'] ?? 'http://127.0.0.1:1');
  const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
  socket.on('data', (data) => (socket.destroy(), resolve(String(data).split('\r\n', 1)[0] ?? '')));
  socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)));
});

const MODES: Readonly<Record<string, (prompt: string) => Promise<Json> | Json>> = {
  /** Asks for permissions, changes the file of its argument, and says what it cost. */
  async edit(prompt) {
    const [file = 'src/shapes.js', search = ' + ', replace = ' * '] = values;
    say('I look ');
    say('first.');
    act('read', { title: `Read ${folder}/${file}`, kind: 'read', content: [{ type: 'content', content: { type: 'text', text: 'some text' } }] });
    const answers = [
      await ask({ kind: 'edit', title: 'Edit', locations: [{ path: `${folder}/${file}` }] }),
      await ask({ kind: 'edit', title: 'Edit', locations: [{ path: '/etc/hosts' }] }),
      await ask({ kind: 'read', title: 'Read', rawInput: { file_path: `${folder}/../other` } }),
      await ask({ kind: 'execute', title: 'npm test', rawInput: { command: 'npm test' } }),
      await ask({ kind: 'fetch', title: 'Fetch a page' }),
    ];
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(search, replace));
    act('edit', { title: `Edit ${folder}/${file}`, kind: 'edit', content: [{ type: 'diff', path: `${folder}/${file}`, oldText: text, newText: text.replace(search, replace) }] });
    update({ sessionUpdate: 'usage_update', used: 1_200, size: 100_000, cost: { amount: 0.25, currency: 'USD' } });
    say(`Simulated: done. Permissions: ${answers.join(', ')}. Asked: ${prompt.includes('Your subtask:') ? 'a subtask' : 'something'}.`);
    return { stopReason: 'end_turn', usage: { inputTokens: 1_000, outputTokens: 50, totalTokens: 1_050 } };
  },
  /** Changes a file, and says nothing of what it cost. */
  quiet() {
    writeFileSync('src/shapes.js', readFileSync('src/shapes.js', 'utf8').replace(' + ', ' * '));
    say('Simulated: done.');
    return { stopReason: 'end_turn' };
  },
  /** Says its tokens as Gemini CLI 0.61 does: its arguments. */
  quota() {
    const [input_tokens, output_tokens] = values.map(Number);
    const counts = { input_tokens, output_tokens };
    say('Simulated: done.');
    return { stopReason: 'end_turn', _meta: { quota: { token_count: counts, model_usage: [{ model: 'gemini', token_count: counts }] } } };
  },
  /** Changes what an answer may not change. */
  forbidden() {
    writeFileSync('test/shapes.test.js', '// no tests');
    writeFileSync('src/new.js', 'export const made = 1;\n');
    say('Simulated: the tests are gone.');
    return { stopReason: 'end_turn' };
  },
  /** Tries to read, write and reach what it may not. Its arguments: paths, and host:port of what is not allowed and of what is. */
  async escape() {
    const found: Record<string, string> = {};
    const [hosts, paths] = [values.filter((value) => value.includes(':')), values.filter((value) => !value.includes(':'))];
    for (const file of paths) {
      found[`read ${file}`] = tried(() => readFileSync(file, 'utf8'));
      found[`list ${file}`] = tried(() => readdirSync(file));
      found[`write ${file}`] = tried(() => writeFileSync(`${file}-written`, 'x'));
    }
    found['write above'] = tried(() => appendFileSync(`${folder}/../escaped`, 'x'));
    for (const one of hosts) {
      const [host = '', port] = one.split(':');
      found[`reach ${one}`] = await reached(host, Number(port));
      found[`proxy ${one}`] = await throughProxy(one);
    }
    found['home'] = tried(() => readFileSync(`${process.env['HOME']}/login.json`, 'utf8'));
    found['key'] = String(process.env['TEST_KEY']);
    say(JSON.stringify(found));
    return { stopReason: 'end_turn' };
  },
  /** Changes a file, and never ends. */
  begins() {
    writeFileSync('src/shapes.js', readFileSync('src/shapes.js', 'utf8').replace(' + ', ' * '));
    say('Simulated: I have begun.');
    act('edit', { title: 'Edit src/shapes.js', kind: 'edit' });
    return new Promise(() => setInterval(() => undefined, 1_000));
  },
  endless() {
    say('Simulated: I never end.');
    return new Promise(() => setInterval(() => undefined, 1_000));
  },
  flood() {
    for (let count = 0; count < 2_000; count += 1) say('x'.repeat(1_000));
    return { stopReason: 'end_turn' };
  },
  line() {
    process.stdout.write(`{"jsonrpc":"2.0","method":"${'x'.repeat(20 * 1024 * 1024)}"}\n`);
    return new Promise(() => undefined);
  },
  acts() {
    for (let count = 0; count < 1_000; count += 1) act(`call-${count}`, { title: `Act ${count}`, kind: 'read', content: [{ type: 'content', content: { type: 'text', text: 'y'.repeat(10_000) } }] });
    say('Simulated: many acts.');
    return { stopReason: 'end_turn' };
  },
  dies() {
    process.stderr.write('The simulated agent dies now.\n');
    process.exit(3);
  },
  error() {
    throw Object.assign(new Error('Internal error'), { data: { details: 'The simulated provider is down.' } });
  },
  unpaid() {
    throw Object.assign(new Error('Authentication required'), { code: -32_000 });
  },
  cancelled: () => ({ stopReason: 'cancelled' }),
  /** Says things that are no messages, among its answer. */
  garbage() {
    process.stdout.write('This is no JSON.\n[1, 2]\n"text"\n{"jsonrpc":"2.0","id":77,"result":{}}\n');
    update({ sessionUpdate: 'of a later version', content: 7 });
    send({ id: 78, method: 'fs/read_text_file', params: { sessionId: SESSION, path: '/etc/passwd' } });
    say('Simulated: all the same.');
    return { stopReason: 'end_turn' };
  },
};

async function answer({ id, method, params = {} }: Json & { params?: Json }): Promise<void> {
  try {
    send({ id, result: await resultOf(String(method), params) });
  } catch (error) {
    const { code = -32_603, message, data } = error as { code?: number; message: string; data?: Json };
    send({ id, error: { code, message, ...(data && { data }) } });
  }
}

async function resultOf(method: string, params: Json): Promise<Json> {
  switch (method) {
    case 'initialize':
      return { protocolVersion: mode === 'old' ? 0 : 1, agentCapabilities: {}, agentInfo: { name: 'fake-agent', title: 'Simulated agent', version: '1.0' } };
    case 'session/new': {
      if (mode === 'no-login') throw Object.assign(new Error('Authentication required'), { code: -32_000 });
      folder = String(params['cwd']);
      const options = [{ value: 'small', name: 'Small' }, { value: 'large', name: 'Large' }];
      return {
        sessionId: SESSION, modes: { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }, { id: 'code', name: 'Code' }] },
        configOptions: [{ id: 'model', name: 'Model', category: 'model', type: 'select', currentValue: 'small', options }],
      };
    }
    case 'session/set_mode':
      return {};
    case 'session/set_config_option':
      return { configOptions: [] };
    case 'session/prompt': {
      const [part] = params['prompt'] as readonly { text?: string }[];
      return await (MODES[mode] as (prompt: string) => Promise<Json>)(part?.text ?? '');
    }
    default:
      throw Object.assign(new Error('Method not found'), { code: -32_601 });
  }
}

if (mode === 'no-json') setInterval(() => process.stdout.write('Welcome to the simulated agent!\n'), 50);
else if (mode !== 'silent') {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line) as Json;
    if (typeof message['method'] === 'string') {
      if (message['id'] !== undefined) void answer(message);
      return;
    }
    waiting.get(message['id'] as number)?.((message['result'] ?? {}) as Json);
  });
} else setInterval(() => undefined, 1_000);
