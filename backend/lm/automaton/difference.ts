import type { ByteAutomaton } from './byte-automaton.ts';
import { GrowingAutomaton } from './growing-automaton.ts';
import { minimise } from './minimise.ts';

/** The automaton of the texts that `left` accepts and `right` does not, with the reserves of `left`. */
export function difference(left: ByteAutomaton, right: ByteAutomaton, maximumStates: number): ByteAutomaton {
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
