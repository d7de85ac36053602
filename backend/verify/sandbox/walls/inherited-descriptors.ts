import { readdirSync, readFileSync } from 'node:fs';

/** fcntl(2)'s O_CLOEXEC, as proc(5) shows it. */
const CLOSED_ON_EXEC = 0o2000000;

/**
 * The open files that we inherited from the program that started us. Programs that we start would inherit them, too, and could reach
 * through them what the sandbox hides. Node closes its own files on exec.
 */
export function inheritedDescriptors(): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && !isClosedOnExec(descriptor));
}

function isClosedOnExec(descriptor: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')) ?? [];
    return (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0;
  } catch {
    // This descriptor was open only for reading the folder.
    return true;
  }
}
