import { execFileSync } from 'node:child_process';

/** Bytes that this process holds: on the GPU as nvidia-smi counts them, else of the machine's memory. */
export function heldBytes(device: 'cpu' | 'cuda'): number {
  if (device === 'cpu') return process.memoryUsage().rss;
  const query = (fields: string, what: string): string[] =>
    execFileSync('nvidia-smi', [`--query-${what}=${fields}`, '--format=csv,noheader,nounits'], { encoding: 'utf8' }).trim().split('\n');
  const own = query('pid,used_memory', 'compute-apps').map((line) => line.split(',').map(Number)).find(([pid]) => pid === process.pid);
  // In a container processes have other numbers outside: then all that is used counts.
  const mebibytes = own?.[1] ?? Number(query('memory.used', 'gpu')[0]);
  return mebibytes * 2 ** 20;
}
