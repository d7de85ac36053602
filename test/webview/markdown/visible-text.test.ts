import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { head, tail, visibleText } from '../../../webview/markdown/visible-text.ts';

describe('visibleText', () => {
  it('names characters that hide or reorder others', () => {
    expect(visibleText('a\u202Eb\u2066c\u200Bd\uFEFF')).toBe('a⟨U+202E⟩b⟨U+2066⟩c⟨U+200B⟩d⟨U+FEFF⟩');
    expect(visibleText('\u001b[31mred\u0000')).toBe('⟨U+001B⟩[31mred⟨U+0000⟩');
  });

  it('leaves ordinary text alone, line ends of both kinds included', () => {
    expect(visibleText('a\tb\nc\r\nمرحبا 😀')).toBe('a\tb\nc\nمرحبا 😀');
  });
});

describe('head and tail', () => {
  it('cut at most the limit, and never a character in two', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 40 }), (text, limit) => {
      for (const cut of [head(text, limit), tail(text, limit)]) {
        expect(cut.length).toBeLessThanOrEqual(limit);
        expect(cut.isWellFormed()).toBe(true);
        expect(text).toContain(cut);
      }
    }));
  });

  it('end at the end of a line where one is near', () => {
    expect(head('first line\nsecond line', 12)).toBe('first line');
  });
});
