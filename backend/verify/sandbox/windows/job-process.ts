import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { lowerIntegrity } from './integrity.ts';
import { Job, type JobLimits } from './job.ts';

/*
 * The process that holds the job object of one command on Windows. It puts itself into the job, starts cmd.exe with its own standard streams, and
 * ends with the command's exit code. When it ends, everything that the command has started ends. If our process ends first, Windows ends this one,
 * since libuv keeps its children in a job of its own.
 */

export interface JobRequest {
  /** What cmd.exe runs, see `cmdLine`. */
  readonly line: string;
  readonly comSpec: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: JobLimits;
  /** Whether the command may write only where all processes may. */
  readonly isLow: boolean;
}

/** The descriptors on which the request is read, and on which a limit is told that was exceeded, or why the command was not started. */
const REQUEST = 3;
const ANSWER = 4;

const LOOK_EVERY_MS = 200;

const answer = new Socket({ fd: ANSWER, readable: false, writable: true });
// Nobody listens any more.
answer.on('error', () => undefined);

async function run({ line, comSpec, cwd, environment, limits, isLow }: JobRequest): Promise<number> {
  const job = new Job(limits);
  // What is used before the command runs is ours.
  const own = job.use();
  if (isLow) lowerIntegrity();
  const child = spawn(comSpec, ['/d', '/s', '/c', `"${line}"`], {
    cwd, env: environment, stdio: 'inherit', windowsHide: true, windowsVerbatimArguments: true,
  });
  const ended = Promise.withResolvers<number>();
  child.once('error', ended.reject);
  child.once('exit', (code) => ended.resolve(code ?? 1));
  const timer = setInterval(() => {
    const use = job.use();
    const exceeded = use.peakMemoryBytes - own.peakMemoryBytes > limits.memoryBytes ? 'memory'
      : use.processes - own.processes >= limits.processes ? 'processes'
        : use.cpuTimeMs - own.cpuTimeMs > limits.cpuTimeMs ? 'time' : undefined;
    if (exceeded === undefined) return;
    clearInterval(timer);
    answer.write(`${exceeded}\n`);
  }, LOOK_EVERY_MS);
  try {
    return await ended.promise;
  } finally {
    clearInterval(timer);
  }
}

try {
  process.exitCode = await run(JSON.parse(await text(new Socket({ fd: REQUEST, readable: true, writable: false }))) as JobRequest);
} catch (error) {
  answer.write(`not started: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
answer.end(() => process.exit());
