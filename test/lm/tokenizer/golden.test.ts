import { beforeAll, describe, expect, test } from 'vitest';
import { openTokenizer, type Tokenizer } from '../../../backend/lm/tokenizer/tokenizer.ts';
import { GOLDEN_TOKENIZERS, modelFolder, readTokenizerFigures, type Chat, type TokenizerFigures } from '../../golden/golden.ts';

const PARSE = { specialTokens: 'parse' } as const;

describe.each(GOLDEN_TOKENIZERS)('%s', (model) => {
  let tokenizer: Tokenizer;
  let figures: TokenizerFigures;

  beforeAll(async () => {
    tokenizer = await openTokenizer(modelFolder(model));
    figures = await readTokenizerFigures(model);
  });

  test('texts have the ids that transformers gives them', () => {
    for (const { text, ids } of figures.encodings) expect([text, tokenizer.encode(text, PARSE)]).toEqual([text, ids]);
  });

  test('ids have the texts that transformers gives them, with and without special tokens', () => {
    for (const { ids, text, textWithSpecialTokens } of figures.decodings) {
      expect(tokenizer.decode(ids, { skipSpecial: true })).toBe(text);
      expect(tokenizer.decode(ids, { skipSpecial: false })).toBe(textWithSpecialTokens);
    }
  });

  test('conversations have the ids that transformers gives them', () => {
    const harmless = figures.chats.filter((chat) => !namesSpecialTokens(chat));
    expect(harmless.length).toBeGreaterThan(0);
    for (const chat of harmless) expect(encodeChat(tokenizer, chat)).toEqual(chat.ids);
  });

  test('a message that names special tokens reads the same, but the tokens are text', () => {
    const hostile = figures.chats.filter(namesSpecialTokens);
    expect(hostile.length).toBeGreaterThan(0);
    for (const chat of hostile) {
      const ids = encodeChat(tokenizer, chat);
      expect(tokenizer.decode(ids, { skipSpecial: false })).toBe(chat.text);
      const inContents = chat.messages.reduce((sum, { content }) => sum + countSpecial(tokenizer, tokenizer.encode(content, PARSE)), 0);
      expect(countSpecial(tokenizer, ids)).toBe(countSpecial(tokenizer, chat.ids) - inContents);
    }
  });

  test('generation stops at the end of a turn and at the end of a text', () => {
    const stops = ['<|im_end|>', '<|endoftext|>'].flatMap((text) => tokenizer.encode(text, PARSE));
    expect(new Set(tokenizer.stopTokenIds)).toEqual(new Set(stops));
  });
});

function encodeChat(tokenizer: Tokenizer, { messages, options }: Chat): number[] {
  // Where the template was not told whether to think, it let the model think.
  const { addGenerationPrompt, assistantStart, enableThinking = true } = options;
  return tokenizer.chat(messages, { addGenerationPrompt, prefill: assistantStart, thinking: enableThinking });
}

function namesSpecialTokens({ messages }: Chat): boolean {
  return messages.some(({ content }) => content.includes('<|im_'));
}

function countSpecial(tokenizer: Tokenizer, ids: readonly number[]): number {
  return ids.filter((id) => tokenizer.specialTokenIds.has(id)).length;
}
