import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { openTokenizer, type Tokenizer } from '../../../backend/lm/tokenizer/tokenizer.ts';
import { modelFolder, readSentencePieceFigures } from '../../golden/golden.ts';
import { type Definition, goldenDefinition, tokenizerFolder } from './tokenizer-folder.ts';

const PARSE = { specialTokens: 'parse' } as const;
const PLAIN = { specialTokens: 'plain' } as const;
const figures = await readSentencePieceFigures();
const definition = await goldenDefinition('llama-tiny');

async function open(change: (definition: Definition) => void = () => undefined): Promise<Tokenizer> {
  const changed = structuredClone(definition);
  change(changed);
  await using folder = await tokenizerFolder({ 'tokenizer.json': changed });
  return await openTokenizer(folder.path);
}

const byteId = (byte: number): number => 3 + byte;
const bytesOf = (text: string): number[] => Array.from(Buffer.from(text), byteId);

const fragments = fc.oneof(
  fc.constantFrom('<s>', '</s>', '<unk>', '<s', '>', ' ', '  ', '\n', '\r\n', '\t', '\u2581', '<0x0A>', '\u{1F916}', 'e\u0301', '\ufeff', '\uFDD0', 'the plan'),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const texts = fc.array(fragments, { maxLength: 12 }).map((parts) => parts.join(''));

describe.each(figures.forms)('a vocabulary whose spaces are "$form"', ({ definition: written, encodings, decodings }) => {
  let tokenizer: Tokenizer;

  beforeAll(async () => {
    tokenizer = await open((changed) => Object.assign(changed, written));
  });

  test('gives texts the ids that the library gives them, and reads them as it does', () => {
    for (const { text, ids, decoded } of encodings) {
      expect([text, tokenizer.encode(text, PARSE)]).toEqual([text, ids]);
      expect([text, tokenizer.decode(ids, { skipSpecial: false })]).toEqual([text, decoded ?? text]);
    }
  });

  test('reads ids that no text has as the library does', () => {
    for (const { ids, text } of decodings) expect([ids, tokenizer.decode(ids, { skipSpecial: true })]).toEqual([ids, text]);
  });

  test('writes text that goes on byte by byte, whatever it is, and no special token', () => {
    const bytes = tokenizer.tokenBytes();
    fc.assert(fc.property(texts, (text) => {
      const ids = tokenizer.encode(text, { ...PLAIN, continues: true });
      const shown = text.replaceAll('\u2581', ' ').toWellFormed();
      expect(ids.some((id) => tokenizer.specialTokenIds.has(id))).toBe(false);
      expect(Buffer.concat(ids.map((id) => bytes[id]!)).toString()).toBe(shown);
      expect(tokenizer.decode(ids, { skipSpecial: true, continues: true })).toBe(shown);
    }), { numRuns: 300 });
  });

  test('tells a text in pieces, as they become whole', () => {
    fc.assert(fc.property(fc.array(fc.array(fc.integer({ min: 0, max: 520 }), { maxLength: 20 }), { maxLength: 6 }), (chunks) => {
      const stream = tokenizer.textStream({ skipSpecial: true });
      expect([...chunks.map((ids) => stream.push(ids)), stream.end()].join('')).toBe(tokenizer.decode(chunks.flat(), { skipSpecial: true }));
    }), { numRuns: 300 });
  });
});

describe('bytes', () => {
  test('of a character come out when it is whole', async () => {
    const stream = (await open()).textStream({ skipSpecial: true });
    expect(bytesOf('\u{1F989}').map((id) => stream.push([id])).join('|')).toBe('|||\u{1F989}');
  });

  test('of a space before the first character are taken away like the space', async () => {
    expect((await open()).decode([byteId(0x20), ...bytesOf('a')], { skipSpecial: true })).toBe('a');
  });

  test('that are no text leave the characters beside them', async () => {
    const tokenizer = await open();
    expect(tokenizer.decode([...bytesOf('a\n\u{1F989}'), byteId(0xf0), byteId(0x9f)], { skipSpecial: true })).toBe('a\n\u{1F989}\ufffd');
  });
});

describe('chat', () => {
  test('has the ids that transformers gives it', async () => {
    const tokenizer = await openTokenizer(modelFolder('llama-tiny'));
    for (const { messages, options, ids } of figures.chats) expect(tokenizer.chat(messages, { prefill: options.assistantStart })).toEqual(ids);
  });

  test('holds no token that a message names, and reads the same', async () => {
    const tokenizer = await openTokenizer(modelFolder('llama-tiny'));
    fc.assert(fc.property(texts, texts, (content, prefill) => {
      const ids = tokenizer.chat([{ role: 'user', content }], { prefill });
      expect(ids.filter((id) => tokenizer.specialTokenIds.has(id))).toEqual([1]);
      expect(tokenizer.decode(ids.slice(1), { skipSpecial: false })).toBe(`[INST] ${content} [/INST]${prefill}`.replaceAll('\u2581', ' ').toWellFormed());
    }), { numRuns: 300 });
  });

  test('holds no token whose normalised form a message has', async () => {
    const tokenizer = await open((changed) => {
      changed.added_tokens.push({ id: 600, content: '<a b>', special: true, normalized: true });
      Object.assign(changed, { normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' } });
    });
    expect(tokenizer.encode('x<a b><a\u2581b>', PARSE).filter((id) => id === 600)).toHaveLength(2);
    await using folder = await tokenizerFolder({
      'tokenizer.json': { ...definition, added_tokens: [...definition.added_tokens, { id: 600, content: '<a b>', special: true, normalized: true }] },
      'chat_template.jinja': '{{ messages[0].content }}',
    });
    for (const content of ['<a b>', '<a\u2581b>', 'x <a b>']) {
      expect((await openTokenizer(folder.path)).chat([{ role: 'user', content }])).not.toContain(600);
    }
  });
});

test('tokens of white space are found in text of every kind, since they are no signs', async () => {
  const tokenizer = await open((changed) => changed.added_tokens.push({ id: 600, content: '\n\n', special: false, normalized: false }));
  for (const mode of [PARSE, PLAIN]) expect(tokenizer.encode('a\n\n\nb', mode)).toEqual([...tokenizer.encode('a', PLAIN), 600, ...tokenizer.encode('\nb', PLAIN)]);
});

test('a long text takes no square of its length', async () => {
  const tokenizer = await open();
  const text = 'the Conductor writes a plan, '.repeat(4_000);
  expect(tokenizer.decode(tokenizer.encode(text, PLAIN), { skipSpecial: true })).toBe(text);
});

describe('a tokenizer is refused', () => {
  test.each<[string, (definition: Definition) => void, RegExp]>([
    ['without a byte', ({ model }) => { delete model.vocab['<0xE2>']; }, /no token for byte 226: download/],
    ['with a merge that makes no token', ({ model }) => { model.merges.push(['q', 'q']); }, /merge.*makes no token/],
    ['with a merge of three', ({ model }) => { model.merges.push(['t', 'h', 'e']); }, /merge.*makes no token/],
    ['with two tokens of one id', ({ model }) => { model.vocab['zz'] = 300; }, /two tokens of id 300/],
  ])('%s', async (_name, damage, message) => {
    const opened = open(damage);
    await expect(opened).rejects.toMatchObject({ kind: 'malformed' });
    await expect(opened).rejects.toThrow(message);
  });

  test.each<[string, Partial<Definition>, RegExp]>([
    ['another normalisation', { normalizer: { type: 'NFKC' } }, /normalizer is/],
    ['another sign before texts', { normalizer: { type: 'Prepend', prepend: '_' } }, /normalizer is/],
    ['spaces that stay', { normalizer: null }, /normalizer is/],
    ['a pattern to cut by', { pre_tokenizer: { type: 'Split', pattern: { Regex: ' ' } } }, /pre_tokenizer is/],
    ['another sign for spaces', { pre_tokenizer: { type: 'Metaspace', replacement: '_' } }, /pre_tokenizer is/],
    ['no way back from bytes', { decoder: { type: 'Fuse' } }, /decoder is/],
    ['more to take away', { decoder: { type: 'Sequence', decoders: [{ type: 'Replace', pattern: { String: '\u2581' }, content: ' ' }, { type: 'ByteFallback' }, { type: 'Fuse' }, { type: 'Strip', content: ' ', start: 2, stop: 0 }] } }, /decoder is/],
  ])('with %s', async (_name, changes, message) => {
    const opened = open((changed) => Object.assign(changed, changes));
    await expect(opened).rejects.toMatchObject({ kind: 'unsupported' });
    await expect(opened).rejects.toThrow(message);
  });
});
