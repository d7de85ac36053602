import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import type { BackendClient } from '../../../backend/protocol/client/backend-client.ts';
import { readRecord } from '../../../backend/protocol/client/discovery.ts';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { connectBackend } from '../../../backend/protocol/client/start-backend.ts';
import { USUAL_EVALUATION, type AskedEvaluation } from '../../../backend/protocol/evaluation-request.ts';
import { testConnection } from '../../server/support/test-connection.ts';
import { countingServer, total } from '../evaluation/counting-server.ts';

/* What VS Code does, without its windows: the evaluation is in a backend that nobody is the parent of. */

const BACKEND = fileURLToPath(new URL('../../../backend/main.ts', import.meta.url));
const TASKS = 12;
/** Calls under way at once. */
const CONCURRENCY = 4;
/** Each task by two workers alone, and four more answers of the one that votes. */
const CALLS = TASKS * (2 + 4);

async function newHome(url: string): Promise<string> {
  const home = await mkdtemp(path.join(tmpdir(), 'conductor-backend-killed-'));
  onTestFinished(async () => {
    await kill(home);
    await rm(home, { recursive: true, force: true });
  });
  const workers = ['one', 'two'].map((id) => ({
    id, provider: 'openai-compatible', model: id, baseUrl: url, concurrency: CONCURRENCY, maxOutputTokens: 100, price: { inputPerMillion: 1, outputPerMillion: 1 },
  }));
  await writeFile(path.join(home, 'workers.json'), JSON.stringify({ version: 1, workers }));
  const tasks = Array.from({ length: TASKS }, (_, index) => `${JSON.stringify({ problem: `What is question ${index}?`, answer: '7' })}\n`);
  await writeFile(path.join(home, 'tasks.jsonl'), tasks.join(''));
  return home;
}

/** The backend is nobody's child, so its end sends no event: its pid is looked at until it is free. */
async function kill(home: string): Promise<void> {
  const record = await readRecord(home);
  if (!record || !isProcessAlive(record.pid)) return;
  process.kill(record.pid, 'SIGKILL');
  while (isProcessAlive(record.pid)) await wait(5);
}

/** Resolves once the evaluation is over. Rejects where it ended otherwise. */
async function over(client: BackendClient, folder: string): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const look = async (): Promise<void> => {
    const { state, message } = await client.request('evaluation/get', { folder });
    if (state === 'over') ended.resolve();
    else if (state === 'failed' || state === 'budget') ended.reject(new Error(message));
  };
  client.on('evaluation/changed', () => void look().catch(ended.reject));
  await look();
  await ended.promise;
}

it('an evaluation goes on with the next backend after one was killed, and pays for no answer twice that it had received', async () => {
  const { asked, url } = await countingServer((body) => (/question \d*[02468]\?/.test(body) ? '\\boxed{7}' : '\\boxed{8}'));
  const home = await newHome(url);
  const connect = () => connectBackend(testConnection(home, { backendScript: BACKEND }));
  const request: AskedEvaluation = {
    ...USUAL_EVALUATION, practice: [], planners: [], sources: [path.join(home, 'tasks.jsonl')], contestants: ['alone', 'majority'], concurrency: CONCURRENCY, best: 'one',
  };
  let client = await connect();
  const { folder } = await client.request('evaluation/start', request);
  for (const moment of [5, 25, 45]) {
    while (total(asked) < moment) await wait(1);
    await kill(home);
    client.close();
    // Nobody asks for it: the next backend finds it by itself.
    client = await connect();
  }
  await over(client, folder);
  const { spent, done, all, rows } = await client.request('evaluation/get', { folder });
  expect([done, all]).toEqual([3 * TASKS, 3 * TASKS]);
  expect(rows.map(({ name, right }) => [name, right.mean])).toEqual([['one alone', 0.5], ['two alone', 0.5], ['majority of five', 0.5]]);
  expect(asked.size).toBe(CALLS);
  const repeated = total(asked) - asked.size;
  // Only what was under way at one of the three kills was asked again. A call may be noted and killed before it was sent.
  expect(spent?.lost).toBeGreaterThanOrEqual(repeated);
  expect(spent?.lost).toBeLessThanOrEqual(3 * 2 * CONCURRENCY);
  expect(spent?.calls).toBe(CALLS + (spent?.lost ?? 0));

  await kill(home);
  client.close();
  client = await connect();
  expect(await client.request('evaluation/list', {})).toMatchObject({ evaluations: [{ folder, state: 'over' }] });
  expect(total(asked)).toBe(CALLS + repeated);
  client.close();
}, 180_000);
