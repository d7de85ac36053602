import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { readBody } from '../../../backend/simulator/http-body.ts';

const CHILD = fileURLToPath(new URL('./evaluate-forever.ts', import.meta.url));

/** A server that answers after a moment, and counts how often each request was sent. */
async function countingServer() {
  const asked = new Map<string, number>();
  const server = createServer((request, response) => void (async () => {
    const body = await readBody(request, 1e6);
    asked.set(body, (asked.get(body) ?? 0) + 1);
    await wait(5);
    const text = /question \d*[02468]\?/.test(body) ? 'right' : 'wrong';
    const chunk = (delta: object, finish: string | null) => `data: ${JSON.stringify({
      id: 'x', object: 'chat.completion.chunk', created: 0, model: 'x', choices: [{ index: 0, delta, finish_reason: finish }],
    })}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ role: 'assistant', content: text }, null));
    response.write(chunk({}, 'stop'));
    response.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 0, model: 'x', choices: [], usage: { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101 } })}\n\n`);
    response.end('data: [DONE]\n\n');
  })().catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => new Promise((resolve) => { server.closeAllConnections(); server.close(() => resolve()); }));
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

const total = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, count) => sum + count, 0);

it('a killed evaluation goes on, and pays for no answer twice that it had received', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-killed-evaluation-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { asked, url } = await countingServer();
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
