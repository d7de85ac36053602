import { appendFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { DatabaseSync, StatementSync } from 'node:sqlite';

/*
 * Loaded before the backend (`node --import`): each second writes a line of JSON into the file that WATCH_BACKEND names. All that runs in SQLite counts as the
 * journal's: commits with their wait for the disk, reads, and the answers that a training keeps.
 */

export interface Watched {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Milliseconds inside SQLite since the start. */
  readonly sqliteMs: number;
  readonly commits: number;
  /** Of a processor, in all threads, since the start. */
  readonly processorMs: number;
  /** Share of the last second in which the event loop was busy. */
  readonly busy: number;
  readonly residentBytes: number;
  readonly heapBytes: number;
}

let [sqliteMs, commits, depth] = [0, 0, 0];

function timed(prototype: object, name: string): void {
  const original = Reflect.get(prototype, name) as (...args: unknown[]) => unknown;
  Reflect.set(prototype, name, function watched(this: unknown, ...args: unknown[]): unknown {
    if (depth > 0) return original.apply(this, args);
    depth += 1;
    const began = performance.now();
    try {
      return original.apply(this, args);
    } finally {
      depth -= 1;
      sqliteMs += performance.now() - began;
      if (args[0] === 'COMMIT') commits += 1;
    }
  });
}

for (const name of ['exec', 'prepare']) timed(DatabaseSync.prototype, name);
for (const name of ['run', 'get', 'all']) timed(StatementSync.prototype, name);

const file = process.env['WATCH_BACKEND'];
if (file !== undefined) {
  let last = performance.eventLoopUtilization();
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    const line: Watched = {
      at: Date.now(), sqliteMs, commits, processorMs: (user + system) / 1_000, busy: performance.eventLoopUtilization(now, last).utilization, residentBytes: rss, heapBytes: heapUsed,
    };
    last = now;
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  }, 1_000).unref();
}
