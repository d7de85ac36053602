import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPILE_CACHE } from '../support/compile-cache.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import { BUILT, conductorCommand } from './run-conductor.ts';

/* Keys that the server of MCP lacks: the official client against the built command. */

const { places, run } = conductorCommand();
const PLAN = 'model_id = [0]\nsubtasks = ["Say what sum does."]\naccess_list = [[]]';
const KEY = 'sk-entered-by-a-person';

let server: ScriptedServer;

beforeAll(async () => {
  server = await ScriptedServer.start(({ model }) => (model === 'planner' ? PLAN : 'It adds.'));
  await mkdir(places.home, { recursive: true, mode: 0o700 });
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, key: 'A_WORKERS_KEY', maxOutputTokens: 500, price: { inputPerMillion: 1, outputPerMillion: 1 } };
  await writeFile(path.join(places.home, 'workers.json'), JSON.stringify({
    version: 1, conductor: 'planner', workers: [{ ...worker, id: 'worker', model: 'worker' }, { ...worker, id: 'planner', model: 'planner', enabled: false, key: 'THE_PLANNERS_KEY' }],
  }));
});

afterAll(async () => {
  await run(['backend', 'stop']);
  await server.close();
});

type Result = Awaited<ReturnType<Client['callTool']>>;
const textOf = ({ content }: Result): string => content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');

/** A client whose person does this with an address; without it the client can show none. */
async function connected(era: 'modern' | 'legacy', person?: (url: string, message: string) => Promise<'accept' | 'decline'>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, {
    versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' }, capabilities: person ? { elicitation: { url: {} } } : { elicitation: { form: {} } },
  });
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    if (!person || params.mode !== 'url') throw new Error('A secret was asked for by a form.');
    return { action: await person(params.url, params.message) };
  });
  await client.connect(new StdioClientTransport({
    command: process.execPath, args: [BUILT, 'mcp'], cwd: places.folder, stderr: 'pipe',
    env: { PATH: process.env['PATH'] ?? '', ...COMPILE_CACHE, HOME: places.folder, TMPDIR: places.folder, CONDUCTOR_HOME: places.home },
  }));
  return client;
}

const ask = (client: Client): Promise<Result> => client.callTool({ name: 'solve', arguments: { question: 'What does sum do?', rounds: 1 } }, { timeout: 60_000 });

async function enter(url: string): Promise<void> {
  const { origin } = new URL(url);
  const form = await (await fetch(url)).text();
  const names = [...form.matchAll(/name="(\w+)"/g)].map(([, name = '']) => name);
  const { status } = await fetch(url, { method: 'POST', headers: { Origin: origin }, body: new URLSearchParams(names.map((name) => [name, KEY])) });
  expect([names, status]).toEqual([['A_WORKERS_KEY', 'THE_PLANNERS_KEY'], 200]);
}

describe('the MCP server without the keys of its workers', { timeout: 90_000 }, () => {
  it.each(['modern', 'legacy'] as const)('asks a person by an address, where a %s client can show one, and not twice', async (era) => {
    const messages: string[] = [];
    let late: Promise<void> | undefined;
    const client = await connected(era, async (url, message) => {
      messages.push(message);
      expect(new URL(url).hostname).toBe('127.0.0.1');
      // To accept means to open the address: the key comes when the person has typed it.
      late = Promise.resolve().then(() => enter(url));
      return 'accept';
    });
    try {
      const before = server.requests.length;
      const solved = await ask(client);
      await late;
      expect(solved.structuredContent, textOf(solved)).toMatchObject({ state: 'completed', outcome: 'answered' });
      expect(messages).toEqual([expect.stringContaining('A_WORKERS_KEY, THE_PLANNERS_KEY')]);
      expect(new Set(server.requests.slice(before).map(({ authorization }) => authorization))).toEqual(new Set([`Bearer ${KEY}`]));
      expect(JSON.stringify([solved, messages])).not.toContain(KEY);
      expect((await ask(client)).structuredContent).toMatchObject({ state: 'completed' });
      expect(messages).toHaveLength(1);
    } finally {
      await client.close();
    }
  });

  it('says what to do where the person declines, and where the client can show no address', async () => {
    const declining = await connected('modern', () => Promise.resolve('decline'));
    const forms = await connected('legacy');
    try {
      const before = server.requests.length;
      const declined = await ask(declining);
      expect([declined.isError, textOf(declined)]).toEqual([true, expect.stringContaining('set them in the environment of this server')]);
      const refused = await ask(forms);
      expect([refused.structuredContent, textOf(refused)]).toEqual([expect.objectContaining({ state: 'failed' }), expect.stringContaining('set A_WORKERS_KEY in the environment')]);
      expect(server.requests.slice(before)).toEqual([]);
    } finally {
      await declining.close();
      await forms.close();
    }
  });
});
