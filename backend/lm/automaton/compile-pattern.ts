import type { ByteAutomaton } from './byte-automaton.ts';
import { continuing } from './continuing.ts';
import { determinise, type Edge, type Network } from './determinise.ts';
import { difference } from './difference.ts';
import { AutomatonTooLargeError } from './growing-automaton.ts';
import { minimise } from './minimise.ts';
import type { Pattern } from './pattern.ts';

/** 32 MB at 1 kB for each state. */
const MAX_STATES = 32_768;

/**
 * The minimal deterministic automaton of a pattern. Its states are numbered in the order in which they are reached from the
 * start, so that equivalent patterns give equal automata.
 * @throws AutomatonTooLargeError, ImpossiblePrefixError
 */
export function compilePattern(pattern: Pattern, maximumStates = MAX_STATES): ByteAutomaton {
  const network = new PatternNetwork(maximumStates);
  const { from, to } = network.add(pattern);
  return minimise(determinise(network, from, to, maximumStates));
}

/** A part of the network with one entry state and one exit state. */
interface Piece {
  readonly from: number;
  readonly to: number;
}

/** The nondeterministic automaton of a pattern, by Thompson's construction. */
class PatternNetwork implements Network {
  readonly edges: Edge[][] = [];
  readonly silent: number[][] = [];
  readonly reserve: number[] = [];
  readonly #maximumStates: number;
  /** The reserve of the part that is being added. */
  #reserve = 0;

  constructor(maximumStates: number) {
    this.#maximumStates = maximumStates;
  }

  #state(): number {
    // A network has many states with only silent transitions, so it can be several times as large as its deterministic automaton.
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

  /** Adds `pattern` after the state `end`. @returns its exit state */
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
