import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExceededLimit } from '../process-group.ts';
import { shellQuote } from '../shell-quote.ts';
import type { Limits } from './limits.ts';

/** One of the kernel's controllers (cgroups(7), version 1). */
interface Controller {
  readonly name: string;
  /** Files and what to write to them; `optional` where not every kernel has them. */
  readonly settings: (limits: Limits) => readonly { file: string; value: number; optional?: boolean }[];
  /** Counts what the kernel has refused or ended. */
  readonly counter: { readonly file: string; readonly field: string };
  readonly limit: ExceededLimit;
}

const CONTROLLERS: readonly Controller[] = [
  {
    name: 'pids',
    settings: ({ processes }) => [{ file: 'pids.max', value: processes }],
    counter: { file: 'pids.events', field: 'max' },
    limit: 'processes',
  },
  {
    name: 'memory',
    settings: ({ memoryBytes }) => [
      { file: 'memory.limit_in_bytes', value: memoryBytes },
      // With what is swapped out.
      { file: 'memory.memsw.limit_in_bytes', value: memoryBytes, optional: true },
    ],
    counter: { file: 'memory.oom_control', field: 'oom_kill' },
    limit: 'memory',
  },
];

const REMOVED_WITHIN_MS = 2_000;

/**
 * Limits that the kernel holds for all processes of a command together, where we may set them: as root, with control groups of version 1.
 * Elsewhere there are none, and the watch alone has to hold them.
 */
export class ControlGroups {
  /** Where our own process is, for each controller, or undefined before the first look. */
  #parents: ReadonlyMap<Controller, string> | undefined;

  /** Undefined where none can be made. */
  create(limits: Limits): ControlGroup | undefined {
    if (!this.#parents) {
      this.#parents = findParents();
      sweep(this.#parents);
    }
    if (this.#parents.size === 0) return undefined;
    // The process id lets a later process see whose groups are left over.
    const name = `conductor-${process.pid}-${randomBytes(4).toString('hex')}`;
    const folders = new Map([...this.#parents].map(([controller, parent]) => [controller, path.join(parent, name)]));
    const group = new ControlGroup(folders);
    try {
      group.make(limits);
      return group;
    } catch {
      void group.remove();
      this.#parents = new Map();
      return undefined;
    }
  }
}

/** The group of one command. */
export class ControlGroup {
  readonly #folders: ReadonlyMap<Controller, string>;

  constructor(folders: ReadonlyMap<Controller, string>) {
    this.#folders = folders;
  }

  /** Throws an error of the file system. */
  make(limits: Limits): void {
    for (const [{ settings }, folder] of this.#folders) {
      mkdirSync(folder);
      for (const { file, value, optional } of settings(limits))
        if (!optional || existsSync(path.join(folder, file))) writeFileSync(path.join(folder, file), String(value));
    }
  }

  /** For the shell: puts the shell itself and all that it will start into the group. Does without where that fails. */
  get joinLine(): string {
    return [...this.#folders.values()].map((folder) => `echo 0 2>/dev/null > ${shellQuote(path.join(folder, 'cgroup.procs'))}`).join('; ');
  }

  /** What the kernel has refused its processes, or ended one for. */
  refused(): ExceededLimit | undefined {
    for (const [{ counter, limit }, folder] of this.#folders) {
      const text = readOr('', path.join(folder, counter.file));
      if (Number(new RegExp(`^${counter.field} (\\d+)`, 'm').exec(text)?.[1] ?? 0) > 0) return limit;
    }
    return undefined;
  }

  /** Kills what is left in the group and removes it; what cannot be removed now is left to a later start. */
  async remove(): Promise<void> {
    const until = performance.now() + REMOVED_WITHIN_MS;
    while (![...this.#folders.values()].map(removeFolder).every(Boolean) && performance.now() < until) await delay(5);
  }
}

/** Removes what processes that are gone have left behind. */
function sweep(parents: ReadonlyMap<Controller, string>): void {
  for (const parent of parents.values()) {
    for (const name of readdirSync(parent)) {
      const [, pid] = /^conductor-(\d+)-/.exec(name) ?? [];
      if (pid !== undefined && isGone(pid)) void new ControlGroup(new Map([[CONTROLLERS[0] as Controller, path.join(parent, name)]])).remove();
    }
  }
}

/** Returns whether it is gone. It cannot be while a process is in it, so those are killed. */
function removeFolder(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
  }
  try {
    // Nothing can start another one before it is killed.
    if (existsSync(path.join(folder, 'pids.max'))) writeFileSync(path.join(folder, 'pids.max'), '0');
    for (const pid of readFileSync(path.join(folder, 'cgroup.procs'), 'utf8').split('\n')) if (pid !== '') process.kill(Number(pid), 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
  return false;
}

/** The folders of the groups that our own process is in. Empty where controllers are missing or not ours to use. */
function findParents(): ReadonlyMap<Controller, string> {
  const own = readOr('', '/proc/self/cgroup').split('\n').map((line) => line.split(':'));
  const mounts = readOr('', '/proc/self/mountinfo').split('\n').map((line) => line.split(' '));
  const parents = new Map<Controller, string>();
  for (const controller of CONTROLLERS) {
    const has = (list: string | undefined): boolean => list?.split(',').includes(controller.name) ?? false;
    const [, , inside] = own.find(([, controllers]) => has(controllers)) ?? [];
    const mount = mounts.find((fields) => fields.includes('cgroup') && has(fields.at(-1)));
    const [, , , root, point] = mount ?? [];
    if (inside === undefined || root === undefined || point === undefined) return new Map();
    const relative = path.relative(root, inside);
    if (relative.startsWith('..')) return new Map();
    parents.set(controller, path.join(point, relative));
  }
  return parents;
}

function isGone(pid: string): boolean {
  const stat = readOr('', `/proc/${pid}/stat`);
  // One that nobody has buried yet is gone as well.
  return stat === '' || /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}

function readOr(fallback: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return fallback;
  }
}
