import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { KeyedRandom } from '../../../backend/common/keyed-random.ts';
import { writeEvents } from '../../../backend/simulator/http-body.ts';
import { chatCompletions } from '../../../backend/simulator/wires/chat-completions.ts';
import { type Host, HOSTS, paceOf } from './measured.ts';

/*
 * Simulated workers for rollouts.ts, a process of their own: a server for each measured host, which answers at that host's pace, a token in each event. Prints the
 * addresses as JSON, in the order of `HOSTS`. `node worker-hosts.ts SPEED`: how many times as fast as measured.
 */

const speed = Number(process.argv[2] ?? 1);
/** Tokens are sent as often as this, so as many at a time as the host makes meanwhile. */
const TICK_MS = 50;
const WORDS = 'the row count is read before it is written so a later pass sees an older total and adds it twice which the caller then rounds '.split(' ').map((word) => ` ${word}`);

async function answer(host: Host, call: number, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(404).end();
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const { messages, model } = chatCompletions.read(JSON.parse(Buffer.concat(parts).toString('utf8')));
  const question = messages.map(({ content }) => content).join('\n');
  const random = new KeyedRandom(host.name, call);
  const pace = paceOf(host, random);
  const [, left = '0', right = '0'] = /What is (\d+) \+ (\d+)\?/.exec(question) ?? [];
  const sum = Number(left) + Number(right) + (random.chance('right', 0.5) ? 0 : 1);
  const ending = ` The answer is \\boxed{${sum}}`;
  const stream = chatCompletions.stream({
    id: `${host.name}-${call}`, model, createdAt: new Date(), text: '', calls: [], finish: 'stop', inputTokens: Math.ceil(question.length / 4), outputTokens: pace.tokens, streamUsage: true,
  });
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const { signal } = gone;
  try {
    await delay(pace.firstTokenSeconds * 1_000 / speed, undefined, { signal });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    await writeEvents(response, stream.opening(), signal);
    const began = performance.now();
    for (let sent = 0; sent < pace.tokens;) {
      const due = Math.min(pace.tokens, Math.ceil((performance.now() - began) / 1_000 * pace.tokensPerSecond * speed));
      const words = Array.from({ length: due - sent }, (_, index) => WORDS[(sent + index) % WORDS.length] as string);
      await writeEvents(response, words.flatMap((word) => [...stream.piece(word)]), signal);
      sent = due;
      await delay(TICK_MS, undefined, { signal });
    }
    await writeEvents(response, [...stream.piece(ending), ...stream.closing()], signal);
    response.end();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

const addresses = await Promise.all(HOSTS.map(async (host) => {
  let calls = 0;
  const server = createServer((request, response) => void answer(host, calls += 1, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}));
console.log(JSON.stringify(addresses));
