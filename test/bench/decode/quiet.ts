import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Cores that may be busy with something else: a desktop is never still. */
const ALLOWED_CORES = 0.15;
const SAMPLE_MS = 1000;

/** Waits until the machine has nothing else to do, at most so long. @returns how many cores were busy in the last second. */
export async function quiet(patienceMs: number): Promise<number> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const before = busyMs();
    await sleep(SAMPLE_MS);
    const cores = (busyMs() - before) / SAMPLE_MS;
    if (cores <= ALLOWED_CORES || performance.now() >= end) return cores;
  }
}

/** Time that all cores together have spent on work. */
export function busyMs(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);
}
