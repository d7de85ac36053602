import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compilePattern } from '../../../backend/lm/automaton/compile-pattern.ts';
import {
  choice, literal, oneOf, optional, type Pattern, repeat, reserving, sequence, star,
} from '../../../backend/lm/automaton/pattern.ts';
import { compileTokenAutomaton, type TokenAutomaton } from '../../../backend/lm/automaton/token-automaton.ts';
import type { DecoderSession } from '../../../backend/lm/decoder/decoder-session.ts';
import type { GeneratedRow } from '../../../backend/lm/decoder/generation-request.ts';
import { ModelRequestError } from '../../../backend/lm/decoder/request-error.ts';
import { greedy, openModel, request, worstDifference } from './tiny-model.ts';

const VOCABULARY = 512;
const STOP = 300;

/** Each byte is the token of its number; some longer pieces follow; ids behind them, but for the stop token, stand for nothing. */
const PIECES = ['ab', 'abc', 'cab', '12', '007', ', ', '"a', 'a":', 'true', 'null', '}', '{"', 'bb', 'ca'];
const TOKEN_TEXTS: readonly (string | undefined)[] = Array.from({ length: VOCABULARY }, (_, id) =>
  (id < 128 ? String.fromCharCode(id) : PIECES[id - 256]));

const vocabulary = {
  tokenBytes: TOKEN_TEXTS.map((text) => (text === undefined ? undefined : new TextEncoder().encode(text))),
  stopTokenIds: [STOP],
  vocabularySize: VOCABULARY,
};
const automatonOf = (pattern: Pattern): TokenAutomaton => compileTokenAutomaton(compilePattern(pattern), vocabulary);
const fewest = ({ distance, start }: TokenAutomaton): number => distance[start] as number;
const textOf = ({ tokens }: GeneratedRow): string =>
  tokens.filter((id) => id !== STOP).map((id) => TOKEN_TEXTS[id] ?? `<${id}>`).join('');

const digits = repeat(oneOf('0123456789'), 1, 3);
const list = sequence(literal('['), digits, star(sequence(literal(', '), digits)), literal(']'));
const record = sequence(literal('{"a": '), choice(literal('true'), literal('null'), list), optional(literal(' ')), literal('}'));

const CASES: readonly (readonly [name: string, pattern: Pattern, matches: RegExp])[] = [
  ['one of two words', choice(literal('red'), literal('blue')), /^(red|blue)$/],
  ['a list without end', list, /^\[\d{1,3}(, \d{1,3})*\]$/],
  ['a record', record, /^\{"a": (true|null|\[\d{1,3}(, \d{1,3})*\]) ?\}$/],
  ['any number of letters', star(oneOf('abc')), /^[abc]*$/],
  ['letters with room kept for an end', sequence(reserving(6, star(oneOf('abc'))), literal('123456')), /^[abc]*123456$/],
];

let session: DecoderSession;
beforeAll(async () => {
  session = await openModel('qwen2-tiny-untied', { adapters: true });
});
afterAll(() => session.close());

const prompts = [[7], [1, 2, 3, 4, 5], Array.from({ length: 80 }, (_, index) => 3 * index)];

describe.each(CASES)('a text that is held to %s', (_name, pattern, matches) => {
  const automaton = automatonOf(pattern);

  it('is one, and ends, in every number of tokens from the fewest on, at any temperature', async () => {
    const hot = [{ temperature: 1.5 }, { temperature: 100 }];
    const narrow = [{ temperature: 0.05 }, greedy, { temperature: 1, topP: 0.5, topK: 3 }];
    for (const more of [0, 1, 2, 5, 40]) {
      for (const settings of [...hot, ...narrow]) {
        const maxTokens = fewest(automaton) + more;
        const rows = await session.generate(
          request({ prompts, samples: 3, maxTokens, chunkTokens: 5, stopTokenIds: [STOP], automaton, ...settings }),
        );
        for (const row of rows) {
          expect(row.tokens.length).toBeLessThanOrEqual(maxTokens);
          expect(row.finishReason).toBe('stop');
          expect(row.tokens.indexOf(STOP)).toBe(row.tokens.length - 1);
          expect(textOf(row)).toMatch(matches);
          expect(row.logprobs.every((logprob) => Number.isFinite(logprob) && logprob <= 0)).toBe(true);
        }
      }
    }
  });

  it('is not begun where it could not end', async () => {
    const refused = session.generate(request({ prompts, maxTokens: fewest(automaton) - 1, stopTokenIds: [STOP], automaton }));
    await expect(refused).rejects.toThrow(ModelRequestError);
  });

  it('is the same alone and in a batch, and in chunks of any size', async () => {
    const settings = { maxTokens: fewest(automaton) + 20, stopTokenIds: [STOP], automaton, temperature: 1.2 };
    const rows = await session.generate(request({ prompts, ...settings, chunkTokens: 100 }));
    for (const [index, prompt] of prompts.entries()) {
      expect(await session.generate(request({ prompts: [prompt], ...settings, seeds: [index], chunkTokens: 1 }))).toEqual([rows[index]]);
    }
  });

  it('has the log-probabilities of the model, as if it were free', async () => {
    const settings = { maxTokens: fewest(automaton) + 20, stopTokenIds: [STOP], automaton, temperature: 0.8 };
    const rows = await session.generate(request({ prompts, ...settings }));
    const sequences = rows.map(({ tokens }, row) => [...(prompts[row] as number[]), ...tokens]);
    const scores = await session.score({ sequences, promptLengths: prompts.map(({ length }) => length), temperature: 0.8 });
    expect(worstDifference(rows.map(({ logprobs }) => logprobs), scores)).toBeLessThan(2e-4);
  });
});

it('says how many tokens a form takes at least', async () => {
  const refused = session.generate(request({ prompts, maxTokens: 6, stopTokenIds: [STOP], automaton: automatonOf(literal('999999')) }));
  await expect(refused).rejects.toThrow('takes at least 7 tokens, and 6 are allowed');
});

describe('texts of patterns at random', () => {
  const patterns: fc.Arbitrary<{ readonly pattern: Pattern; readonly source: string }> = fc.letrec<{
    pattern: { readonly pattern: Pattern; readonly source: string };
  }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('a', 'abc', '12', 'true', ', ').map((text) => ({ pattern: literal(text), source: text })),
      fc.constant({ pattern: oneOf('abc'), source: '[abc]' }),
      fc.array(tie('pattern'), { minLength: 1, maxLength: 3 }).map((parts) =>
        ({ pattern: sequence(...parts.map(({ pattern }) => pattern)), source: parts.map(({ source }) => source).join('') })),
      fc.array(tie('pattern'), { minLength: 1, maxLength: 3 }).map((parts) =>
        ({ pattern: choice(...parts.map(({ pattern }) => pattern)), source: `(?:${parts.map(({ source }) => source).join('|')})` })),
      tie('pattern').map(({ pattern, source }) => ({ pattern: repeat(pattern, 1, 2), source: `(?:${source}){1,2}` })),
      tie('pattern').map(({ pattern, source }) => ({ pattern: star(pattern), source: `(?:${source})*` })),
    ),
  })).pattern;

  it('match them, whatever room they are given', async () => {
    await fc.assert(fc.asyncProperty(patterns, fc.nat(12), fc.nat(), fc.constantFrom(0, 1, 1.5), async (made, more, seed, temperature) => {
      const automaton = automatonOf(made.pattern);
      const rows = await session.generate(request({
        prompts: [[3, 2, 1]], samples: 4, maxTokens: fewest(automaton) + more, chunkTokens: 6, stopTokenIds: [STOP], automaton, temperature,
        seeds: [seed, seed + 1, seed + 2, seed + 3],
      }));
      const matches = new RegExp(`^(?:${made.source})$`);
      for (const row of rows) {
        expect(row.finishReason).toBe('stop');
        expect(textOf(row)).toMatch(matches);
      }
    }), { seed: 1, numRuns: 100 });
  });
});

describe('free text after constrained text', () => {
  it('is as free as before', async () => {
    const before = await session.generate(request({ prompts }));
    await session.generate(request({ prompts, maxTokens: 40, stopTokenIds: [STOP], automaton: automatonOf(record) }));
    expect(await session.generate(request({ prompts }))).toEqual(before);
  });
});
