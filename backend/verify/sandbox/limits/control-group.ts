import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExceededLimit } from '../process-group.ts';
import { shellQuote } from '../shell-quote.ts';
import type { Limits } from './limits.ts';

/** The limits of one of the kernel's controllers (cgroups(7)). */
interface Controller {
  readonly name: 'pids' | 'memory';
  /** The files to write, and their contents. Not every kernel has the `optional` ones. */
  readonly settings: (limits: Limits) => readonly { file: string; value: number; optional?: boolean }[];
  /** The file that counts what the kernel refused or killed. */
  readonly counter: { readonly file: string; readonly field: string };
  readonly limit: ExceededLimit;
}

const PIDS: Controller = {
  name: 'pids',
  settings: ({ processes }) => [{ file: 'pids.max', value: processes }],
  counter: { file: 'pids.events', field: 'max' },
  limit: 'processes',
};

const MEMORY_1: Controller = {
  name: 'memory',
  settings: ({ memoryBytes }) => [
    { file: 'memory.limit_in_bytes', value: memoryBytes },
    // Includes swapped-out memory.
    { file: 'memory.memsw.limit_in_bytes', value: memoryBytes, optional: true },
  ],
  counter: { file: 'memory.oom_control', field: 'oom_kill' },
  limit: 'memory',
};

const MEMORY_2: Controller = {
  name: 'memory',
  settings: ({ memoryBytes }) => [
    { file: 'memory.max', value: memoryBytes },
    { file: 'memory.swap.max', value: 0, optional: true },
  ],
  counter: { file: 'memory.events', field: 'oom_kill' },
  limit: 'memory',
};

/** A folder in which we may create groups, with the controllers of these groups. Version 1 has a folder per controller, version 2 one for all. */
interface Parent {
  readonly folder: string;
  readonly controllers: readonly Controller[];
}

const REMOVED_WITHIN_MS = 2_000;

/** Limits that the kernel enforces for all processes of a command together. If it does not allow that, only polling enforces them. */
export class ControlGroups {
  #parents: readonly Parent[] | undefined;

  /** Undefined if no group can be created. */
  create(limits: Limits): ControlGroup | undefined {
    if (!this.#parents) {
      this.#parents = parentsInVersion2() ?? parentsInVersion1() ?? [];
      for (const { folder } of this.#parents) sweep(folder);
    }
    if (this.#parents.length === 0) return undefined;
    // By the process id, a later process recognizes left-over groups.
    const name = `conductor-${process.pid}-${randomBytes(4).toString('hex')}`;
    const parts = this.#parents.map(({ folder, controllers }) => ({ folder: path.join(folder, name), controllers }));
    const group = new ControlGroup(parts);
    try {
      group.make(limits);
      return group;
    } catch {
      group.remove().catch(() => undefined);
      this.#parents = [];
      return undefined;
    }
  }
}

/** The group of one command. */
export class ControlGroup {
  readonly #parts: readonly Parent[];

  constructor(parts: readonly Parent[]) {
    this.#parts = parts;
  }

  /** Throws an error of the file system. */
  make(limits: Limits): void {
    for (const { folder, controllers } of this.#parts) {
      mkdirSync(folder);
      for (const { file, value, optional } of controllers.flatMap(({ settings }) => settings(limits)))
        if (!optional || existsSync(path.join(folder, file))) writeFileSync(path.join(folder, file), String(value));
    }
  }

  /** A shell line that puts the shell and all that it starts into the group. Continues without a group on failure. */
  get joinLine(): string {
    return this.#parts.map(({ folder }) => `echo 0 2>/dev/null > ${shellQuote(path.join(folder, 'cgroup.procs'))}`).join('; ');
  }

  /** The limit at which the kernel refused something to the processes or killed one. */
  refused(): ExceededLimit | undefined {
    for (const { folder, controllers } of this.#parts) {
      for (const { counter, limit } of controllers) {
        const count = new RegExp(`^${counter.field} (\\d+)`, 'm').exec(read(path.join(folder, counter.file)))?.[1];
        if (Number(count ?? 0) > 0) return limit;
      }
    }
    return undefined;
  }

  /** Kills what is left in the group and removes it. What cannot be removed now is removed at a later start. */
  async remove(): Promise<void> {
    const until = performance.now() + REMOVED_WITHIN_MS;
    while (!this.#parts.map(({ folder }) => removeFolder(folder)).every(Boolean) && performance.now() < until) await delay(5);
  }
}

/** Removes the groups of processes that have ended. */
function sweep(parent: string): void {
  for (const name of readdirSync(parent)) {
    const [, pid] = /^conductor-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || !isGone(pid)) continue;
    new ControlGroup([{ folder: path.join(parent, name), controllers: [] }]).remove().catch(() => undefined);
  }
}

/** Returns whether the folder is removed. That fails while a process is in the group, so its processes are killed. */
function removeFolder(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
  }
  try {
    // All at once: version 2 since Linux 5.14.
    if (existsSync(path.join(folder, 'cgroup.kill'))) {
      writeFileSync(path.join(folder, 'cgroup.kill'), '1');
      return false;
    }
    // From now on, no process of the group can start another one.
    if (existsSync(path.join(folder, PIDS.counter.file))) writeFileSync(path.join(folder, 'pids.max'), '0');
    for (const pid of read(path.join(folder, 'cgroup.procs')).split('\n')) if (pid !== '') process.kill(Number(pid), 'SIGKILL');
  } catch {
    // The process has ended.
  }
  return false;
}

/**
 * The nearest group above our own that delegates both controllers and that we may write. Root has one, and so has a user whose processes
 * are in systemd's user groups. Our own group cannot delegate controllers, because we are in it.
 */
function parentsInVersion2(): readonly Parent[] | undefined {
  const place = ownPlace('', ({ type }) => type === 'cgroup2');
  if (!place) return undefined;
  for (let folder = path.dirname(place.own); isWithin(place.mount, folder); folder = path.dirname(folder)) {
    const handedDown = read(path.join(folder, 'cgroup.subtree_control')).trim().split(' ');
    const isComplete = handedDown.includes('pids') && handedDown.includes('memory');
    if (isComplete && isOurs(folder)) return [{ folder, controllers: [PIDS, MEMORY_2] }];
  }
  return undefined;
}

/** Our own groups, one per controller. */
function parentsInVersion1(): readonly Parent[] | undefined {
  const parents = [PIDS, MEMORY_1].map((controller): Parent | undefined => {
    const place = ownPlace(controller.name, ({ type, options }) => type === 'cgroup' && options.includes(controller.name));
    return place && isOurs(place.own) ? { folder: place.own, controllers: [controller] } : undefined;
  });
  return parents.every((parent) => parent !== undefined) ? parents : undefined;
}

/** Our group in the mounted hierarchy of this controller. */
function ownPlace(
  controller: string,
  isRight: (mounted: { type: string; options: readonly string[] }) => boolean,
): { mount: string; own: string } | undefined {
  // Group names may contain colons.
  const own = read('/proc/self/cgroup').split('\n').map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  const inside = own.find((found) => found?.[1]?.split(',').includes(controller))?.[2];
  for (const line of read('/proc/self/mountinfo').split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '/', mount = '/'] = before.split(' ');
    const [type = '', , options = ''] = after.split(' ');
    if (inside === undefined || !isRight({ type, options: options.split(',') })) continue;
    const relative = path.relative(root, inside);
    return relative.startsWith('..') ? undefined : { mount, own: path.join(mount, relative) };
  }
  return undefined;
}

const isWithin = (folder: string, entry: string): boolean => entry === folder || entry.startsWith(`${folder}/`);

function isOurs(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    accessSync(path.join(folder, 'cgroup.procs'), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function isGone(pid: string): boolean {
  const stat = read(`/proc/${pid}/stat`);
  // A zombie has ended as well.
  return stat === '' || /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
