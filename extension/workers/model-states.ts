import type { LocalModelStatus } from '../../backend/protocol/local-models.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { Signal } from '../common/signal.ts';

/** What the models of this machine are doing, as the backend tells it. A backend that is gone has no model in memory. */
export class ModelStates {
  /** One of them changed. */
  readonly changed = new Signal<LocalModelStatus>();
  readonly #connection: BackendConnection;
  #states = new Map<string, LocalModelStatus>();

  constructor(connection: BackendConnection) {
    this.#connection = connection;
    connection.on('model/status', (status) => this.#set(status));
    connection.connected.on(() => void this.#readAll().catch(() => undefined));
  }

  of(model: string): LocalModelStatus {
    return this.#states.get(model) ?? { model, state: 'unloaded' };
  }

  async #readAll(): Promise<void> {
    const told = new Set<string>();
    // What is told while the question is on its way is newer than the answer.
    const end = this.changed.on(({ model }) => told.add(model));
    try {
      const { models } = await this.#connection.request('model/status', {});
      const kept = [...this.#states].filter(([model]) => told.has(model));
      this.#states = new Map(kept);
      for (const status of models) if (!told.has(status.model)) this.#set(status);
    } finally {
      end();
    }
  }

  #set(status: LocalModelStatus): void {
    this.#states.set(status.model, status);
    this.changed.emit(status);
  }
}
