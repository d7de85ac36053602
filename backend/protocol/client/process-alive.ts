import { readFileSync } from 'node:fs';

/**
 * Whether a process with this id lives, asked of the system. One that belongs to another user lives, too. One that was killed and that
 * its parent has not buried yet does not: in containers without an init process that can take for ever.
 */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
  return process.platform !== 'linux' || !isZombie(pid);
}

/** By its state in proc(5): the field after the command, which stands in parentheses and may contain anything. */
function isZombie(pid: number): boolean {
  try {
    return / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1)?.slice(0, 3) ?? '');
  } catch {
    return false;
  }
}
