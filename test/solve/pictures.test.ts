import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { Journal } from '../../backend/journal/journal.ts';
import { holderName } from '../../backend/journal/leases.ts';
import { pictureOf, type Picture } from '../../backend/protocol/pictures.ts';
import { runRequestSchema, type RunRequestInput } from '../../backend/protocol/run-request.ts';
import { isOver, type RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { workersFileSchema } from '../../backend/protocol/worker-config.ts';
import { RunManager } from '../../backend/solve/run-manager.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { NO_ADAPTER } from '../support/no-adapter.ts';
import { gif, png } from '../support/picture-bytes.ts';
import { ScriptedServer, type ScriptedRequest } from '../support/scripted-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/* A question with pictures, from its request to the models' wire and the journal. */

const PLAN = 'model_id = [0, 1]\nsubtasks = ["Describe the layout of the page in the picture.", "Write the page in HTML and CSS by that description."]\naccess_list = [[], ["all"]]';
// Longer than what an event holds itself.
const SHOT = pictureOf(png(800, 600, 12_000));

async function setUp({ planner = {} }: { planner?: object } = {}) {
  const home = await temporaryFolder();
  const server = await ScriptedServer.start(({ model }) => (model === 'planner' ? PLAN : `Said ${model}.`));
  onTestFinished(() => server.close());
  const file = path.join(home, 'journal.sqlite');
  const journal = Journal.open(file);
  onTestFinished(() => journal.close());
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, maxOutputTokens: 500 };
  const prices = await loadPrices();
  const runs = new RunManager({
    journal,
    clients: { secret: async () => 'key', confirm: async () => false, model: () => Promise.reject(new Error('no client')), changed: () => new Promise(() => {}) },
    caller: new WorkerCaller({ limits: new ProviderLimits(), prices, delay: async () => {} }),
    checker: {
      findTestCommands: async () => [], runnerOf: async () => undefined, sandboxAvailability: async () => ({ available: true }),
      parsePatch: () => Promise.reject(new Error('no workspace')), verify: () => Promise.reject(new Error('no workspace')),
    },
    gatherContext: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
    supply: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
    loadWorkers: async () => workersFileSchema.parse({
      version: 1, conductor: 'planner',
      workers: [
        { ...worker, id: 'sees', model: 'sees', pictures: true }, { ...worker, id: 'blind', model: 'blind' },
        { ...worker, id: 'planner', model: 'planner', enabled: false, ...planner },
      ],
    }),
    priced: (one) => one,
    adapterVersion: NO_ADAPTER,
    holder: holderName(),
    log: (problem) => { throw new Error(problem); },
  });
  onTestFinished(() => runs.close());
  const ended = (runId: string): Promise<RunSnapshot> => new Promise((resolve) => {
    const look = (): void => {
      const run = runs.snapshot(runId);
      if (isOver(run.state)) resolve(run);
    };
    runs.listen({ onEvent: () => queueMicrotask(look), onText: () => {}, onChanged: () => {}, onRemoved: () => {} });
    look();
  });
  const ask = async (request: Partial<RunRequestInput> = {}): Promise<RunSnapshot> =>
    ended(await runs.start(runRequestSchema.parse({ question: 'Write a page that looks like this, in HTML and CSS.', pictures: [SHOT], ...request })));
  return { runs, server, journal, file, ask, ended };
}

const picturesIn = ({ messages }: ScriptedRequest): string[] => messages.flatMap(({ pictures = [] }) => pictures.map(({ data }) => data));
const blobsIn = (file: string): string[] => {
  const database = new DatabaseSync(file, { readOnly: true });
  const hashes = database.prepare('SELECT hash FROM blobs').all().map(({ hash }) => String(hash));
  database.close();
  return hashes;
};

test('goes to the worker that sees; the other one and the Conductor are told that there is one', async () => {
  const { server, ask } = await setUp();
  expect(await ask()).toMatchObject({ state: 'completed', outcome: 'answered' });
  const [seeing, blind, planner] = [server.of('sees')[0]!, server.of('blind')[0]!, server.of('planner')[0]!];
  expect(picturesIn(seeing)).toEqual([SHOT.data]);
  expect(seeing.text).toContain('</question>\n\nThe question came with one picture (PNG, 800 x 600).\n');
  expect(picturesIn(blind)).toEqual([]);
  expect(blind.text).toContain('The question came with one picture (PNG, 800 x 600), which you cannot see.');
  expect(picturesIn(planner)).toEqual([]);
  expect(planner.text).toContain('Worker 0: [sees pictures]\nWorker 1\n');
  expect(planner.text).toContain('The question came with one picture (PNG, 800 x 600), which you cannot see. Workers marked [sees pictures] see pictures;');
});

test('goes to a Conductor that sees', async () => {
  const { server, ask } = await setUp({ planner: { pictures: true } });
  await ask({ pictures: [SHOT, pictureOf(gif(10, 20))] });
  expect(picturesIn(server.of('planner')[0]!)).toEqual([SHOT.data, pictureOf(gif(10, 20)).data]);
  expect(server.of('planner')[0]!.text).toContain('The question came with 2 pictures (PNG, 800 x 600; GIF, 10 x 20). Workers');
});

test('a question without pictures says nothing of them', async () => {
  const { server, ask } = await setUp({ planner: { pictures: true } });
  await ask({ pictures: [] });
  for (const { text } of server.requests) expect(text).not.toMatch(/came with|sees pictures/i);
});

test('is stored once, readable to its owner alone, and goes with the last run that has it', async () => {
  const { runs, ask, file } = await setUp();
  const [first, second] = [await ask(), await ask()];
  const hash = createHash('sha256').update(JSON.stringify(SHOT.data)).digest('hex');
  expect(blobsIn(file).filter((one) => one === hash)).toHaveLength(1);
  expect((await stat(file)).mode & 0o077).toBe(0);
  await runs.remove(first.runId);
  expect(blobsIn(file)).toContain(hash);
  await runs.remove(second.runId);
  expect(blobsIn(file)).not.toContain(hash);
});

test('stays with a question that is asked again, and with a step that is', async () => {
  const { runs, server, ask, ended } = await setUp();
  const { runId } = await ask();
  await ended(await runs.again(runId, { trusted: true }));
  await ended(await runs.retry(runId, { round: 0, step: 0 }));
  expect(server.of('sees').map(picturesIn)).toEqual(Array(3).fill([SHOT.data]));
});

test('is shown again in a question that continues, as long as there is room', async () => {
  const { server, ask } = await setUp();
  const own: Picture[] = [4, 5, 6].map((side) => pictureOf(png(side, side)));
  const first = await ask();
  const second = await ask({ question: 'Write the page\'s footer as well, in HTML and CSS.', continues: first.runId, pictures: own });
  expect(picturesIn(server.of('sees')[1]!)).toEqual([SHOT, ...own].map(({ data }) => data));
  expect(server.of('sees')[1]!.text).toMatch(/<exchange>\n<question>\nWrite a page that looks like this, in HTML and CSS\.\n<\/question>\nThe question came with one picture \(PNG, 800 x 600\)\.\n/);
  await ask({ question: 'Write the page\'s header as well, in HTML and CSS.', continues: second.runId, pictures: [own[0]!] });
  expect(picturesIn(server.of('sees')[2]!)).toEqual([...own, own[0]!].map(({ data }) => data));
  expect(server.of('sees')[2]!.text).toContain('The question came with one picture (PNG, 800 x 600), which you are not shown any more.');
});

test('is refused before anything is journalled where no model takes it, and is what its bytes say', async () => {
  const { runs, journal, ask } = await setUp();
  await expect(ask({ pictures: [{ ...SHOT, data: btoa('hello') }] })).rejects.toThrow('Models do not take this kind of file. They take PNG, JPEG, WebP and GIF.');
  expect(journal.list({ limit: 10 })).toEqual([]);
  const { runId } = await ask({ pictures: [{ ...SHOT, type: 'image/gif', width: 1, height: 1 }] });
  expect(runs.snapshot(runId).request.pictures).toEqual([SHOT]);
});

test('is named in exports, and not in them', async () => {
  const { runs, ask } = await setUp();
  const first = await ask();
  const { runId } = await ask({ continues: first.runId });
  const [json, markdown] = [await runs.questions.export(runId, 'json'), await runs.questions.export(runId, 'markdown')];
  expect(JSON.parse(json.text)).toMatchObject({ run: { request: { pictures: [{ type: 'image/png', width: 800, height: 600, data: '' }] } } });
  expect(markdown.text.match(/With 1 picture, not in this file: PNG, 800 x 600\./g)).toHaveLength(2);
  for (const { text } of [json, markdown]) expect(text).not.toContain(SHOT.data.slice(0, 1_000));
});

test('is there when the run is read anew from the journal', async () => {
  const { journal, ask } = await setUp();
  const { runId } = await ask();
  expect(journal.snapshot(runId)?.request.pictures).toEqual([SHOT]);
});
