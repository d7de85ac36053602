import { expect, it } from 'vitest';
import { lastAnswered, lastRun, lastRunAround } from '../../backend/cli/last-run.ts';
import type { BackendClient } from '../../backend/protocol/client/backend-client.ts';
import type { RunState } from '../../backend/protocol/run-snapshot.ts';

/** A backend with runs of folders, the newest first. */
function clientOf(runs: Readonly<Record<string, readonly (readonly [runId: string, state: RunState])[]>>): BackendClient {
  const request = (_method: string, { workspace }: { readonly workspace: string }) =>
    Promise.resolve({ runs: (runs[workspace] ?? []).map(([runId, state]) => ({ runId, state })) });
  return { request } as unknown as BackendClient;
}

const client = clientOf({
  '/shop': [['running', 'running'], ['cancelled', 'cancelled'], ['answered', 'completed'], ['older', 'completed']],
  '/blog': [['running', 'running'], ['failed', 'failed'], ['cancelled', 'cancelled']],
});

it('the last run is the newest', async () => {
  expect(await lastRun(client, '/shop')).toBe('running');
});

it('the last run with an answer is not one that was cancelled after it, unless there is no other', async () => {
  expect(await lastAnswered(client, '/shop')).toBe('answered');
  expect(await lastAnswered(client, '/blog')).toBe('failed');
  expect(await lastAnswered(client, '/none')).toBeUndefined();
});

it('a folder in a project has the last run of the project', async () => {
  expect(await lastRunAround(client, '/shop/src/cart')).toBe('running');
  expect(await lastRunAround(client, '/shop/src/cart', lastAnswered)).toBe('answered');
});
