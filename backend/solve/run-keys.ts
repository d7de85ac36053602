import { WorkerError } from '../workers/errors.ts';
import { askClients } from './ask-clients.ts';
import type { Clients } from './clients.ts';
import { howToSetKey } from './run-pool.ts';

export interface RunKeysOptions {
  readonly clients: Clients;
  readonly signal: AbortSignal;
  /** A run that goes on after a restart waits for a client with the key; one that a person just started fails and says so. */
  readonly patient: boolean;
  /** Tells that a key is waited for; resolves when that has to be told again. */
  readonly onWaiting: (message: string) => Promise<void>;
}

/** The keys of a run's calls, from the clients; never stored. */
export class RunKeys {
  readonly #options: RunKeysOptions;

  constructor(options: RunKeysOptions) {
    this.#options = options;
  }

  /** @throws WorkerError `missing-key`, or the signal's reason. */
  get(name: string): Promise<string> {
    const { clients, signal, patient, onWaiting } = this.#options;
    return askClients({
      clients,
      signal,
      ask: async () => {
        const value = await clients.secret(name);
        if (value === null && !patient) {
          throw new WorkerError({ kind: 'missing-key', message: `The key ${name} is not set: ${howToSetKey({ key: name })}.` });
        }
        return value || undefined;
      },
      onNobody: () =>
        onWaiting(`Waiting for the key ${name}: open VS Code, or run "conductor runs resume" with ${name} in the environment.`),
    });
  }

  forget(name: string): void {
    this.#options.clients.forgetSecret(name);
  }
}
