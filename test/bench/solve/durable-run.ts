import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { Journal } from '../../../backend/journal/journal.ts';
import { holderName } from '../../../backend/journal/leases.ts';
import type { LanguageModel } from '../../../backend/lm/language-model.ts';
import { runRequestSchema } from '../../../backend/protocol/run-request.ts';
import { isOver } from '../../../backend/protocol/run-snapshot.ts';
import { workersFileSchema } from '../../../backend/protocol/worker-config.ts';
import { RunManager } from '../../../backend/solve/run-manager.ts';
import { WorkerCaller } from '../../../backend/workers/call-worker.ts';
import { loadPrices } from '../../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../../backend/workers/limits/provider-limits.ts';

/*
 * What a durable run costs beyond its commits: a plan of five steps in a row whose worker answers at once. The commits are timed inside
 * the same runs, so the ratio holds on any disk. `ours` is what is left without them, `processor` how long the thread was at work.
 *
 * node with-node.mjs node test/bench/solve/durable-run.ts [--runs 300] [--folder DIR on the disk to measure]
 */

const { values } = parseArgs({ options: { runs: { type: 'string', default: '300' }, folder: { type: 'string', default: tmpdir() } } });
const runs = Number(values.runs);

/** Other words in each run, so that nothing is known from the run before. */
const subtasks = (run: number): string[] => [
  `List the places of the order service that filter ${run} touches, and hand the list on.`, `Design filter ${run} from the list of places, in words.`,
  `Write the code of filter ${run} as designed.`, `Check the code of filter ${run} against the design, and name every fault.`,
  `Write the final code of filter ${run} with the faults mended.`,
];
const STEPS = subtasks(0).length;
const plan = (run: number): string => [
  `model_id = [${subtasks(run).map(() => 0).join(', ')}]`,
  `subtasks = ${JSON.stringify(subtasks(run))}`,
  `access_list = [[], ${subtasks(run).slice(1).map(() => '["all"]').join(', ')}]`,
].join('\n');
const question = (run: number): string =>
  `Add filter ${run} by status, customer and date to the order service: it lists every order now, and the page needs twenty seconds for large customers.`;
const ANSWER = 'This part is done. What was found is that the parser reads a token too few, so the last element is lost.';

const model: LanguageModel = {
  describe: () => Promise.reject(new Error('not asked')),
  generate: () => Promise.reject(new Error('not asked')),
  score: () => Promise.reject(new Error('not asked')),
  write: ({ messages }) => Promise.resolve([{
    text: messages.some(({ content }) => content.includes('AVAILABLE WORKERS')) ? plan(current) : ANSWER,
    finishReason: 'stop', promptTokenIds: [1], tokenIds: [2], logprobs: [-1], device: 'cpu',
  }]),
};

let current = 0;
let commits = { count: 0, ms: 0 };
const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function timed(sql: string): void {
  const started = performance.now();
  exec.call(this, sql);
  if (sql === 'COMMIT') commits = { count: commits.count + 1, ms: commits.ms + performance.now() - started };
};

const folder = await mkdtemp(path.join(values.folder, 'bench-durable-run-'));
const journal = Journal.open(path.join(folder, 'journal.sqlite'));
const file = workersFileSchema.parse({
  version: 1, conductor: 'planner',
  workers: [{ id: 'worker', provider: 'local', model: 'worker' }, { id: 'planner', provider: 'local', model: 'planner', enabled: false }],
});
const prices = await loadPrices();
const limits = new ProviderLimits({ workers: file.workers });
const unused = (): Promise<never> => Promise.reject(new Error('not asked'));
const manager = new RunManager({
  journal, holder: holderName(), log: console.error, loadWorkers: () => Promise.resolve(file), priced: (worker) => worker,
  adapterVersion: () => Promise.resolve(undefined), supply: unused,
  caller: new WorkerCaller({ limits, prices, localModel: () => model }),
  clients: { changed: () => new Promise(() => {}), secret: () => Promise.resolve(undefined), confirm: () => Promise.resolve(undefined), model: () => { throw new Error('not asked'); } },
  gatherContext: () => Promise.resolve({ pieces: [], leftOut: [], tokens: 0, text: '' }),
  checker: { findTestCommands: unused, runnerOf: unused, sandboxAvailability: unused, parsePatch: unused, verify: unused },
});
const ends = new Map<string, () => void>();
manager.listen({
  onEvent: () => {}, onText: () => {}, onRemoved: () => {},
  onChanged: ({ runId, state }) => { if (isOver(state)) ends.get(runId)?.(); },
});

interface Measured {
  readonly total: number;
  readonly commits: number;
  readonly count: number;
  readonly processor: number;
}

async function measured(): Promise<Measured> {
  current += 1;
  commits = { count: 0, ms: 0 };
  const { promise, resolve } = Promise.withResolvers<void>();
  const processor = process.cpuUsage();
  const started = performance.now();
  const runId = await manager.start(runRequestSchema.parse({ question: question(current), rounds: 1 }));
  ends.set(runId, resolve);
  if (isOver(manager.snapshot(runId).state)) resolve();
  await promise;
  const total = performance.now() - started;
  const { user, system } = process.cpuUsage(processor);
  ends.delete(runId);
  const run = manager.snapshot(runId);
  if (run.state !== 'completed' || run.rounds[0]?.steps.length !== STEPS) throw new Error(`The run did not do its steps: ${JSON.stringify(run.failure ?? run.rounds[0]?.rejections)}`);
  return { total, commits: commits.ms, count: commits.count, processor: (user + system) / 1_000 };
}

for (let run = 0; run < 30; run += 1) await measured();
const all: Measured[] = [];
for (let run = 0; run < runs; run += 1) all.push(await measured());

const middle = (of: (run: Measured) => number): number => all.map(of).sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
const ms = (number: number): string => number.toFixed(2);
console.log(`| runs | steps | commits | run, ms | commits, ms | ours, ms | processor, ms | run / commits |`);
console.log(`| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |`);
console.log(`| ${runs} | ${STEPS} | ${middle(({ count }) => count)} | ${[
  middle(({ total }) => total), middle((run) => run.commits), middle((run) => run.total - run.commits), middle(({ processor }) => processor),
  middle((run) => run.total / run.commits),
].map(ms).join(' | ')} |`);

await manager.close();
journal.close();
await rm(folder, { recursive: true, force: true });
