import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { walk } from '../../../backend/lm/automaton/byte-automaton.ts';
import { compilePattern } from '../../../backend/lm/automaton/compile-pattern.ts';
import {
  byteOf, choice, except, literal, oneOf, optional, repeat, reserving, sequence, star, type Pattern,
} from '../../../backend/lm/automaton/pattern.ts';
import { compileTokenAutomaton, type TokenAutomaton } from '../../../backend/lm/automaton/token-automaton.ts';
import { UnusableVocabularyError, type TokenVocabulary } from '../../../backend/lm/automaton/token-effects.ts';

const bytesOf = (texts: readonly (string | undefined)[]): (Uint8Array | undefined)[] =>
  texts.map((text) => (text === undefined ? undefined : new TextEncoder().encode(text)));

/** The state after `token`, or -1 where it is not allowed: as a graph reads the tables. */
function step({ allow, next, classOf, classes }: TokenAutomaton, state: number, token: number): number {
  const index = state * classes + (classOf[token] as number);
  return allow[index] === 1 ? (next[index] as number) : -1;
}

const patterns: fc.Arbitrary<Pattern> = fc.letrec<{ pattern: Pattern }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(literal('a'), literal('b'), literal('abc'), oneOf('ab'), byteOf([0x61, 0x63])),
    fc.array(tie('pattern'), { minLength: 1, maxLength: 3 }).map((parts) => sequence(...parts)),
    fc.array(tie('pattern'), { minLength: 1, maxLength: 3 }).map((parts) => choice(...parts)),
    fc.tuple(tie('pattern'), fc.nat(2), fc.nat(2)).map(([part, minimum, more]) => repeat(part, minimum, minimum + more)),
    tie('pattern').map(star),
    tie('pattern').map(optional),
    fc.tuple(tie('pattern'), fc.nat(9)).map(([part, tokens]) => reserving(tokens, part)),
    fc.tuple(tie('pattern'), tie('pattern')).map(([part, excluded]) => except(part, excluded)),
  ),
})).pattern;

const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 2, maxLength: 5 }), { maxLength: 12 });

/** A vocabulary of 'a', 'b', 'c', longer pieces, and a stop token at its end. */
const withStop = (texts: readonly string[]): TokenVocabulary =>
  ({ tokenBytes: bytesOf(['a', 'b', 'c', ...texts]), stopTokenIds: [texts.length + 3], vocabularySize: texts.length + 4 });

const hasText = (pattern: Pattern): boolean => {
  const { states, accepting } = compilePattern(pattern);
  return states > 1 || accepting[0] === 1;
};

describe('a token automaton', () => {
  it('allows the tokens whose bytes go on with the text, and the stop token where the text may end', () => {
    fc.assert(
      fc.property(patterns.filter(hasText), pieces, fc.array(fc.nat(14), { maxLength: 12 }), (pattern, texts, choices) => {
        const automaton = compilePattern(pattern);
        const vocabulary = withStop(texts);
        const tokens = compileTokenAutomaton(automaton, vocabulary);
        const stop = vocabulary.stopTokenIds[0] as number;
        let [inBytes, inTokens] = [automaton.start, tokens.start];
        for (const chosen of choices) {
          expect(step(tokens, inTokens, stop)).toBe(automaton.accepting[inBytes] === 1 ? tokens.final : -1);
          const reached = vocabulary.tokenBytes.map((bytes, token) => {
            const state = walk(automaton, inBytes, bytes as Uint8Array);
            const target = step(tokens, inTokens, token);
            expect(target >= 0).toBe(state >= 0);
            return [state, target] as const;
          });
          const open = reached.filter(([state]) => state >= 0);
          const went = open[chosen % Math.max(1, open.length)];
          if (!went) return;
          [inBytes, inTokens] = went;
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it('allows nothing but stop tokens once the text has ended', () => {
    const tokens = compileTokenAutomaton(compilePattern(star(literal('a'))), {
      tokenBytes: bytesOf(['a', 'b', undefined, 'a']), stopTokenIds: [2, 3], vocabularySize: 4,
    });
    expect([0, 1, 2, 3].map((token) => step(tokens, tokens.final, token))).toEqual([-1, -1, tokens.final, tokens.final]);
    expect([0, 1, 2, 3].map((token) => step(tokens, tokens.start, token))).toEqual([tokens.start, -1, tokens.final, tokens.final]);
  });

  it('never allows special tokens, ids without a token, or tokens without bytes', () => {
    const tokens = compileTokenAutomaton(compilePattern(star(byteOf([0, 255]))), {
      tokenBytes: bytesOf(['a', undefined, '', 'b']), stopTokenIds: [6], vocabularySize: 7,
    });
    expect([...tokens.classOf].map((tokenClass) => tokenClass === 0)).toEqual([false, true, true, false, true, true, false]);
    for (let state = 0; state < tokens.states; state += 1) expect(tokens.allow[state * tokens.classes]).toBe(0);
  });

  it('has tokens in one class exactly if they do the same in every state', () => {
    fc.assert(
      fc.property(patterns.filter(hasText), pieces, (pattern, texts) => {
        const automaton = compilePattern(pattern);
        const vocabulary = withStop(texts);
        const tokens = compileTokenAutomaton(automaton, vocabulary);
        const inBytes = vocabulary.tokenBytes.map((bytes) =>
          Array.from({ length: automaton.states }, (_, state) => walk(automaton, state, bytes as Uint8Array)).join());
        for (const [token, effect] of inBytes.entries()) {
          const sameClass = inBytes.map((_, other) => tokens.classOf[other] === tokens.classOf[token]);
          expect(sameClass).toEqual(inBytes.map((other) => other === effect));
        }
        expect(tokens.classes).toBe(new Set([...tokens.classOf, 0, 1]).size);
      }),
      { numRuns: 500 },
    );
  });

  it('follows characters whose bytes are spread over tokens', () => {
    const [first, second, third] = new TextEncoder().encode('€') as unknown as [number, number, number];
    const tokens = compileTokenAutomaton(compilePattern(star(literal('€'))), {
      tokenBytes: [[first, second], [third], [third, first, second]].map((bytes) => Uint8Array.from(bytes)),
      stopTokenIds: [3],
      vocabularySize: 4,
    });
    const open = step(tokens, tokens.start, 0);
    expect(step(tokens, tokens.start, 1)).toBe(-1);
    expect([1, 2, 3].map((token) => step(tokens, open, token))).toEqual([tokens.start, open, -1]);
  });
});

describe('where the vocabulary cannot write everything', () => {
  it('ways that come to no end are closed at their beginning', () => {
    const pattern = choice(literal('ab'), literal('cd'), sequence(literal('c'), literal('b')));
    const tokens = compileTokenAutomaton(compilePattern(pattern), {
      tokenBytes: bytesOf(['a', 'c', 'd', 'cb', 'ax']), stopTokenIds: [5], vocabularySize: 6,
    });
    expect([0, 1, 2, 3, 4].map((token) => step(tokens, tokens.start, token) >= 0)).toEqual([false, true, false, true, false]);
    expect(tokens.states).toBe(4);
  });

  it('every state that is left allows some token and is on a way from the start to the end', () => {
    const incomplete = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 }), { maxLength: 6 });
    let usable = 0;
    fc.assert(
      fc.property(patterns, incomplete, (pattern, texts) => {
        const vocabulary = { tokenBytes: bytesOf(texts), stopTokenIds: [texts.length], vocabularySize: texts.length + 1 };
        let tokens: TokenAutomaton;
        try {
          tokens = compileTokenAutomaton(compilePattern(pattern), vocabulary);
        } catch (error) {
          expect(error).toBeInstanceOf(UnusableVocabularyError);
          return;
        }
        usable += 1;
        const targets = (state: number): number[] =>
          [...tokens.classOf.keys()].map((token) => step(tokens, state, token)).filter((target) => target >= 0);
        const found = new Set([tokens.start]);
        for (const state of found) for (const target of targets(state)) found.add(target);
        expect(found.size).toBe(tokens.states);
        for (const state of found) {
          const ahead = new Set([state]);
          for (const later of ahead) for (const target of targets(later)) ahead.add(target);
          expect(ahead.has(tokens.final)).toBe(true);
          expect(targets(state).length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 2_000 },
    );
    expect(usable).toBeGreaterThan(200);
  });

  it.each([
    ['no text can be written', ['a', 'c'], [2], 3],
    ['a stop token is outside', ['a', 'b'], [3], 3],
    ['there is no stop token', ['a', 'b'], [], 3],
  ])('it is refused: %s', (_, texts, stopTokenIds, vocabularySize) => {
    const automaton = compilePattern(literal('ab'));
    const vocabulary = { tokenBytes: bytesOf(texts), stopTokenIds, vocabularySize };
    expect(() => compileTokenAutomaton(automaton, vocabulary)).toThrow(UnusableVocabularyError);
  });
});

describe('the distance to the end', () => {
  it('is the fewest tokens that end the text, the stop token counted', () => {
    const tokens = compileTokenAutomaton(compilePattern(sequence(star(literal('x')), literal('abcd'))), {
      tokenBytes: bytesOf(['x', 'a', 'ab', 'bcd', 'c', 'd', 'xx']), stopTokenIds: [7], vocabularySize: 8,
    });
    const afterA = step(tokens, tokens.start, 1);
    const afterAb = step(tokens, tokens.start, 2);
    const [start, ...others] = [tokens.start, afterA, afterAb, tokens.final].map((state) => tokens.distance[state]);
    expect([start, ...others]).toEqual([3, 2, 3, 0]);
  });

  it('adds what is held in reserve', () => {
    const pattern = sequence(reserving(10, star(literal('x'))), reserving(4, literal('a')), literal('b'));
    const vocabulary = { tokenBytes: bytesOf(['x', 'a', 'b']), stopTokenIds: [3], vocabularySize: 4 };
    const tokens = compileTokenAutomaton(compilePattern(pattern), vocabulary);
    expect(tokens.distance[tokens.start]).toBe(13);
    expect(tokens.distance[step(tokens, tokens.start, 1)]).toBe(2);
  });

  it('ends every text within its tokens, whatever is chosen among what it leaves', () => {
    fc.assert(
      fc.property(patterns.filter(hasText), pieces, fc.nat(20), fc.infiniteStream(fc.nat(30)), (pattern, texts, more, choices) => {
        const vocabulary = withStop(texts);
        const tokens = compileTokenAutomaton(compilePattern(pattern), vocabulary);
        let state = tokens.start;
        let left = (tokens.distance[state] as number) + more;
        while (state !== tokens.final) {
          const allowed = [...tokens.classOf.keys()]
            .map((token) => step(tokens, state, token))
            .filter((target) => target >= 0 && (tokens.distance[target] as number) <= left - 1);
          expect(allowed.length).toBeGreaterThan(0);
          state = allowed[(choices.next().value as number) % allowed.length] as number;
          left -= 1;
        }
        expect(left).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 2_000 },
    );
  });
});
