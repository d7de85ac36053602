import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import type { BackendConnection } from '../common/backend-connection.ts';

/**
 * Who in this window follows which run. The backend knows one subscription to a run for each connection, which therefore ends only with the
 * last follower.
 */
export class RunSubscriptions {
  readonly #connection: Pick<BackendConnection, 'request'>;
  readonly #followers = new Map<string, Set<object>>();

  constructor(connection: Pick<BackendConnection, 'request'>) {
    this.#connection = connection;
  }

  /** Begins, or begins again after a loss of the connection. @throws the backend's error; the follower then does not follow the run */
  async begin(runId: string, follower: object): Promise<RunSnapshot> {
    const followers = this.#followers.get(runId) ?? new Set();
    this.#followers.set(runId, followers.add(follower));
    try {
      return (await this.#connection.request('run/subscribe', { runId })).run;
    } catch (error) {
      this.#leave(runId, follower);
      throw error;
    }
  }

  async end(runId: string, follower: object): Promise<void> {
    if (this.#leave(runId, follower)) await this.#connection.request('run/unsubscribe', { runId });
  }

  /** @returns whether nobody follows the run any more */
  #leave(runId: string, follower: object): boolean {
    const followers = this.#followers.get(runId);
    followers?.delete(follower);
    if (followers === undefined || followers.size > 0) return false;
    this.#followers.delete(runId);
    return true;
  }
}
