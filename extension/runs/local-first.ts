import type { LocalFirst } from '../../backend/protocol/local-first.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { Signal } from '../common/signal.ts';

export interface LocalFirstOptions {
  readonly connection: Pick<BackendConnection, 'request'>;
  /** The window's only open folder, absolute. */
  readonly workspace: () => string | undefined;
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
  }

  /** Undefined where there is nothing to choose: nobody could try. */
  get state(): { readonly on: boolean } & LocalFirst | undefined {
    return this.#known?.worker === undefined ? undefined : { on: this.#options.isOn(), ...this.#known };
  }

  /** Reads it again. What cannot be read is not shown: the connection's state shows the cause. */
  refresh(): void {
    const { connection, workspace: only } = this.#options;
    const workspace = only();
    connection.request('localFirst/get', { ...(workspace !== undefined && { workspace }) })
      .then((known) => { this.#known = known; }, () => {})
      .finally(() => this.changed.emit());
  }
}
