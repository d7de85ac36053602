import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accepts, walk, type ByteAutomaton } from '../../../backend/lm/automaton/byte-automaton.ts';
import { compilePattern } from '../../../backend/lm/automaton/compile-pattern.ts';
import { ImpossiblePrefixError } from '../../../backend/lm/automaton/continuing.ts';
import { AutomatonTooLargeError } from '../../../backend/lm/automaton/growing-automaton.ts';
import {
  ANY_BYTE, byteOf, choice, codePoints, except, following, literal, literalInAnyCase, oneOf, optional, repeat, reserving, sequence,
  star, type Pattern,
} from '../../../backend/lm/automaton/pattern.ts';

/** A pattern and the same as a regular expression. */
type Twin = readonly [Pattern, string];

const twins: fc.Arbitrary<Twin> = fc.letrec<{ twin: Twin }>((tie) => ({
  twin: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Twin>(
      [literal('a'), 'a'], [literal('b'), 'b'], [literal('ab'), 'ab'], [literal(''), ''], [byteOf([0x61, 0x62]), '[ab]'],
      [oneOf('bc'), '[bc]'], [literalInAnyCase('c'), '[cC]'], [byteOf(), '[^\\s\\S]'], [choice(), '[^\\s\\S]'],
    ),
    fc.array(tie('twin'), { maxLength: 3 }).map((parts): Twin =>
      [sequence(...parts.map(([pattern]) => pattern)), parts.map(([, source]) => `(?:${source})`).join('')]),
    fc.array(tie('twin'), { minLength: 1, maxLength: 3 }).map((parts): Twin =>
      [choice(...parts.map(([pattern]) => pattern)), `(?:${parts.map(([, source]) => source).join('|')})`]),
    fc.tuple(tie('twin'), fc.nat(2), fc.nat(2)).map(([[pattern, source], minimum, more]): Twin =>
      [repeat(pattern, minimum, minimum + more), `(?:${source}){${minimum},${minimum + more}}`]),
    tie('twin').map(([pattern, source]): Twin => [star(pattern), `(?:${source})*`]),
    tie('twin').map(([pattern, source]): Twin => [optional(pattern), `(?:${source})?`]),
  ),
})).twin;

/** All texts of up to five letters. */
const TEXTS = ['']
for (let index = 0; (TEXTS[index] as string).length < 5; index += 1) {
  TEXTS.push(...['a', 'b', 'c'].map((letter) => `${TEXTS[index]}${letter}`));
}

const whole = (source: string): RegExp => new RegExp(`^(?:${source})$`);
const accepted = (automaton: ByteAutomaton): string[] => TEXTS.filter((text) => accepts(automaton, text));

describe('an automaton accepts what its pattern says', () => {
  it('as a regular expression does', () => {
    fc.assert(
      fc.property(twins, ([pattern, source]) => {
        const expression = whole(source);
        expect(accepted(compilePattern(pattern))).toEqual(TEXTS.filter((text) => expression.test(text)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('without the excluded texts, also in the middle of a sequence', () => {
    fc.assert(
      fc.property(twins, twins, twins, twins, ([before, x], [part, a], [excluded, b], [after, y]) => {
        const [startsWith, takes, leavesOut, endsWith] = [x, a, b, y].map(whole) as [RegExp, RegExp, RegExp, RegExp];
        const expected = TEXTS.filter((text) => {
          for (let from = 0; from <= text.length; from += 1) {
            for (let to = from; to <= text.length; to += 1) {
              const middle = text.slice(from, to);
              if (!takes.test(middle) || leavesOut.test(middle)) continue;
              if (startsWith.test(text.slice(0, from)) && endsWith.test(text.slice(to))) return true;
            }
          }
          return false;
        });
        expect(accepted(compilePattern(sequence(before, except(part, excluded), after)))).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('after a prefix', () => {
    fc.assert(
      fc.property(twins, fc.constantFrom('a', 'b', 'ab', 'ca'), ([pattern, source], prefix) => {
        const expression = whole(source);
        const expected = TEXTS.filter((text) => expression.test(prefix + text));
        // A pattern with longer texts only has no text here, but may have the prefix.
        if (expected.length > 0) expect(accepted(compilePattern(following(prefix, pattern)))).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('says which prefix no text begins with', () => {
    expect(() => compilePattern(following('abd', literal('abc')))).toThrow(ImpossiblePrefixError);
    expect(() => compilePattern(following('abd', literal('abc')))).toThrow('"abd"');
  });

  it('and nothing where the pattern has no text', () => {
    const automaton = compilePattern(sequence(literal('a'), choice()));
    expect(automaton).toMatchObject({ states: 1, start: 0 });
    expect(automaton.accepting).toEqual(Uint8Array.of(0));
  });

  it('after its pattern has travelled as JSON', () => {
    fc.assert(
      fc.property(twins, ([pattern]) => {
        expect(compilePattern(JSON.parse(JSON.stringify(pattern)) as Pattern)).toEqual(compilePattern(pattern));
      }),
      { numRuns: 100 },
    );
  });
});

describe('an automaton is as small as it can be', () => {
  it('patterns with the same texts give equal automata', () => {
    const [a, b] = [literal('a'), literal('b')];
    expect(compilePattern(star(choice(a, b)))).toEqual(compilePattern(star(sequence(star(a), star(b)))));
    expect(compilePattern(choice(sequence(a, b), b))).toEqual(compilePattern(sequence(optional(a), b)));
  });

  it('no two of its states have the same texts, and each has one', () => {
    fc.assert(
      fc.property(twins, twins, ([part], [excluded]) => {
        const { states, accepting, next } = compilePattern(except(part, excluded));
        // Moore's division: states are told apart by their ends, then by where bytes lead, until nothing changes. -1 is nowhere.
        const names = new Map<number, string>([[-1, 'nowhere']]);
        for (let state = 0; state < states; state += 1) names.set(state, accepting[state] === 1 ? 'end' : 'nowhere');
        for (let known = 0; known < new Set(names.values()).size;) {
          known = new Set(names.values()).size;
          const rows = [...names].map(([state, name]): [number, string] => {
            const targets = [...'abcC'].map((letter) => (state < 0 ? -1 : (next[state * 256 + letter.charCodeAt(0)] as number)));
            return [state, [name, ...targets.map((target) => names.get(target))].join()];
          });
          const numbers = [...new Set(rows.map(([, row]) => row))];
          for (const [state, row] of rows) names.set(state, String(numbers.indexOf(row)));
        }
        const nothing = states === 1 && accepting[0] === 0;
        expect(new Set(names.values()).size).toBe(nothing ? 1 : states + 1);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['counted repetitions', repeat(repeat(ANY_BYTE, 1000, 1000), 1000, 1000)],
    ['subsets', sequence(star(ANY_BYTE), literal('a'), repeat(ANY_BYTE, 20, 20))],
  ])('one that needs too many states is refused: %s', (_, pattern) => {
    expect(() => compilePattern(pattern, 1_000)).toThrow(AutomatonTooLargeError);
    expect(() => compilePattern(pattern, 1_000)).toThrow('more than 1000 states');
  });

  it.each([[-1, 2], [3, 2], [0.5, 2], [0, Infinity], [0, NaN]])('no pattern repeats from %s to %s times', (minimum, maximum) => {
    expect(() => repeat(ANY_BYTE, minimum, maximum)).toThrow(RangeError);
  });
});

describe('characters', () => {
  it('are all valid UTF-8, and only that', () => {
    const automaton = compilePattern(star(codePoints(['\0', '\u{10ffff}'])));
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 4 }),
      fc.string({ unit: 'binary', maxLength: 3 }).map((text) => new TextEncoder().encode(text)),
      // Overlong forms, surrogates and what lies beyond the last character, and their neighbours.
      fc.constantFrom(
        [0xc0, 0x80], [0xc1, 0xbf], [0xc2, 0x80], [0xe0, 0x9f, 0xbf], [0xe0, 0xa0, 0x80], [0xed, 0x9f, 0xbf], [0xed, 0xa0, 0x80],
        [0xef, 0xbb, 0xbf], [0xf0, 0x8f, 0xbf, 0xbf], [0xf0, 0x90, 0x80, 0x80], [0xf4, 0x8f, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80],
      ).map((bytes) => Uint8Array.from(bytes)),
    );
    const isValid = (bytes: Uint8Array): boolean => {
      try {
        new TextDecoder('utf-8', { fatal: true }).decode(bytes);
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 4 }), (pieces) => {
        const bytes = Uint8Array.from(pieces.flatMap((part) => [...part]));
        const state = walk(automaton, automaton.start, bytes);
        expect(state >= 0 && automaton.accepting[state] === 1).toBe(isValid(bytes));
      }),
      { numRuns: 20_000 },
    );
  });

  it('are those of the range, to its exact ends', () => {
    const isCharacter = (codePoint: number): boolean =>
      codePoint >= 0 && codePoint <= 0x10ffff && (codePoint < 0xd800 || codePoint > 0xdfff);
    const limits = fc.constantFrom(0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff);
    const end = fc.oneof(fc.nat(0x10ffff), limits).filter(isCharacter);
    fc.assert(
      fc.property(end, end, fc.array(end, { maxLength: 50 }), (one, other, more) => {
        const [first, last] = [Math.min(one, other), Math.max(one, other)];
        const automaton = compilePattern(codePoints([String.fromCodePoint(first), String.fromCodePoint(last)]));
        for (const codePoint of [first - 1, first, first + 1, last - 1, last, last + 1, ...more].filter(isCharacter)) {
          const isIn = codePoint >= first && codePoint <= last;
          expect([codePoint, accepts(automaton, String.fromCodePoint(codePoint))]).toEqual([codePoint, isIn]);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('tokens held in reserve', () => {
  const after = (automaton: ByteAutomaton, text: string): number | undefined =>
    automaton.reserve[walk(automaton, automaton.start, new TextEncoder().encode(text))];

  it('stand with the states of their part, the largest where parts overlap', () => {
    const automaton = compilePattern(sequence(reserving(5, star(literal('a'))), literal('ab'), reserving(2, literal('cd'))));
    expect(['', 'a', 'aa', 'aab', 'aabc', 'aabcd'].map((text) => after(automaton, text))).toEqual([5, 5, 5, 2, 2, 2]);
  });

  it('are kept where texts are excluded and prefixes followed', () => {
    const part = sequence(reserving(3, repeat(oneOf('ab'), 2, 2)), literal('c'));
    const automaton = compilePattern(following('a', except(part, literal('abc'))));
    expect(['', 'a', 'ac'].map((text) => after(automaton, text))).toEqual([3, 0, 0]);
  });
});
