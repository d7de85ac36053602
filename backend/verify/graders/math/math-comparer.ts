import { spawn, type ChildProcess } from 'node:child_process';
import { SerialQueue } from '../../../common/serial-queue.ts';
import { GraderInfrastructureError } from '../grader.ts';
import { mathReplySchema, type MathReply, type MathRequest } from './math-messages.ts';
import type { Tolerance } from './tolerance.ts';

export interface MathComparerOptions {
  /** math-process.ts, or the bundle of it. */
  readonly script: string;
  /** The Node that runs it. */
  readonly nodePath: string;
  /** The whole environment of the process. */
  readonly environment: Readonly<Record<string, string>>;
  /** For one comparison. Results that take longer count as different. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 5_000;

/** Loading the library takes 0.2 s on an idle machine. */
const START_TIMEOUT_MS = 60_000;

const MEMORY_MIB = 512;

/**
 * Compares mathematical results in a child process. It starts with the first comparison and stays for the next ones. It is killed if a
 * comparison takes too long. It cannot generate code from strings.
 */
export class MathComparer {
  readonly #options: MathComparerOptions;
  /** The process does one comparison at a time. */
  readonly #turns = new SerialQueue();
  readonly #closing = new AbortController();
  #child: Promise<Child> | undefined;

  constructor(options: MathComparerOptions) {
    this.#options = options;
  }

  /**
   * Whether two results (LaTeX in normal form) mean the same. False if the comparison takes too long.
   * Throws `GraderInfrastructureError` if the process cannot be started, or the signal's reason.
   */
  async same(expected: string, given: string, tolerance: Tolerance | undefined, signal: AbortSignal): Promise<boolean> {
    return await this.#turns.run(() => this.#compare({ id: 0, expected, given, tolerance }, signal), signal);
  }

  /** Ends the process. */
  async close(): Promise<void> {
    this.#closing.abort();
    (await this.#child?.catch(() => undefined))?.kill();
  }

  async #compare(request: MathRequest, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    if (this.#closing.signal.aborted) throw new GraderInfrastructureError('The comparison of mathematics has been closed.');
    this.#child ??= startChild(this.#options, this.#closing.signal);
    const starting = this.#child;
    let child: Child;
    try {
      child = await starting;
    } catch (error) {
      this.#child = undefined;
      throw error;
    }
    const same = await child.compare(request, this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS, signal);
    if (child.isGone) this.#child = undefined;
    signal.throwIfAborted();
    return same;
  }
}

interface Child {
  readonly isGone: boolean;
  compare(request: MathRequest, timeoutMs: number, signal: AbortSignal): Promise<boolean>;
  kill(): void;
}

async function startChild({ script, nodePath, environment }: MathComparerOptions, closing: AbortSignal): Promise<Child> {
  const flags = ['--disallow-code-generation-from-strings', `--max-old-space-size=${MEMORY_MIB}`];
  const child = spawn(nodePath, [...flags, script], {
    env: { ...environment },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    windowsHide: true,
  });
  // Without a listener, an error would end our own process.
  child.on('error', () => undefined);
  // An idle comparer must not keep our own process alive.
  child.unref();
  child.channel?.unref?.();
  const ready = await nextReply(child, START_TIMEOUT_MS, closing, (reply) => reply.type === 'ready');
  if (!ready) {
    child.kill('SIGKILL');
    throw new GraderInfrastructureError(`The process that compares mathematics does not start (${nodePath} ${script}).`);
  }
  let isGone = false;
  child.once('exit', () => (isGone = true));
  let lastId = 0;
  return {
    get isGone() {
      return isGone || child.killed || !child.connected;
    },
    compare: async (request, timeoutMs, signal) => {
      lastId += 1;
      const id = lastId;
      const replied = nextReply(child, timeoutMs, signal, (reply) => reply.type === 'compared' && reply.id === id);
      child.send({ ...request, id }, () => undefined);
      const reply = await replied;
      if (reply?.type === 'compared') return reply.same;
      // It was too slow, aborted, or out of memory.
      child.kill('SIGKILL');
      return false;
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

/** The next wanted message. Undefined if the process ends, time runs out or the signal aborts first. */
function nextReply(
  child: ChildProcess,
  timeoutMs: number,
  signal: AbortSignal,
  isWanted: (reply: MathReply) => boolean,
): Promise<MathReply | undefined> {
  const { promise, resolve } = Promise.withResolvers<MathReply | undefined>();
  const onMessage = (message: unknown): void => {
    const reply = mathReplySchema.safeParse(message);
    if (reply.success && isWanted(reply.data)) resolve(reply.data);
  };
  const onEnd = (): void => resolve(undefined);
  const timer = setTimeout(onEnd, timeoutMs);
  child.on('message', onMessage);
  child.once('error', onEnd).once('exit', onEnd);
  signal.addEventListener('abort', onEnd, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    child.off('message', onMessage).off('error', onEnd).off('exit', onEnd);
    signal.removeEventListener('abort', onEnd);
  });
}
