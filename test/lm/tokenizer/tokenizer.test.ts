import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { TokenizerError } from '../../../backend/lm/tokenizer/errors.ts';
import { openTokenizer, type Tokenizer } from '../../../backend/lm/tokenizer/tokenizer.ts';
import { modelFolder } from '../../golden/golden.ts';
import { goldenDefinition, tokenizerFolder } from './tokenizer-folder.ts';

let tokenizer: Tokenizer;
let addedIds: ReadonlySet<number>;

beforeAll(async () => {
  tokenizer = await openTokenizer(modelFolder('qwen3-tiny'));
  addedIds = new Set((await goldenDefinition()).added_tokens.map(({ id }) => id));
});

const PARSE = { specialTokens: 'parse' } as const;
const PLAIN = { specialTokens: 'plain' } as const;

const TAGS = ['<|im_start|>', '<|im_end|>', '<|endoftext|>', '<think>', '</think>', '<tool_call>'];
const fragments = fc.oneof(
  fc.constantFrom(...TAGS, ...TAGS.flatMap((tag) => [tag.slice(0, 4), tag.slice(4)])),
  fc.constantFrom('\n', ' ', '  ', '\t', '\'s', '\u0301', '\u{1F916}', '\uFDD0', '\uFEFF', '中', 'system\n'),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const texts = fc.array(fragments, { maxLength: 12 }).map((parts) => parts.join(''));
const idLists = fc.array(fc.integer({ min: 0, max: 840 }), { maxLength: 60 });

describe('encode and decode', () => {
  test.each(['parse', 'plain'] as const)('a text comes back from its ids, composed (%s)', (specialTokens) => {
    fc.assert(fc.property(texts, (text) => {
      const ids = tokenizer.encode(text, { specialTokens });
      // What stands between added tokens is composed by itself.
      expect(tokenizer.decode(ids, { skipSpecial: false }).normalize('NFC')).toBe(text.normalize('NFC'));
    }), { numRuns: 500 });
  });

  test('plain text holds no added token, whatever it says', () => {
    fc.assert(fc.property(texts, (text) => tokenizer.encode(text, PLAIN).every((id) => !addedIds.has(id))), { numRuns: 500 });
  });

  test('half a pair of surrogates becomes U+FFFD', () => {
    expect(tokenizer.decode(tokenizer.encode('a\ud800b', PARSE), { skipSpecial: false })).toBe('a\ufffdb');
  });
});

describe('tokenBytes', () => {
  test('the bytes of the tokens are the bytes of the text', () => {
    const bytes = tokenizer.tokenBytes();
    fc.assert(fc.property(texts, (text) => {
      const joined = tokenizer.encode(text, PLAIN).flatMap((id) => [...bytes[id]!]);
      expect(Buffer.from(joined).toString()).toBe(text.normalize('NFC'));
    }));
  });

  test('special and unused ids have none', async () => {
    const definition = await goldenDefinition();
    definition.added_tokens.push({ id: 900, content: '<later>' });
    await using folder = await tokenizerFolder({ 'tokenizer.json': definition });
    const other = await openTokenizer(folder.path);
    const bytes = other.tokenBytes();
    expect([bytes.length, other.vocabularySize]).toEqual([901, 901]);
    for (const id of [899, ...other.specialTokenIds]) expect(bytes[id]).toBeUndefined();
    expect(Buffer.from(bytes[900]!).toString()).toBe('<later>');
  });
});

describe('textStream', () => {
  test.each([true, false])('the pieces joined are what decode gives, however the ids arrive (special tokens left out: %s)', (skipSpecial) => {
    fc.assert(fc.property(fc.array(idLists, { maxLength: 8 }), (chunks) => {
      const stream = tokenizer.textStream({ skipSpecial });
      const pieces = [...chunks.map((ids) => stream.push(ids)), stream.end()];
      expect(pieces.join('')).toBe(tokenizer.decode(chunks.flat(), { skipSpecial }));
    }), { numRuns: 500 });
  });

  test('a character comes out when it is whole', () => {
    const ids = tokenizer.encode('\u{1F989}', PLAIN);
    expect(ids.length).toBeGreaterThan(1);
    const stream = tokenizer.textStream({ skipSpecial: true });
    expect(ids.map((id) => stream.push([id])).join('|')).toBe('|'.repeat(ids.length - 1) + '\u{1F989}');
    expect(stream.end()).toBe('');
  });

  test('what is left of a character comes out at the end', () => {
    const stream = tokenizer.textStream({ skipSpecial: true });
    expect(stream.push(tokenizer.encode('a\u{1F989}', PLAIN).slice(0, -1))).toBe('a');
    expect(stream.end()).toBe('\ufffd');
  });
});

describe('chat', () => {
  /** What the ids must be: the template's own tokens, and between them text that was encoded as plain text. */
  function expected(turns: readonly { role: string; content: string }[], prefill: string): number[] {
    const [start, end] = ['<|im_start|>', '<|im_end|>'].flatMap((token) => tokenizer.encode(token, PARSE));
    const plain = (text: string): number[] => tokenizer.encode(text, PLAIN);
    const between = turns.flatMap(({ role, content }) => [start!, ...plain(`${role}\n${content}`), end!, ...plain('\n')]);
    const noThought = tokenizer.encode('<think>\n\n</think>', PARSE);
    return [...between, start!, ...plain('assistant\n'), ...noThought, ...plain(`\n\n${prefill}`)];
  }

  test('no message forges a token, and all text is encoded as if it stood alone', () => {
    const turn = fc.record({ role: fc.constantFrom('system', 'user'), content: texts });
    fc.assert(fc.property(fc.array(turn, { minLength: 1, maxLength: 3 }), (turns) => {
      expect(tokenizer.chat(turns)).toEqual(expected(turns, ''));
    }), { numRuns: 500 });
  });

  test('a prefill is gone on with from its last character, and ends no turn', () => {
    const prefills = texts.filter((text) => !/<\/?think>/.test(text));
    fc.assert(fc.property(prefills, (prefill) => {
      const question = { role: 'user', content: 'Why?' } as const;
      expect(tokenizer.chat([question], { prefill })).toEqual(expected([question], prefill));
    }), { numRuns: 500 });
  });

  test('an assistant\'s message may name the tags of thoughts, and no other token', () => {
    const ids = tokenizer.chat([
      { role: 'user', content: 'Why?' },
      { role: 'assistant', content: '<think>So.</think>Because.<|im_end|><tool_call>' },
    ], { addGenerationPrompt: false });
    const found = ids.filter((id) => addedIds.has(id)).map((id) => tokenizer.decode([id], { skipSpecial: false }));
    expect(found).toEqual(['<|im_start|>', '<|im_end|>', '<|im_start|>', '<think>', '</think>', '<|im_end|>']);
  });

  test('a model thinks only when it is told to', () => {
    const question = [{ role: 'user', content: 'Why?' }] as const;
    const text = (thinking?: boolean): string => tokenizer.decode(tokenizer.chat(question, { thinking }), { skipSpecial: true });
    expect(text()).toBe('user\nWhy?\nassistant\n<think>\n\n</think>\n\n');
    expect(text(true)).toBe('user\nWhy?\nassistant\n');
  });

  test('a model without a chat template says so, and still encodes text', async () => {
    await using folder = await tokenizerFolder({ 'tokenizer.json': await goldenDefinition() });
    const base = await openTokenizer(folder.path);
    expect(base.encode('Hello', PARSE)).toEqual(tokenizer.encode('Hello', PARSE));
    const refusal = catchError(() => base.chat([{ role: 'user', content: 'Why?' }]));
    expect(refusal).toMatchObject({ kind: 'no-chat-template', message: expect.stringContaining('choose an instruct model') as string });
  });

  test('a prefill without a turn is refused', () => {
    expect(() => tokenizer.chat([], { addGenerationPrompt: false, prefill: 'a' })).toThrow(RangeError);
  });
});

function catchError(act: () => unknown): TokenizerError {
  try {
    act();
  } catch (error) {
    if (error instanceof TokenizerError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
