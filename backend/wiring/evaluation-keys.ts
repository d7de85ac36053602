import type { Clients } from '../solve/clients.ts';
import { RunKeys, waitingForKey } from '../solve/run-keys.ts';
import { WorkerError } from '../workers/errors.ts';
import type { KeySource } from '../workers/key-source.ts';

/** The keys of clients, for an evaluation of the backend. */
export function evaluationKeys(
  { clients, signal, patient, onWaiting }: { readonly clients: Clients; readonly signal: AbortSignal; readonly patient: boolean; readonly onWaiting: (message: string | undefined) => void },
): KeySource {
  const known = new RunKeys({
    clients, signal, patient,
    onWaiting: async (name) => {
      onWaiting(waitingForKey(name, 'conductor eval'));
      await new Promise<void>(() => {});
    },
  });
  return {
    get: async (name) => {
      const value = await known.get(name);
      onWaiting(undefined);
      return value;
    },
    forget: (name) => known.forget(name),
  };
}

/** The keys of the command line. */
export function environmentKeys(environment: Readonly<Record<string, string | undefined>>): KeySource {
  return {
    get: (name) => {
      const value = environment[name];
      return value ? Promise.resolve(value) : Promise.reject(new WorkerError({ kind: 'missing-key', message: `The environment variable ${name} is not set.` }));
    },
    forget: () => {},
  };
}
