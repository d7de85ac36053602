import { readFileSync } from 'node:fs';
import type { ExceededLimit } from '../process-group.ts';
import type { ControlGroup } from './control-group.ts';
import { freeSpace, growth, lessFree, type FreeSpace } from './disk-growth.ts';
import type { Limits } from './limits.ts';
import { dividedMemory, filesInMemory, namelessFiles, processTree, type RunningProcess } from './process-tree.ts';

export interface WatchedCommand {
  readonly limits: Limits;
  /** Where it may write to the disk, absolute. */
  readonly writable: readonly string[];
  /** Folders that are file systems in memory for the command. */
  readonly inMemory: readonly string[];
  readonly group: ControlGroup | undefined;
}

const LOOK_EVERY_MS = 200;

/** Of the time of our own process, which has other things to do. */
const LARGEST_PART_OF_TIME = 1 / 10;

/** Files are counted once so much less is free, as a part of the limit: not more often than a few times before it is reached. */
const NOTICEABLE_PART = 1 / 4;

/** Below that the machine is about to kill processes of its own choice. */
const LAST_PART_OF_MEMORY = 0.04;

/**
 * Looks a few times a second at what the command's processes use together, and calls `exceed` when that is too much; from then on it
 * looks no more. Holds for every user, root too, where the kernel's own limits do not. On Linux; elsewhere it sees nothing. A process
 * that nothing walls in can leave the tree that is looked at.
 */
export class ResourceWatch {
  readonly #command: WatchedCommand;
  readonly #exceed: (limit: ExceededLimit) => void;
  readonly #root: number;
  readonly #since = new Date();
  readonly #freeAtStart: FreeSpace;
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
    if (process.platform === 'linux') this.#lookIn(LOOK_EVERY_MS);
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #lookIn(waitMs: number): void {
    this.#timer = setTimeout(() => {
      const started = performance.now();
      this.#look();
      if (!this.#isOver) this.#lookIn(Math.max(LOOK_EVERY_MS, (performance.now() - started) / LARGEST_PART_OF_TIME));
    }, waitMs);
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
    void this.#lookAtDisk(processes);
  }

  /** Counts what processes share but once, which takes its time, only where it matters. */
  #memory(processes: readonly RunningProcess[], ofEach: number): number {
    const inFiles = filesInMemory(processes, this.#command.inMemory);
    if (ofEach + inFiles <= this.#command.limits.memoryBytes) return ofEach + inFiles;
    const { own, shared } = dividedMemory(processes);
    // What they share may be such a file, or not.
    return own + Math.max(shared, inFiles);
  }

  async #lookAtDisk(processes: readonly RunningProcess[]): Promise<void> {
    const { limits, writable } = this.#command;
    const free = freeSpace(writable);
    // It may not take the last of it either.
    const most = Math.min(limits.diskBytes, this.#freeAtStart.bytes / 2);
    if (lessFree(this.#freeAtLastCount, free) < 0) this.#freeAtLastCount = free;
    if (this.#isCounting || lessFree(this.#freeAtLastCount, free) < most * NOTICEABLE_PART) return;
    this.#isCounting = true;
    this.#freeAtLastCount = free;
    const ifUnreadable = lessFree(this.#freeAtStart, free);
    const bytes = namelessFiles(processes, writable) + (await growth({ folders: writable, since: this.#since, most, ifUnreadable }));
    this.#isCounting = false;
    if (bytes > most) this.#end('disk');
  }
}

function isMemoryNearlyGone(): boolean {
  const text = readFileSync('/proc/meminfo', 'latin1');
  const [total = 0, available = 0, swap = 0] = ['MemTotal', 'MemAvailable', 'SwapFree'].map((name) =>
    Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(text)?.[1] ?? Number.NaN),
  );
  return available + swap < total * LAST_PART_OF_MEMORY;
}
