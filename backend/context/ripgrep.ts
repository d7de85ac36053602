import { spawn } from 'node:child_process';

export interface RipgrepLimits {
  readonly timeoutMs: number;
  /** Maximum output of one call, in UTF-16 units. */
  readonly maxOutputLength: number;
}
/** Enough for about 200,000 paths. */
const LIMITS: RipgrepLimits = { timeoutMs: 10_000, maxOutputLength: 16 * 1024 * 1024 };
const MAX_STDERR_LENGTH = 1_000;

/** ripgrep cannot be started; the message says why. */
export class RipgrepUnavailableError extends Error {
  override readonly name = 'RipgrepUnavailableError';
}

/** How a call ended: all output was read, or the call was stopped because it took too long or printed too much. */
export type RipgrepEnd = 'complete' | 'timeout' | 'too-much';

export interface RipgrepCall {
  readonly args: readonly string[];
  readonly folder: string;
  /** The terminator of each record that ripgrep prints. */
  readonly separator: '\0' | '\n';
  readonly onRecord: (record: string) => void;
  readonly signal: AbortSignal;
}

/** Runs ripgrep, never with the user's own configuration file. */
export class Ripgrep {
  readonly #executable: string | undefined;
  readonly #limits: RipgrepLimits;

  /** @param executable absolute path; undefined if there is none for this platform */
  constructor(executable: string | undefined, limits: RipgrepLimits = LIMITS) {
    this.#executable = executable;
    this.#limits = limits;
  }

  /**
   * Resolves when ripgrep has ended or was stopped.
   * @throws RipgrepUnavailableError, or the signal's reason when it aborts; ripgrep is then killed
   */
  run({ args, folder, separator, onRecord, signal }: RipgrepCall): Promise<RipgrepEnd> {
    signal.throwIfAborted();
    const executable = this.#executable;
    if (executable === undefined) return Promise.reject(new RipgrepUnavailableError('There is no ripgrep for this platform.'));

    return new Promise((resolve, reject) => {
      const child = spawn(executable, ['--no-config', ...args], {
        cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true,
      });
      let stopped: RipgrepEnd | undefined;
      let length = 0;
      let records = 0;
      let rest = '';
      let complaint = '';
      const stop = (why: RipgrepEnd): void => {
        stopped ??= why;
        child.kill('SIGKILL');
      };
      const onAbort = (): void => void child.kill('SIGKILL');
      const timer = setTimeout(() => stop('timeout'), this.#limits.timeoutMs);
      signal.addEventListener('abort', onAbort);
      const settle = (finish: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        finish();
      };

      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        if (stopped || signal.aborted) return;
        length += chunk.length;
        const parts = (rest + chunk).split(separator);
        rest = parts.pop() ?? '';
        records += parts.length;
        for (const record of parts) onRecord(record);
        if (length > this.#limits.maxOutputLength) stop('too-much');
      });
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
        complaint = (complaint + chunk).slice(0, MAX_STDERR_LENGTH);
      });
      child.on('error', (cause) => settle(() => {
        if (signal.aborted) reject(signal.reason);
        else reject(new RipgrepUnavailableError(`ripgrep could not be started: ${cause.message}.`, { cause }));
      }));
      child.on('close', (code) => settle(() => {
        if (signal.aborted) reject(signal.reason);
        else if (stopped) resolve(stopped);
        // 1: nothing found. 2 after some records: some files could not be read.
        else if (code === 0 || code === 1 || records > 0) resolve('complete');
        else reject(new RipgrepUnavailableError(`ripgrep failed: ${complaint.trim().split('\n')[0] || `exit code ${code}`}`));
      }));
    });
  }
}
