import { code, type Family } from './family.ts';

export const wrapTextFamily: Family = {
  kind: 'strings',
  name: 'wrap-text',
  path: 'src/wrap-text.js',
  testPath: 'test/wrap-text.test.js',
  summary: 'breaks text into lines of a given width',
  exports: ['wrapText'],
  difficulty: 0.45,
  source: code`
/**
 * Breaks a text into lines of at most width characters, between words. A word that is longer than a line is cut, and line
 * breaks of the text are kept.
 */
export function wrapText(text, width) {
  if (!Number.isInteger(width) || width < 1) throw new RangeError('width must be a whole number of at least 1');
  return text.split('\n').flatMap((paragraph) => wrapParagraph(paragraph, width));
}

function wrapParagraph(paragraph, width) {
  const lines = [];
  let line = '';
  for (const word of paragraph.split(/\s+/).filter(Boolean)) {
    for (const piece of cut(word, width)) {
      if (line === '') {
        line = piece;
      } else if (line.length + 1 + piece.length <= width) {
        line += ' ' + piece;
      } else {
        lines.push(line);
        line = piece;
      }
    }
  }
  lines.push(line);
  return lines;
}

/** A word in pieces that each fit into a line. */
function cut(word, width) {
  const pieces = [];
  for (let start = 0; start < word.length; start += width) {
    pieces.push(word.slice(start, start + width));
  }
  return pieces;
}
`,
  test: code`
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrapText } from '../src/wrap-text.js';

test('a text that fits stays one line', () => {
  assert.deepEqual(wrapText('hello', 10), ['hello']);
});

test('a line may be exactly as long as the width', () => {
  assert.deepEqual(wrapText('the quick brown fox', 9), ['the quick', 'brown fox']);
});

test('no line is longer than the width', () => {
  assert.deepEqual(wrapText('the quick brown fox', 8), ['the', 'quick', 'brown', 'fox']);
});

test('a word longer than a line is cut', () => {
  assert.deepEqual(wrapText('a extraordinary day', 6), ['a', 'extrao', 'rdinar', 'y day']);
});

test('line breaks and empty lines are kept', () => {
  assert.deepEqual(wrapText('one two\n\nthree', 20), ['one two', '', 'three']);
});

test('the last word is not lost', () => {
  assert.equal(wrapText('to be or not to be', 7).join(' '), 'to be or not to be');
});

test('a width below 1 is refused', () => {
  assert.throws(() => wrapText('text', 0), RangeError);
});
`,
  variants: [
    {
      id: 'space-not-counted',
      edits: [{ find: 'line.length + 1 + piece.length <= width', replace: 'line.length + piece.length <= width' }],
      diagnosis: 'the space between two words is not counted, so a line can be one character too long',
      symptoms: [
        'wrapText("the quick brown fox", 8) gives me the line "the quick", which is nine characters long.',
        'Some lines that wrapText returns are one character wider than the width I asked for.',
      ],
      subtlety: 0.6,
    },
    {
      id: 'breaks-early',
      edits: [{ find: 'line.length + 1 + piece.length <= width', replace: 'line.length + 1 + piece.length < width' }],
      diagnosis: 'the length is compared with < instead of <=, so a line that fits exactly is broken too early',
      symptoms: [
        'wrapText("the quick brown fox", 9) returns four lines, although "the quick" is exactly nine characters.',
        'wrapText starts a new line although the next word would just fit.',
      ],
      subtlety: 0.7,
    },
    {
      id: 'last-line-lost',
      edits: [{ find: '  lines.push(line);\n  return lines;', replace: '  return lines;' }],
      diagnosis: 'the line that is still being filled when the words end is never added',
      symptoms: [
        'The end of my text is missing: wrapText("hello", 10) returns an empty list.',
        'wrapText drops the last line of every paragraph.',
      ],
      subtlety: 0.3,
    },
    {
      id: 'line-breaks-lost',
      edits: [
        {
          find: "text.split('\\n').flatMap((paragraph) => wrapParagraph(paragraph, width))",
          replace: 'wrapParagraph(text, width)',
        },
      ],
      diagnosis: 'the text is not split at its own line breaks before it is wrapped',
      symptoms: [
        'wrapText joins my paragraphs into one; blank lines between them disappear.',
        'When a text has line breaks of its own, wrapText ignores them.',
      ],
      subtlety: 0.35,
    },
    {
      id: 'long-words-whole',
      edits: [{ find: 'const piece of cut(word, width)', replace: 'const piece of [word]' }],
      diagnosis: 'a word longer than the width is put on a line as it is instead of being cut into pieces',
      symptoms: [
        'A very long word sticks out: wrapText("a extraordinary day", 6) has a line of thirteen characters.',
        'wrapText does not cut words that are longer than a line.',
      ],
      subtlety: 0.45,
    },
  ],
};
