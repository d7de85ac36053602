import { factsOf } from '../../protocol/providers.ts';
import type { WorkerConfig } from '../../protocol/worker-config.ts';
import { WorkerError } from '../errors.ts';

/** The base address of a worker's server. @throws WorkerError `invalid-request` if neither the worker nor its provider has one. */
export function baseUrlOf(worker: WorkerConfig): string {
  const baseUrl = worker.baseUrl ?? factsOf(worker.provider).baseUrl;
  if (baseUrl !== undefined) return baseUrl;
  throw new WorkerError({
    kind: 'invalid-request',
    message: `Worker "${worker.id}" has no address: add that of its server as "baseUrl" in workers.json, such as http://127.0.0.1:11434/v1.`,
  });
}

/** A worker's server as shown to users: its origin, without credentials or path. */
export function serverName(worker: WorkerConfig): string {
  const { reach, label } = factsOf(worker.provider);
  if (reach === 'agent') return programOf(worker);
  if (reach !== 'server') return label;
  const { host, protocol, origin } = new URL(baseUrlOf(worker));
  return protocol === 'https:' ? host : origin;
}

/** The name of an agent's program. */
const programOf = ({ id, agent }: WorkerConfig): string => agent?.command[0]?.split(/[/\\]/).at(-1) ?? id;

/** Workers with the same key share a server and its limits. All local models share this machine, and all workers of an agent its account. */
export function serverKey(worker: WorkerConfig): string {
  const { provider } = worker;
  if (factsOf(provider).reach === 'agent') return `${provider} ${programOf(worker)}`;
  return factsOf(provider).reach === 'server' ? `${provider} ${new URL(baseUrlOf(worker)).origin}` : provider;
}

/** Identifies a model by its server and its name there. */
export function modelKey(worker: WorkerConfig): string {
  return `${serverKey(worker)} ${worker.model}`;
}

/** The maximum number of concurrent calls to the worker's server, as far as this worker decides it. */
export function concurrencyOf({ provider, concurrency }: WorkerConfig): number {
  return Math.min(concurrency, factsOf(provider).maxConcurrency ?? concurrency);
}
