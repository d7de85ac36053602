import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';

/*
 * Each peer is a process of its own that loads the model once and then answers requests, one JSON line for one JSON line.
 * Processes that are not asked wait, so that the peers can be measured in turn.
 */

export interface GenerateRequest {
  readonly kind: 'generate';
  readonly prompts: readonly (readonly number[])[];
  /** Likeliest token each time; nothing stops a row early. */
  readonly newTokens: number;
}

/** The probability of each token of each text after the first one. */
export interface ScoreRequest {
  readonly kind: 'score';
  readonly texts: readonly (readonly number[])[];
}

/** Natural logarithms; a row has one number less than its text has tokens. */
export interface Scored {
  readonly logprobs: readonly (readonly number[])[];
}

/** Seconds since the request came. */
export interface Generated {
  readonly tokens: readonly (readonly number[])[];
  /** The first new token of every row is known. */
  readonly firstTokenSeconds: number;
  /** So many new tokens of every row are known… */
  readonly fromTokens: number;
  readonly fromSeconds: number;
  /** …and all of them: the pace of decoding lies between these two. */
  readonly endSeconds: number;
  /** Of all cores, for this request. */
  readonly cpuSeconds: number;
}

/** Reads so many bytes of memory, several times; PyTorch's sum over an array is a plain read. */
export interface ReadRequest {
  readonly kind: 'read';
  readonly bytes: number;
}

export interface Ready {
  readonly version: string;
  readonly loadSeconds: number;
}

export interface PeerSetting {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export class Peer {
  readonly name: string;
  readonly ready: Ready;
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(name: string, ready: Ready, child: ChildProcess, lines: AsyncIterator<string>) {
    this.name = name;
    this.ready = ready;
    this.#child = child;
    this.#lines = lines;
  }

  static async start({ name, command, args, env }: PeerSetting): Promise<Peer> {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
    await Promise.race([once(child, 'spawn'), once(child, 'error').then(([error]) => { throw error; })]);
    const reader: Interface = createInterface({ input: child.stdout });
    const lines = reader[Symbol.asyncIterator]();
    return new Peer(name, await nextAnswer<Ready>(name, lines), child, lines);
  }

  generate(prompts: GenerateRequest['prompts'], newTokens: number): Promise<Generated> {
    return this.#ask<Generated>({ kind: 'generate', prompts, newTokens });
  }

  read(bytes: number): Promise<{ readonly seconds: number }> {
    return this.#ask<{ seconds: number }>({ kind: 'read', bytes });
  }

  async score(texts: ScoreRequest['texts']): Promise<Scored['logprobs']> {
    return (await this.#ask<Scored>({ kind: 'score', texts })).logprobs;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await ended;
  }

  #ask<Answer>(request: GenerateRequest | ReadRequest | ScoreRequest): Promise<Answer> {
    this.#child.stdin?.write(`${JSON.stringify(request)}\n`);
    return nextAnswer<Answer>(this.name, this.#lines);
  }
}

async function nextAnswer<Answer>(name: string, lines: AsyncIterator<string>): Promise<Answer> {
  const { value, done } = await lines.next();
  if (done) {
    throw new Error(`${name} has ended; its last words are above. Set it up as README.md says, or leave it out with --peers.`);
  }
  return JSON.parse(value) as Answer;
}
