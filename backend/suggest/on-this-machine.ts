import type { WorkerConfig } from '../protocol/worker-config.ts';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Whether the worker's model answers on this machine. */
export function isOnThisMachine({ provider, baseUrl }: Pick<WorkerConfig, 'provider' | 'baseUrl'>): boolean {
  return provider === 'local' || (baseUrl !== undefined && LOOPBACK.has(new URL(baseUrl).hostname));
}

/** Whether nobody sends a bill: a server on this machine that wants a key may well pass the call on to one that does. */
export function isFree(worker: Pick<WorkerConfig, 'provider' | 'baseUrl' | 'key' | 'price'>): boolean {
  if (worker.provider === 'local') return true;
  return isOnThisMachine(worker) && worker.price === undefined && worker.key === undefined;
}
