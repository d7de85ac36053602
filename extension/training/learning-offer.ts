import type { Outcomes } from '../../backend/protocol/learning.ts';
import type { BackendConnection } from '../common/backend-connection.ts';
import { Signal } from '../common/signal.ts';

/** What is known of it, over windows and restarts. */
export interface LearningKnown {
  /** Judged answers since the journal was last asked what there is to learn from. */
  readonly judged: number;
  /** What it said; absent where that was too little, or where a person did not want it. */
  readonly offered?: Outcomes['learned'] | undefined;
}

export interface LearningMemory {
  /** Undefined if the journal was never asked. */
  get(): LearningKnown | undefined;
  set(known: LearningKnown): void;
}

export interface LearningOfferOptions {
  readonly connection: Pick<BackendConnection, 'request'>;
  readonly memory: LearningMemory;
  /** The setting. */
  readonly isOn: () => boolean;
}

/** To ask, the backend reads all runs, so it is asked rarely. It is also the pause after which somebody is offered it again. */
export const JUDGED_BETWEEN = 20;

/**
 * Whether the local Conductor could learn from outcomes that are there (docs/learn.md), so that it can be offered. Nothing is learned before
 * somebody says so.
 */
export class LearningOffer {
  readonly changed = new Signal<void>();
  readonly #options: LearningOfferOptions;
  /** Read once: VS Code may lose a value that is stored at the same time as another, until the next is stored. */
  #known: LearningKnown | undefined;
  #asking: Promise<void> | undefined;

  constructor(options: LearningOfferOptions) {
    this.#options = options;
    this.#known = options.memory.get();
  }

  /** Undefined where nothing is offered. */
  get state(): Outcomes['learned'] | undefined {
    return this.#options.isOn() ? this.#known?.offered : undefined;
  }

  /** An answer was judged by tests. */
  judged(): Promise<void> {
    if (this.#known) this.#remember({ ...this.#known, judged: this.#known.judged + 1 });
    return this.look();
  }

  /** Asks the journal, if it was never asked or enough has happened since. @throws RequestError; the next look asks again */
  look(): Promise<void> {
    const isDue = this.#known === undefined || this.#known.judged >= JUDGED_BETWEEN;
    if (!isDue || !this.#options.isOn()) return Promise.resolve();
    return (this.#asking ??= this.#ask().finally(() => { this.#asking = undefined; }));
  }

  /** It is not offered until more has happened. */
  decline(): void {
    this.#remember({ judged: 0 });
    this.changed.emit();
  }

  #remember(known: LearningKnown): void {
    this.#known = known;
    this.#options.memory.set(known);
  }

  async #ask(): Promise<void> {
    const found = await this.#options.connection.request('training/outcomes', {});
    const isWorth = found.missing === undefined && found.canTell;
    this.#remember({ judged: 0, ...(isWorth && { offered: found.learned }) });
    this.changed.emit();
  }
}
