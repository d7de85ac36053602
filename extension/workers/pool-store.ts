import type { Pool } from '../../backend/protocol/methods.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { Signal } from '../common/signal.ts';

/** The pool of workers as the backend last reported it. */
export class PoolStore {
  readonly changed = new Signal<Pool>();
  readonly #connection: Pick<BackendConnection, 'request'>;
  #pool: Pool | undefined;
  #lastTurn = 0;
  #shownTurn = 0;

  constructor(connection: Pick<BackendConnection, 'request' | 'connected'>) {
    this.#connection = connection;
    // A failure of this background read is ignored: the next command that needs the pool reads it again and reports the error.
    connection.connected.on(() => void this.refresh().catch(() => undefined));
  }

  /** Undefined until the backend has answered once. */
  get pool(): Pool | undefined {
    return this.#pool;
  }

  get hasEnabledWorker(): boolean {
    return this.#pool?.workers.some(({ worker }) => worker.enabled) ?? false;
  }

  async refresh(): Promise<Pool> {
    const turn = this.#nextTurn();
    const pool = await this.#connection.request('pool/get', {});
    this.#take(pool, turn);
    return pool;
  }

  /** Sets the pool that the backend returned after a change. */
  set(pool: Pool): void {
    this.#take(pool, this.#nextTurn());
  }

  #nextTurn(): number {
    this.#lastTurn += 1;
    return this.#lastTurn;
  }

  /** Ignores a pool that was read before the last change: its response may arrive late. */
  #take(pool: Pool, turn: number): void {
    if (turn < this.#shownTurn) return;
    this.#shownTurn = turn;
    this.#pool = pool;
    this.changed.emit(pool);
  }
}
