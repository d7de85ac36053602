/// <reference types="mocha" />
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { ScriptedServer, type ScriptedAnswer, type ScriptedRequest } from '../../support/scripted-server.ts';
import { openWindow } from './sample-window.ts';

/* Conductor and its workers as language models of VS Code, asked as other extensions ask: through VS Code's own interface. */

const PLAN = 'model_id = [0, 1]\nsubtasks = ["Find the cause.", "Mend it with the tools."]\naccess_list = [[], [0]]';
const READ: vscode.LanguageModelChatTool = { name: 'read', description: 'Reads a file', inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } };

/** VS Code reads pictures to make large ones smaller, so it must be one. */
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

const plainly = ({ model }: Pick<ScriptedRequest, 'model'>): ScriptedAnswer => (model === 'planner' ? PLAN : model === 'first' ? 'The bound is off by one.' : 'Mended.');
/** The speaker reads two files, and then answers. */
const readingTwo = ({ model, messages, tools }: ScriptedRequest): ScriptedAnswer => {
  if (model !== 'second') return plainly({ model });
  if (messages.some(({ role }) => role === 'tool')) return `Mended with ${tools.join()}.`;
  return { text: 'I look.', calls: [{ name: 'read', arguments: { path: 'a' } }, { name: 'read', arguments: { path: 'b' } }] };
};

describe('Conductor among the language models of VS Code', () => {
  let window: Awaited<ReturnType<typeof openWindow>>;
  let workers: ScriptedServer;
  let script: (request: ScriptedRequest) => ScriptedAnswer;

  before(async () => {
    workers = await ScriptedServer.start((asked) => script(asked));
    window = await openWindow(async (home) => {
      const worker = { provider: 'openai-compatible', baseUrl: workers.baseUrl, maxOutputTokens: 500, price: { inputPerMillion: 1, outputPerMillion: 1 } };
      await writeFile(path.join(home, 'workers.json'), JSON.stringify({
        version: 1, conductor: 'planner', workers: [{ ...worker, id: 'first', model: 'first' }, { ...worker, id: 'second', model: 'second' }, { ...worker, id: 'planner', model: 'planner', enabled: false }],
      }));
    });
  });

  beforeEach(() => {
    script = plainly;
  });

  after(async () => {
    await window.close();
    await workers.close();
  });

  it('is offered with each worker by its name, for requests with tools', async () => {
    const models = await vscode.lm.selectChatModels({ vendor: 'conductor' });
    assert.deepEqual(models.map(({ id, name }) => [id, name]), [['conductor', 'Conductor'], ['first', 'first'], ['second', 'second']]);
    for (const { maxInputTokens } of models) assert(maxInputTokens > 100_000, `${maxInputTokens}`);
    assert.deepEqual((await vscode.lm.selectChatModels({ vendor: 'conductor', id: 'second' })).length, 1);
  });

  it('answers by a plan: one step advises in private, the last one speaks', async () => {
    const { said, calls } = await ask('conductor', [vscode.LanguageModelChatMessage.User('Mend it')]);
    assert.deepEqual([said, calls], ['Mended.', []]);
    assert.match(workers.of('second').at(-1)?.text ?? '', /The bound is off by one/);
  });

  it('calls the tools of whoever asks, and goes on with what they return, by the same plan', async () => {
    script = readingTwo;
    const messages = [vscode.LanguageModelChatMessage.User('Mend both files')];
    const { said, calls } = await ask('conductor', messages, { tools: [READ] });
    assert.equal(said, 'I look.');
    assert.deepEqual(calls.map(({ name, input }) => [name, input]), [['read', { path: 'a' }], ['read', { path: 'b' }]]);
    assert.equal(new Set(calls.map(({ callId }) => callId)).size, 2);
    messages.push(
      vscode.LanguageModelChatMessage.Assistant([new vscode.LanguageModelTextPart(said), ...calls]),
      vscode.LanguageModelChatMessage.User(calls.map(({ callId }, index) => new vscode.LanguageModelToolResultPart(callId, [new vscode.LanguageModelTextPart(`text ${index}`)]))),
    );
    const planned = workers.of('planner').length;
    assert.equal((await ask('conductor', messages, { tools: [READ] })).said, 'Mended with read.');
    assert.equal(workers.of('planner').length, planned, 'no new plan was made');
    assert.deepEqual(workers.of('second').at(-1)?.messages.filter(({ role }) => role === 'tool').map(({ content }) => content), ['text 0', 'text 1']);
  });

  it('has a worker answer without a plan', async () => {
    const planned = workers.of('planner').length;
    assert.equal((await ask('first', [vscode.LanguageModelChatMessage.User('Why?')])).said, 'The bound is off by one.');
    assert.equal(workers.of('planner').length, planned);
  });

  it('streams the text as it comes', async () => {
    const rest = Promise.withResolvers<string>();
    script = () => ({ begin: 'One, ', rest: rest.promise });
    let said = '';
    const response = await (await model('first')).sendRequest([vscode.LanguageModelChatMessage.User('Count')]);
    for await (const piece of response.text) {
      said += piece;
      // The rest is not written before its beginning was read.
      if (said === 'One, ') rest.resolve('two.');
    }
    assert.equal(said, 'One, two.');
  });

  it('cancels with the request, down to the worker', async () => {
    let abandoned: Promise<void> | undefined;
    script = (asked) => {
      abandoned = asked.abandoned;
      return { begin: 'Well, ', rest: new Promise(() => {}) };
    };
    const cancellation = new vscode.CancellationTokenSource();
    const response = await (await model('first')).sendRequest([vscode.LanguageModelChatMessage.User('Wait')], {}, cancellation.token);
    await assert.rejects(async () => {
      for await (const _ of response.text) cancellation.cancel();
      throw new vscode.CancellationError();
    });
    await abandoned;
  });

  it('counts the tokens of texts and messages', async () => {
    const conductor = await model('conductor');
    const few = await conductor.countTokens('a few words');
    assert(few > 0 && few < 30, `${few}`);
    assert(await conductor.countTokens('word '.repeat(1_000)) >= 1_000);
    const message = vscode.LanguageModelChatMessage.User([new vscode.LanguageModelToolResultPart('call', [new vscode.LanguageModelTextPart('word '.repeat(1_000))])]);
    assert(await conductor.countTokens(message) >= 1_000);
  });

  it('tells a worker that there was a picture', async () => {
    // Part of the stable interface of newer versions alone.
    if (!('LanguageModelDataPart' in vscode)) return;
    const parts = vscode.LanguageModelDataPart as { image(data: Uint8Array, type: string): vscode.LanguageModelTextPart };
    await ask('first', [vscode.LanguageModelChatMessage.User([new vscode.LanguageModelTextPart('What is this?'), parts.image(PIXEL, 'image/png')])]);
    assert.match(workers.of('first').at(-1)?.text ?? '', /What is this\?\s+\[image\/png: not shown/);
  });

  it('says in a sentence what went wrong', async () => {
    script = () => ({ status: 400 });
    await assert.rejects(ask('first', [vscode.LanguageModelChatMessage.User('Hello')]), (error: Error) => error.message.length > 20);
  });

  it('can be the model of a custom agent, and so of a subagent', async () => {
    const folder = path.join(window.project, '.github', 'agents');
    await mkdir(folder, { recursive: true });
    try {
      const problemsOf = async (name: string, chosen: string): Promise<string[]> => {
        const file = path.join(folder, `${name}.agent.md`);
        await writeFile(file, `---\ndescription: A test\nmodel: ${chosen}\n---\nDo it.\n`);
        const uri = vscode.Uri.file(file);
        await vscode.window.showTextDocument(uri);
        await new Promise((resolve) => setTimeout(resolve, 3_000));
        return vscode.languages.getDiagnostics(uri).map(({ message }) => message);
      };
      assert.deepEqual(await problemsOf('known', 'Conductor (conductor)'), []);
      assert.match((await problemsOf('unknown', 'Nobody (conductor)')).join(), /Unknown model/);
    } finally {
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await rm(path.join(window.project, '.github'), { recursive: true, force: true });
    }
  });

  it('follows workers.json', async () => {
    const changed = new Promise<void>((resolve) => {
      const subscription = vscode.lm.onDidChangeChatModels(() => {
        subscription.dispose();
        resolve();
      });
    });
    const file = path.join(window.home, 'workers.json');
    await writeFile(file, JSON.stringify({ version: 1, workers: [{ id: 'third', provider: 'openai-compatible', baseUrl: workers.baseUrl, model: 'third' }] }));
    await changed;
    const deadline = Date.now() + 20_000;
    let ids: string[] = [];
    while (ids.join() !== 'conductor,third' && Date.now() < deadline) ids = (await vscode.lm.selectChatModels({ vendor: 'conductor' })).map(({ id }) => id);
    assert.deepEqual(ids, ['conductor', 'third']);
  });

  async function model(id: string): Promise<vscode.LanguageModelChat> {
    const [found] = await vscode.lm.selectChatModels({ vendor: 'conductor', id });
    assert(found, `there is a model ${id}`);
    return found;
  }

  async function ask(
    id: string, messages: vscode.LanguageModelChatMessage[], options: vscode.LanguageModelChatRequestOptions = {},
  ): Promise<{ readonly said: string; readonly calls: vscode.LanguageModelToolCallPart[] }> {
    const response = await (await model(id)).sendRequest(messages, options);
    let said = '';
    const calls: vscode.LanguageModelToolCallPart[] = [];
    for await (const part of response.stream) {
      if (part instanceof vscode.LanguageModelTextPart) said += part.value;
      if (part instanceof vscode.LanguageModelToolCallPart) calls.push(part);
    }
    return { said, calls };
  }
});
