import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { WorkerError } from '../errors.ts';

/** Where the providers with one address of their own have it. */
export const DEFAULT_BASE_URLS: Partial<Record<WorkerConfig['provider'], string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
};

/** The base address a worker is called at. @throws WorkerError `invalid-request` when a compatible server has no address. */
export function baseUrlOf(worker: WorkerConfig): string {
  const baseUrl = worker.baseUrl ?? DEFAULT_BASE_URLS[worker.provider];
  if (baseUrl !== undefined) return baseUrl;
  throw new WorkerError({
    kind: 'invalid-request',
    message: `Worker "${worker.id}" has no address: add that of its server as "baseUrl" in workers.json, such as http://127.0.0.1:11434/v1.`,
  });
}

/** The server of a worker as people know it: its origin, which never holds credentials or a path. */
export function serverName(worker: WorkerConfig): string {
  if (worker.provider === 'vscode') return 'VS Code';
  if (worker.provider === 'local') return 'this machine';
  const { host, protocol, origin } = new URL(baseUrlOf(worker));
  return protocol === 'https:' ? host : origin;
}

/** Workers with the same value share one server, and with it its limits. All models of this machine share the machine. */
export function serverKey(worker: WorkerConfig): string {
  const { provider } = worker;
  return provider === 'vscode' || provider === 'local' ? provider : `${provider} ${new URL(baseUrlOf(worker)).origin}`;
}

/** At most so many calls at once to the worker's server. A machine answers two questions no sooner at once than one by one. */
export function concurrencyOf({ provider, concurrency }: WorkerConfig): number {
  return provider === 'local' ? 1 : concurrency;
}
