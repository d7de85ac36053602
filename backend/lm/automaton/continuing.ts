import { walk, type ByteAutomaton } from './byte-automaton.ts';
import { minimise } from './minimise.ts';

/** The automaton accepts no text that begins with the prefix. */
export class ImpossiblePrefixError extends Error {
  readonly prefix: string;

  constructor(prefix: string) {
    super(`No text that is allowed begins with ${JSON.stringify(prefix.length > 80 ? `${prefix.slice(0, 79)}…` : prefix)}.`);
    this.name = 'ImpossiblePrefixError';
    this.prefix = prefix;
  }
}

/**
 * The automaton of the texts that may follow `prefix`.
 * @throws ImpossiblePrefixError
 */
export function continuing(automaton: ByteAutomaton, prefix: string): ByteAutomaton {
  const start = walk(automaton, automaton.start, new TextEncoder().encode(prefix));
  if (start < 0) throw new ImpossiblePrefixError(prefix);
  return minimise({ ...automaton, start });
}
