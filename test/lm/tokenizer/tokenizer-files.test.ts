import { mkdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TokenizerMissingError } from '../../../backend/lm/tokenizer/errors.ts';
import { openTokenizer } from '../../../backend/lm/tokenizer/tokenizer.ts';
import { goldenDefinition, tokenizerFolder, type Definition } from './tokenizer-folder.ts';

const PARSE = { specialTokens: 'parse' } as const;
const question = [{ role: 'user', content: 'Why?' }] as const;

async function chatText(files: Readonly<Record<string, unknown>>): Promise<string> {
  await using folder = await tokenizerFolder({ 'tokenizer.json': await goldenDefinition(), ...files });
  const tokenizer = await openTokenizer(folder.path);
  return tokenizer.decode(tokenizer.chat(question), { skipSpecial: false });
}

describe('the chat template', () => {
  test('is taken from its own file before the settings', async () => {
    expect(await chatText({ 'chat_template.jinja': 'file', 'tokenizer_config.json': { chat_template: 'settings' } })).toBe('file');
  });

  test('is taken from the settings', async () => {
    expect(await chatText({ 'tokenizer_config.json': { chat_template: '{{ messages[0].content }}' } })).toBe('Why?');
  });

  test('is the default one of a list', async () => {
    const chat_template = [{ name: 'tool_use', template: 'tools' }, { name: 'default', template: 'default' }];
    expect(await chatText({ 'tokenizer_config.json': { chat_template } })).toBe('default');
  });

  test('knows the named tokens of either file', async () => {
    expect(await chatText({
      'tokenizer_config.json': { chat_template: '{{ bos_token }}{{ eos_token }}{{ pad_token is defined }}', bos_token: { content: 'B' } },
      'special_tokens_map.json': { bos_token: 'other', eos_token: '<|im_end|>' },
    })).toBe('B<|im_end|>false');
  });
});

describe('stopTokenIds', () => {
  test.each([
    ['generation_config.json, one', { 'generation_config.json': { eos_token_id: 7 }, 'config.json': { eos_token_id: 8 } }, [7]],
    ['generation_config.json, several', { 'generation_config.json': { eos_token_id: [7, 9] } }, [7, 9]],
    ['config.json where there is no other', { 'config.json': { eos_token_id: 8 } }, [8]],
    ['nothing', {}, []],
  ])('come from %s', async (_name, files, stops) => {
    await using folder = await tokenizerFolder({ 'tokenizer.json': await goldenDefinition(), ...files });
    expect((await openTokenizer(folder.path)).stopTokenIds).toEqual(stops);
  });
});

test('tokens that only the settings name are added, and what they say of others counts', async () => {
  const definition = await goldenDefinition();
  const known = definition.added_tokens[0]!;
  const added_tokens_decoder = { [known.id]: { content: known.content, special: false }, 900: { content: '<new>', special: true } };
  await using folder = await tokenizerFolder({ 'tokenizer.json': definition, 'tokenizer_config.json': { added_tokens_decoder } });
  const tokenizer = await openTokenizer(folder.path);
  expect(tokenizer.encode('<new>', PARSE)).toEqual([900]);
  expect([...tokenizer.specialTokenIds]).toContain(900);
  expect([...tokenizer.specialTokenIds]).not.toContain(known.id);
});

test('bytes without a token are left out, also where the model names a token for what is unknown', async () => {
  const definition = await goldenDefinition();
  delete definition.model.vocab['ā'];
  definition.model['unk_token'] = '<|endoftext|>';
  await using folder = await tokenizerFolder({ 'tokenizer.json': definition });
  const tokenizer = await openTokenizer(folder.path);
  expect(tokenizer.decode(tokenizer.encode('a\u0001b', PARSE), { skipSpecial: false })).toBe('ab');
});

describe('a folder is refused:', () => {
  test('without a tokenizer', async () => {
    await using folder = await tokenizerFolder({ 'tokenizer_config.json': {} });
    const opened = openTokenizer(folder.path);
    await expect(opened).rejects.toBeInstanceOf(TokenizerMissingError);
    await expect(opened).rejects.toThrow(/only token ids can be used/);
  });

  test('that does not exist', async () => {
    await expect(openTokenizer('/nowhere')).rejects.toBeInstanceOf(TokenizerMissingError);
  });

  test.each(['tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json', 'generation_config.json', 'chat_template.jinja'])(
    'with an oversized %s, which is not read', async (name) => {
      await using folder = await tokenizerFolder({ 'tokenizer.json': await goldenDefinition(), [name]: '' });
      await truncate(join(folder.path, name), 200 * 1024 * 1024);
      await expect(openTokenizer(folder.path)).rejects.toMatchObject({ kind: 'too-large', file: join(folder.path, name) });
    },
  );

  test.each([
    ['that is cut off', '{"model": {'],
    ['that is no object', '[]'],
    ['without a model', '{}'],
    ['nested without end', '['.repeat(1_000_000)],
    ['nested deeply', `{"normalizer": ${'{"type":"Sequence","normalizers":['.repeat(20_000)}${']}'.repeat(20_000)}}`],
  ])('with a tokenizer.json %s', async (_name, content) => {
    await using folder = await tokenizerFolder({ 'tokenizer.json': content });
    await expect(openTokenizer(folder.path)).rejects.toMatchObject({ kind: 'malformed', message: expect.stringMatching(/download the model again\.$/) as string });
  });

  test('with a tokenizer.json that is no UTF-8', async () => {
    await using folder = await tokenizerFolder({});
    await writeFile(join(folder.path, 'tokenizer.json'), Uint8Array.of(0x22, 0xff, 0x22));
    await expect(openTokenizer(folder.path)).rejects.toMatchObject({ kind: 'malformed' });
  });

  test('with a folder in place of a file', async () => {
    await using folder = await tokenizerFolder({ 'tokenizer.json': await goldenDefinition() });
    await mkdir(join(folder.path, 'tokenizer_config.json'));
    await expect(openTokenizer(folder.path)).rejects.toMatchObject({ kind: 'malformed', message: expect.stringContaining('no regular file') as string });
  });

  test.each<[string, (definition: Definition) => void, RegExp]>([
    ['two tokens of one id', ({ model }) => { model.vocab['ab'] = model.vocab['a']!; }, /two tokens of id/],
    ['an id that is none', ({ model }) => { model.vocab['zz'] = 1.5; }, /no valid id for "zz"/],
    ['an id beyond all vocabularies', ({ model }) => { model.vocab['zz'] = 2 ** 31; }, /no valid id for "zz"/],
    ['an added token in the place of another', ({ added_tokens }) => { added_tokens[0]!.id = 0; }, /id 0 to two tokens/],
    ['an added token far away', ({ added_tokens }) => { added_tokens[0]!.id = 2 ** 31; }, /added_tokens\.0\.id/],
    ['a letter without a token', ({ model }) => { delete model.vocab['a']; model.merges = []; }, /no token for byte 97/],
    ['a merge that makes no token', ({ model }) => { model.merges.push(['q', 'q']); }, /merge.*makes no token/],
    ['a merge of three', ({ model }) => { model.merges.push('a b c'); }, /merge.*makes no token/],
    ['a merge that is none', ({ model }) => { model.merges.push(7); }, /merge.*makes no token/],
  ])('with %s', async (_name, damage, message) => {
    const definition = await goldenDefinition();
    damage(definition);
    await using folder = await tokenizerFolder({ 'tokenizer.json': definition });
    const opened = openTokenizer(folder.path);
    await expect(opened).rejects.toMatchObject({ kind: 'malformed' });
    await expect(opened).rejects.toThrow(message);
  });

  test.each<[string, (definition: Definition) => void, RegExp]>([
    ['another model', ({ model }) => { model.type = 'Unigram'; }, /model\.type is "Unigram"/],
    ['byte fallback, and spaces that nothing replaces', ({ model }) => { model['byte_fallback'] = true; }, /normalizer is "\{.*NFC.*which Conductor does not read in a tokenizer with byte fallback/],
    ['marked ends of words', ({ model }) => { model['end_of_word_suffix'] = '</w>'; }, /model\.end_of_word_suffix/],
    ['another normalisation', (definition) => { definition['normalizer'] = { type: 'Lowercase' }; }, /normalizer is "Lowercase"/],
    ['no bytes', (definition) => { definition['pre_tokenizer'] = null; }, /pre_tokenizer is "missing"/],
    ['a way to cut that JavaScript has not', (definition) => {
      definition['pre_tokenizer'] = { type: 'Sequence', pretokenizers: [{ type: 'Split', pattern: { Regex: '(' } }, { type: 'ByteLevel', use_regex: false }] };
    }, /cannot be used/],
  ])('with %s', async (_name, change, message) => {
    const definition = await goldenDefinition();
    change(definition);
    await using folder = await tokenizerFolder({ 'tokenizer.json': definition });
    const opened = openTokenizer(folder.path);
    await expect(opened).rejects.toMatchObject({ kind: 'unsupported' });
    await expect(opened).rejects.toThrow(message);
  });
});

test('merges in the older form, and sequences of one, are read the same', async () => {
  const definition = await goldenDefinition();
  await using plain = await tokenizerFolder({ 'tokenizer.json': definition });
  const merges = definition.model.merges.map((merge) => (merge as string[]).join(' '));
  const wrap = (component: unknown, parts: string): unknown => ({ type: 'Sequence', [parts]: [component] });
  await using old = await tokenizerFolder({
    'tokenizer.json': {
      ...definition, model: { ...definition.model, merges },
      normalizer: wrap(definition['normalizer'], 'normalizers'), decoder: wrap(definition['decoder'], 'decoders'),
    },
  });
  const text = 'The Conductor reads e\u0301 and writes a plan.';
  expect((await openTokenizer(old.path)).encode(text, PARSE)).toEqual((await openTokenizer(plain.path)).encode(text, PARSE));
});
