import {
  cleanupBwrapMountPoints,
  wrapCommandWithSandboxLinux,
} from '@anthropic-ai/sandbox-runtime/dist/sandbox/linux-sandbox-utils.js';
import { RUN_SCRIPT } from './script.ts';
import { systemCallFilter } from './system-call-filter.ts';
import { shellQuote } from '../shell-quote.ts';
import { SandboxLineError, type ShownFolder, type WalledLine, type WallsAround } from './walled-line.ts';

/**
 * The command line for Linux with bubblewrap. The library's line makes bubblewrap hide and lock folders and gives the command an empty network. We add
 * what the library leaves open.
 *
 * It is built one level below the library's `SandboxManager`, for three reasons. The manager searches the backend's working directory for
 * files to protect, which takes seconds in a large one, although no command here can write there. Its system call filter comes from a
 * helper that gives the command a second /proc, where root could write settings of the whole machine, such as the kernel's core dump
 * handler. And this way takes a third of the time.
 */
export async function bubblewrapLine(
  { hidden, readable, writable, shown }: WallsAround,
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
    // The search for files: see above.
    ripgrepConfig: { command: 'true' },
    abortSignal: signal,
  }));
  // A line with many folders names an open file of ours, which stays open until it is released.
  const isReusable = !line.includes(`/proc/${process.pid}/fd/`);
  if (isReusable) cleanupBwrapMountPoints();
  return {
    line: reinforced(line, shown),
    input: filter,
    isReusable,
    release: () => {
      if (!isReusable) cleanupBwrapMountPoints();
    },
  };
}

/** The library finds the shell by another program and allows it one second. That is too short on a very busy machine. */
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
 * Adds to bubblewrap's line the system call filter, private shared memory (the user's would outlive the command), a read-only /proc, and the
 * folder that is shown at another place.
 */
function reinforced(line: string, shown: ShownFolder | undefined): string {
  // Nothing before the first and after the last of these comes from the user.
  const session = line.indexOf(SESSION);
  const proc = line.lastIndexOf(PROC);
  if (session < 0 || proc < session) throw new SandboxLineError('The sandbox library has changed: its line for bubblewrap has another form.');
  const afterSession = session + SESSION.length;
  const afterProc = proc + PROC.length;
  const bound = shown ? `--bind ${shellQuote(shown.folder)} ${shellQuote(shown.at)} --chdir ${shellQuote(shown.at)} ` : '';
  return `${line.slice(0, afterSession)}--unshare-ipc --seccomp 3 ${line.slice(afterSession, afterProc)}--remount-ro /proc ${bound}${line.slice(afterProc)}`;
}
