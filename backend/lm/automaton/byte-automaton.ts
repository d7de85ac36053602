/** A deterministic automaton over bytes, as plain data that can be sent between processes. */
export interface ByteAutomaton {
  readonly states: number;
  readonly start: number;
  /** [states]: 1 for accepting states. */
  readonly accepting: Uint8Array;
  /** [states, 256]: the next state, or -1. An accepting state can be reached from every next state. */
  readonly next: Int32Array;
  /** [states]: the number of tokens to keep in reserve in each state; see `reserving`. */
  readonly reserve: Int32Array;
}

/** The state after `bytes`, or -1. */
export function walk(automaton: ByteAutomaton, state: number, bytes: Uint8Array): number {
  let reached = state;
  for (const byte of bytes) {
    if (reached < 0) return -1;
    reached = automaton.next[reached * 256 + byte] as number;
  }
  return reached;
}

export function accepts(automaton: ByteAutomaton, text: string): boolean {
  const state = walk(automaton, automaton.start, new TextEncoder().encode(text));
  return state >= 0 && automaton.accepting[state] === 1;
}
