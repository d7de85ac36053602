import type { ByteAutomaton } from './byte-automaton.ts';

/** Groups bytes that have the same transitions in every state into letters: the letter of each byte [256], and one byte of each letter. */
export function distinctBytes({ states, next }: ByteAutomaton): {
  readonly letterOf: Int32Array;
  readonly letters: readonly number[];
} {
  let letterOf: Int32Array = new Int32Array(256);
  for (let state = 0; state < states; state += 1) {
    const pairs = new Map<number, number>();
    letterOf = letterOf.map((letter, byte) => {
      const pair = letter * (states + 1) + (next[state * 256 + byte] as number) + 1;
      if (!pairs.has(pair)) pairs.set(pair, pairs.size);
      return pairs.get(pair) as number;
    });
  }
  const letters: number[] = [];
  for (const [byte, letter] of letterOf.entries()) letters[letter] ??= byte;
  return { letterOf, letters };
}
