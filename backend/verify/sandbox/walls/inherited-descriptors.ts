import { readdirSync, readFileSync } from 'node:fs';

/** fcntl(2)'s O_CLOEXEC, of which proc(5) tells. */
const CLOSED_ON_EXEC = 0o2000000;

/**
 * The open files that whoever started us has left us, and that every program which we start would have too: through them it could reach
 * what no wall stands before. Node opens none of its own like that.
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
    // It was open for looking at the folder alone.
    return true;
  }
}
