import { spawn, type ChildProcessByStdio, type IOType } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';

/** What a command may have used too much of. */
export type ExceededLimit = 'time' | 'memory' | 'processes' | 'disk' | 'output';

export interface ProcessOutcome {
  /** Null if the process was ended by a signal. */
  readonly exitCode: number | null;
  /** Why it was killed; absent where it was not. */
  readonly exceeded?: ExceededLimit;
  /** The last part of what was written. */
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

export interface ProcessOptions {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What it can read from file descriptor 3. On descriptor 4 it can then ask whether we live: to any line comes one back. */
  readonly input?: Uint8Array;
  /** Our descriptors that it would have otherwise: it finds nothing in them. */
  readonly emptied: readonly number[];
  readonly timeoutMs: number;
  /** How much it may write to standard output and error together. */
  readonly outputBytes: number;
  /** Is called once the program runs; `exceed` has it killed. Stopped when the program has ended. */
  readonly watch: (pid: number, exceed: (limit: ExceededLimit) => void) => { stop(): void };
  readonly signal: AbortSignal;
}

type GroupLeader = ChildProcessByStdio<null, Readable, Readable>;

/** How much of each output stream is kept. */
const OUTPUT_TAIL_BYTES = 64 * 1024;

/** How long the output of a killed group may stay open before we stop waiting for it. */
const AFTER_KILL_MS = 2_000;

/**
 * Runs a program as the leader of its own process group and resolves when it has ended and its output is closed. At a limit and
 * on abort the whole group is killed. Rejects with an AbortError, or if the program cannot be started.
 */
export async function runProcessGroup(options: ProcessOptions): Promise<ProcessOutcome> {
  const { argv, cwd, environment, input, emptied, timeoutMs, outputBytes, watch, signal } = options;
  signal.throwIfAborted();
  const started = performance.now();
  const [program, ...programArguments] = argv;
  const stdio: (IOType | number)[] = ['ignore', 'pipe', 'pipe', ...(input ? (['pipe', 'pipe'] as const) : [])];
  const nothing = openSync('/dev/null', 'r');
  for (const descriptor of emptied) {
    while (stdio.length <= descriptor) stdio.push('ignore');
    // Behind the first three that word leaves a descriptor as it is.
    if (stdio[descriptor] === 'ignore') stdio[descriptor] = nothing;
  }
  let child: GroupLeader;
  try {
    child = spawn(program, programArguments, { cwd, env: { ...environment }, stdio, detached: true }) as GroupLeader;
  } finally {
    closeSync(nothing);
  }
  const stdout = new Tail();
  const stderr = new Tail();
  const keep = (tail: Tail) => (chunk: Buffer) => {
    tail.add(chunk);
    if (stdout.written + stderr.written > outputBytes) exceed('output');
  };
  child.stdout.on('data', keep(stdout));
  child.stderr.on('data', keep(stderr));

  let exceeded: ExceededLimit | undefined;
  const exceed = (limit: ExceededLimit): void => {
    exceeded ??= limit;
    kill();
  };
  const ended = Promise.withResolvers<number | null>();
  let afterKill: NodeJS.Timeout | undefined;
  const kill = (): void => {
    killGroup(child.pid);
    // Without a sandbox a process can leave the group and hold the output open; we do not wait for it.
    afterKill ??= setTimeout(() => ended.resolve(child.exitCode), AFTER_KILL_MS);
  };
  const timer = setTimeout(() => exceed('time'), timeoutMs);
  const watching = child.pid === undefined ? undefined : watch(child.pid, exceed);
  signal.addEventListener('abort', kill, { once: true });
  child.once('error', ended.reject);
  // What the command has left running must not outlive it.
  child.once('exit', kill);
  child.once('close', (exitCode) => ended.resolve(exitCode));
  const [, , , inputPipe, askingPipe] = child.stdio as readonly unknown[] as readonly (Duplex | undefined)[];
  // A program that ends early reads none of it.
  for (const pipe of [inputPipe, askingPipe]) pipe?.on('error', () => undefined);
  inputPipe?.end(input);
  askingPipe?.once('data', () => askingPipe.end('\n'));
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
    child.stdout.destroy();
    child.stderr.destroy();
    inputPipe?.destroy();
    askingPipe?.destroy();
  }
}

function killGroup(groupId: number | undefined): void {
  if (groupId === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? groupId : -groupId, 'SIGKILL');
  } catch {
    // It is gone already, or what is left of it runs with rights that we lack: there is nothing more to do.
  }
}

/** Keeps the end of a stream, however much flows through. */
class Tail {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** All that has come, in bytes. */
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
