import {
  cleanupBwrapMountPoints,
  wrapCommandWithSandboxLinux,
} from '@anthropic-ai/sandbox-runtime/dist/sandbox/linux-sandbox-utils.js';
import { RUN_SCRIPT } from './script.ts';
import { systemCallFilter } from './system-call-filter.ts';
import type { WalledLine, WallsAround } from './walled-line.ts';

/** The library writes its lines in another way than we know, or this is a processor that we know too little about. */
export class SandboxLineError extends Error {
  override readonly name = 'SandboxLineError';
}

/**
 * The line for Linux: the library's, which lets bubblewrap hide and lock folders and gives the command a network of its own, with what
 * it leaves open added.
 *
 * Taken one step below the library's `SandboxManager`, whose own would look through the working directory of the backend for files that
 * nobody may write, which takes seconds in a large one, to protect what no command here can write anyway; and whose own filter of system
 * calls comes from a helper that gives the command a second /proc: root could write the whole machine's settings there, such as the
 * program that the kernel starts where one crashes. It also takes a third of the time.
 */
export async function linuxLine(
  { hidden, readable, writable }: WallsAround,
  signal: AbortSignal,
): Promise<WalledLine & { readonly isReusable: boolean }> {
  const filter = systemCallFilter(process.arch);
  if (!filter) throw new SandboxLineError(`There is no sandbox for processors of type ${process.arch} yet.`);
  const line = await patiently(() => wrapCommandWithSandboxLinux({
    command: RUN_SCRIPT,
    binShell: 'sh',
    needsNetworkRestriction: true,
    readConfig: { denyOnly: [], allowWithinDeny: [], literalDenyOnly: [...hidden], literalAllowWithinDeny: [...readable] },
    writeConfig: { allowOnly: [], literalAllowOnly: [...writable], denyWithinAllow: [] },
    allowAllUnixSockets: true,
    // What looks for the files: see above.
    ripgrepConfig: { command: 'true' },
    abortSignal: signal,
  }));
  // A line with many folders names an open file of ours, which lives until it is released.
  const isReusable = !line.includes(`/proc/${process.pid}/fd/`);
  if (isReusable) cleanupBwrapMountPoints();
  return {
    line: reinforced(line),
    input: filter,
    isReusable,
    release: () => {
      if (!isReusable) cleanupBwrapMountPoints();
    },
  };
}

/** The library asks another program where the shell is and gives it a second, which is too little on a machine that is very busy. */
const TRIES = 4;
const FOUND_NO_SHELL = /^Shell '.*' not found/;

async function patiently(wrap: () => Promise<string>): Promise<string> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await wrap();
    } catch (error) {
      if (tried === TRIES || !FOUND_NO_SHELL.test((error as Error).message)) throw error;
    }
  }
}

const SESSION = ' --new-session ';
const PROC = ' --proc /proc ';

/**
 * Adds to a line of bubblewrap the filter of system calls, shared memory of its own, which would otherwise be the user's and outlive the
 * command, and a /proc that cannot be written.
 */
function reinforced(line: string): string {
  // In front of the first and behind the last of these there is nothing of the user's.
  const session = line.indexOf(SESSION);
  const proc = line.lastIndexOf(PROC);
  if (session < 0 || proc < session) throw new SandboxLineError('The sandbox library has changed: its line for bubblewrap has another form.');
  const afterSession = session + SESSION.length;
  const afterProc = proc + PROC.length;
  return `${line.slice(0, afterSession)}--unshare-ipc --seccomp 3 ${line.slice(afterSession, afterProc)}--remount-ro /proc ${line.slice(afterProc)}`;
}
