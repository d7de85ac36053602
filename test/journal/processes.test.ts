import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { openJournal, temporaryFile } from './temporary.ts';
import { accepted } from './sample-events.ts';

const script = (name: string) => path.join(import.meta.dirname, name);

/** Runs the appending process until it has acknowledged `count` events, kills it, and says the last one it acknowledged. */
async function appendAndKill(file: string, runId: string, count: number): Promise<number> {
  const child = spawn(process.execPath, [script('append-forever.ts'), file, runId], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let last = 0;
  for await (const line of createInterface(child.stdout)) {
    last = Number(line);
    if (last >= count) child.kill('SIGKILL');
  }
  expect(await exited).toEqual([null, 'SIGKILL']);
  return last;
}

test('SIGKILL loses nothing that was acknowledged and tears nothing', async () => {
  const file = temporaryFile();
  // Fixed points, so that a failure repeats; where exactly in its work each kill meets the process is up to the system.
  const killPoints = Array.from({ length: 15 }, (_, index) => 1 + ((index * 37) % 61));
  for (const [index, killPoint] of killPoints.entries()) {
    const runId = `run-${index}`;
    const acknowledged = await appendAndKill(file, runId, killPoint);
    const journal = openJournal(file);
    const events = journal.read(runId);
    expect(events.length).toBeGreaterThanOrEqual(acknowledged);
    // An append of two events is there as a whole or not at all.
    expect(events.length % 2).toBe(1);
    for (const { seq, event } of events.slice(1)) {
      const count = seq % 2 ? seq - 1 : seq;
      const output = `${count}:${'x'.repeat((count * 997) % 20_000)}${seq % 2 ? '!' : ''}`;
      expect(event).toMatchObject({ type: 'step.completed', output });
    }
    expect(journal.unfinished()).toContain(runId);
    journal.close();
  }
}, 120_000);

test('processes that draw on one budget at the same time never exceed it and lose no event', async () => {
  const file = temporaryFile();
  const journal = openJournal(file);
  journal.accept('shared', accepted());
  const limit = 1_500;
  const counts = await Promise.all(Array.from({ length: 3 }, async () => {
    const child = spawn(process.execPath, [script('reserve-until-refused.ts'), file, 'shared', String(limit)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    let granted = 0;
    for await (const line of createInterface(child.stdout)) granted = Number(line);
    expect(await exited).toEqual([0, null]);
    return granted;
  }));
  const spent = journal.budget.spent('day');
  expect(spent.tokens).toBeLessThanOrEqual(limit);
  // Each process stopped only when less than one more reservation was left, others' open ones included.
  expect(spent.tokens).toBeGreaterThan(limit - 7 * counts.length);
  expect(spent.usd).toBeCloseTo(spent.tokens / 100, 6);
  expect(journal.budget.reserved('day')).toEqual({ usd: 0, tokens: 0 });
  expect(journal.read('shared')).toHaveLength(1 + counts.reduce((a, b) => a + b));
});

test('processes that open a new file at the same time agree on one journal', async () => {
  const file = temporaryFile();
  const runs = await Promise.all(Array.from({ length: 4 }, (_, index) => appendAndKill(file, `run-${index}`, 3)));
  const journal = openJournal(file);
  for (const [index, acknowledged] of runs.entries()) {
    expect(journal.read(`run-${index}`).length).toBeGreaterThanOrEqual(acknowledged);
  }
});
