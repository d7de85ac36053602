import type { ByteAutomaton } from './byte-automaton.ts';

/** The pattern needs more states than the limit. */
export class AutomatonTooLargeError extends Error {
  readonly limit: number;

  constructor(limit: number) {
    super(`The pattern of the constrained text needs more than ${limit} states; use smaller counts in its repetitions.`);
    this.name = 'AutomatonTooLargeError';
    this.limit = limit;
  }
}

/** Builds an automaton state by state. The first state is its start. */
export class GrowingAutomaton {
  readonly #numbers = new Map<string, number>();
  readonly #rows: Int32Array[] = [];
  readonly #accepting: number[] = [];
  readonly #reserve: number[] = [];
  readonly #maximumStates: number;

  constructor(maximumStates: number) {
    this.#maximumStates = maximumStates;
  }

  /** The number of the state with this key, and whether it is new. */
  state(key: string, accepting: boolean, reserve: number): { readonly number: number; readonly isNew: boolean } {
    const known = this.#numbers.get(key);
    if (known !== undefined) return { number: known, isNew: false };
    if (this.#rows.length >= this.#maximumStates) throw new AutomatonTooLargeError(this.#maximumStates);
    const number = this.#rows.push(new Int32Array(256).fill(-1)) - 1;
    this.#numbers.set(key, number);
    this.#accepting.push(accepting ? 1 : 0);
    this.#reserve.push(reserve);
    return { number, isNew: true };
  }

  row(state: number): Int32Array {
    return this.#rows[state] as Int32Array;
  }

  finished(): ByteAutomaton {
    const next = new Int32Array(this.#rows.length * 256);
    for (const [index, row] of this.#rows.entries()) next.set(row, index * 256);
    const [accepting, reserve] = [Uint8Array.from(this.#accepting), Int32Array.from(this.#reserve)];
    return { states: this.#rows.length, start: 0, accepting, next, reserve };
  }
}
