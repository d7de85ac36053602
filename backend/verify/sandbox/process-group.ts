import { spawn, type ChildProcessByStdio, type IOType } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { Server } from 'node:net';
import { devNull } from 'node:os';
import type { Duplex, Readable, Writable } from 'node:stream';

/** The limits that a command can exceed. */
export type ExceededLimit = 'time' | 'memory' | 'processes' | 'disk' | 'output';

export interface ProcessOutcome {
  /** Null if a signal ended the process. */
  readonly exitCode: number | null;
  /** Why it was killed, if it was. */
  readonly exceeded?: ExceededLimit;
  /** The end of the output. */
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

export interface ProcessOptions {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Its input on file descriptor 3. Descriptor 4 then tells whether we are alive: we answer each line with a line. */
  readonly input?: Uint8Array;
  /** Called with each line that it writes to descriptor 4, which is then not answered. */
  readonly onWord?: ((word: string) => void) | undefined;
  /** For a program that is spoken with: called with its standard input and output. The output is then not kept, and its reader bounds it. */
  readonly talk?: ((input: Writable, output: Readable) => void) | undefined;
  /** Called with each listening socket that a Node process of the program sends us on `CHANNEL`, and with its port. */
  readonly onListening?: ((server: Server, port: number) => void) | undefined;
  /** Our descriptors that it would inherit. It gets /dev/null for them. */
  readonly emptied: readonly number[];
  readonly timeoutMs: number;
  /** The limit of standard output and error together. */
  readonly outputBytes: number;
  /** Called when the program runs. `exceed` kills it. The watch stops when the program has ended. */
  readonly watch: (pid: number, exceed: (limit: ExceededLimit) => void) => { stop(): void };
  readonly signal: AbortSignal;
}

type GroupLeader = ChildProcessByStdio<Writable | null, Readable, Readable>;

/** The descriptor of Node's channel between processes, for `onListening`. */
export const CHANNEL = 5;

/** Windows has none. There the program must end what it started when it is ended itself, as the process of a job object does. */
const HAS_GROUPS = process.platform !== 'win32';

/** How much of each output stream is kept. */
const OUTPUT_TAIL_BYTES = 64 * 1024;

/** How long we wait for the output of a killed group to close. */
const AFTER_KILL_MS = 2_000;

/**
 * Runs a program as the leader of its own process group. Resolves when it has ended and its output is closed. Kills the whole group at a
 * limit and on abort. Rejects with an AbortError, or if the program cannot be started.
 */
export async function runProcessGroup(options: ProcessOptions): Promise<ProcessOutcome> {
  const { argv, cwd, environment, input, onWord, talk, onListening, emptied, timeoutMs, outputBytes, watch, signal } = options;
  signal.throwIfAborted();
  const started = performance.now();
  const [program, ...programArguments] = argv;
  const stdio: (IOType | 'ipc' | number)[] = [talk ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(input ? (['pipe', 'pipe'] as const) : [])];
  if (onListening) {
    while (stdio.length < CHANNEL) stdio.push('ignore');
    stdio.push('ipc');
  }
  const nothing = openSync(devNull, 'r');
  for (const descriptor of emptied) {
    while (stdio.length <= descriptor) stdio.push('ignore');
    // Behind the first three that word leaves a descriptor as it is.
    if (stdio[descriptor] === 'ignore') stdio[descriptor] = nothing;
  }
  let child: GroupLeader;
  try {
    child = spawn(program, programArguments, { cwd, env: { ...environment }, stdio, detached: HAS_GROUPS, windowsHide: true }) as GroupLeader;
  } finally {
    closeSync(nothing);
  }
  const stdout = new Tail();
  const stderr = new Tail();
  const keep = (tail: Tail) => (chunk: Buffer) => {
    tail.add(chunk);
    if (stdout.written + stderr.written > outputBytes) exceed('output');
  };
  if (talk && child.stdin) {
    // The program may end before it has read everything.
    child.stdin.on('error', () => undefined);
    talk(child.stdin, child.stdout);
  } else child.stdout.on('data', keep(stdout));
  if (onListening) {
    child.on('message', (message, handle) => {
      const { port } = (typeof message === 'object' && message !== null ? message : {}) as { port?: unknown };
      if (handle instanceof Server && typeof port === 'number') onListening(handle, port);
    });
  }
  child.stderr.on('data', keep(stderr));

  let exceeded: ExceededLimit | undefined;
  const exceed = (limit: ExceededLimit): void => {
    exceeded ??= limit;
    kill();
  };
  const ended = Promise.withResolvers<number | null>();
  let afterKill: NodeJS.Timeout | undefined;
  const kill = (): void => {
    // By its handle: on Windows, the number of a process that has ended may be another one's.
    if (HAS_GROUPS) killGroup(child.pid);
    else child.kill('SIGKILL');
    // Without a sandbox, a process can leave the group and keep the output open. We do not wait for it.
    afterKill ??= setTimeout(() => ended.resolve(child.exitCode), AFTER_KILL_MS);
  };
  const timer = setTimeout(() => exceed('time'), timeoutMs);
  const watching = child.pid === undefined ? undefined : watch(child.pid, exceed);
  signal.addEventListener('abort', kill, { once: true });
  child.once('error', ended.reject);
  // Processes that the command left running must not outlive it.
  child.once('exit', kill);
  child.once('close', (exitCode) => ended.resolve(exitCode));
  const [, , , inputPipe, askingPipe] = child.stdio as readonly unknown[] as readonly (Duplex | undefined)[];
  // A program that ends early reads none of it.
  for (const pipe of [inputPipe, askingPipe]) pipe?.on('error', () => undefined);
  inputPipe?.end(input);
  if (onWord) hearWords(askingPipe, onWord);
  else askingPipe?.once('data', () => askingPipe.end('\n'));
  try {
    const exitCode = await ended.promise;
    signal.throwIfAborted();
    return {
      exitCode,
      ...(exceeded && { exceeded }),
      stdout: stdout.toString(),
      stderr: stderr.toString(),
      durationMs: performance.now() - started,
    };
  } finally {
    watching?.stop();
    clearTimeout(timer);
    clearTimeout(afterKill);
    signal.removeEventListener('abort', kill);
    child.stdin?.destroy();
    child.stdout.destroy();
    child.stderr.destroy();
    inputPipe?.destroy();
    askingPipe?.destroy();
  }
}

function hearWords(pipe: Duplex | undefined, onWord: (word: string) => void): void {
  let rest = '';
  pipe?.on('data', (chunk: Buffer) => {
    const lines = `${rest}${chunk.toString('utf8')}`.split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(onWord);
  });
}

function killGroup(groupId: number | undefined): void {
  if (groupId === undefined) return;
  try {
    process.kill(-groupId, 'SIGKILL');
  } catch {
    // The group has ended, or we may not kill it. Nothing more can be done.
  }
}

/** Keeps the end of a stream of any length. */
class Tail {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Bytes received so far. */
  written = 0;

  add(chunk: Buffer): void {
    this.written += chunk.length;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes - (this.#chunks[0]?.length ?? 0) >= OUTPUT_TAIL_BYTES) this.#bytes -= this.#chunks.shift()?.length ?? 0;
  }

  toString(): string {
    return Buffer.concat(this.#chunks).subarray(-OUTPUT_TAIL_BYTES).toString('utf8');
  }
}
