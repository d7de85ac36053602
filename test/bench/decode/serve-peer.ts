import { createInterface } from 'node:readline';
import type { Generated, GenerateRequest, Ready } from './peer.ts';

/** A peer's side of the conversation, for those that are written in TypeScript. Ends with its standard input. */
export async function servePeer(ready: Ready, generate: (request: GenerateRequest) => Promise<Timed>): Promise<void> {
  say(ready);
  for await (const line of createInterface({ input: process.stdin })) {
    const before = process.cpuUsage();
    const timed = await generate(JSON.parse(line) as GenerateRequest);
    const { user, system } = process.cpuUsage(before);
    say({ ...timed, cpuSeconds: (user + system) / 1e6 });
  }
}

export type Timed = Omit<Generated, 'cpuSeconds'>;

const say = (answer: Ready | Generated): boolean => process.stdout.write(`${JSON.stringify(answer)}\n`);
