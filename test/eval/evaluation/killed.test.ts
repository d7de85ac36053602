import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { countingServer, total } from './counting-server.ts';

const CHILD = fileURLToPath(new URL('./evaluate-forever.ts', import.meta.url));

it('a killed evaluation goes on, and pays for no answer twice that it had received', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-killed-evaluation-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { asked, url } = await countingServer((body) => (/question \d*[02468]\?/.test(body) ? 'right' : 'wrong'));
  const start = () => spawn(process.execPath, ['--disable-warning=ExperimentalWarning', CHILD, folder, url], { stdio: ['ignore', 'pipe', 'inherit'] });
  for (const moment of [7, 40, 95, 150]) {
    const child = start();
    const ended = once(child, 'exit');
    while (total(asked) < moment && child.exitCode === null) await wait(1);
    child.kill('SIGKILL');
    expect((await ended)[1]).toBe('SIGKILL');
  }
  const child = start();
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  expect((await once(child, 'exit'))[0]).toBe(0);
  const { spent, majority } = JSON.parse(Buffer.concat(chunks).toString()) as { spent: { calls: number; lost: number; usd: number }; majority: number };
  expect(majority).toBe(0.5);
  const repeated = [...asked.values()].reduce((sum, count) => sum + count - 1, 0);
  expect(total(asked)).toBeGreaterThan(150);
  // Only what was under way at one of the four kills was asked again. A call may be noted and killed before it was sent.
  expect(spent.lost).toBeGreaterThanOrEqual(repeated);
  expect(spent.lost).toBeLessThanOrEqual(4 * 4);
  expect(spent.calls).toBe(asked.size + spent.lost);
  // Known calls cost 101 tokens each; a lost one counts with the most that it can cost.
  expect(spent.usd).toBeGreaterThanOrEqual((asked.size * 101) / 1e6 - 1e-9);

  const again = start();
  again.stdout.resume();
  const before = total(asked);
  expect((await once(again, 'exit'))[0]).toBe(0);
  expect(total(asked)).toBe(before);
}, 120_000);
