import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { SymbolIndexes } from '../../backend/context/symbols/symbol-indexes.ts';
import { Journal } from '../../backend/journal/journal.ts';
import { suggestRequestSchema, type SuggestRequest, type SuggestResult } from '../../backend/protocol/suggestions.ts';
import { workerConfigSchema, workersFileSchema, type WorkersFile } from '../../backend/protocol/worker-config.ts';
import { SimulatorServer } from '../../backend/simulator/server.ts';
import type { Clients } from '../../backend/solve/clients.ts';
import { localDay } from '../../backend/solve/run-ledger.ts';
import { OutcomesFile } from '../../backend/suggest/outcomes-file.ts';
import { ProjectPieces } from '../../backend/suggest/project-pieces.ts';
import { SendableFiles } from '../../backend/suggest/sendable-files.ts';
import { RoutesFile } from '../../backend/suggest/routes-file.ts';
import { Suggester, type SuggesterOptions } from '../../backend/suggest/suggester.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { reservationsIn } from '../journal/temporary.ts';
import { NO_ADAPTER } from '../support/no-adapter.ts';
import { ScriptedModel, written } from '../support/scripted-model.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import { SpyingProxy } from './spying-proxy.ts';

/* Suggestions from the simulator's models on a real socket, paid for from a real journal. */

const prices = await loadPrices();
const NOW = new Date(2026, 10, 22, 12).getTime();
const HEADING = '/** Adds. */\nexport function addUp(first, second) {';

let folder: string;
let home: string;
let simulator: SimulatorServer;
let proxy: SpyingProxy;
let journal: Journal;
let workers: WorkersFile;
let suggester: Suggester;
let pieces: ProjectPieces;
const problems: string[] = [];

const clients: Clients = {
  secret: async () => null,
  confirm: async () => undefined,
  model: () => Promise.reject(new Error('no client')),
  changed: () => new Promise(() => {}),
};

beforeEach(async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'conductor-suggest-'));
  folder = path.join(root, 'project');
  home = path.join(root, 'home');
  await mkdir(folder);
  await mkdir(home);
  await writeFile(path.join(folder, 'a.js'), `${HEADING}\n`);
  simulator = await SimulatorServer.start({ seed: 1, latency: 0 });
  proxy = await SpyingProxy.start(simulator.url);
  const there = (worker: { baseUrl: string }) => ({ ...worker, baseUrl: worker.baseUrl.replace(simulator.url, proxy.url) });
  workers = workersFileSchema.parse({
    version: 1, conductor: 'sim-conductor',
    workers: [...simulator.workers().map(there), { ...there(simulator.conductor()), enabled: false }],
  });
  journal = Journal.open(path.join(home, 'journal.sqlite'));
  suggester = makeSuggester();
});

afterEach(async () => {
  await suggester.close();
  journal.close();
  await proxy.stop();
  await simulator.close();
  await rm(path.dirname(folder), { recursive: true });
  expect(problems.splice(0)).toEqual([]);
});

function makeSuggester(more: Partial<SuggesterOptions> = {}): Suggester {
  const files = new SendableFiles({ ripgrepPath: rgPath });
  pieces = new ProjectPieces({ files, indexes: new SymbolIndexes(), log: (problem) => problems.push(problem) });
  return new Suggester({
    journal, clients, files, pieces,
    caller: new WorkerCaller({ limits: new ProviderLimits(), prices }),
    loadWorkers: async () => workers,
    file: new RoutesFile(path.join(home, 'suggest-routes.json'), (problem) => problems.push(problem)),
    outcomes: new OutcomesFile({ path: path.join(home, 'suggest-outcomes.json'), log: (problem) => problems.push(problem) }),
    priced: (worker) => ({ ...worker, price: prices.of(worker) }),
    adapterVersion: NO_ADAPTER,
    log: (problem) => problems.push(problem),
    now: () => NOW,
    ...more,
  });
}

function requestOf(fields: Partial<SuggestRequest> = {}): SuggestRequest {
  return suggestRequestSchema.parse({
    requestId: '1', workspace: folder, path: path.join(folder, 'a.js'), language: 'javascript', before: HEADING, after: '\n',
    multiline: true, ...fields,
  });
}

const withWorker = (worker: object): WorkersFile =>
  ({ ...workers, workers: [...workers.workers, workerConfigSchema.parse(worker)] });
const still = { signal: new AbortController().signal, onText: () => {} };
const suggest = (fields: Partial<SuggestRequest> = {}) => suggester.complete(requestOf(fields), still);
/** Requests of models, without lists of them. */
const asked = () => proxy.requests.filter(({ method }) => method === 'POST');
const planned = () => asked().filter(({ body }) => body.includes('sim-conductor'));

describe('other parts of the project', () => {
  const before = `import { total } from './b.js';\n\n${HEADING}`;
  const signature = 'export function total(prices, tax)';
  beforeEach(async () => {
    await writeFile(path.join(folder, 'b.js'), `${signature} {\n  return prices;\n}\n`);
    await writeFile(path.join(folder, 'a.js'), `${before}\n`);
    await pieces.warmUp(folder);
  });

  it('are shown to a model that fills gaps, before the text at the cursor', async () => {
    expect((await suggest({ worker: 'sim-ember', before })).text).toBe('\n  return first;\n}');
    expect(asked().map(({ body }) => JSON.parse(body) as object)).toMatchObject([
      { prompt: `// b.js:\n// ${signature}\n// a.js:\n${before}` },
    ]);
  });

  it('are shown to one that has to be told what to do, and are no instruction', async () => {
    expect((await suggest({ worker: 'sim-atlas', before })).text).toBe('\n  return first;\n}');
    const [{ body } = { body: '' }] = asked();
    expect(body).toContain(JSON.stringify(`b.js:\n\`\`\`\n${signature}\n\`\`\``).slice(1, -1));
    expect(body.indexOf(signature)).toBeLessThan(body.indexOf('The mark is'));
  });

  it('are not shown where the settings say so', async () => {
    await suggest({ worker: 'sim-ember', before, project: false });
    expect(asked().map(({ body }) => body).join()).not.toContain(signature);
  });

  it('are neither read nor shown where the workspace is not trusted', async () => {
    await expect(suggest({ worker: 'sim-ember', before, trusted: false })).rejects.toMatchObject({ kind: 'untrusted-workspace' });
    expect(asked()).toEqual([]);
  });
});

describe('a suggestion', () => {
  it('is what a worker writes, as it streams and in the end', async () => {
    const parts: SuggestResult[] = [];
    const { text, worker } = await suggester.complete(requestOf({ worker: 'sim-ember' }), { ...still, onText: (part) => parts.push(part) });
    expect(text).toBe('\n  return first;\n}');
    expect(worker).toEqual({ id: 'sim-ember', model: 'sim-ember', simulated: true });
    expect(parts.at(-1)).toEqual({ text, worker, spentTodayUsd: 0, unpricedTokensToday: 0 });
    expect(parts.every((part) => text.startsWith(part.text))).toBe(true);
    expect(asked().map(({ path: address }) => address)).toEqual(['/v1/completions']);
  });

  it.each(['sim-atlas', 'sim-birch', 'sim-cedar'])('is what %s says, too, which fills no gaps and has to be told what to do', async (worker) => {
    expect((await suggest({ worker })).text).toBe('\n  return first;\n}');
  });

  it('is one line where one is wanted', async () => {
    const before = `${HEADING}\n`;
    expect((await suggest({ worker: 'sim-ember', multiline: false })).text).toBe('');
    expect((await suggest({ worker: 'sim-ember', multiline: false, before: before.trimEnd() })).text).toBe('');
    expect(asked().map(({ body }) => JSON.parse(body) as object)).toMatchObject([{ stop: ['\n'] }, { stop: ['\n'] }]);
  });

  it('is not asked for twice where the server is out of order: the next key asks again', async () => {
    await simulator.close();
    await expect(suggest({ worker: 'sim-ember' })).rejects.toMatchObject({ kind: 'network' });
  });

  it('is refused, and not empty, where the worker thought until its tokens were spent', async () => {
    const server = await ScriptedServer.start(() => ({ cutOff: '' }));
    onTestFinished(() => server.close());
    workers = withWorker({ id: 'thinker', provider: 'openai-compatible', model: 'thinker', baseUrl: server.baseUrl });
    await expect(suggest({ worker: 'thinker' })).rejects.toThrow(
      'Worker "thinker" thought until its tokens were spent: name another worker in conductor.suggestions.worker.',
    );
  });

  it('is let go at the worker as soon as nobody wants it', async () => {
    proxy.holds = true;
    const controller = new AbortController();
    const completing = suggester.complete(requestOf({ worker: 'sim-ember' }), { ...still, signal: controller.signal });
    await proxy.holding.promise;
    controller.abort();
    await expect(completing).rejects.toMatchObject({ kind: 'cancelled' });
    await proxy.gone.promise;
    // It may have been billed, and is counted.
    expect(journal.budget.spent(`suggestions:${localDay(NOW)}`).tokens).toBeGreaterThan(0);
    expect(journal.budget.reserved(`suggestions:${localDay(NOW)}`)).toEqual({ usd: 0, tokens: 0 });
  });
});

describe('who is asked', () => {
  it('is the worker whose suggestions were accepted in the project and the language, whatever was planned', async () => {
    const planned = (await suggest()).worker?.id;
    const elsewhere = (await suggest({ language: 'typescript' })).worker?.id;
    const [other] = simulator.workers().map(({ id }) => id).filter((id) => id !== planned);
    const count = (worker: string, accepted: boolean) => suggester.count({ workspace: folder, language: 'javascript', worker, accepted });
    for (let shown = 0; shown < 70; shown += 1) {
      await count(planned ?? '', shown % 10 === 0);
      await count(other ?? '', shown % 2 === 0);
    }
    expect((await suggest()).worker?.id).toBe(other);
    expect((await suggest({ language: 'typescript' })).worker?.id).toBe(elsewhere);
    await suggester.forgetOutcomes();
    expect((await suggest()).worker?.id).toBe(planned);
  });


  it('is planned by the Conductor once for a language in a project, and remembered', async () => {
    const { worker } = await suggest();
    await suggest({ before: `${HEADING} ` });
    expect(planned()).toHaveLength(1);
    expect(planned()[0]?.body).toContain('Complete code in javascript');
    const { routes } = JSON.parse(await readFile(path.join(home, 'suggest-routes.json'), 'utf8')) as { routes: object[] };
    expect(routes).toMatchObject([{ workspace: folder, language: 'javascript', worker: worker?.id, plannedBy: 'sim-conductor' }]);
    // A backend that begins anew knows it.
    await suggester.close();
    suggester = makeSuggester();
    expect((await suggest()).worker).toEqual(worker);
    expect(planned()).toHaveLength(1);
  });

  it('is planned once where several keys ask at the same time, and although the first of them takes its question back', async () => {
    const controller = new AbortController();
    const first = suggester.complete(requestOf(), { ...still, signal: controller.signal });
    const second = suggest();
    controller.abort();
    await expect(first).rejects.toBeDefined();
    expect((await second).worker).toBeDefined();
    expect(planned()).toHaveLength(1);
  });

  it('is remembered for each of several languages that are asked about at the same time', async () => {
    await Promise.all(['javascript', 'python', 'go'].map((language) => suggest({ language })));
    const { routes } = JSON.parse(await readFile(path.join(home, 'suggest-routes.json'), 'utf8')) as { routes: { language: string }[] };
    expect(routes.map(({ language }) => language).sort()).toEqual(['go', 'javascript', 'python']);
  });

  it('begins anew where what was remembered cannot be read', async () => {
    await writeFile(path.join(home, 'suggest-routes.json'), 'no JSON');
    expect((await suggest()).worker).toBeDefined();
    expect(problems.splice(0)).toEqual([expect.stringContaining('chosen anew')]);
    expect(JSON.parse(await readFile(path.join(home, 'suggest-routes.json'), 'utf8'))).toMatchObject({ routes: [{ language: 'javascript' }] });
  });

  it('is planned anew for another language, and when the pool changes', async () => {
    await suggest();
    await suggest({ language: 'python' });
    expect(planned()).toHaveLength(2);
    workers = { ...workers, workers: workers.workers.filter(({ id }) => id !== 'sim-dune') };
    await suggest();
    expect(planned()).toHaveLength(3);
    expect(planned()[2]?.body).not.toContain('tidy code for text');
  });

  it('needs no plan where there is one worker', async () => {
    workers = { ...workers, workers: workers.workers.filter(({ id }) => id === 'sim-ember' || id === 'sim-conductor') };
    expect((await suggest()).worker?.id).toBe('sim-ember');
    expect(planned()).toHaveLength(0);
  });

  it('is planned by the model that is shipped with us where nobody else plays the Conductor', async () => {
    const bundled = workerConfigSchema.parse({ id: 'conductor-mini', provider: 'local', model: '/models/mini', enabled: false });
    const { conductor: _conductor, ...others } = workers;
    const price = { inputPerMillion: 0, outputPerMillion: 0 };
    workers = { ...others, workers: others.workers.map((worker) => (worker.id === 'sim-atlas' ? { ...worker, price } : worker)) };
    const model = new ScriptedModel(async () => [written('model_id = [2, 4]\nsubtasks = ["Look.", "Write."]\naccess_list = [[], []]')]);
    await suggester.close();
    suggester = makeSuggester({
      bundledConductor: bundled,
      adapterVersion: async () => undefined,
      caller: new WorkerCaller({ limits: new ProviderLimits(), prices, localModel: () => model }),
    });
    // The worker of the last step, whose output would be the answer.
    expect((await suggest()).worker?.id).toBe('sim-ember');
    expect(model.asked).toHaveLength(1);
    const prompt = model.asked[0]?.messages.at(-1)?.content;
    expect(prompt).toMatch(/Worker 4: Costs \$0.4 for a million tokens. Small, fast and cheap./);
    expect(prompt).toContain('Worker 0: Runs on this machine. Costs $0 for a million tokens.');
    expect(asked().map(({ path: address }) => address)).toEqual(['/v1/completions']);
  });

  it('is the one that is made for it where the Conductor writes no plan', async () => {
    workers = { ...workers, conductor: 'sim-cedar' };
    expect((await suggest()).worker?.id).toBe('sim-ember');
    expect(problems.splice(0)).toEqual([expect.stringContaining('could not choose who suggests in javascript')]);
    const asking = asked().length;
    await suggest();
    expect(asked()).toHaveLength(asking + 1);
  });

  it('may be named by the settings instead', async () => {
    expect((await suggest({ worker: 'sim-cedar' })).worker?.id).toBe('sim-cedar');
    expect(planned()).toHaveLength(0);
    await expect(suggest({ worker: 'nobody' })).rejects.toThrow('There is no worker "nobody"');
  });
});

describe('money', () => {
  it('is set aside before a suggestion and counted after it, for suggestions and for the day', async () => {
    const { spentTodayUsd } = await suggest({ worker: 'sim-ember' });
    expect(spentTodayUsd).toBeGreaterThan(0);
    expect(journal.budget.spent(`suggestions:${localDay(NOW)}`).usd).toBe(spentTodayUsd);
    expect(journal.budget.spent(`day:${localDay(NOW)}`).usd).toBe(spentTodayUsd);
    expect(journal.budget.reserved(`day:${localDay(NOW)}`)).toEqual({ usd: 0, tokens: 0 });
    // There are many suggestions, and nothing of each one stays.
    expect(reservationsIn(path.join(home, 'journal.sqlite'))).toBe(0);
  });

  it('of a plan counts, too', async () => {
    const { spentTodayUsd: alone } = await suggest({ worker: 'sim-ember' });
    const { spentTodayUsd } = await suggest();
    expect(spentTodayUsd).toBeGreaterThan(2 * alone);
  });

  it('that is spent stops suggestions before anything is sent', async () => {
    await expect(suggest({ worker: 'sim-atlas', maxUsdPerDay: 0.000_1 })).rejects.toThrow('Suggestions have cost what they may in a day');
    workers = { ...workers, budget: { ...workers.budget, dayUsd: 0.000_1 } };
    await expect(suggest({ worker: 'sim-atlas' })).rejects.toThrow('The budget of the day ($0.00) is spent: raise "dayUsd"');
    expect(asked()).toHaveLength(0);
  });

  it('is none for a model on this machine whose price is nothing, so that it uses up nobody\'s tokens', async () => {
    workers = {
      ...workers, budget: { ...workers.budget, dayTokens: 1 },
      workers: workers.workers.map((worker) => ({ ...worker, price: { inputPerMillion: 0, outputPerMillion: 0 } })),
    };
    expect((await suggest({ worker: 'sim-ember' })).text).not.toBe('');
    expect(journal.budget.spent(`suggestions:${localDay(NOW)}`).tokens).toBeGreaterThan(0);
    expect(journal.budget.spent(`day:${localDay(NOW)}`).tokens).toBe(0);
  });

  it('may be asked by whoever a server on this machine hands the call on to: without a price it is held by the day\'s tokens', async () => {
    workers = {
      ...workers, budget: { ...workers.budget, dayTokens: 1 },
      workers: workers.workers.map(({ price: _price, ...worker }) => worker),
    };
    await expect(suggest({ worker: 'sim-ember' })).rejects.toThrow('raise "dayTokens"');
    expect(asked()).toHaveLength(0);
  });

  describe('of a worker whose price is not known', () => {
    let server: ScriptedServer;
    beforeEach(async () => {
      server = await ScriptedServer.start(() => 'one();');
      workers = withWorker({ id: 'dear', provider: 'openai-compatible', model: 'dear', baseUrl: server.baseUrl, key: 'DEAR_KEY' });
      await suggester.close();
      suggester = makeSuggester({ clients: { ...clients, secret: async () => 'key' } });
    });
    afterEach(() => server.close());

    it('is counted in tokens, apart from what has a price', async () => {
      const { spentTodayUsd, unpricedTokensToday } = await suggest({ worker: 'sim-ember' });
      expect(unpricedTokensToday).toBe(0);
      expect(await suggest({ worker: 'dear' })).toMatchObject({ text: 'one();', spentTodayUsd, unpricedTokensToday: 120 });
    });

    it('is limited by tokens that stand for the dollars, before anything is sent', async () => {
      await expect(suggest({ worker: 'dear', maxUsdPerDay: 0.000_5 })).rejects.toThrow(
        'Suggestions have used what they may in a day without a known price (200 tokens)',
      );
      expect(server.requests).toHaveLength(0);
    });
  });

  it('that a killed backend had set aside counts as spent when the next one begins', async () => {
    const scopes = [{ name: `suggestions:${localDay(NOW)}` }];
    const answer = journal.budget.reserve({ runId: 'suggestions', scopes, usd: 0.5, tokens: 100 });
    if (answer.granted) journal.budget.markSent(answer.reservationId);
    await suggester.close();
    suggester = makeSuggester();
    expect(journal.budget.spent(`suggestions:${localDay(NOW)}`)).toEqual({ usd: 0.5, tokens: 100 });
  });
});

describe('what is sent', () => {
  it('is nothing of a file that an ignore file names, or whose name says that it holds secrets', async () => {
    await writeFile(path.join(folder, '.conductorignore'), 'private.js\n');
    await writeFile(path.join(folder, '.env'), 'A=1\n');
    await writeFile(path.join(folder, 'private.js'), 'secret();\n');
    expect((await suggest({ path: path.join(folder, 'private.js') })).withheld).toContain('ignored by');
    expect((await suggest({ path: path.join(folder, '.env') })).withheld).toContain('holds secrets');
    expect((await suggest({ path: '/etc/passwd' })).withheld).toContain('outside the workspace');
    expect(proxy.requests).toHaveLength(0);
  });

  it('is nothing in Restricted Mode', async () => {
    await expect(suggest({ trusted: false })).rejects.toThrow('not trusted');
    expect(proxy.requests).toHaveLength(0);
  });

  it('holds no line that looks like a secret, saved or not', async () => {
    const key = `sk-${'a1B2c3D4e5F6g7H8i9J0'.repeat(2)}`;
    await suggest({ worker: 'sim-ember', before: `const key = '${key}';\n${HEADING}`, after: `\n// ${key}\n` });
    expect(asked()).toHaveLength(1);
    expect(asked()[0]?.body).not.toContain(key);
    expect(asked()[0]?.body).toContain('looks like a secret');
  });

  it('names the file within the project, and not where the project lies', async () => {
    await suggest({ worker: 'sim-cedar' });
    expect(asked()[0]?.body).toContain('File: a.js (javascript)');
    expect(asked()[0]?.body).not.toContain(folder);
  });

  it('is nothing where the cursor is in such a line', async () => {
    expect((await suggest({ before: `const key = 'sk-${'a1B2c3D4e5F6g7H8i9J0'.repeat(2)}`, after: '\';' })).withheld).toContain('looks like a secret');
    expect(proxy.requests).toHaveLength(0);
  });

  it('is a part of a long document, in whole lines', async () => {
    const line = 'const filler = 1;\n';
    await suggest({ worker: 'sim-ember', before: line.repeat(1_000) + HEADING, after: `\n${line.repeat(300)}` });
    const { prompt, suffix } = JSON.parse(asked()[0]?.body ?? '') as { prompt: string; suffix: string };
    expect(prompt.length).toBeLessThanOrEqual(6_000);
    expect(prompt.startsWith('const filler')).toBe(true);
    expect(prompt.endsWith(HEADING)).toBe(true);
    expect(suffix.length).toBeLessThanOrEqual(2_000);
    expect(suffix.endsWith('\n')).toBe(true);
  });
});
