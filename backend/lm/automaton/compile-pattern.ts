import type { ByteAutomaton } from './byte-automaton.ts';
import { continuing } from './continuing.ts';
import { minimise } from './minimise.ts';
import type { Pattern } from './pattern.ts';

/** The pattern needs more states than its user is ready to hold. */
export class AutomatonTooLargeError extends Error {
  readonly limit: number;

  constructor(limit: number) {
    super(`The pattern of the constrained text needs more than ${limit} states; use smaller counts in its repetitions.`);
    this.name = 'AutomatonTooLargeError';
    this.limit = limit;
  }
}

/** At 1 kB a state, 32 MB. */
const MAX_STATES = 32_768;

/**
 * The smallest deterministic automaton of a pattern. Its states are numbered in the order in which they are reached from the start,
 * so patterns with the same texts give equal automata.
 * @throws AutomatonTooLargeError, ImpossiblePrefixError
 */
export function compilePattern(pattern: Pattern, maximumStates = MAX_STATES): ByteAutomaton {
  const network = new Network(maximumStates);
  const { from, to } = network.add(pattern);
  return minimise(determinise(network, from, to, maximumStates));
}

interface Edge {
  readonly low: number;
  readonly high: number;
  readonly to: number;
}

/** A part of the network: it is entered in one state and left in another. */
interface Piece {
  readonly from: number;
  readonly to: number;
}

/** The nondeterministic automaton of a pattern, by Thompson's construction. */
class Network {
  readonly edges: Edge[][] = [];
  /** Transitions that read nothing. */
  readonly silent: number[][] = [];
  readonly reserve: number[] = [];
  readonly #maximumStates: number;
  /** Of the part that is being added. */
  #reserve = 0;

  constructor(maximumStates: number) {
    this.#maximumStates = maximumStates;
  }

  #state(): number {
    // Determinising and minimising shrink a network, mostly by more than this factor.
    if (this.edges.length >= 16 * this.#maximumStates) throw new AutomatonTooLargeError(this.#maximumStates);
    this.edges.push([]);
    this.reserve.push(this.#reserve);
    return this.silent.push([]) - 1;
  }

  #connect(from: number, to: number): void {
    this.silent[from]?.push(to);
  }

  add(pattern: Pattern): Piece {
    switch (pattern.kind) {
      case 'byte': {
        const piece = { from: this.#state(), to: this.#state() };
        for (const [low, high] of pattern.ranges) this.edges[piece.from]?.push({ low, high, to: piece.to });
        return piece;
      }
      case 'sequence': {
        const from = this.#state();
        return { from, to: pattern.parts.reduce((end, part) => this.#append(end, part), from) };
      }
      case 'choice': {
        const piece = { from: this.#state(), to: this.#state() };
        for (const alternative of pattern.alternatives) this.#connect(this.#append(piece.from, alternative), piece.to);
        return piece;
      }
      case 'repeat':
        return this.#repeat(pattern.part, pattern.minimum, pattern.maximum);
      case 'except': {
        const part = compilePattern(pattern.part, this.#maximumStates);
        const excluded = compilePattern(pattern.excluded, this.#maximumStates);
        return this.#embed(difference(part, excluded, this.#maximumStates));
      }
      case 'following':
        return this.#embed(continuing(compilePattern(pattern.part, this.#maximumStates), pattern.prefix));
      case 'reserving': {
        const outer = this.#reserve;
        this.#reserve = Math.max(outer, pattern.tokens);
        const piece = this.add(pattern.part);
        this.#reserve = outer;
        return piece;
      }
    }
  }

  /** @returns the state in which `pattern`, entered from `end`, is left. */
  #append(end: number, pattern: Pattern): number {
    const { from, to } = this.add(pattern);
    this.#connect(end, from);
    return to;
  }

  #repeat(part: Pattern, minimum: number, maximum?: number): Piece {
    const piece = { from: this.#state(), to: this.#state() };
    let end = piece.from;
    for (let times = 0; times < minimum; times += 1) end = this.#append(end, part);
    if (maximum === undefined) {
      const hub = this.#state();
      this.#connect(end, hub);
      this.#connect(this.#append(hub, part), hub);
      end = hub;
    } else {
      for (let times = minimum; times < maximum; times += 1) {
        this.#connect(end, piece.to);
        end = this.#append(end, part);
      }
    }
    this.#connect(end, piece.to);
    return piece;
  }

  #embed(automaton: ByteAutomaton): Piece {
    const to = this.#state();
    const states = Array.from({ length: automaton.states }, () => this.#state());
    for (const [index, state] of states.entries()) {
      this.reserve[state] = Math.max(this.#reserve, automaton.reserve[index] as number);
      if (automaton.accepting[index] === 1) this.#connect(state, to);
      for (let low = 0; low < 256;) {
        const target = automaton.next[index * 256 + low] as number;
        let high = low;
        while (high < 255 && automaton.next[index * 256 + high + 1] === target) high += 1;
        if (target >= 0) this.edges[state]?.push({ low, high, to: states[target] as number });
        low = high + 1;
      }
    }
    return { from: states[automaton.start] as number, to };
  }
}

/** Rows of a transition table that grows while the states of a new automaton are found. */
class GrowingAutomaton {
  readonly #numbers = new Map<string, number>();
  readonly #rows: Int32Array[] = [];
  readonly #accepting: number[] = [];
  readonly #reserve: number[] = [];
  readonly #maximumStates: number;

  constructor(maximumStates: number) {
    this.#maximumStates = maximumStates;
  }

  /** The number of the state that `key` names, and whether it is new. */
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

/** The subset construction. */
function determinise(network: Network, from: number, to: number, maximumStates: number): ByteAutomaton {
  const segments = byteSegments(network.edges);
  const segmentOf = new Int32Array(256);
  for (const [index, low] of segments.entries()) segmentOf.fill(index, low);

  const visited = new Int32Array(network.edges.length);
  let visit = 0;
  /** All states that are reached without reading; those that only pass on are left out, which makes more subsets equal. */
  const closure = (states: readonly number[]): number[] => {
    visit += 1;
    const found: number[] = [];
    const pending = [...states];
    for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
      if (visited[state] === visit) continue;
      visited[state] = visit;
      if (state === to || (network.edges[state]?.length ?? 0) > 0) found.push(state);
      pending.push(...(network.silent[state] ?? []));
    }
    return found.sort((left, right) => left - right);
  };

  const automaton = new GrowingAutomaton(maximumStates);
  const pending: { readonly number: number; readonly subset: readonly number[] }[] = [];
  const enter = (states: readonly number[]): number => {
    const subset = closure(states);
    const { number, isNew } = automaton.state(subset.join(), subset.includes(to), Math.max(0, ...subset.map((state) => network.reserve[state] as number)));
    if (isNew) pending.push({ number, subset });
    return number;
  };

  enter([from]);
  for (let current = pending.pop(); current; current = pending.pop()) {
    const targets: number[][] = segments.map(() => []);
    for (const { low, high, to: target } of current.subset.flatMap((state) => network.edges[state] ?? [])) {
      for (let segment = segmentOf[low] as number; segment <= (segmentOf[high] as number); segment += 1) targets[segment]?.push(target);
    }
    const row = automaton.row(current.number);
    for (const [segment, states] of targets.entries()) {
      if (states.length > 0) row.fill(enter(states), segments[segment], segments[segment + 1] ?? 256);
    }
  }
  return automaton.finished();
}

/** The first bytes of the longest runs of bytes that no edge tells apart. */
function byteSegments(edges: readonly (readonly Edge[])[]): number[] {
  const starts = new Set([0]);
  for (const { low, high } of edges.flat()) {
    starts.add(low);
    if (high < 255) starts.add(high + 1);
  }
  return [...starts].sort((left, right) => left - right);
}

/** Texts of `left` that `right` does not accept. */
function difference(left: ByteAutomaton, right: ByteAutomaton, maximumStates: number): ByteAutomaton {
  const automaton = new GrowingAutomaton(maximumStates);
  const pending: { readonly number: number; readonly inLeft: number; readonly inRight: number }[] = [];
  const enter = (inLeft: number, inRight: number): number => {
    const accepting = left.accepting[inLeft] === 1 && right.accepting[inRight] !== 1;
    const { number, isNew } = automaton.state(`${inLeft},${inRight}`, accepting, left.reserve[inLeft] as number);
    if (isNew) pending.push({ number, inLeft, inRight });
    return number;
  };

  enter(left.start, right.start);
  for (let current = pending.pop(); current; current = pending.pop()) {
    const row = automaton.row(current.number);
    for (let byte = 0; byte < 256; byte += 1) {
      const inLeft = left.next[current.inLeft * 256 + byte] as number;
      if (inLeft >= 0) row[byte] = enter(inLeft, current.inRight < 0 ? -1 : (right.next[current.inRight * 256 + byte] as number));
    }
  }
  return minimise(automaton.finished());
}
