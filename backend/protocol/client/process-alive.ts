import { readFileSync } from 'node:fs';

/**
 * Whether a process with this id is running, for any user. A zombie does not count: in containers without an init process it may never be
 * reaped.
 */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
  return process.platform !== 'linux' || !isZombie(pid);
}

/** Reads the state from proc(5): the field after the command, which is in parentheses and may contain any character. */
function isZombie(pid: number): boolean {
  try {
    return / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1)?.slice(0, 3) ?? '');
  } catch {
    return false;
  }
}
