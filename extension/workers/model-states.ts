import type { LocalModelStatus } from '../../backend/protocol/local-models.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { Signal } from '../common/signal.ts';

/** The states of the local models, as reported by the backend. Without a backend, no model is loaded. */
export class ModelStates {
  /** The state of one model changed. */
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
    const updated = new Set<string>();
    // Notifications that arrive during the request are newer than its result.
    const end = this.changed.on(({ model }) => updated.add(model));
    try {
      const { models } = await this.#connection.request('model/status', {});
      const kept = [...this.#states].filter(([model]) => updated.has(model));
      this.#states = new Map(kept);
      for (const status of models) if (!updated.has(status.model)) this.#set(status);
    } finally {
      end();
    }
  }

  #set(status: LocalModelStatus): void {
    this.#states.set(status.model, status);
    this.changed.emit(status);
  }
}
