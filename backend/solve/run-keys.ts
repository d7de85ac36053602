import { WorkerError } from '../workers/errors.ts';
import type { Clients } from './clients.ts';
import { howToSetKey } from './run-pool.ts';

export interface RunKeysOptions {
  readonly clients: Clients;
  readonly signal: AbortSignal;
  /** A run that goes on after a restart waits for a client with the key; one that a person just started fails and says so. */
  readonly patient: boolean;
  readonly onWaiting: (message: string) => void;
}

/** The keys of a run's calls, from the clients; never stored. */
export class RunKeys {
  readonly #options: RunKeysOptions;

  constructor(options: RunKeysOptions) {
    this.#options = options;
  }

  /** @throws WorkerError `missing-key`, or the signal's reason. */
  async get(name: string): Promise<string> {
    const { clients, signal, patient, onWaiting } = this.#options;
    for (let told = false; ; ) {
      signal.throwIfAborted();
      const changed = clients.changed(signal);
      changed.catch(() => {});
      const value = await clients.secret(name);
      if (value) return value;
      if (value === null && !patient) {
        throw new WorkerError({ kind: 'missing-key', message: `The key ${name} is not set: ${howToSetKey({ key: name })}.` });
      }
      if (!told) onWaiting(`Waiting for the key ${name}: open VS Code, or run "conductor runs resume" with ${name} in the environment.`);
      told = true;
      await changed;
    }
  }

  forget(name: string): void {
    this.#options.clients.forgetSecret(name);
  }
}
