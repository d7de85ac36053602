import type { LocalFirst } from '../../backend/protocol/local-first.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { Signal } from '../common/signal.ts';

export interface LocalFirstOptions {
  readonly connection: Pick<BackendConnection, 'request' | 'connected'>;
  /** The window's open folders, as absolute paths. */
  readonly folders: () => readonly string[];
  /** The setting. */
  readonly isOn: () => boolean;
}

/** Whether a worker that costs nothing tries first, which one, and how such tries turned out in the window's folder. */
export class LocalFirstState {
  readonly changed = new Signal<void>();
  readonly #options: LocalFirstOptions;
  #known: LocalFirst | undefined;

  constructor(options: LocalFirstOptions) {
    this.#options = options;
    options.connection.connected.on(() => this.refresh());
  }

  /** Undefined where there is nothing to choose: nobody could try. */
  get state(): { readonly on: boolean } & LocalFirst | undefined {
    return this.#known?.worker === undefined ? undefined : { on: this.#options.isOn(), ...this.#known };
  }

  /** Reads it again. What cannot be read is not shown: the connection's state shows the cause. */
  refresh(): void {
    const { connection, folders } = this.#options;
    const [folder, ...others] = folders();
    connection.request('localFirst/get', { ...(folder !== undefined && others.length === 0 && { workspace: folder }) })
      .then((known) => { this.#known = known; }, () => {})
      .finally(() => this.changed.emit());
  }
}
