import type { ByteAutomaton } from './byte-automaton.ts';
import { distinctBytes } from './distinct-bytes.ts';

/**
 * The minimal automaton with the same texts and reserves. Drops states that are unreachable or cannot reach an accepting state, and
 * merges equivalent ones. States are numbered in the order in which they are reached from the start, which is 0. If no text is
 * accepted, one state is left.
 */
export function minimise(automaton: ByteAutomaton): ByteAutomaton {
  const { letterOf, letters } = distinctBytes(automaton);
  const blockOf = equalStates(automaton, letters);
  const sinkBlock = blockOf[automaton.states] as number;

  const numbers = new Map<number, number>();
  const representatives: number[] = [];
  const number = (state: number): number => {
    const block = blockOf[state] as number;
    let known = numbers.get(block);
    if (known === undefined) {
      known = representatives.push(state) - 1;
      numbers.set(block, known);
    }
    return known;
  };
  number(automaton.start);
  const rows: Int32Array[] = [];
  for (let index = 0; index < representatives.length; index += 1) {
    const offset = (representatives[index] as number) * 256;
    rows.push(Int32Array.from(letterOf, (letter) => {
      const target = automaton.next[offset + (letters[letter] as number)] as number;
      return target < 0 || blockOf[target] === sinkBlock ? -1 : number(target);
    }));
  }
  const next = new Int32Array(rows.length * 256);
  for (const [index, row] of rows.entries()) next.set(row, index * 256);
  return {
    states: rows.length,
    start: 0,
    accepting: Uint8Array.from(representatives, (state) => automaton.accepting[state] as number),
    next,
    reserve: Int32Array.from(representatives, (state) => automaton.reserve[state] as number),
  };
}

/**
 * Hopcroft's algorithm: the coarsest partition of the states into blocks of equivalent states, which no text or reserve
 * distinguishes. An additional sink state, `states`, is the target of missing transitions. Its block has all states that cannot
 * reach an accepting one.
 */
function equalStates({ states, accepting, next, reserve }: ByteAutomaton, letters: readonly number[]): Int32Array {
  const size = states + 1;
  const sources = letters.map((byte) => predecessors(size, (state) => {
    const target = state === states ? -1 : (next[state * 256 + byte] as number);
    return target < 0 ? states : target;
  }));

  const blocks: number[][] = [];
  const blockOf = new Int32Array(size);
  const living = endsFrom(sources, accepting);
  const kinds = new Map<number, number>();
  for (let state = 0; state < size; state += 1) {
    const kind = living.has(state) ? 2 * (reserve[state] as number) + (accepting[state] as number) : -1;
    const block = kinds.get(kind) ?? blocks.push([]) - 1;
    kinds.set(kind, block);
    blocks[block]?.push(state);
    blockOf[state] = block;
  }
  const waiting = new Set(blocks.keys());
  for (const splitter of waiting) {
    waiting.delete(splitter);
    const targets = [...(blocks[splitter] ?? [])];
    for (const { first, states: from } of sources) {
      const hits = new Map<number, Set<number>>();
      for (const target of targets) {
        for (const state of from.subarray(first[target], first[target + 1])) {
          const block = blockOf[state] as number;
          const hit = hits.get(block);
          if (hit) hit.add(state);
          else hits.set(block, new Set([state]));
        }
      }
      for (const [block, hit] of hits) {
        const members = blocks[block] as number[];
        if (hit.size === members.length) continue;
        blocks[block] = members.filter((state) => !hit.has(state));
        const split = blocks.push([...hit]) - 1;
        for (const state of hit) blockOf[state] = split;
        // If the block is not waiting as a splitter, its smaller half is enough; the other half would split nothing more.
        waiting.add(waiting.has(block) || hit.size <= (blocks[block] as number[]).length ? split : block);
      }
    }
  }
  return blockOf;
}

/** The states from which an accepting state can be reached. */
function endsFrom(sources: readonly Predecessors[], accepting: Uint8Array): Set<number> {
  const found = new Set([...accepting.keys()].filter((state) => accepting[state] === 1));
  for (const target of found) {
    for (const { first, states } of sources) {
      for (const state of states.subarray(first[target], first[target + 1])) found.add(state);
    }
  }
  return found;
}

/** The sources of each target: `states` from `first[target]` up to `first[target + 1]`. */
interface Predecessors {
  readonly first: Int32Array;
  readonly states: Int32Array;
}

function predecessors(size: number, targetOf: (state: number) => number): Predecessors {
  const first = new Int32Array(size + 1);
  const targets = Int32Array.from({ length: size }, (_, state) => targetOf(state));
  const states = Int32Array.from(targets.keys()).sort((left, right) => (targets[left] as number) - (targets[right] as number));
  for (const target of targets) first[target + 1] = (first[target + 1] as number) + 1;
  for (let target = 0; target < size; target += 1) first[target + 1] = (first[target + 1] as number) + (first[target] as number);
  return { first, states };
}
