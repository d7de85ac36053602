import { setImmediate } from 'node:timers/promises';

/** Long enough to lose little to the pauses, short enough that nobody notices them. */
const SLICE_MS = 8;

/**
 * Does long work on the thread in slices of a few milliseconds, one per turn of the event loop, however many pieces of work are
 * under way. For thousands of small file operations this is several times faster than asynchronous ones, each of which is a trip
 * to the thread pool and back.
 */
export class Slices {
  #turn: Promise<unknown> = Promise.resolve();

  /** Runs `work` on every item. Work on a large item may return a promise. */
  async forEach<Item>(items: Iterable<Item>, work: (item: Item) => void | Promise<void>): Promise<void> {
    let sliceEnd = await this.#nextSlice();
    for (const item of items) {
      const pending = work(item);
      if (pending) await pending;
      if (performance.now() >= sliceEnd) sliceEnd = await this.#nextSlice();
    }
  }

  async #nextSlice(): Promise<number> {
    this.#turn = this.#turn.then(() => setImmediate());
    await this.#turn;
    return performance.now() + SLICE_MS;
  }
}
