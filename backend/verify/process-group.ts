import { spawn } from 'node:child_process';

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
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How much of each output stream is kept. */
const OUTPUT_TAIL_BYTES = 64 * 1024;

/** How long the output of a killed group may stay open before we stop waiting for it. */
const AFTER_KILL_MS = 2_000;

/**
 * Runs a program as the leader of its own process group and resolves when it has ended and its output is closed. At the time
 * limit and on abort the whole group is killed. Rejects with an AbortError, or if the program cannot be started.
 */
export async function runProcessGroup({ argv, cwd, environment, timeoutMs, signal }: ProcessOptions): Promise<ProcessOutcome> {
  signal.throwIfAborted();
  const started = performance.now();
  const [program, ...programArguments] = argv;
  const child = spawn(program, programArguments, {
    cwd,
    env: { ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const stdout = new Tail();
  const stderr = new Tail();
  child.stdout.on('data', (chunk: Buffer) => stdout.add(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.add(chunk));

  let exceeded: ExceededLimit | undefined;
  const ended = Promise.withResolvers<number | null>();
  let afterKill: NodeJS.Timeout | undefined;
  const kill = (): void => {
    killGroup(child.pid);
    // Without a sandbox a process can leave the group and hold the output open; we do not wait for it.
    afterKill ??= setTimeout(() => ended.resolve(child.exitCode), AFTER_KILL_MS);
  };
  const timer = setTimeout(() => {
    exceeded = 'time';
    kill();
  }, timeoutMs);
  signal.addEventListener('abort', kill, { once: true });
  child.once('error', ended.reject);
  // What the command has left running must not outlive it.
  child.once('exit', kill);
  child.once('close', (exitCode) => ended.resolve(exitCode));
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
    clearTimeout(timer);
    clearTimeout(afterKill);
    signal.removeEventListener('abort', kill);
    child.stdout.destroy();
    child.stderr.destroy();
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

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes - (this.#chunks[0]?.length ?? 0) >= OUTPUT_TAIL_BYTES) this.#bytes -= this.#chunks.shift()?.length ?? 0;
  }

  toString(): string {
    return Buffer.concat(this.#chunks).subarray(-OUTPUT_TAIL_BYTES).toString('utf8');
  }
}
