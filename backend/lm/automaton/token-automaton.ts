import type { ByteAutomaton } from './byte-automaton.ts';
import { InternedVectors } from './interned-vectors.ts';
import { tokenEffects, UnusableVocabularyError, type TokenVocabulary } from './token-effects.ts';

/**
 * An automaton over the tokens of a vocabulary, as tables for a graph. In state `s` the logits are masked with `allow[s][classOf]`,
 * and token `t` leads to state `next[s][classOf[t]]`. Every state allows some token.
 */
export interface TokenAutomaton {
  readonly states: number;
  /** Tokens with the same effect in every state are one class. Class 0 is never allowed; class 1 contains the stop tokens. */
  readonly classes: number;
  readonly start: number;
  /** The state after a stop token, which allows only stop tokens, so that finished rows can stay in a batch. */
  readonly final: number;
  /** [states, classes]: 1 if allowed. */
  readonly allow: Uint8Array;
  /** [states, classes]: the next state. If the class is not allowed, the state itself, which is a valid index for a gather. */
  readonly next: Int32Array;
  /** [vocabularySize] */
  readonly classOf: Int32Array;
  /**
   * [states]: the fewest tokens that end the text from this state, including the stop token, plus the reserve. In a state whose
   * distance is at most the remaining tokens, some allowed token leads to a state for which the same holds. A text therefore
   * always ends properly if it may have at least `distance[start]` tokens and each chosen token has `distance[next] <= tokens
   * left after this one`.
   */
  readonly distance: Int32Array;
}

const FORBIDDEN = 0;
const STOP = 1;
const UNREACHABLE = 0x7fff_ffff;

/**
 * Compiles a byte automaton to an automaton over the tokens of a vocabulary. Leaves out states from which these tokens cannot end
 * the text. Takes some tenths of a second for a large vocabulary, so it runs in the model's process, which caches the result.
 * @throws UnusableVocabularyError
 */
export function compileTokenAutomaton(automaton: ByteAutomaton, vocabulary: TokenVocabulary): TokenAutomaton {
  const { stopTokenIds, vocabularySize } = vocabulary;
  if (stopTokenIds.length === 0 || stopTokenIds.some((id) => !Number.isSafeInteger(id) || id < 0 || id >= vocabularySize)) {
    throw new UnusableVocabularyError(`it has ${vocabularySize} tokens, and [${stopTokenIds.join(', ')}] are to end the text.`);
  }
  const final = automaton.states;
  const { effects, effectOf } = tokenEffects(automaton, vocabulary);
  const ends = (state: number): boolean => state === final || automaton.accepting[state] === 1;
  const stop = Int32Array.from({ length: final + 1 }, (_, state) => (ends(state) ? final : -1));

  const successors = distinctSuccessors([stop, ...effects], final + 1);
  const distance = distances(successors, final, automaton.reserve);
  if (distance[automaton.start] === UNREACHABLE) throw new UnusableVocabularyError('every beginning leads to a dead end.');
  const kept = reachable(successors, automaton.start, distance);
  const renumbered = new Int32Array(final + 1).fill(-1);
  for (const [number, state] of kept.entries()) renumbered[state] = number;

  const columns = new InternedVectors(kept.length);
  const column = (effect: Int32Array): number =>
    columns.intern(Int32Array.from(kept, (state) => {
      const target = effect[state] ?? -1;
      return target < 0 ? -1 : (renumbered[target] as number);
    }));
  column(new Int32Array(0));
  column(stop);
  const classOfEffect = effects.map(column);
  const classOf = effectOf.map((effect) => (effect < 0 ? FORBIDDEN : (classOfEffect[effect] as number)));
  for (const id of stopTokenIds) classOf[id] = STOP;

  const [states, classes] = [kept.length, columns.size];
  const allow = new Uint8Array(states * classes);
  const next = new Int32Array(states * classes);
  for (let state = 0; state < states; state += 1) {
    for (let tokenClass = 0; tokenClass < classes; tokenClass += 1) {
      const target = columns.at(tokenClass)[state] as number;
      allow[state * classes + tokenClass] = target < 0 ? 0 : 1;
      next[state * classes + tokenClass] = target < 0 ? state : target;
    }
  }
  return {
    states,
    classes,
    start: renumbered[automaton.start] as number,
    final: renumbered[final] as number,
    allow,
    next,
    classOf,
    distance: Int32Array.from(kept, (state) => distance[state] as number),
  };
}

function distinctSuccessors(effects: readonly Int32Array[], states: number): number[][] {
  return Array.from({ length: states }, (_, state) => {
    const targets = new Set(effects.map((effect) => effect[state] ?? -1));
    targets.delete(-1);
    return [...targets];
  });
}

/**
 * The length of the shortest path from each state to `final`. A token counts as one, plus the reserve that it releases. A shortest
 * path is thus at least one longer than the rest of it after its first token, which is what the guarantee of `distance` needs.
 */
function distances(successors: readonly (readonly number[])[], final: number, reserve: Int32Array): Int32Array {
  const distance = new Int32Array(final + 1).fill(UNREACHABLE);
  distance[final] = 0;
  const held = (state: number): number => reserve[state] ?? 0;
  for (let changed = true; changed;) {
    changed = false;
    // Backwards, because states are numbered from the start, so that a few sweeps find most paths.
    for (let state = final - 1; state >= 0; state -= 1) {
      for (const target of successors[state] ?? []) {
        if (distance[target] === UNREACHABLE) continue;
        const length = (distance[target] as number) + 1 + Math.max(0, held(state) - held(target));
        if (length >= (distance[state] as number)) continue;
        distance[state] = length;
        changed = true;
      }
    }
  }
  return distance;
}

/** The states on paths from `start` to the end, in ascending order. */
function reachable(successors: readonly (readonly number[])[], start: number, distance: Int32Array): number[] {
  const found = new Set([start]);
  for (const state of found) {
    for (const target of successors[state] ?? []) if (distance[target] !== UNREACHABLE) found.add(target);
  }
  return [...found].sort((left, right) => left - right);
}
