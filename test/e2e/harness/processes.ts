import type { ChildProcess } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

/** Ends a process that leads a group, and all of the group. */
export function killGroup({ pid }: Pick<ChildProcess, 'pid'>, signal: NodeJS.Signals): void {
  if (pid !== undefined) signalTo(-pid, signal);
}

/** Ends a process, unless it has ended meanwhile. */
export const kill = (pid: number): void => signalTo(pid, 'SIGKILL');

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The process that leads a group, the others of the group, whose parents may have ended, and the descendants of all, such as shells. */
export function familyOf(leader: number): number[] {
  const processes = new Map(readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((name) => [Number(name), kinOf(Number(name))]));
  const belongs = (pid: number): boolean => {
    const kin = processes.get(pid);
    return kin !== undefined && (kin.group === leader || belongs(kin.parent));
  };
  return [...processes.keys()].filter(belongs);
}

function kinOf(pid: number): { readonly parent: number; readonly group: number } {
  // "pid (command) state parent group …", where the command may contain anything, parentheses included.
  const [, parent, group] = readProc(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
  return { parent: Number(parent), group: Number(group) };
}

/** Empty for one that has ended. */
export const commandLineOf = (pid: number): string => readProc(pid, 'cmdline').replaceAll('\0', ' ');

/** Empty for a process that has ended meanwhile. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
