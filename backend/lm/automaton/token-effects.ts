import type { ByteAutomaton } from './byte-automaton.ts';
import { distinctBytes } from './distinct-bytes.ts';
import { InternedVectors } from './interned-vectors.ts';

/** What the tokens of a model stand for. */
export interface TokenVocabulary {
  /** The bytes of each token id; none for special tokens and ids without a token: they are never allowed. */
  readonly tokenBytes: readonly (Uint8Array | undefined)[];
  /** Tokens that end a text, whatever bytes they have. */
  readonly stopTokenIds: readonly number[];
  /** Number of logits: ids from 0, some of which may have no token. */
  readonly vocabularySize: number;
}

/** With the tokens of this vocabulary, the constrained text cannot be written. */
export class UnusableVocabularyError extends Error {
  constructor(reason: string) {
    super(`This model's tokens cannot write the text they are held to: ${reason} Generate without the constraint.`);
    this.name = 'UnusableVocabularyError';
  }
}

export interface TokenEffects {
  /** Each [states]: where a token leads from every state of the byte automaton, -1 where it is not allowed. */
  readonly effects: readonly Int32Array[];
  /** [vocabularySize]: the effect of each token, -1 for those that are allowed nowhere. */
  readonly effectOf: Int32Array;
}

/** Entries of all effects together, 4 bytes each. */
const MAX_ENTRIES = 48_000_000;

/**
 * What every token does, for all states at once: the effect of some bytes is a vector over the states. Different bytes mostly
 * have equal effects (nearly every word just goes on with a sentence), so what one byte more makes of an effect is worked out
 * once for each distinct one, and a token of the vocabulary costs no more than a look-up for each of its bytes.
 * @throws UnusableVocabularyError
 */
export function tokenEffects(automaton: ByteAutomaton, vocabulary: TokenVocabulary): TokenEffects {
  const { tokenBytes, vocabularySize, stopTokenIds } = vocabulary;
  const { letterOf, letters } = distinctBytes(automaton);
  const vectors = new InternedVectors(automaton.states);
  const nowhere = vectors.intern(new Int32Array(automaton.states).fill(-1));
  const unchanged = vectors.intern(Int32Array.from({ length: automaton.states }, (_, state) => state));
  /** By effect and letter: the effect of both, -1 where it is not known yet. */
  const extended: Int32Array[] = [];

  const extend = (effect: number, letter: number): number => {
    const row = (extended[effect] ??= new Int32Array(letters.length).fill(-1));
    if (row[letter] === -1) {
      if (vectors.size * automaton.states > MAX_ENTRIES) throw new UnusableVocabularyError('they act in too many ways.');
      const byte = letters[letter] as number;
      row[letter] = vectors.intern(
        vectors.at(effect).map((state) => (state < 0 ? -1 : (automaton.next[state * 256 + byte] as number))),
      );
    }
    return row[letter] as number;
  };

  const effects: Int32Array[] = [];
  const numbers = new Map<number, number>();
  const effectOf = new Int32Array(vocabularySize).fill(-1);
  const stops = new Set(stopTokenIds);
  for (let token = 0; token < Math.min(vocabularySize, tokenBytes.length); token += 1) {
    const bytes = tokenBytes[token];
    // A token without bytes would be allowed everywhere and lead nowhere, for ever.
    if (!bytes || bytes.length === 0 || stops.has(token)) continue;
    let effect = unchanged;
    for (const byte of bytes) {
      effect = extend(effect, letterOf[byte] as number);
      if (effect === nowhere) break;
    }
    if (effect === nowhere) continue;
    const known = numbers.get(effect) ?? effects.push(vectors.at(effect)) - 1;
    numbers.set(effect, known);
    effectOf[token] = known;
  }
  return { effects, effectOf };
}
