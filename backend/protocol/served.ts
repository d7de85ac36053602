import type { PolicySnapshot } from './run-events.ts';
import type { WorkerConfig } from './worker-config.ts';

/** Hexadecimal digits of an adapter's version in a name: enough for the versions of one Conductor. */
const DIGITS = 8;

/** The model of this machine that a worker is or, at a server, has the same weights as; undefined for every other worker. */
export function modelHere({ provider, model, served }: Pick<WorkerConfig, 'provider' | 'model' | 'served'>): string | undefined {
  return provider === 'local' ? model : served?.model;
}

/**
 * What a server calls an adapter: `conductor-TRAINING-VERSION`. Other weights have another version, so that no name ever means two adapters.
 * @param adapter the path of its folder @param version of its weights, in hexadecimal digits
 */
export const servedName = (adapter: string, version: string): string => `${beginning(adapter)}${version.slice(0, DIGITS)}`;

/** Whether a server calls an adapter so, in whatever version. */
export const isServedName = (name: string, adapter: string): boolean =>
  name.startsWith(beginning(adapter)) && /^[\da-f]+$/.test(name.slice(beginning(adapter).length));

function beginning(adapter: string): string {
  const folder = adapter.split(/[\\/]/).findLast((part) => part !== '') ?? 'adapter';
  return `conductor-${folder.replaceAll(/[^\w.-]/g, '-')}-`;
}

/** What the server calls the adapter with which a run is planned; undefined where its Conductor is not served, or has none. */
export function servedIn({ worker, adapterVersion }: Pick<PolicySnapshot, 'worker' | 'adapterVersion'>): string | undefined {
  return worker?.served && worker.adapter !== undefined && adapterVersion !== undefined ? servedName(worker.adapter, adapterVersion) : undefined;
}
