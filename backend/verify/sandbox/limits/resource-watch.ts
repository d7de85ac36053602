import { readFileSync } from 'node:fs';
import type { ExceededLimit } from '../process-group.ts';
import type { ControlGroup } from './control-group.ts';
import { freeSpace, growth, lessFree, type FreeSpace } from './disk-growth.ts';
import { FollowedProcesses } from './followed-processes.ts';
import type { Limits } from './limits.ts';
import { dividedMemory, filesInMemory, namelessFiles, processTree, type RunningProcess } from './process-tree.ts';

export interface WatchedCommand {
  readonly limits: Limits;
  /** The folders on disk that the command may write, absolute. */
  readonly writable: readonly string[];
  /** Folders that are in-memory file systems for the command. */
  readonly inMemory: readonly string[];
  readonly group: ControlGroup | undefined;
}

const LOOK_EVERY_MS = 200;

/** The share of our own process's time that the watch may take. */
const LARGEST_PART_OF_TIME = 1 / 10;

/** Files are counted when the free space has shrunk by this fraction of the limit: a few times before the limit is reached. */
const NOTICEABLE_PART = 1 / 4;

/** Below this free memory, the kernel may soon kill processes of its choice. */
const LAST_PART_OF_MEMORY = 0.04;

/**
 * Measures a few times per second what the command's processes use together. Calls `exceed` at a limit, and then stops. Unlike the kernel's
 * own limits, it applies to root, too. It works on Linux and, with less, on macOS: without threads, and with shared memory counted for each
 * process. Outside a sandbox of Linux, a process can leave the observed tree.
 */
export class ResourceWatch {
  readonly #command: WatchedCommand;
  readonly #exceed: (limit: ExceededLimit) => void;
  readonly #root: number;
  readonly #since = new Date();
  readonly #freeAtStart: FreeSpace;
  /** On macOS. */
  readonly #followed: FollowedProcesses | undefined;
  #timer: NodeJS.Timeout | undefined;
  #freeAtLastCount: FreeSpace;
  #isCounting = false;
  #isOver = false;

  constructor(pid: number, command: WatchedCommand, exceed: (limit: ExceededLimit) => void) {
    this.#root = pid;
    this.#command = command;
    this.#exceed = exceed;
    this.#freeAtStart = freeSpace(command.writable);
    this.#freeAtLastCount = this.#freeAtStart;
    if (process.platform === 'darwin') this.#followed = new FollowedProcesses(pid);
    if (process.platform === 'linux' || this.#followed) this.#lookIn(LOOK_EVERY_MS);
  }

  /** On macOS, ends the processes that have left the group of the command. */
  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#followed?.end();
  }

  #lookIn(waitMs: number): void {
    this.#timer = setTimeout(() => {
      const started = performance.now();
      const goOn = (): void => {
        if (!this.#isOver) this.#lookIn(Math.max(LOOK_EVERY_MS, (performance.now() - started) / LARGEST_PART_OF_TIME));
      };
      // If ps fails, the next look may not.
      if (this.#followed) return void this.#lookAtFollowed(this.#followed).then(goOn, goOn);
      this.#look();
      goOn();
    }, waitMs);
  }

  async #lookAtFollowed(followed: FollowedProcesses): Promise<void> {
    const { limits } = this.#command;
    const processes = await followed.look();
    const sum = (of: 'memoryBytes' | 'cpuTimeMs'): number => processes.reduce((total, found) => total + found[of], 0);
    if (processes.length >= limits.processes) return this.#end('processes');
    if (sum('cpuTimeMs') > limits.cpuTimeMs) return this.#end('time');
    if (sum('memoryBytes') > limits.memoryBytes) return this.#end('memory');
    await this.#lookAtDisk([]);
  }

  #end(limit: ExceededLimit): void {
    if (this.#isOver) return;
    this.stop();
    this.#exceed(limit);
  }

  #look(): void {
    const { limits, group } = this.#command;
    const refused = group?.refused();
    if (refused !== undefined) return this.#end(refused);
    const processes = processTree(this.#root, limits.processes);
    const sum = (of: 'threads' | 'memoryBytes' | 'cpuTimeMs'): number => processes.reduce((total, found) => total + found[of], 0);
    if (sum('threads') >= limits.processes) return this.#end('processes');
    if (sum('cpuTimeMs') > limits.cpuTimeMs) return this.#end('time');
    if (this.#memory(processes, sum('memoryBytes')) > limits.memoryBytes || isMemoryNearlyGone()) return this.#end('memory');
    // If it fails, the next look counts again.
    this.#lookAtDisk(processes).catch(() => undefined);
  }

  /** Counts shared memory once. That is slow, so it is done only if it can make a difference. */
  #memory(processes: readonly RunningProcess[], ofEach: number): number {
    const inFiles = filesInMemory(processes, this.#command.inMemory);
    if (ofEach + inFiles <= this.#command.limits.memoryBytes) return ofEach + inFiles;
    const { own, shared } = dividedMemory(processes);
    // Shared memory may be in such a file system.
    return own + Math.max(shared, inFiles);
  }

  async #lookAtDisk(processes: readonly RunningProcess[]): Promise<void> {
    const { limits, writable } = this.#command;
    const free = freeSpace(writable);
    // The command may not use up the machine's memory either.
    const most = Math.min(limits.diskBytes, this.#freeAtStart.bytes / 2);
    if (lessFree(this.#freeAtLastCount, free) < 0) this.#freeAtLastCount = free;
    if (this.#isCounting || lessFree(this.#freeAtLastCount, free) < most * NOTICEABLE_PART) return;
    this.#isCounting = true;
    this.#freeAtLastCount = free;
    const ifUnreadable = lessFree(this.#freeAtStart, free);
    try {
      const bytes = namelessFiles(processes, writable) + (await growth({ folders: writable, since: this.#since, most, ifUnreadable }));
      if (bytes > most) this.#end('disk');
    } finally {
      this.#isCounting = false;
    }
  }
}

function isMemoryNearlyGone(): boolean {
  const text = readFileSync('/proc/meminfo', 'latin1');
  const [total = 0, available = 0, swap = 0] = ['MemTotal', 'MemAvailable', 'SwapFree'].map((name) =>
    Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN),
  );
  return available + swap < total * LAST_PART_OF_MEMORY;
}
