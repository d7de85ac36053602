import { WorkerError } from '../workers/errors.ts';
import { askClients } from './ask-clients.ts';
import type { Clients } from './clients.ts';
import { howToSetKey } from './run-pool.ts';

export interface RunKeysOptions {
  /** The keys that clients had when the run started. */
  readonly known?: ReadonlyMap<string, string> | undefined;
  readonly clients: Clients;
  readonly signal: AbortSignal;
  /** True for a run that continues after a restart: it waits for a client with the key. A run that a person just started fails instead. */
  readonly patient: boolean;
  /** Called with the key that is waited for. Its promise resolves when it should be called again. */
  readonly onWaiting: (name: string) => Promise<void>;
}

/** @param command the command-line command that continues the run */
export const waitingForKey = (name: string, command: string): string =>
  `Waiting for the key ${name}: open VS Code, or run "${command}" with ${name} in the environment.`;

/**
 * The keys of a run's calls. They come from the clients and stay in memory until the run ends. So a window can be closed meanwhile, and
 * no run is billed to the account of another one.
 */
export class RunKeys {
  readonly #options: RunKeysOptions;
  readonly #known: Map<string, string>;

  constructor(options: RunKeysOptions) {
    this.#options = options;
    this.#known = new Map(options.known);
  }

  /** @throws WorkerError `missing-key`, or the signal's reason. */
  async get(name: string): Promise<string> {
    const value = this.#known.get(name) ?? (await this.#ask(name));
    this.#known.set(name, value);
    return value;
  }

  /** The provider refused the key: the next call asks for it again. */
  forget(name: string): void {
    this.#known.delete(name);
  }

  #ask(name: string): Promise<string> {
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
      onNobody: () => onWaiting(name),
    });
  }
}
