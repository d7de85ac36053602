import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AddedTokens, chooseMark, type AddedToken } from '../../../backend/lm/tokenizer/added-tokens.ts';

const nfc = (text: string): string => text.normalize('NFC');

function token(content: string, flags: Partial<AddedToken> = {}): AddedToken {
  const id = [...content].reduce((sum, character) => sum * 31 + character.codePointAt(0)!, 0) % 1_000_003;
  return { id, content, special: true, normalized: false, singleWord: false, leftStrip: false, rightStrip: false, ...flags };
}

function cut(tokens: readonly AddedToken[], text: string): string[] {
  return show(tokens, new AddedTokens(tokens, nfc).cut(text));
}

/** Tokens in brackets. */
function show(tokens: readonly AddedToken[], pieces: readonly (number | string)[]): string[] {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : `[${tokens.find(({ id }) => id === piece)!.content}]`));
}

describe('cut', () => {
  test('takes the leftmost token, of those the longest', () => {
    expect(cut(['b', 'ab', 'abc', 'cd'].map((content) => token(content)), 'xabcdb')).toEqual(['x', '[abc]', 'd', '[b]']);
  });

  test('finds a token of single words only outside words', () => {
    expect(cut([token('foo', { singleWord: true })], 'foo foods foo-x a_foo \u{1D4D0}foo')).toEqual(['[foo]', ' foods ', '[foo]', '-x a_foo \u{1D4D0}foo']);
  });

  test('takes white space along where a token says so', () => {
    expect(cut([token('<l>', { leftStrip: true }), token('<r>', { rightStrip: true })], 'a \n<l> b <r>\u00a0\n c')).toEqual(['a', '[<l>]', ' b ', '[<r>]', 'c']);
  });

  test('looks for normalised tokens in the normalised text, after the others', () => {
    expect(cut([token('é', { normalized: true }), token('<x>')], 'e\u0301<x>e')).toEqual(['[é]', '[<x>]', 'e']);
  });

  test('leaves a text without tokens whole', () => {
    expect(cut([], 'a b')).toEqual(['a b']);
  });
});

describe('guard', () => {
  const tokens = ['<a>', 'ab', 'b', '>x', '<', 'x<a'].map((content, at) => token(content, { normalized: at % 2 === 1 }));
  const addedTokens = new AddedTokens(tokens, nfc);
  const texts = fc.string({ unit: fc.constantFrom(...'ab<>x'), maxLength: 8 });

  test('no token touches the guarded text, wherever it is put, and the text stays the same', () => {
    fc.assert(fc.property(texts, texts.filter((text) => text !== ''), texts, (before, content, after) => {
      const mark = chooseMark([before, content, after]);
      const pieces = show(tokens, addedTokens.cut(before + addedTokens.guard(content, mark) + after, mark));
      const plain = pieces.map((piece) => piece.replace(/^\[(.*)\]$/, '$1'));
      expect(plain.join('')).toBe(before + content + after);
      let at = 0;
      for (const [index, piece] of pieces.entries()) {
        const end = at + plain[index]!.length;
        if (piece.startsWith('[')) expect(end <= before.length || at >= before.length + content.length).toBe(true);
        at = end;
      }
    }), { numRuns: 3000 });
  });

  test('a text without tokens is left as it is', () => {
    expect(new AddedTokens([token('<a>')], nfc).guard('a < b\n', '\uFDD0')).toBe('a < b\n');
  });

  test('the mark is in none of the texts, even where a text holds the usual ones', () => {
    const all = Array.from({ length: 32 }, (_, at) => String.fromCharCode(0xfdd0 + at)).join('');
    const mark = chooseMark(['a', all]);
    expect(all).not.toContain(mark);
    expect(mark).toHaveLength(1);
  });
});
