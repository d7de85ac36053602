import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';

/** A process as ps(1) tells of it. */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** In RAM, shared or not. */
  readonly memoryBytes: number;
  readonly cpuTimeMs: number;
  /** When it started. With it, a later process with the same id is told apart. */
  readonly started: string;
}

const PS = '/bin/ps';
/** One column each: to the ps of BSD, all that stands behind a `=` is the title. */
const COLUMNS = ['-A', ...['pid=', 'ppid=', 'pgid=', 'rss=', 'time=', 'lstart='].flatMap((column) => ['-o', column])];
/** For machines with many processes. */
const OPTIONS = { encoding: 'utf8', maxBuffer: 16 * 1024 ** 2, env: { LC_ALL: 'C' } } as const;

/** The rows of ps on macOS and Linux. Lines that are none are left out. */
export function processRows(text: string): ProcessRow[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, kilobytes, time = '', started = ''] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+([\d:.-]+)\s+(\S.*?)\s*$/.exec(line) ?? [];
    if (pid === undefined) return [];
    return [{ pid: Number(pid), parent: Number(parent), group: Number(group), memoryBytes: Number(kilobytes) * 1024, cpuTimeMs: milliseconds(time), started }];
  });
}

/** Of `12:34.56` on macOS, where minutes go on, and `1-02:03:04` on Linux. */
function milliseconds(time: string): number {
  const [clock = '', days = '0'] = time.split('-').reverse();
  const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return Math.round((Number(days) * 24 * 60 * 60 + seconds) * 1_000);
}

/**
 * The processes of a command where the kernel has no better account of them, as on macOS. One that leaves its group or its parent is known if
 * it was seen before it did: who does both between two looks gets away.
 */
export class FollowedProcesses {
  readonly #known = new Map<number, string>();
  readonly #root: number;

  constructor(root: number) {
    this.#root = root;
  }

  /** Those that run now. */
  async look(): Promise<ProcessRow[]> {
    const { stdout } = await promisify(execFile)(PS, COLUMNS, OPTIONS);
    return this.follow(processRows(stdout));
  }

  /** Of all processes, those that belong to the command. */
  follow(all: readonly ProcessRow[]): ProcessRow[] {
    const ours = new Map(all.filter(({ pid, started }) => this.#known.get(pid) === started || (pid === this.#root && !this.#known.has(pid))).map((row) => [row.pid, row]));
    const groups = new Set([...ours.values()].map(({ group }) => group));
    let before: number;
    do {
      before = ours.size;
      for (const row of all) {
        if (ours.has(row.pid) || !(ours.has(row.parent) || groups.has(row.group))) continue;
        ours.set(row.pid, row);
        groups.add(row.group);
      }
    } while (ours.size > before);
    for (const { pid, started } of ours.values()) this.#known.set(pid, started);
    return [...ours.values()];
  }

  /** Kills what still runs. Waits for ps, about 10 ms. */
  end(): void {
    let left: readonly ProcessRow[];
    try {
      left = this.follow(processRows(execFileSync(PS, COLUMNS, OPTIONS)));
    } catch {
      return;
    }
    for (const { pid } of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    }
  }
}
