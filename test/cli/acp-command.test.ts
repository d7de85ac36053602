import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { client, ndJsonStream, PROTOCOL_VERSION, type ClientCapabilities, type ClientConnection, type ContentBlock, type NewSessionResponse, type RequestPermissionRequest, type SessionUpdate } from '@agentclientprotocol/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { COMPILE_CACHE } from '../support/compile-cache.ts';
import { png } from '../support/picture-bytes.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import { GitRepository } from '../verify/git-repository.ts';
import { trySandbox } from '../verify/setup.ts';
import { BUILT, conductorCommand } from './run-conductor.ts';

/* The official client of the protocol against the built command. */

const sandbox = await trySandbox();
const { places, run } = conductorCommand();

const WRONG = 'export const sum = (list) => list.reduce((a, b) => a + b);\n';
const RIGHT = 'export const sum = (list) => list.reduce((a, b) => a + b, 0);\n';
const PLAN = 'model_id = [0, 0]\nsubtasks = ["Find why sum([]) fails.", "Mend sum as found."]\naccess_list = [[], ["all"]]';
const QUESTION = 'sum([]) fails instead of giving 0: please mend it';

let server: ScriptedServer;
let project: GitRepository;
let sumFile: string;
/** Where it is set, workers begin their answers and go on when it resolves. */
let held: Promise<void> | undefined;

beforeAll(async () => {
  server = await ScriptedServer.start(({ model }) => {
    if (model === 'planner') return PLAN;
    const answer = `\`\`\`js src/sum.js\n${RIGHT}\`\`\``;
    return held ? { begin: 'Well: ', rest: held.then(() => answer) } : answer;
  });
  project = new GitRepository(path.join(places.folder, 'project'), {
    'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }),
    'src/sum.js': WRONG,
    'test/sum.test.js': 'import assert from "node:assert/strict";\nimport test from "node:test";\nimport { sum } from "../src/sum.js";\n'
      + 'test("sums", () => assert.equal(sum([1, 2]), 3));\ntest("sums nothing", () => assert.equal(sum([]), 0));\n',
  });
  sumFile = path.join(project.folder, 'src/sum.js');
  await mkdir(places.home, { recursive: true, mode: 0o700 });
  await writeWorkers([{ id: 'worker', model: 'worker' }, { id: 'planner', model: 'planner', enabled: false, pictures: true }, { id: 'keyless', model: 'worker', key: 'NOBODY_HAS_THIS_KEY' }]);
});

async function writeWorkers(workers: readonly object[]): Promise<void> {
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, maxOutputTokens: 500, price: { inputPerMillion: 1, outputPerMillion: 1 } };
  await writeFile(path.join(places.home, 'workers.json'), JSON.stringify({ version: 1, ...(workers.length > 1 && { conductor: 'planner' }), workers: workers.map((one) => ({ ...worker, ...one })) }));
}

beforeEach(() => writeFile(sumFile, WRONG));

afterAll(async () => {
  await run(['backend', 'stop']);
  await server.close();
});

const text = (said: string): ContentBlock => ({ type: 'text', text: said });

/** An editor that has started the agent. It answers questions with what `answers` has, by what is asked, and keeps what it is told. */
class Editor {
  readonly updates: { readonly sessionId: string; readonly update: SessionUpdate }[] = [];
  readonly asked: RequestPermissionRequest[] = [];
  readonly written: string[] = [];
  /** The option that is chosen; the editor waits where it is a promise. */
  answer: (request: RequestPermissionRequest) => string | Promise<string> = () => 'leave';
  readonly child: ChildProcessWithoutNullStreams;
  readonly #connection: ClientConnection;

  constructor(args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) {
    this.child = spawn(process.execPath, [BUILT, 'acp', ...args], {
      cwd: places.folder, env: { PATH: process.env['PATH'] ?? '', ...COMPILE_CACHE, HOME: places.folder, TMPDIR: places.folder, CONDUCTOR_HOME: places.home, ...environment },
    });
    this.child.stderr.resume();
    const app = client({ name: 'test' })
      .onNotification('session/update', ({ params }) => void this.updates.push(params))
      .onRequest('session/request_permission', async ({ params }) => {
        this.asked.push(params);
        const optionId = await this.answer(params);
        return { outcome: optionId === '' ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
      })
      .onRequest('fs/read_text_file', async ({ params }) => ({ content: await readFile(params.path, 'utf8') }))
      .onRequest('fs/write_text_file', async ({ params }) => {
        this.written.push(params.path);
        await writeFile(params.path, params.content);
        return {};
      });
    this.#connection = app.connect(ndJsonStream(Writable.toWeb(this.child.stdin), Readable.toWeb(this.child.stdout) as ReadableStream<Uint8Array>));
  }

  get agent(): ClientConnection['agent'] {
    return this.#connection.agent;
  }

  async initialize(clientCapabilities: ClientCapabilities = { fs: { readTextFile: true, writeTextFile: true } }) {
    return await this.agent.request('initialize', { protocolVersion: PROTOCOL_VERSION, clientCapabilities });
  }

  async open(mcpServers: { name: string; command: string; args: string[]; env: [] }[] = []): Promise<NewSessionResponse> {
    return await this.agent.request('session/new', { cwd: project.folder, mcpServers });
  }

  prompt(sessionId: string, ...prompt: ContentBlock[]) {
    return this.agent.request('session/prompt', { sessionId, prompt });
  }

  /** What the agent said, as one text. */
  said(sessionId: string): string {
    return this.of(sessionId).map((update) => (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? update.content.text : '')).join('');
  }

  of(sessionId: string): SessionUpdate[] {
    return this.updates.filter((one) => one.sessionId === sessionId).map(({ update }) => update);
  }

  /** The tool calls of a session as they stand, by the last part of their id. */
  calls(sessionId: string) {
    const calls = new Map<string, Record<string, unknown>>();
    for (const update of this.of(sessionId)) {
      if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') calls.set(update.toolCallId, { ...calls.get(update.toolCallId), ...update });
    }
    return [...calls.values()];
  }

  async end(): Promise<number | null> {
    this.child.stdin.end();
    if (this.child.exitCode === null) await once(this.child, 'exit');
    this.#connection.close();
    return this.child.exitCode;
  }
}

async function withEditor(args: readonly string[], act: (editor: Editor) => Promise<void>): Promise<void> {
  const editor = new Editor(args);
  try {
    await act(editor);
  } finally {
    await editor.end();
  }
}

describe('the ACP agent', () => {
  it('says what it can, opens sessions in folders alone, and names the errors of an editor in a sentence', async () => {
    await withEditor([], async (editor) => {
      expect(await editor.initialize()).toMatchObject({ protocolVersion: 1, authMethods: [], agentInfo: { name: 'conductor' }, agentCapabilities: { loadSession: true } });
      const { sessionId, modes, configOptions } = await editor.open();
      expect(modes).toMatchObject({ currentModeId: 'ask', availableModes: [{ id: 'ask' }, { id: 'apply' }] });
      expect(configOptions?.map(({ id }) => id)).toEqual(['mode', 'review']);
      await vi.waitFor(() => expect(editor.of(sessionId)).toMatchObject([{ sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'verify' }, { name: 'apply' }, { name: 'resume' }] }]));
      await expect(editor.agent.request('session/new', { cwd: path.join(project.folder, 'nowhere'), mcpServers: [] })).rejects.toThrow(/is no folder/);
      await expect(editor.agent.request('session/new', { cwd: 'src', mcpServers: [] })).rejects.toThrow(/is no folder/);
      await expect(editor.agent.request('session/load', { cwd: project.folder, sessionId: '../../workers', mcpServers: [] })).rejects.toThrow(/not found/i);
      await expect(editor.agent.request('session/set_mode', { sessionId, modeId: 'everything' })).rejects.toThrow('There is no mode "everything"');
      await expect(editor.prompt('unknown', text('hello'))).rejects.toThrow(/not found/i);
      await expect(editor.prompt(sessionId, text('/resume'))).rejects.toThrow('No run of this session stopped.');
      await expect(editor.prompt(sessionId, text('/apply'))).rejects.toThrow('has no change');
      await expect(editor.prompt(sessionId, text('x'.repeat(33_000)))).rejects.toThrow('longer than 32,000 characters');
    });
  });

  it('takes pictures with a prompt, shows them to who sees, and says which it cannot take before anybody is asked', { timeout: 60_000 }, async () => {
    await withEditor(['--review'], async (editor) => {
      expect(await editor.initialize()).toMatchObject({ agentCapabilities: { promptCapabilities: { image: true } } });
      const { sessionId } = await editor.open();
      const picture = (bytes: Uint8Array): ContentBlock => ({ type: 'image', mimeType: 'image/png', data: Buffer.from(bytes).toString('base64') });
      const before = server.requests.length;
      await expect(editor.prompt(sessionId, text(QUESTION), picture(new TextEncoder().encode('hello')))).rejects.toThrow('Models do not take this kind of file');
      await expect(editor.prompt(sessionId, text(QUESTION), ...Array<ContentBlock>(5).fill(picture(png(8, 8))))).rejects.toThrow('at most 4 pictures');
      expect(server.requests).toHaveLength(before);
      editor.answer = () => 'cancel';
      await editor.prompt(sessionId, text(QUESTION), picture(png(800, 600)));
      expect(server.requests.at(-1)?.messages.flatMap(({ pictures = [] }) => pictures.map(({ data }) => data))).toEqual([Buffer.from(png(800, 600)).toString('base64')]);
      editor.updates.length = 0;
      await editor.agent.request('session/load', { cwd: project.folder, sessionId, mcpServers: [] });
      expect(editor.of(sessionId)).toContainEqual({ sessionUpdate: 'user_message_chunk', content: picture(png(800, 600)) });
    });
  });

  it('answers garbage with errors, and goes on', async () => {
    await withEditor([], async (editor) => {
      editor.child.stdin.write('this is no JSON\n[1, 2]\n"text"\n{"jsonrpc":"2.0","id":"garbage","method":"session/prompt","params":{"sessionId":7}}\n\u0000\u0000\n{}\n');
      expect(await editor.initialize()).toMatchObject({ protocolVersion: 1 });
      const { sessionId } = await editor.open();
      expect(sessionId).toMatch(/^[0-9a-f-]{36}$/);
      expect(await editor.end()).toBe(0);
    });
  });

  it.skipIf(!sandbox.available)(`shows plan, steps and tests, and writes the change that is allowed; the next question builds on it ${sandbox.note}`, { timeout: 120_000 }, async () => {
    await withEditor([], async (editor) => {
      await editor.initialize();
      const { sessionId } = await editor.open([{ name: 'weather', command: 'weather', args: [], env: [] }]);
      editor.answer = ({ options }) => options.find(({ optionId }) => optionId === 'write')?.optionId ?? '';
      const answered = await editor.prompt(sessionId, text(QUESTION), { type: 'resource_link', name: 'sum.js', uri: `file://${sumFile}#L1:1` });
      expect(answered).toEqual({ stopReason: 'end_turn' });

      const plans = editor.of(sessionId).flatMap((update) => (update.sessionUpdate === 'plan' ? [update.entries.map(({ status }) => status)] : []));
      expect(plans.at(0)).toContain('pending');
      expect(plans.at(-1)).toEqual(['completed', 'completed', 'completed']);
      const titles = editor.calls(sessionId).map(({ title, status }) => `${String(status)}: ${String(title)}`);
      // The tests on the code as it is run beside the gathering of context.
      expect(titles.slice(0, 2).toSorted()).toEqual([expect.stringMatching(/^completed: Context: /), expect.stringMatching(/^completed: Tests on the code as it is: node --test/)]);
      expect(titles.slice(2)).toEqual([
        expect.stringMatching(/^completed: Plan of planner · \$/),
        expect.stringMatching(/^completed: Step 1, worker: Find why/), expect.stringMatching(/^completed: Step 2, worker: Mend sum/), expect.stringMatching(/^completed: Tests on the answer: node --test/),
        'completed: Verified change of 1 file: src/sum.js',
      ]);
      expect(editor.asked).toMatchObject([{ sessionId, toolCall: { content: [{ type: 'diff', path: sumFile, oldText: WRONG, newText: RIGHT }] } }]);
      expect(editor.written).toEqual([sumFile]);
      expect(await readFile(sumFile, 'utf8')).toBe(RIGHT);
      const said = editor.said(sessionId);
      expect(said).toContain('MCP servers are not used: weather');
      expect(said).toContain('Not taking part: keyless: ');
      expect(said).toMatch(/\*\*Verified\.\*\* [^]*Written: src\/sum\.js\./);
      expect(server.requests.some((request) => request.text.includes('src/sum.js'))).toBe(true);

      const before = server.requests.length;
      await editor.prompt(sessionId, text('And say it in one line, please'));
      expect(server.requests.slice(before).every((request) => request.text.includes(QUESTION))).toBe(true);
      const second = new Editor();
      try {
        await second.initialize();
        const { sessions } = await second.agent.request('session/list', { cwd: project.folder });
        expect(sessions.find((one) => one.sessionId === sessionId)).toMatchObject({ cwd: project.folder, title: expect.stringContaining('sum([]) fails') });
        await second.agent.request('session/load', { sessionId, cwd: project.folder, mcpServers: [] });
        const questions = second.of(sessionId).flatMap((update) => (update.sessionUpdate === 'user_message_chunk' && update.content.type === 'text' ? [update.content.text] : []));
        expect(questions).toEqual([expect.stringContaining(QUESTION), 'And say it in one line, please']);
        expect(second.calls(sessionId).filter(({ title }) => String(title).startsWith('Step 1, worker'))).toHaveLength(2);
        expect(second.said(sessionId)).toContain('**Verified.**');
        await second.agent.request('session/delete', { sessionId });
        expect((await second.agent.request('session/list', {})).sessions.map((one) => one.sessionId)).not.toContain(sessionId);
      } finally {
        await second.end();
      }
    });
  });

  it.skipIf(!sandbox.available)(`writes nothing that is refused, later by /apply, and not over what was edited meanwhile ${sandbox.note}`, { timeout: 120_000 }, async () => {
    await withEditor([], async (editor) => {
      await editor.initialize({});
      const { sessionId } = await editor.open();
      await editor.prompt(sessionId, text(QUESTION));
      expect(await readFile(sumFile, 'utf8')).toBe(WRONG);
      expect(editor.said(sessionId)).toContain('Nothing was written. /apply writes the change later.');
      expect(editor.calls(sessionId).at(-1)).toMatchObject({ kind: 'edit', status: 'failed' });

      editor.answer = async () => {
        await writeFile(sumFile, `${WRONG}// mine\n`);
        return 'write';
      };
      await expect(editor.prompt(sessionId, text('/apply'))).rejects.toThrow('Nothing was written: src/sum.js has other text by now.');
      expect(await readFile(sumFile, 'utf8')).toBe(`${WRONG}// mine\n`);

      await writeFile(sumFile, WRONG);
      editor.answer = () => 'always';
      await editor.prompt(sessionId, text('/apply'));
      // The editor cannot write files, so it is done on disk.
      expect([await readFile(sumFile, 'utf8'), editor.written]).toEqual([RIGHT, []]);
      expect(editor.of(sessionId)).toContainEqual({ sessionUpdate: 'current_mode_update', currentModeId: 'apply' });

      await editor.prompt(sessionId, text('/verify'));
      expect(editor.said(sessionId)).toMatch(/\*\*Verified\.\*\* /);

      // A session that applies what is verified asks nobody.
      await writeFile(sumFile, WRONG);
      const other = await editor.open();
      await editor.agent.request('session/set_mode', { sessionId: other.sessionId, modeId: 'apply' });
      await editor.prompt(other.sessionId, text(QUESTION));
      expect(await readFile(sumFile, 'utf8')).toBe(RIGHT);
      expect(editor.asked.filter((request) => request.sessionId === other.sessionId)).toEqual([]);
    });
  });

  it.skipIf(!sandbox.available)(`asks before money is spent above the setting: no worker is paid for a plan that is cancelled ${sandbox.note}`, { timeout: 120_000 }, async () => {
    await withEditor(['--review-above', '0.000001'], async (editor) => {
      await editor.initialize();
      const { sessionId } = await editor.open();
      const before = server.requests.length;
      editor.answer = () => 'cancel';
      await editor.prompt(sessionId, text(QUESTION));
      expect(server.requests.slice(before).map(({ model }) => model)).toEqual(['planner']);
      expect(editor.asked).toMatchObject([{ toolCall: { toolCallId: expect.stringMatching(/\/plan$/) }, options: [{ optionId: 'run' }, { optionId: 'replan' }, { optionId: 'cancel' }] }]);
      expect(JSON.stringify(editor.asked)).toContain('Expected cost: about $');
      expect(editor.said(sessionId)).toContain('**Cancelled.**');
      expect(editor.calls(sessionId).map(({ status }) => status)).not.toContain('in_progress');

      const answers = ['replan', 'run', 'leave'];
      editor.answer = () => answers.shift() ?? '';
      await editor.prompt(sessionId, text(QUESTION));
      expect(editor.said(sessionId)).toContain('**Verified.**');
      expect([answers, server.requests.slice(before).filter(({ model }) => model === 'planner').length]).toEqual([[], 3]);

      // The person changes the setting, so nothing is asked.
      await editor.agent.request('session/set_config_option', { sessionId, configId: 'review', value: 'never' });
      const asked = editor.asked.length;
      await editor.prompt(sessionId, text('Please mend sum once more, it fails for []'));
      expect(editor.asked.slice(asked).filter(({ toolCall }) => toolCall.toolCallId.endsWith('/plan'))).toEqual([]);
    });
  });

  it('cancels one of two sessions at work, and the run of an editor that is gone', { timeout: 90_000 }, async () => {
    const answering = Promise.withResolvers<void>();
    held = answering.promise;
    const editor = new Editor();
    try {
      await editor.initialize();
      const [one, two] = [await editor.open(), await editor.open()];
      const before = server.requests.length;
      const prompts = [editor.prompt(one.sessionId, text(QUESTION)), editor.prompt(two.sessionId, text(QUESTION))];
      await vi.waitFor(() => expect(server.requests.slice(before).filter(({ model }) => model === 'worker')).toHaveLength(2), { timeout: 40_000 });
      await expect(editor.prompt(two.sessionId, text('and?'))).rejects.toThrow('This session is at work');
      await editor.agent.notify('session/cancel', { sessionId: one.sessionId });
      expect(await prompts[0]).toEqual({ stopReason: 'cancelled' });
      expect(editor.calls(one.sessionId).find(({ title }) => String(title).startsWith('Step 1'))).toMatchObject({ status: 'failed' });
      expect(editor.calls(two.sessionId).find(({ title }) => String(title).startsWith('Step 1'))).toMatchObject({ status: 'in_progress' });

      prompts[1]?.catch(() => undefined);
      expect(await editor.end()).toBe(0);
      const { stdout } = await run(['runs', 'list', '--limit', '2', '--json']);
      expect(JSON.parse(stdout)).toMatchObject([{ state: 'cancelled' }, { state: 'cancelled' }]);
    } finally {
      held = undefined;
      answering.resolve();
      await editor.end();
    }
  });

  it.each(['ends its input', 'is killed'] as const)('cancels the run of an editor that %s while it asks about a plan', { timeout: 90_000 }, async (how) => {
    const editor = new Editor(['--review']);
    try {
      await editor.initialize();
      const { sessionId } = await editor.open();
      const asked = Promise.withResolvers<void>();
      editor.answer = () => {
        asked.resolve();
        return new Promise(() => {});
      };
      const before = server.requests.length;
      editor.prompt(sessionId, text(QUESTION)).catch(() => undefined);
      await asked.promise;
      // The system closes both pipes of one that is killed.
      if (how === 'is killed') editor.child.stdout.destroy();
      await editor.end();
      const { stdout } = await run(['runs', 'list', '--limit', '1', '--json']);
      expect(JSON.parse(stdout)).toMatchObject([{ state: 'cancelled' }]);
      expect(server.requests.slice(before).map(({ model }) => model)).toEqual(['planner']);
    } finally {
      await editor.end();
    }
  });

  it('cancels the run of an editor that is gone while it asks whether tests may run without a sandbox', { timeout: 90_000 }, async () => {
    const [programs, home] = ['programs', 'bare-home'].map((name) => path.join(places.folder, name)) as [string, string];
    await mkdir(programs);
    for (const program of ['git', 'sh', 'env']) await symlink(execFileSync('which', [program], { encoding: 'utf8' }).trim(), path.join(programs, program));
    await cp(path.join(places.home, 'workers.json'), path.join(home, 'workers.json'));
    const environment = { PATH: programs, CONDUCTOR_HOME: home, CONDUCTOR_WALLS: 'bubblewrap' };
    const editor = new Editor([], environment);
    try {
      await editor.initialize();
      const { sessionId } = await editor.open();
      const asked = Promise.withResolvers<RequestPermissionRequest>();
      editor.answer = (request) => {
        asked.resolve(request);
        return new Promise(() => {});
      };
      editor.prompt(sessionId, text(QUESTION)).catch(() => undefined);
      expect((await asked.promise).toolCall.kind).toBe('execute');
      await editor.end();
      const { stdout } = await run(['runs', 'list', '--limit', '1', '--json'], { environment });
      expect(JSON.parse(stdout)).toMatchObject([{ state: 'cancelled' }]);
    } finally {
      await editor.end();
      await run(['backend', 'stop'], { environment });
    }
  });

  it('says which workers are missing', async () => {
    await writeWorkers([{ id: 'keyless', model: 'worker', key: 'NOBODY_HAS_THIS_KEY' }]);
    await withEditor([], async (editor) => {
      await editor.initialize();
      const { sessionId } = await editor.open();
      await expect(editor.prompt(sessionId, text(QUESTION))).rejects.toThrow(/^No worker is ready\. keyless: .*NOBODY_HAS_THIS_KEY/);
      await writeWorkers([]);
      await expect(editor.prompt(sessionId, text(QUESTION))).rejects.toThrow('There is no worker yet who could answer');
    });
  });
});
