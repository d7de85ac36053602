import { unlessAborted } from '../../common/unless-aborted.ts';
import type { TeamLink } from './team-link.ts';
import type { Share, TeamState } from './team-messages.ts';

/** Asks the coordinator how things stand, again and again, also while plans are carried out, until the signal aborts. */
export class TeamWatch {
  #working: Share | undefined;
  #lost: string | undefined;
  /** Resolves when it has ended. */
  readonly done: Promise<void>;
  #state: TeamState | undefined;
  #failed: { readonly error: unknown } | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(link: Pick<TeamLink, 'state'>, signal: AbortSignal) {
    this.done = this.#ask(link, signal).catch((error: unknown) => {
      this.#failed = { error };
      this.#wake();
    });
  }

  /** What this machine is at work on: the coordinator waits for it where it would be too old for the next step. */
  worksOn(share: Share | undefined): void {
    this.#working = share;
  }

  /** The place of a version that the training server does not have any more: the coordinator sees to it. */
  misses(version: string | undefined): void {
    this.#lost = version;
  }

  /** The first state from now on that is so. @throws what the link throws, the signal's reason */
  async until(isSo: (state: TeamState) => boolean, signal: AbortSignal): Promise<TeamState> {
    for (;;) {
      signal.throwIfAborted();
      if (this.#failed) throw this.#failed.error;
      if (this.#state && isSo(this.#state)) return this.#state;
      await unlessAborted(this.#changed.promise, signal);
    }
  }

  async #ask(link: Pick<TeamLink, 'state'>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#state = await link.state({ ...(this.#state && { revision: this.#state.revision }), ...(this.#working !== undefined && { working: this.#working }), ...(this.#lost !== undefined && { lost: this.#lost }) }, signal);
      this.#wake();
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
