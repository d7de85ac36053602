import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { workersFileSchema, type WorkersFile } from '../../backend/protocol/worker-config.ts';
import { Routes, type RoutingCall } from '../../backend/suggest/route.ts';
import { OutcomesFile } from '../../backend/suggest/outcomes-file.ts';
import { RoutesFile } from '../../backend/suggest/routes-file.ts';
import type { ModelReply } from '../../backend/workers/model.ts';
import { NO_ADAPTER } from '../support/no-adapter.ts';

const PLACE = { workspace: '/project', language: 'go' };
const signals = { caller: new AbortController().signal, end: new AbortController().signal };
const reply: ModelReply = {
  text: 'model_id = [1]\nsubtasks = ["Complete it."]\naccess_list = [[]]', finishReason: 'stop', model: 'planner',
  usage: { uncachedInput: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0, estimated: false },
};

function workersWith(ids: readonly string[], key?: string): WorkersFile {
  const workers = ids.map((id) => ({ id, provider: 'openai-compatible', model: id, baseUrl: 'http://localhost/v1', key }));
  return workersFileSchema.parse({ version: 1, workers });
}

async function newRoutes(hasKey: (name: string) => Promise<boolean>): Promise<Routes> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-routes-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const log = (line: string): never => expect.fail(line);
  return new Routes({
    file: new RoutesFile(path.join(folder, 'routes.json'), log), hasKey, priced: (worker) => worker, adapterVersion: NO_ADAPTER,
    journal: { judgedSteps: () => [] },
    outcomes: new OutcomesFile({ path: path.join(folder, 'outcomes.json'), log }), now: () => 0, log,
  });
}

it('a choice that fails late leaves the newer one, which is not planned twice', async () => {
  const key = Promise.withResolvers<boolean>();
  const planned = Promise.withResolvers<ModelReply>();
  const routes = await newRoutes(() => key.promise);
  let calls = 0;
  const call: RoutingCall = () => {
    calls += 1;
    return planned.promise;
  };
  const older = routes.workerFor(PLACE, workersWith(['first'], 'SOME_KEY'), call, signals);
  const current = workersWith(['second', 'third']);
  const newer = routes.workerFor(PLACE, current, call, signals);
  key.reject(new Error('The key ring is locked.'));
  await expect(older).rejects.toThrow('The key ring is locked.');
  const again = routes.workerFor(PLACE, current, call, signals);
  planned.resolve(reply);
  expect((await newer).id).toBe('third');
  expect((await again).id).toBe('third');
  expect(calls).toBe(1);
});

it('a worker that could not be called is forgotten, but not the one that was chosen since', async () => {
  const asked: string[] = [];
  const routes = await newRoutes(async (name) => asked.push(name) > 0);
  const call: RoutingCall = () => Promise.resolve(reply);
  const choose = (key: string) => routes.workerFor(PLACE, workersWith(['only'], key), call, signals);
  const older = await choose('OLD_KEY');
  const newer = await choose('NEW_KEY');
  routes.forget(PLACE, older);
  await choose('NEW_KEY');
  expect(asked).toEqual(['OLD_KEY', 'NEW_KEY']);
  routes.forget(PLACE, newer);
  await choose('NEW_KEY');
  expect(asked).toEqual(['OLD_KEY', 'NEW_KEY', 'NEW_KEY']);
});
