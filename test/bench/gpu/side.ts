import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Loaded, Request } from './requests.ts';

/** A process that has loaded the model and answers requests. It waits while another is measured. */
export class Side {
  readonly name: string;
  readonly loaded: Loaded;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(name: string, loaded: Loaded, child: ChildProcess, lines: AsyncIterator<string>) {
    this.name = name;
    this.loaded = loaded;
    this.#child = child;
    this.#lines = lines;
  }

  static async start(name: string, command: string, args: readonly string[]): Promise<Side> {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    await Promise.race([once(child, 'spawn'), once(child, 'error').then(([error]) => { throw error; })]);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return new Side(name, await next<Loaded>(name, lines), child, lines);
  }

  async ask<Answer>(request: Request): Promise<Answer> {
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
    return next<Answer>(this.name, this.#lines);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await ended;
  }
}

async function next<Answer>(name: string, lines: AsyncIterator<string>): Promise<Answer> {
  const { value, done } = await lines.next();
  if (done) throw new Error(`${name} has ended; its last words are above.`);
  return JSON.parse(value) as Answer;
}
