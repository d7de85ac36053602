import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { readBody } from '../../../backend/simulator/http-body.ts';

/** A server that answers after a moment, and counts how often each request was sent. */
export async function countingServer(say: (body: string) => string) {
  const asked = new Map<string, number>();
  const server = createServer((request, response) => void (async () => {
    const body = await readBody(request, 1e6);
    asked.set(body, (asked.get(body) ?? 0) + 1);
    await wait(5);
    const text = say(body);
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

export const total = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, count) => sum + count, 0);
