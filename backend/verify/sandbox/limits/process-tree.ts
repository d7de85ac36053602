import { readdirSync, readFileSync, statfsSync, statSync, type Stats } from 'node:fs';

/** A process of a command, as proc(5) describes it. */
export interface RunningProcess {
  readonly pid: number;
  readonly threads: number;
  /** Memory that belongs to no file, in RAM or swapped out, shared or not. */
  readonly memoryBytes: number;
  /** Its own time, and that of the children that it has waited for. */
  readonly cpuTimeMs: number;
}

/** proc(5) counts time in hundredths of a second on all architectures that we run on. */
const CLOCK_TICK_MS = 10;

/**
 * The process and its descendants, up to `mostThreads` threads, without processes that end meanwhile. Reads files of the kernel
 * synchronously: about 0.1 ms for a process with ten threads.
 */
export function processTree(root: number, mostThreads: number): RunningProcess[] {
  const found: RunningProcess[] = [];
  const pids = [root];
  let seenThreads = 0;
  for (const pid of pids) {
    if (seenThreads > mostThreads) break;
    const threads = list(`/proc/${pid}/task`);
    seenThreads += threads.length;
    for (const thread of threads)
      for (const child of read(`/proc/${pid}/task/${thread}/children`).split(' ')) if (child !== '') pids.push(Number(child));
    const memoryBytes = sizes(read(`/proc/${pid}/status`), ['RssAnon', 'RssShmem', 'VmSwap']);
    found.push({ pid, threads: threads.length, memoryBytes, cpuTimeMs: cpuTimeMs(read(`/proc/${pid}/stat`)) });
  }
  return found;
}

/**
 * The memory of these processes in bytes: private, and shared or in in-memory file systems. Shared memory is divided between its users. The
 * kernel takes some milliseconds per gigabyte.
 */
export function dividedMemory(processes: readonly RunningProcess[]): { own: number; shared: number } {
  let [own, shared] = [0, 0];
  for (const { pid, memoryBytes } of processes) {
    const text = read(`/proc/${pid}/smaps_rollup`, { ifForbidden: 'forbidden' });
    if (text === 'forbidden') own += memoryBytes;
    // Linux before 5.4 does not separate file memory from other memory.
    else own += sizes(text, text.includes('Pss_Anon') ? ['Pss_Anon', 'SwapPss'] : ['Pss', 'SwapPss']);
    shared += sizes(text, ['Pss_Shmem']);
  }
  return { own, shared };
}

/** The bytes in these in-memory file systems of a sandbox. Zero if we may not inspect any of the processes. */
export function filesInMemory(processes: readonly RunningProcess[], folders: readonly string[]): number {
  // The last process is the likeliest to have left the set-up stage of the sandbox, so that we may inspect it.
  for (const { pid } of processes.toReversed()) {
    const used = folders.map((folder) => usedInMemory(`/proc/${pid}/root${folder}`));
    if (used.some((bytes) => bytes !== undefined)) return used.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0);
  }
  return 0;
}

/** statfs(2) */
const TMPFS = 0x01021994;

function usedInMemory(folder: string): number | undefined {
  try {
    const { type, bsize, blocks, bfree } = statfsSync(folder);
    return type === TMPFS ? (blocks - bfree) * bsize : 0;
  } catch {
    return undefined;
  }
}

/** The bytes on disk of deleted files that these processes keep open, on the file systems of these folders. */
export function namelessFiles(processes: readonly RunningProcess[], folders: readonly string[]): number {
  const devices = new Set(folders.map((folder) => look(folder)?.dev));
  const bytes = new Map<string, number>();
  for (const { pid } of processes) {
    for (const descriptor of list(`/proc/${pid}/fd`)) {
      const found = look(`/proc/${pid}/fd/${descriptor}`);
      if (found?.isFile() && found.nlink === 0 && devices.has(found.dev)) bytes.set(`${found.dev} ${found.ino}`, found.blocks * 512);
    }
  }
  return [...bytes.values()].reduce((sum, size) => sum + size, 0);
}

function look(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string, { ifForbidden = '' } = {}): string {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '') ? ifForbidden : '';
  }
}

/** The sum of fields in lines such as `RssAnon:     112 kB`, in bytes. */
const sizes = (text: string, fields: readonly string[]): number =>
  fields.reduce((sum, field) => sum + 1024 * Number(new RegExp(`^${field}:\\s*(\\d+) kB`, 'm').exec(text)?.[1] ?? 0), 0);

/** Of a `stat` file: fields 14 to 17. The second field stands in parentheses and may contain anything. */
function cpuTimeMs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * CLOCK_TICK_MS;
}
