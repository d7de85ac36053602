import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Journal } from '../../backend/journal/journal.ts';
import { runRequestSchema } from '../../backend/protocol/run-request.ts';
import { isOver } from '../../backend/protocol/run-snapshot.ts';
import { workersFileSchema } from '../../backend/protocol/worker-config.ts';
import { explainError } from '../../backend/server/explain-error.ts';
import { RunManager } from '../../backend/solve/run-manager.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { outcomeOf, repaid } from '../support/compared-runs.ts';
import { FailingSqlite } from '../support/failing-sqlite.ts';
import { NO_ADAPTER } from '../support/no-adapter.ts';
import { ScriptedServer } from '../support/scripted-server.ts';

/*
 * The rows of the crash matrix in which the backend lives and its journal fails, at every write of a run. The error is one sentence, a run
 * is left at its last event, and when the journal can be written again the run ends as the undisturbed one did: no finished step is
 * paid for again and no reservation stays open.
 */

const prices = await loadPrices();
const PLAN = 'model_id = [0, 1]\nsubtasks = ["Look.", "Answer."]\naccess_list = [[], [0]]';
/** SQLITE_FULL; test/journal/failing-disk.test.ts has the other codes, which are handled as this one. */
const FULL = 13;
const SENTENCE = 'the disk is full. Free some space and try again.';

let server: ScriptedServer;
let folder: string;
let journal: Journal;
let runs: RunManager;
let sqlite: FailingSqlite;
let log: string[];

beforeAll(async () => {
  server = await ScriptedServer.start(({ model }) => (model === 'planner' ? PLAN : `What ${model} says.`));
});
afterAll(() => server.close());

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-failing-'));
  sqlite = new FailingSqlite();
  log = [];
});
afterEach(() => rm(folder, { recursive: true }));

async function open(name: string): Promise<void> {
  journal = Journal.open(path.join(folder, name), { isDurable: false });
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, maxOutputTokens: 500 };
  const workers = workersFileSchema.parse({
    version: 1, conductor: 'planner',
    workers: ['first', 'second', 'planner'].map((id) => ({ ...worker, id, model: id, enabled: id !== 'planner' })),
  });
  runs = new RunManager({
    journal,
    clients: {
      secret: async () => null, confirm: async () => undefined, changed: () => new Promise(() => {}),
      model: () => Promise.reject(new Error('no client')),
    },
    caller: new WorkerCaller({ limits: new ProviderLimits(), prices }),
    checker: {
      findTestCommands: async () => [], runnerOf: async () => undefined, sandboxAvailability: async () => ({ available: false }),
      parsePatch: () => Promise.reject(new Error('no workspace')), verify: () => Promise.reject(new Error('no workspace')),
    },
    supply: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
    gatherContext: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
    loadWorkers: async () => workers,
    priced: (one) => one,
    adapterVersion: NO_ADAPTER,
    holder: `${process.pid}:test`,
    log: (line) => log.push(line),
  });
}

async function close(): Promise<void> {
  await runs.close();
  journal.close();
}

const start = () => runs.start(runRequestSchema.parse({ question: 'The constant a is wrong, please mend it.', rounds: 1 }));

/** Resolves when no run is being worked on. */
async function settled(): Promise<void> {
  while (runs.activeRuns > 0) await new Promise((resolve) => setImmediate(resolve));
}

async function undisturbed() {
  await open('undisturbed');
  sqlite.failWith(undefined);
  const runId = await start();
  await settled();
  const { writes } = sqlite;
  const expected = outcomeOf(journal.read(runId));
  await close();
  expect(expected.state).toBe('completed');
  return { writes, expected };
}

it('where the disk is full, a run goes on when there is room, and nothing is paid for twice', async () => {
  const { writes, expected } = await undisturbed();
  let failures = 0;
  for (let atWrite = 1; atWrite <= writes; atWrite += 1) {
    // A disk that stays full is the simpler case: some points are enough.
    for (const forGood of atWrite % 5 === 1 ? [false, true] : [false]) {
      const point = `write ${atWrite}${forGood ? ' and all after it' : ''}`;
      await open(`${atWrite}-${forGood}`);
      log = [];
      sqlite.failWith({ code: FULL, atWrite, forGood });
      const refused: unknown = await start().then(() => undefined, (error: unknown) => error);
      await settled();
      // Calls that end in one turn of the event loop share a commit, so a run may have a few writes fewer.
      if (sqlite.writes < atWrite) {
        sqlite.failWith(undefined);
        await close();
        continue;
      }
      failures += 1;
      const said = refused ? explainError(refused)?.message : log[0];
      expect(said, point).toContain(SENTENCE);
      sqlite.failWith(undefined);
      if (refused) {
        expect(journal.list({ limit: 1 }), point).toEqual([]);
        await start();
      } else {
        runs.resumeUnfinished();
      }
      await settled();
      const [run] = journal.list({ limit: 2 });
      const events = journal.read(run?.runId ?? '');
      expect(outcomeOf(events), point).toEqual(expected);
      expect(repaid(events), point).toEqual([]);
      expect(journal.budget.reserved(`run:${run?.runId}`), point).toEqual({ usd: 0, tokens: 0 });
      await close();
    }
  }
  expect(failures).toBeGreaterThan(writes);
}, 60_000);

it('a cancellation that the journal cannot take is kept until it can', async () => {
  await open('cancelled');
  const runId = await start();
  sqlite.failWith({ code: FULL, atWrite: 1, forGood: true });
  runs.cancel(runId);
  await settled();
  expect(log[0]).toContain(SENTENCE);
  expect(isOver(runs.snapshot(runId).state)).toBe(false);
  sqlite.failWith(undefined);
  runs.resumeUnfinished();
  await settled();
  expect(runs.snapshot(runId).state).toBe('cancelled');
  await close();
});
