import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCodePlugin } from '../../../backend/cli/install/opencode-plugin.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The part of the plugin that OpenCode calls. */
interface Hooks {
  event(given: { readonly event: { readonly type: string; readonly properties: { readonly sessionID: string } } }): Promise<void>;
  dispose(): Promise<void>;
}

interface Message {
  readonly info: { readonly role: string; readonly agent?: string; readonly error?: object };
}

let folder: string;
let messages: Message[];
let parentID: string | undefined;
/** Whether the person sends a message each time the plugin has read the messages. */
let goesOn: boolean;
let sent: { readonly agent?: string; readonly parts: readonly { readonly text: string }[] }[];
let toasts: string[];
const processArguments = [...process.argv];

beforeEach(async () => {
  folder = await temporaryFolder();
  messages = [{ info: { role: 'user', agent: 'build' } }, { info: { role: 'assistant' } }];
  parentID = undefined;
  goesOn = false;
  sent = [];
  toasts = [];
  // `opencode run` waits for the plugin; the other commands do not.
  process.argv.push('run');
});
afterEach(() => void process.argv.splice(0, Infinity, ...processArguments));

const client = {
  session: {
    get: async () => ({ data: { ...(parentID !== undefined && { parentID }) } }),
    messages: async () => {
      const data = [...messages];
      if (goesOn) messages.push({ info: { role: 'user' } });
      return { data };
    },
    prompt: async ({ body }: { readonly body: (typeof sent)[number] }) => {
      sent.push(body);
      messages.push({ info: { role: 'user', agent: 'build' } }, { info: { role: 'assistant' } });
    },
  },
  tui: { showToast: async ({ body }: { readonly body: { readonly message: string } }) => void toasts.push(body.message) },
};

/** The plugin with a gate that writes down what it is asked, and answers in order. */
async function pluginWith(answers: readonly (object | string)[], { waits = false } = {}): Promise<Hooks> {
  const [gate, asked] = [path.join(folder, 'gate.mjs'), path.join(folder, 'asked')];
  await writeFile(asked, '');
  await writeFile(gate, `
    import { appendFileSync, readFileSync } from 'node:fs';
    const number = readFileSync(${JSON.stringify(asked)}, 'utf8').split('\\n').length - 1;
    appendFileSync(${JSON.stringify(asked)}, readFileSync(0, 'utf8') + '\\n');
    const answer = ${JSON.stringify(answers)}[number] ?? {};
    if (${waits}) setTimeout(() => undefined, 60_000);
    console.log(typeof answer === 'string' ? answer : JSON.stringify(answer));`);
  const file = path.join(folder, 'plugin.mjs');
  await writeFile(file, openCodePlugin([process.execPath, gate]));
  const { ConductorGate } = (await import(pathToFileURL(file).href)) as { ConductorGate: (given: object) => Promise<Hooks> };
  return await ConductorGate({ client, directory: folder });
}

const asked = async (): Promise<unknown[]> => (await readFile(path.join(folder, 'asked'), 'utf8')).split('\n').filter(Boolean).map((line) => JSON.parse(line) as unknown);
const idle = (sessionID = folder): Parameters<Hooks['event']>[0] => ({ event: { type: 'session.idle', properties: { sessionID } } });
const stops = async (plugin: Hooks): Promise<void> => {
  await plugin.event(idle());
  await plugin.dispose();
};

describe('the plugin for OpenCode', () => {
  it('goes on with a session as long as the gate keeps it, and tells the person how it ended', async () => {
    await stops(await pluginWith([{ decision: 'block', reason: 'sums: passed before, failed now' }, { systemMessage: 'Conductor: verified.' }]));
    expect(sent).toEqual([{ agent: 'build', parts: [{ type: 'text', text: 'sums: passed before, failed now' }] }]);
    expect(await asked()).toEqual([false, true].map((isContinued) => ({ hook_event_name: 'Stop', session_id: folder, cwd: folder, stop_hook_active: isContinued })));
    expect(toasts).toEqual(['Conductor: verified.']);
  });

  it('judges once where two of its instances see the same stop', async () => {
    const [one, other] = [await pluginWith([]), await pluginWith([])];
    await Promise.all([one.event(idle()), other.event(idle())]);
    await Promise.all([one.dispose(), other.dispose()]);
    expect(await asked()).toHaveLength(1);
  });

  it.each([
    ['a subagent', () => { parentID = 'parent'; }],
    ['a session that a person has stopped', () => { messages.push({ info: { role: 'assistant', error: { name: 'MessageAbortedError' } } }); }],
  ])('does not judge %s', async (_name, arrange) => {
    arrange();
    await stops(await pluginWith([{ decision: 'block', reason: 'red' }]));
    expect([await asked(), sent]).toEqual([[], []]);
  });

  it('says nothing into a session with which the person has gone on meanwhile', async () => {
    goesOn = true;
    await stops(await pluginWith([{ decision: 'block', reason: 'red' }]));
    expect([(await asked()).length, sent]).toEqual([1, []]);
  });

  it.each([['no JSON at all', 'It has crashed.'], ['nothing', '']])('lets the session stop where the gate answers %s', async (_name, answer) => {
    await stops(await pluginWith([answer]));
    expect(sent).toEqual([]);
  });

  it('ends the gate when the person leaves', async () => {
    process.argv.splice(process.argv.lastIndexOf('run'), 1);
    const plugin = await pluginWith([{ decision: 'block', reason: 'red' }], { waits: true });
    await plugin.event(idle());
    await expect.poll(asked).toHaveLength(1);
    await plugin.dispose();
    process.argv.push('run');
    await plugin.dispose();
    expect(sent).toEqual([]);
  });
});
