import { availableParallelism, release, totalmem } from 'node:os';

/** The limits of all processes of a command together. */
export interface Limits {
  /** Includes threads. */
  readonly processes: number;
  /** Without mapped files, but with in-memory file systems. No single process may allocate more. */
  readonly memoryBytes: number;
  readonly cpuTimeMs: number;
  /** Files that were created or changed since the start, including deleted ones that are still open. No single file may be larger. */
  readonly diskBytes: number;
  /** Written to standard output and error. */
  readonly outputBytes: number;
}

const GIB = 1024 ** 3;

/**
 * The memory limit is a quarter of the machine's memory, because several commands run at the same time, or 4 GiB if that is at most half of
 * it. The limit of processor time only ends processes that have escaped the timeout.
 */
export function defaultLimits(timeoutMs: number): Limits {
  const cores = availableParallelism();
  // A container may have less memory than the machine.
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
 * Shell lines for the limits that the kernel enforces for each process. A lower limit of the user's stays. `ResourceWatch` enforces the
 * limits of all processes together.
 */
export function limitLines({ processes, memoryBytes, cpuTimeMs, diskBytes }: Limits, sandboxed: boolean): string {
  const lines = [
    'ulimit -c 0',
    // Private memory, not address space: runtimes reserve far more address space than they use.
    `ulimit -d ${Math.floor(memoryBytes / 1024)} 2>/dev/null`,
    // POSIX counts blocks of 512 bytes.
    `ulimit -f ${Math.ceil(diskBytes / 512)} 2>/dev/null`,
    // A warning signal first, and SIGKILL a second later.
    `ulimit -S -t ${Math.ceil(cpuTimeMs / 1_000)} 2>/dev/null`,
    `ulimit -H -t ${Math.ceil(cpuTimeMs / 1_000) + 1} 2>/dev/null`,
  ];
  // Twice the limit, so that the watch sees that it is exceeded, while a fork bomb stays bounded. Shells differ in the option's letter.
  if (sandboxed && countsTheSandboxAlone()) lines.push(`ulimit -u ${2 * processes} 2>/dev/null || ulimit -p ${2 * processes} 2>/dev/null`);
  return lines.join('\n');
}

/** Whether the kernel's limit of processes per user counts only those in the sandbox. True since Linux 5.14. */
function countsTheSandboxAlone(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return process.platform === 'linux' && (major > 5 || (major === 5 && minor >= 14));
}
