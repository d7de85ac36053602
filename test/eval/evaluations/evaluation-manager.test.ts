import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Evaluation } from '../../../backend/eval/evaluation/open-evaluation.ts';
import { EvaluationRequestError } from '../../../backend/eval/evaluation/request-error.ts';
import type { EvaluationRequest } from '../../../backend/eval/evaluation/request.ts';
import { EvaluationManager } from '../../../backend/eval/evaluations/evaluation-manager.ts';
import { evaluationRequestSchema, USUAL_EVALUATION, type AskedEvaluation } from '../../../backend/protocol/evaluation-request.ts';
import { evaluationSchema, type EvaluationSummary } from '../../../backend/protocol/evaluations.ts';
import { WorkerCaller } from '../../../backend/workers/call-worker.ts';
import { loadPrices } from '../../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../../backend/workers/limits/provider-limits.ts';
import { countingServer, total } from '../evaluation/counting-server.ts';
import { exactTasks, workerNamed } from '../evaluation/exact-tasks.ts';

const NO_KEYS = { get: () => Promise.reject(new Error('No key is needed.')), forget: () => {} };
const asked: AskedEvaluation = { ...USUAL_EVALUATION, practice: [], planners: [], sources: ['/data/exact.jsonl'], contestants: ['alone', 'majority'], concurrency: 2 };

async function newHome(): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'conductor-evaluations-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

/** The evaluations of a process, whose workers are right about even questions. */
async function manage(home: string, url: string, { tasks = 12, host = 'backend' as 'backend' | 'terminal' } = {}) {
  const pool = ['one', 'two'].map((id) => workerNamed(id, url));
  const prices = await loadPrices();
  const caller = new WorkerCaller({ limits: new ProviderLimits({ workers: pool }), prices });
  const open = async (request: EvaluationRequest) => {
    const evaluation = new Evaluation({
      ...request, sources: [{ name: 'exact.jsonl', tasks: exactTasks(tasks), forms: { exact: tasks } }], practice: [], planners: [], pool, caller, keys: NO_KEYS,
      priceOf: (worker) => prices.of(worker), sameFor: () => (one, other) => Promise.resolve(one === other), simulation: undefined,
      asked: { version: 1, host, startedAt: 5, request: evaluationRequestSchema.parse(request) },
    });
    return { evaluation, pool: ['one', 'two'], tasks: [{ name: 'exact.jsonl', tasks, forms: { exact: tasks } }], close: async () => evaluation.close() };
  };
  const manager = new EvaluationManager({ home, open, keys: () => NO_KEYS, running: () => undefined, now: () => 5, log: (line) => { throw new Error(line); } });
  onTestFinished(() => manager.close());
  const told: EvaluationSummary[] = [];
  manager.listen((summary) => told.push(summary));
  const until = (is: (summary: EvaluationSummary) => boolean): Promise<EvaluationSummary> => new Promise((resolve) => {
    const stop = manager.listen((summary) => {
      if (!is(summary)) return;
      stop();
      resolve(summary);
    });
  });
  return { manager, told, until, open };
}

async function server() {
  const tenth = Promise.withResolvers<void>();
  let calls = 0;
  const serving = await countingServer((body) => {
    if ((calls += 1) === 10) tenth.resolve();
    return /question \d*[02468]\?/.test(body) ? 'right' : 'wrong';
  });
  return { ...serving, tenth: tenth.promise };
}
const sumOver = (asks: ReadonlyMap<string, number>): number => [...asks.values()].reduce((sum, count) => sum + count - 1, 0);

it('says before it starts what an evaluation costs, sends nothing for that, and then runs it to its results', async () => {
  const home = await newHome();
  const { asked: sent, url } = await server();
  const { manager, until } = await manage(home, url);
  const offer = await manager.estimate(asked, { signal: new AbortController().signal });
  // Each alone, and four more for the vote of the one that does not know it is the best.
  expect(offer).toMatchObject({ calls: 12 * 6, pool: ['one', 'two'], simulated: false, before: { calls: 0 } });
  expect(total(sent)).toBe(0);
  const over = until(({ state }) => state === 'over');
  const { folder } = manager.start(asked);
  expect(folder).toBe(offer.folder);
  expect(() => manager.start(asked)).toThrow('under way');
  expect(await over).toMatchObject({ done: 36, all: 36, simulated: false, sources: ['exact.jsonl'] });
  const view = evaluationSchema.parse(await manager.get(folder));
  expect(view).toMatchObject({ state: 'over', tasks: 12, compared: 12, best: { why: 'most expensive' }, page: path.join(folder, 'results.html'), spent: { calls: 72, lost: 0 } });
  expect(view.rows.map(({ name, right }) => [name, right.mean])).toEqual([['one alone', 0.5], ['two alone', 0.5], ['majority of five', 0.5]]);
  expect(await manager.samples(folder, { contestant: 'two alone', verified: false, offset: 1, limit: 2 })).toEqual({
    all: 6, samples: [3, 5].map((number) => ({ contestant: 'two alone', task: `task ${number}`, seed: 0, verified: false, costUsd: expect.any(Number) as number })),
  });
  expect(await manager.sample(folder, { contestant: 'majority of five', task: 'task 4', seed: 0 })).toMatchObject({
    question: 'What is question 4?', verified: true, answer: 'right', traces: Array.from({ length: 5 }, () => [{ worker: 'one', output: 'right' }]),
  });
  await expect(manager.sample(folder, { contestant: 'nobody', task: 'task 4', seed: 0 })).rejects.toThrow('is not in this evaluation');
});

it('goes on after the end of its process, pays for nothing twice, and is the same evaluation', async () => {
  const home = await newHome();
  const { asked: sent, url, tenth } = await server();
  const first = await manage(home, url);
  const { folder } = first.manager.start(asked);
  await tenth;
  await first.manager.close();
  const before = total(sent);
  expect(before).toBeLessThan(72);
  const second = await manage(home, url);
  // It is listed as it was left before anybody goes on with it.
  expect(await second.manager.list()).toMatchObject([{ folder, state: 'stopped', all: 36 }]);
  const over = second.until(({ state }) => state === 'over');
  await second.manager.goOn();
  expect(await over).toMatchObject({ folder, done: 36 });
  // Only what was under way is asked again: at most four calls of each worker.
  expect(sumOver(sent)).toBeLessThanOrEqual(8);
  expect((await second.manager.get(folder)).startedAt).toBe(5);
  const third = await manage(home, url);
  await third.manager.goOn();
  expect(third.manager.active).toBe(0);
}, 60_000);

it('stops when told to, does not go on by itself then, and goes on when asked, with another budget', async () => {
  const home = await newHome();
  const { asked: sent, url, tenth } = await server();
  const { manager } = await manage(home, url);
  const { folder } = manager.start(asked);
  await tenth;
  await manager.stop(folder);
  expect(manager.active).toBe(0);
  expect(await manager.get(folder)).toMatchObject({ state: 'stopped' });
  const other = await manage(home, url);
  await other.manager.goOn();
  expect(other.manager.active).toBe(0);
  const spent = other.until(({ state }) => state === 'budget');
  await other.manager.resume(folder, { usd: 0.000_01, tokens: 1e6 });
  expect((await spent).message).toMatch(/The next call may cost/);
  const over = other.until(({ state }) => state === 'over');
  await other.manager.resume(folder, { usd: 1, tokens: 1e6 });
  expect(await over).toMatchObject({ done: 36 });
  expect((await other.manager.get(folder)).budget.usd).toBe(1);
  expect(sumOver(sent)).toBeLessThanOrEqual(8);
}, 60_000);

it('shows one that a terminal runs, and leaves it alone until that has ended', async () => {
  const home = await newHome();
  const { url } = await server();
  const terminal = await manage(home, url, { host: 'terminal' });
  const window = await manage(home, url);
  const folder = path.join(home, 'elsewhere');
  const { evaluation, close } = await terminal.open({ ...asked, folder });
  const controller = new AbortController();
  const reached = Promise.withResolvers<void>();
  const running = evaluation.run(controller.signal, ({ done }) => {
    if (done === 5) reached.resolve();
  });
  running.catch(() => {});
  await reached.promise;
  expect(await window.manager.get(folder)).toMatchObject({ state: 'elsewhere', all: 36, pool: ['one', 'two'] });
  expect((await window.manager.samples(folder, { offset: 0, limit: 100 })).all).toBeGreaterThanOrEqual(5);
  await expect(window.manager.resume(folder, undefined)).rejects.toThrow('Another process');
  controller.abort();
  await expect(running).rejects.toThrow();
  await close();
  const over = window.until(({ state }) => state === 'over');
  await window.manager.resume(folder, undefined);
  await over;
  expect(JSON.parse(await readFile(path.join(folder, 'evaluation.json'), 'utf8'))).toMatchObject({ state: 'over' });
}, 60_000);

it('leaves out a line that a killed process cut off, and says where there is no evaluation', async () => {
  const home = await newHome();
  const { url } = await server();
  const { manager, until } = await manage(home, url, { tasks: 2 });
  const over = until(({ state }) => state === 'over');
  const { folder } = manager.start(asked);
  await over;
  await appendFile(path.join(folder, 'samples.jsonl'), '{"contestant":"one alo');
  expect((await manager.samples(folder, { offset: 0, limit: 100 })).all).toBe(6);
  await expect(manager.get(path.join(home, 'none'))).rejects.toThrow('There is no evaluation');
  expect(evaluationRequestSchema.safeParse({ ...asked, sources: ['relative.jsonl'] }).success).toBe(false);
});

it('removes an evaluation with its answers, tells it, and asks anew for the next one of its tasks', async () => {
  const home = await newHome();
  const { asked: sent, url, tenth } = await server();
  const { manager, until } = await manage(home, url);
  const removed: string[] = [];
  manager.listenForRemovals((folder) => removed.push(folder));
  const { folder } = manager.start(asked);
  await tenth;
  await expect(manager.remove(folder)).rejects.toThrow('under way');
  await manager.stop(folder);
  await manager.remove(folder);
  expect(removed).toEqual([folder]);
  expect(await manager.list()).toEqual([]);
  await expect(readdir(folder)).rejects.toThrow('ENOENT');
  await expect(manager.remove(folder)).rejects.toThrow('There is no evaluation');
  const before = total(sent);
  const over = until(({ state }) => state === 'over');
  manager.start(asked);
  await over;
  expect(total(sent)).toBe(before + 72);
}, 60_000);

it('leaves other files where a person named the folder, and an evaluation that another process is at work on', async () => {
  const home = await newHome();
  const { url } = await server();
  const { manager, open } = await manage(home, url, { tasks: 2 });
  const folder = path.join(await newHome(), 'results');
  const { evaluation, close } = await open({ ...asked, folder });
  await evaluation.run(new AbortController().signal, () => {});
  await writeFile(path.join(folder, 'notes.txt'), 'mine');
  await expect(manager.remove(folder)).rejects.toThrow('Another process');
  await close();
  await manager.remove(folder);
  expect(await readdir(folder)).toEqual(['notes.txt']);
}, 60_000);

it('says before it starts that a file of tasks is not there', async () => {
  const home = await newHome();
  const file = path.join(home, 'none.jsonl');
  const manager = new EvaluationManager({
    home, open: async () => { await readFile(file); throw new Error('It is there.'); }, keys: () => NO_KEYS, running: () => undefined, now: () => 5, log: () => {},
  });
  onTestFinished(() => manager.close());
  const offer = manager.estimate({ ...asked, sources: [file] }, { signal: new AbortController().signal });
  await expect(offer).rejects.toThrow(EvaluationRequestError);
  await expect(offer).rejects.toThrow(file);
});
