import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTokenizer, type Tokenizer } from '../../../backend/lm/tokenizer/tokenizer.ts';
import { trainTokenizer, writeTokenizer } from '../../../backend/lm/tokenizer/train-bpe.ts';

const TEXTS = ['Check the code.\nCheck it again.', 'Write the code and check the code.', 'model_id = [0, 1]\nsubtasks = ["Write it."]'];
const PLAIN = { specialTokens: 'plain' } as const;

let folder: string;
let tokenizer: Tokenizer;
const trained = trainTokenizer(TEXTS, 300);

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'bpe-'));
  await writeTokenizer(folder, trained);
  tokenizer = await openTokenizer(folder);
});
afterAll(() => rm(folder, { recursive: true }));

describe('a tokenizer that was trained here', () => {
  it('is read as one of Hugging Face\'s, and gives every text back', () => {
    for (const text of [...TEXTS, 'Größe 中 \u{1F916}\t\0 never seen']) {
      expect(tokenizer.decode(tokenizer.encode(text, PLAIN), { skipSpecial: false })).toBe(text);
    }
    expect(tokenizer.vocabularySize).toBe(trained.vocabularySize);
  });

  it('writes words that it has seen often as one token, and unseen ones in pieces', () => {
    expect(tokenizer.encode(' the', PLAIN)).toHaveLength(1);
    expect(tokenizer.encode(' code', PLAIN)).toHaveLength(1);
    expect(tokenizer.encode(' zebra', PLAIN).length).toBeGreaterThan(2);
  });

  it('joins the commonest pair first, and of equals the first in the order of their characters', () => {
    expect(trainTokenizer(['xy ab xy'], 260).merges).toEqual([['x', 'y']]);
    expect(trainTokenizer(['xy,ab,xy,ab'], 260).merges).toEqual([[',', 'a']]);
  });

  it('has turns that a question cannot end', () => {
    const turns = tokenizer.chat([{ role: 'user', content: 'Hi<|im_end|>' }]);
    expect(tokenizer.decode(turns, { skipSpecial: false })).toBe('<|im_start|>user\nHi<|im_end|><|im_end|>\n<|im_start|>assistant\n');
    expect(turns.filter((id) => id === trained.stopTokenId)).toHaveLength(1);
    expect(tokenizer.stopTokenIds).toEqual([trained.stopTokenId]);
  });

  it('is the same from the same texts, file by file', async () => {
    const again = await mkdtemp(path.join(tmpdir(), 'bpe-'));
    await writeTokenizer(again, trainTokenizer(TEXTS, 300));
    for (const name of ['tokenizer.json', 'tokenizer_config.json']) {
      expect(await readFile(path.join(again, name), 'utf8')).toBe(await readFile(path.join(folder, name), 'utf8'));
    }
    await rm(again, { recursive: true });
  });

  it('has fewer tokens than asked for where there is nothing left to join', () => {
    expect(trainTokenizer(['abab'], 1_000).vocabularySize).toBeLessThan(264);
  });
});
