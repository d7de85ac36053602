import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

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
  /** What it can read from file descriptor 3. */
  readonly input?: Uint8Array;
  readonly timeoutMs: number;
  /** How much it may write to standard output and error together. */
  readonly outputBytes: number;
  /** Is called once the program runs; `exceed` has it killed. Stopped when the program has ended. */
  readonly watch: (pid: number, exceed: (limit: ExceededLimit) => void) => { stop(): void };
  readonly signal: AbortSignal;
}

/** How much of each output stream is kept. */
const OUTPUT_TAIL_BYTES = 64 * 1024;

/** How long the output of a killed group may stay open before we stop waiting for it. */
const AFTER_KILL_MS = 2_000;

/**
 * Runs a program as the leader of its own process group and resolves when it has ended and its output is closed. At a limit and
 * on abort the whole group is killed. Rejects with an AbortError, or if the program cannot be started.
 */
export async function runProcessGroup(options: ProcessOptions): Promise<ProcessOutcome> {
  const { argv, cwd, environment, input, timeoutMs, outputBytes, watch, signal } = options;
  signal.throwIfAborted();
  const started = performance.now();
  const [program, ...programArguments] = argv;
  const child = spawn(program, programArguments, {
    cwd,
    env: { ...environment },
    stdio: ['ignore', 'pipe', 'pipe', ...(input ? ['pipe' as const] : [])],
    detached: true,
  }) as ChildProcessByStdio<null, Readable, Readable>;
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
  const inputPipe = child.stdio[3] as Writable | undefined;
  // A program that cannot be started reads none.
  inputPipe?.on('error', () => undefined).end(input);
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
