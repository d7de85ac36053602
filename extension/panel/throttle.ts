export type Schedule = (action: () => void, afterMs: number) => void;

/**
 * Runs an action immediately, then at most once every `intervalMs`. The last request is never lost: the action reads the newest state when
 * it runs.
 */
export class Throttle {
  readonly #action: () => void;
  readonly #intervalMs: number;
  readonly #schedule: Schedule;
  #resting = false;
  #wanted = false;

  constructor(action: () => void, intervalMs: number, schedule: Schedule = setTimeout) {
    this.#action = action;
    this.#intervalMs = intervalMs;
    this.#schedule = schedule;
  }

  request(): void {
    if (this.#resting) {
      this.#wanted = true;
      return;
    }
    this.#wanted = false;
    this.#resting = true;
    this.#schedule(() => {
      this.#resting = false;
      if (this.#wanted) this.request();
    }, this.#intervalMs);
    this.#action();
  }
}
