import { walk, type ByteAutomaton } from './byte-automaton.ts';
import { minimise } from './minimise.ts';

/** A text that was to be continued is not the beginning of any text of the automaton. */
export class ImpossiblePrefixError extends Error {
  readonly prefix: string;

  constructor(prefix: string) {
    super(`No text that is allowed begins with ${JSON.stringify(prefix.length > 80 ? `${prefix.slice(0, 79)}…` : prefix)}.`);
    this.name = 'ImpossiblePrefixError';
    this.prefix = prefix;
  }
}

/**
 * The automaton of what may follow `prefix`.
 * @throws ImpossiblePrefixError
 */
export function continuing(automaton: ByteAutomaton, prefix: string): ByteAutomaton {
  const start = walk(automaton, automaton.start, new TextEncoder().encode(prefix));
  if (start < 0) throw new ImpossiblePrefixError(prefix);
  return minimise({ ...automaton, start });
}
