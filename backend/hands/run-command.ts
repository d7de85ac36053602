import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { LeasedCopy } from '../verify/copies/copy-pool.ts';
import type { RunFolder } from '../verify/files/run-folder.ts';
import type { Surroundings } from '../verify/runners/surroundings.ts';
import type { Sandbox, SandboxOutcome } from '../verify/sandbox/sandbox.ts';
import { shellQuote } from '../verify/sandbox/shell-quote.ts';
import { HANDS_LIMITS } from './limits.ts';

export interface RunCommandOptions {
  readonly sandbox: Pick<Sandbox, 'run'>;
  readonly copy: Pick<LeasedCopy, 'folder' | 'sharedFolders'>;
  /** Its HOME, which stays for the whole step. */
  readonly folder: RunFolder;
  readonly around: Surroundings;
  /** Folders that are hidden from it. */
  readonly hidden: readonly string[];
  readonly image: string | undefined;
  readonly signal: AbortSignal;
}

/** What is kept of each end of the output. */
const KEPT_BYTES = 32 * 1024;
const SAID = 'said';
/** Shorter times tell a worker nothing, and differ between runs: a training pays once for turns that are the same. */
const TOLD_FROM_MS = 10_000;

/**
 * Runs the command of `around` in the copy, in the sandbox, without input. What it prints on both streams goes to one file, in the order in which it was
 * printed. @returns what it said and how it ended, in words. Throws as `Sandbox.run`.
 */
export async function runCommand({ sandbox, copy, folder, around, hidden, image, signal }: RunCommandOptions): Promise<string> {
  const said = path.join(folder.report, SAID);
  const line = `shell=sh; command -v bash >/dev/null && shell=bash; "$shell" -c ${shellQuote(around.command)} >${shellQuote(said)} 2>&1 </dev/null`;
  const outcome = await sandbox.run({
    command: line,
    cwd: copy.folder,
    temporary: folder.temporary,
    writable: [folder.report],
    hidden,
    readable: [...copy.sharedFolders, folder.tools, ...around.readable],
    programFolders: around.programFolders,
    environment: { CI: 'true', ...around.environment, GIT_TERMINAL_PROMPT: '0', PAGER: 'cat' },
    timeoutMs: HANDS_LIMITS.commandMs,
    image, signal, sandboxed: true,
  });
  return commandInWords(outcome, await endsOf(said));
}

/** How a command ended and what it printed, for a worker. */
export function commandInWords(outcome: Pick<SandboxOutcome, 'exitCode' | 'exceeded' | 'durationMs' | 'stderr'>, output: string): string {
  return `${ending(outcome)}\n${output.trim() === '' ? '(It printed nothing.)' : output}${outcome.stderr.trim() === '' ? '' : `\n${outcome.stderr}`}`;
}

function ending({ exitCode, exceeded, durationMs }: Pick<SandboxOutcome, 'exitCode' | 'exceeded' | 'durationMs'>): string {
  switch (exceeded) {
    case undefined:
      return `Ended with ${exitCode === null ? 'a signal' : `exit code ${exitCode}`}${durationMs < TOLD_FROM_MS ? '' : ` after ${Math.round(durationMs / 1_000)} s`}.`;
    case 'time':
      return `Stopped: it did not end within ${HANDS_LIMITS.commandMs / 1_000} s.`;
    case 'memory':
      return 'Stopped: it used more memory than allowed.';
    case 'processes':
      return 'Stopped: it started more processes than allowed.';
    case 'disk':
      return 'Stopped: it wrote more to the disk than allowed.';
    case 'output':
      return 'Stopped: it printed more than allowed.';
  }
}

/** The beginning and the end of a file that the command could have replaced by anything. */
export async function endsOf(file: string): Promise<string> {
  let handle;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return '';
  }
  try {
    const found = await handle.stat();
    if (!found.isFile()) return '';
    const read = async (from: number, length: number): Promise<string> => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from);
      return buffer.subarray(0, bytesRead).toString('utf8');
    };
    if (found.size <= 2 * KEPT_BYTES) return await read(0, found.size);
    return `${await read(0, KEPT_BYTES)}\n[… ${(found.size - 2 * KEPT_BYTES).toLocaleString('en')} bytes left out …]\n${await read(found.size - KEPT_BYTES, KEPT_BYTES)}`;
  } finally {
    await handle.close();
  }
}
