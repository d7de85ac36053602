import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { done, endedBy, planned, ran } from '../journal/judged.ts';
import { serve, type Serving } from './support/serving.ts';

let serving: Serving;
beforeEach(async () => { serving = await serve(); });
afterEach(() => serving.close());

/** A question that one worker answered alone. */
function answered(runId: string, worker: number, outcome: 'verified' | 'failed', workspace = '/projects/sample'): void {
  ran(serving.journal, runId, [planned([worker]), done(0, 0.01 * (worker + 1)), ...endedBy(outcome)], { asks: { kind: 'bug', wants: 'change' } }, { workspace });
}

test('a client is told what tests said of each worker, in all projects and in one, by role and kind', async () => {
  answered('r1', 0, 'verified');
  answered('r2', 0, 'failed', '/projects/other');
  answered('r3', 1, 'verified');
  const client = await serving.open();
  await client.request('worker/save', { worker: { id: 'first', provider: 'openai', model: 'model-a', key: 'OPENAI_API_KEY' } });
  const all = await client.request('records/get', {});
  expect(all).toMatchObject({
    used: true, answers: 3, workers: [
      { worker: 'second', model: 'model-b', isInPool: false, total: { answers: 1, verified: 1, usdPerVerified: 0.02 } },
      { worker: 'first', model: 'model-a', isInPool: true, total: { answers: 2, verified: 1 }, parts: [{ role: 'write', kind: 'bug', answers: 2, verified: 1 }] },
    ],
  });
  expect(all).not.toHaveProperty('workspace');
  const here = await client.request('records/get', { workspace: '/projects/sample' });
  expect(here).toMatchObject({ workspace: '/projects/sample', answers: 2 });
  expect(here.workers.find(({ worker }) => worker === 'first')?.total).toMatchObject({ answers: 1, verified: 1 });
  expect(await client.request('records/get', { workspace: '/projects/none' })).toMatchObject({ workers: [], answers: 0 });
});

test('what a removed run said is gone, and so is what is forgotten; the other runs stay', async () => {
  answered('r1', 0, 'verified');
  answered('r2', 0, 'failed');
  answered('r3', 0, 'failed', '/projects/other');
  const client = await serving.open();
  serving.journal.remove(['r1']);
  expect((await client.request('records/get', {})).workers).toMatchObject([{ total: { answers: 2, verified: 0 } }]);
  expect(await client.request('records/forget', { workspace: '/projects/other' })).toEqual({ steps: 1 });
  expect((await client.request('records/get', {})).workers).toMatchObject([{ total: { answers: 1 } }]);
  expect(await client.request('records/forget', {})).toEqual({ steps: 1 });
  expect((await client.request('records/get', {})).workers).toEqual([]);
  expect(serving.journal.snapshot('r2')).toMatchObject({ state: 'completed' });
});

test('whether records are used stands in workers.json, and they are shown all the same', async () => {
  answered('r1', 0, 'verified');
  const client = await serving.open();
  await client.request('records/use', { used: false });
  expect(JSON.parse(await readFile(serving.workersFile, 'utf8'))).toMatchObject({ useRecords: false });
  expect(await client.request('records/get', {})).toMatchObject({ used: false, answers: 1 });
  await client.request('records/use', { used: true });
  expect(JSON.parse(await readFile(serving.workersFile, 'utf8'))).not.toHaveProperty('useRecords');
  expect(await client.request('records/get', {})).toMatchObject({ used: true });
});
