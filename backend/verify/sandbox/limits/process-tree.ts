import { readdirSync, readFileSync, statfsSync, statSync, type Stats } from 'node:fs';

/** A process among those that a command has started; all that it tells comes from proc(5). */
export interface RunningProcess {
  readonly pid: number;
  readonly threads: number;
  /** What is in memory or swapped out and no file's, whether it is shared or not. */
  readonly memoryBytes: number;
  /** Its own and that of the processes that it has waited for. */
  readonly cpuTimeMs: number;
}

/** proc(5) counts time in hundredths of a second on all architectures that we run on. */
const CLOCK_TICK_MS = 10;

/**
 * The process and its descendants. Where they have more than `mostThreads` the rest is left out, and so is what ends meanwhile. Reads
 * files of the kernel and waits for nothing: some 0.1 ms for a process with ten threads.
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
 * The memory of these processes in bytes, with what they share divided between them: in their own, and in what they share with others or
 * keep in a file system in memory. Takes the kernel some milliseconds for each gigabyte.
 */
export function dividedMemory(processes: readonly RunningProcess[]): { own: number; shared: number } {
  let [own, shared] = [0, 0];
  for (const { pid, memoryBytes } of processes) {
    const text = read(`/proc/${pid}/smaps_rollup`, { ifForbidden: 'forbidden' });
    if (text === 'forbidden') own += memoryBytes;
    // Linux before 5.4 does not tell what is a file's from what is not.
    else own += sizes(text, text.includes('Pss_Anon') ? ['Pss_Anon', 'SwapPss'] : ['Pss', 'SwapPss']);
    shared += sizes(text, ['Pss_Shmem']);
  }
  return { own, shared };
}

/** What these folders of a sandbox take, in bytes, which are file systems in memory there. Zero if none of the processes can be looked into. */
export function filesInMemory(processes: readonly RunningProcess[], folders: readonly string[]): number {
  // The last one is the likeliest to have left what sets up the sandbox, and to be open to us.
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

/** The bytes on disk of files that these processes hold open and that have no name any more, on the file systems of these folders. */
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

/** The sum, in bytes, of fields in a text of lines such as `RssAnon:     112 kB`. */
const sizes = (text: string, fields: readonly string[]): number =>
  fields.reduce((sum, field) => sum + 1024 * Number(new RegExp(`^${field}:\\s*(\\d+) kB`, 'm').exec(text)?.[1] ?? 0), 0);

/** Of a `stat` file: fields 14 to 17. The second field stands in parentheses and may contain anything. */
function cpuTimeMs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * CLOCK_TICK_MS;
}
