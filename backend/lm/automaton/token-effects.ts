import type { ByteAutomaton } from './byte-automaton.ts';
import { distinctBytes } from './distinct-bytes.ts';
import { InternedVectors } from './interned-vectors.ts';

/** The tokens of a model. */
export interface TokenVocabulary {
  /** The bytes of each token id. Undefined for special tokens and unused ids, which are never allowed. */
  readonly tokenBytes: readonly (Uint8Array | undefined)[];
  /** Tokens that end a text; their bytes are ignored. */
  readonly stopTokenIds: readonly number[];
  /** The number of logits. Some ids may have no token. */
  readonly vocabularySize: number;
}

/** The tokens of this vocabulary cannot form the constrained text. */
export class UnusableVocabularyError extends Error {
  constructor(reason: string) {
    super(`This model's tokens cannot write the text they are held to: ${reason} Generate without the constraint.`);
    this.name = 'UnusableVocabularyError';
  }
}

export interface TokenEffects {
  /** [states] each: the state to which a token leads from every state of the byte automaton, or -1 if it is not allowed. */
  readonly effects: readonly Int32Array[];
  /** [vocabularySize]: the index of each token's effect, or -1 if no state allows the token. */
  readonly effectOf: Int32Array;
}

/** The maximum total number of entries of all effects, 4 bytes each. */
const MAX_ENTRIES = 48_000_000;

/**
 * The effect of every token on all states. The effect of a byte string is a vector over the states. Most byte strings have the
 * same few effects (nearly every word just continues a sentence). Extending an effect by a byte is computed once for each
 * distinct effect, so a token of the vocabulary costs only one look-up for each of its bytes.
 * @throws UnusableVocabularyError
 */
export function tokenEffects(automaton: ByteAutomaton, vocabulary: TokenVocabulary): TokenEffects {
  const { tokenBytes, vocabularySize, stopTokenIds } = vocabulary;
  const { letterOf, letters } = distinctBytes(automaton);
  const vectors = new InternedVectors(automaton.states);
  const nowhere = vectors.intern(new Int32Array(automaton.states).fill(-1));
  const unchanged = vectors.intern(Int32Array.from({ length: automaton.states }, (_, state) => state));
  /** For each effect and letter: the extended effect, or -1 if not computed yet. */
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
    // A token without bytes would be allowed everywhere and never make progress.
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
