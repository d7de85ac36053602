import { availableParallelism, release, totalmem } from 'node:os';

/** What all processes of a command may use together. */
export interface Limits {
  /** Threads count. */
  readonly processes: number;
  /** Without what programs map of files, and with what they keep in file systems in memory. No single process may ask for more. */
  readonly memoryBytes: number;
  readonly cpuTimeMs: number;
  /** What files that were made or changed since the start take, also those that have no name any more. No single file may be larger. */
  readonly diskBytes: number;
  /** Written to standard output and error. */
  readonly outputBytes: number;
}

const GIB = 1024 ** 3;

/**
 * A quarter of the machine's memory, since several run at a time, but 4 GiB if that is not more than half; and processor time only so
 * limited that what has escaped the wall clock ends.
 */
export function defaultLimits(timeoutMs: number): Limits {
  const cores = availableParallelism();
  // In a container it may have less than the machine.
  const memory = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
  return {
    processes: Math.max(1_024, 64 * cores),
    memoryBytes: Math.floor(Math.min(memory / 2, Math.max(memory / 4, 4 * GIB))),
    cpuTimeMs: timeoutMs * cores,
    diskBytes: 4 * GIB,
    outputBytes: GIB / 4,
  };
}

/**
 * What the kernel holds for each process by itself, as lines for the shell. Where the user has a lower limit already, that one stays.
 * None of them is for all processes together: that is what `watchResources` is for.
 */
export function limitLines({ processes, memoryBytes, cpuTimeMs, diskBytes }: Limits, sandboxed: boolean): string {
  const lines = [
    'ulimit -c 0',
    // Private memory. Not address space: runtimes reserve far more of that than they use.
    `ulimit -d ${Math.floor(memoryBytes / 1024)} 2>/dev/null`,
    // POSIX counts blocks of 512 bytes.
    `ulimit -f ${Math.ceil(diskBytes / 512)} 2>/dev/null`,
    // Told first, and killed a second later.
    `ulimit -S -t ${Math.ceil(cpuTimeMs / 1_000)} 2>/dev/null`,
    `ulimit -H -t ${Math.ceil(cpuTimeMs / 1_000) + 1} 2>/dev/null`,
  ];
  // Twice as many, so that too many are seen to be too many, while a bomb stays within bounds. Shells do not agree on the letter.
  if (sandboxed && countsTheSandboxAlone()) lines.push(`ulimit -u ${2 * processes} 2>/dev/null || ulimit -p ${2 * processes} 2>/dev/null`);
  return lines.join('\n');
}

/** Whether the kernel's limit of processes, which is a user's, counts what is in the sandbox alone: since Linux 5.14. */
function countsTheSandboxAlone(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return process.platform === 'linux' && (major > 5 || (major === 5 && minor >= 14));
}
