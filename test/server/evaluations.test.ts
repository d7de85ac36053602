import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { EvaluationManager } from '../../backend/eval/evaluations/evaluation-manager.ts';
import { USUAL_EVALUATION } from '../../backend/protocol/evaluation-request.ts';
import type { EvaluationSummary } from '../../backend/protocol/evaluations.ts';
import { serve } from './support/serving.ts';

test('clients are told of evaluations as they change, and why a request is refused', async () => {
  const home = await mkdtemp(path.join(tmpdir(), 'conductor-evaluations-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const evaluations = new EvaluationManager({
    home, now: () => 7, running: () => undefined, log: () => {}, keys: () => ({ get: () => Promise.reject(new Error('none')), forget: () => {} }),
    open: () => Promise.reject(new Error('There is no worker to evaluate.')),
  });
  const serving = await serve({ evaluations });
  onTestFinished(() => serving.close());
  const [client, other] = [await serving.open(), await serving.open()];
  const told = new Promise<EvaluationSummary>((resolve) => other.on('evaluation/changed', (changed) => changed.state === 'failed' && resolve(changed)));
  const request = { ...USUAL_EVALUATION, practice: [], planners: [], contestants: ['alone' as const], sources: ['gym'] };
  const { folder } = await client.request('evaluation/start', request);
  expect(await told).toMatchObject({ folder, state: 'failed', message: 'There is no worker to evaluate.', sources: ['gym'], startedAt: 7 });
  expect(await client.request('evaluation/list', {})).toMatchObject({ evaluations: [{ folder, state: 'failed' }] });
  expect(await client.request('evaluation/get', { folder })).toMatchObject({ rows: [], tasks: 0, message: 'There is no worker to evaluate.' });
  const removed = new Promise<{ folder: string }>((resolve) => other.on('evaluation/removed', resolve));
  await client.request('evaluation/remove', { folder });
  expect(await removed).toEqual({ folder });
  expect(await client.request('evaluation/list', {})).toEqual({ evaluations: [] });
  await expect(client.request('evaluation/get', { folder: path.join(home, 'none') })).rejects.toMatchObject({ kind: 'evaluation-refused', message: expect.stringMatching(/^There is no evaluation in /) as string });
  await expect(client.request('evaluation/start', { ...request, sources: ['relative.jsonl'] })).rejects.toMatchObject({ kind: 'invalid-params' });
  await expect(client.request('evaluation/samples', { folder, offset: 0, limit: 501 })).rejects.toMatchObject({ kind: 'invalid-params' });
});
