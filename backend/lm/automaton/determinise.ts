import type { ByteAutomaton } from './byte-automaton.ts';
import { GrowingAutomaton } from './growing-automaton.ts';

export interface Edge {
  readonly low: number;
  readonly high: number;
  readonly to: number;
}

/** A nondeterministic automaton. */
export interface Network {
  /** For each state: the transitions that read a byte. */
  readonly edges: readonly (readonly Edge[])[];
  /** For each state: the targets of its silent transitions, which read nothing. */
  readonly silent: readonly (readonly number[])[];
  /** For each state: the number of tokens to keep in reserve. */
  readonly reserve: readonly number[];
}

/** The subset construction: each state of the result is a set of states of the network. */
export function determinise(network: Network, from: number, to: number, maximumStates: number): ByteAutomaton {
  const segments = byteSegments(network.edges);
  const segmentOf = new Int32Array(256);
  for (const [index, low] of segments.entries()) segmentOf.fill(index, low);

  const visited = new Int32Array(network.edges.length);
  let visit = 0;
  /** All states that silent transitions reach. Leaves out states with only silent transitions, so that more subsets are equal. */
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
    const reserve = subset.reduce((most, state) => Math.max(most, network.reserve[state] as number), 0);
    const { number, isNew } = automaton.state(subset.join(), subset.includes(to), reserve);
    if (isNew) pending.push({ number, subset });
    return number;
  };

  enter([from]);
  for (let current = pending.pop(); current; current = pending.pop()) {
    const targets: number[][] = segments.map(() => []);
    for (const { low, high, to: target } of current.subset.flatMap((state) => network.edges[state] ?? [])) {
      const last = segmentOf[high] as number;
      for (let segment = segmentOf[low] as number; segment <= last; segment += 1) targets[segment]?.push(target);
    }
    const row = automaton.row(current.number);
    for (const [segment, states] of targets.entries()) {
      if (states.length > 0) row.fill(enter(states), segments[segment], segments[segment + 1] ?? 256);
    }
  }
  return automaton.finished();
}

/** The first bytes of the longest runs of bytes that no edge distinguishes. */
function byteSegments(edges: readonly (readonly Edge[])[]): number[] {
  const starts = new Set([0]);
  for (const { low, high } of edges.flat()) {
    starts.add(low);
    if (high < 255) starts.add(high + 1);
  }
  return [...starts].sort((left, right) => left - right);
}
