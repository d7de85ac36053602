import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FollowedProcesses, processRows, type ProcessRow } from '../../../backend/verify/sandbox/limits/followed-processes.ts';
import { PATIENTLY, processesWith } from '../setup.ts';

/** As ps of macOS prints these columns: minutes go on behind the hour, and hundredths follow. */
const MAC = `    1     0     1   13120   4:05.17 Mon Nov 23 08:12:44 2026    
  312     1   312   52496 103:22.80 Mon Nov 23 08:13:01 2026    
 4711  4700  4711    1360   0:00.01 Sun Nov 29 10:32:27 2026    
 4712  4711  4711 2097152   1:02.50 Sun Nov 29 10:32:27 2026    
`;

describe('rows of ps', () => {
  it('are read as macOS prints them', () => {
    expect(processRows(MAC)).toEqual([
      { pid: 1, parent: 0, group: 1, memoryBytes: 13_120 * 1024, cpuTimeMs: 245_170, started: 'Mon Nov 23 08:12:44 2026' },
      { pid: 312, parent: 1, group: 312, memoryBytes: 52_496 * 1024, cpuTimeMs: 6_202_800, started: 'Mon Nov 23 08:13:01 2026' },
      { pid: 4711, parent: 4700, group: 4711, memoryBytes: 1_360 * 1024, cpuTimeMs: 10, started: 'Sun Nov 29 10:32:27 2026' },
      { pid: 4712, parent: 4711, group: 4711, memoryBytes: 2 * 1024 ** 3, cpuTimeMs: 62_500, started: 'Sun Nov 29 10:32:27 2026' },
    ]);
  });

  it('are read as Linux prints them, also of days, and nothing else is', () => {
    expect(processRows('  7 2 0 0 1-02:03:04 Sun Nov 29 10:32:27 2026\n  PID PPID\nps: no such column\n\n')).toEqual([
      { pid: 7, parent: 2, group: 0, memoryBytes: 0, cpuTimeMs: 93_784_000, started: 'Sun Nov 29 10:32:27 2026' },
    ]);
  });
});

const row = (pid: number, parent: number, group: number, started = 'today'): ProcessRow => ({ pid, parent, group, started, memoryBytes: 0, cpuTimeMs: 0 });
const pids = (rows: readonly ProcessRow[]): number[] => rows.map(({ pid }) => pid).sort((one, other) => one - other);

describe('the processes of a command', () => {
  it('are those of its tree and of its groups, in whatever order they are told', () => {
    const all = [row(1, 0, 1), row(14, 13, 13), row(13, 12, 13), row(12, 10, 10), row(10, 5, 10), row(11, 1, 10), row(15, 1, 13), row(20, 5, 20)];
    expect(pids(new FollowedProcesses(10).follow(all))).toEqual([10, 11, 12, 13, 14, 15]);
  });

  it('stay its own when they have left their parents and groups, but not when another one has their number', () => {
    const followed = new FollowedProcesses(10);
    followed.follow([row(10, 5, 10), row(12, 10, 12), row(13, 10, 13)]);
    expect(pids(followed.follow([row(1, 0, 1), row(12, 1, 12), row(13, 1, 13, 'tomorrow'), row(16, 12, 16)]))).toEqual([12, 16]);
    expect(pids(followed.follow([row(1, 0, 1), row(10, 5, 99, 'tomorrow'), row(16, 1, 16)]))).toEqual([16]);
  });

  it.skipIf(!existsSync('/bin/ps') || process.platform === 'win32')('end with it, also in sessions of their own', async () => {
    const seconds = `${90_000 + (process.pid % 10_000)}.${Math.random().toString().slice(2, 10)}`;
    const own = process.platform === 'linux' ? 'setsid ' : '';
    const child = spawn('/bin/sh', ['-c', `${own}sleep ${seconds} & (trap "" TERM HUP; sleep ${seconds}) & read line`], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    const followed = new FollowedProcesses(child.pid ?? 0);
    await expect.poll(async () => (await processesWith(`sleep\0${seconds}`)).length, PATIENTLY).toBe(2);
    const seen = await followed.look();
    expect(seen.length).toBeGreaterThanOrEqual(3);
    child.stdin.end('\n');
    await once(child, 'exit');
    expect(await processesWith(`sleep\0${seconds}`)).not.toEqual([]);
    followed.end();
    await expect.poll(() => processesWith(`sleep\0${seconds}`), PATIENTLY).toEqual([]);
  });
});
