import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Journal } from '../../backend/journal/journal.ts';
import { holderName } from '../../backend/journal/leases.ts';
import { runRequestSchema, type RunRequestInput } from '../../backend/protocol/run-request.ts';
import { workersFileSchema } from '../../backend/protocol/worker-config.ts';
import { RunManager } from '../../backend/solve/run-manager.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { accepted } from '../journal/sample-events.ts';
import { NO_ADAPTER } from '../support/no-adapter.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { NO_TESTS } from './driven-run.ts';

/* Whether a question begins with what a person said of tests before. Nobody answers here: how a run begins is enough. */

const prices = await loadPrices();

async function leftOutIn(input: Partial<RunRequestInput>): Promise<readonly string[] | undefined> {
  const journal = Journal.open(path.join(await temporaryFolder(), 'journal.sqlite'));
  const runs = new RunManager({
    journal,
    clients: { secret: async () => 'key', confirm: async () => true, model: () => Promise.reject(new Error('no client')), changed: () => new Promise(() => {}) },
    caller: new WorkerCaller({ limits: new ProviderLimits(), prices, delay: async () => {} }),
    checker: NO_TESTS,
    supply: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
    gatherContext: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
    loadWorkers: async () => workersFileSchema.parse({ version: 1, workers: [] }),
    priced: (worker) => worker,
    adapterVersion: NO_ADAPTER,
    holder: holderName(),
    log: (problem) => { throw new Error(problem); },
  });
  onTestFinished(async () => {
    await runs.close();
    journal.close();
  });
  journal.accept('before', accepted({}, { workspace: '/project' }));
  journal.append('before', [{ type: 'verdict.decided', round: 0, tests: ['a', 'b'], failedBefore: 'leave-out' }]);
  runs.takeBackLeftOut('/project', ['b']);
  const runId = await runs.start(runRequestSchema.parse({ question: 'Why?', workspace: '/project', ...input }));
  return runs.snapshot(runId).leftOut;
}

it.each<[string, Partial<RunRequestInput>, string[] | undefined]>([
  ['in a question of the same project', {}, ['a']],
  ['in one that may ask about others', { failedBefore: 'ask' }, ['a']],
  ['not in one of another project', { workspace: '/other' }, undefined],
  ['not where the question says that tests must pass', { failedBefore: 'must-pass' }, undefined],
  ['not where the question names tests', { tests: ['a'] }, undefined],
])('what a person left out is left out %s', async (_where, input, expected) => {
  expect(await leftOutIn(input)).toEqual(expected);
});
