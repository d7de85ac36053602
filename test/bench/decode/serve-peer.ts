import { createInterface } from 'node:readline';
import type { Generated, GenerateRequest, Ready, Scored, ScoreRequest } from './peer.ts';

/** A peer's side of the conversation, for those that are written in TypeScript. Ends with its standard input. */
export async function servePeer(
  ready: Ready, generate: (request: GenerateRequest) => Promise<Timed>, score?: (request: ScoreRequest) => Promise<Scored>,
): Promise<void> {
  say(ready);
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line) as GenerateRequest | ScoreRequest;
    if (request.kind === 'score') {
      if (!score) throw new Error('This peer scores no texts.');
      say(await score(request));
      continue;
    }
    const before = process.cpuUsage();
    const timed = await generate(request);
    const { user, system } = process.cpuUsage(before);
    say({ ...timed, cpuSeconds: (user + system) / 1e6 });
  }
}

export type Timed = Omit<Generated, 'cpuSeconds'>;

const say = (answer: Ready | Generated | Scored): boolean => process.stdout.write(`${JSON.stringify(answer)}\n`);
