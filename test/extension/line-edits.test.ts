import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineEdits, normalized, withLineEdits, withoutStep } from '../../extension/runs/line-edits.ts';

/** Texts of a few short lines, so that equal lines, empty texts and missing line ends are common. */
const text = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'd'), { maxLength: 12 }).map((lines) => lines.join(''));
const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index}\n`).join('');

describe('lineEdits', () => {
  it('turns any text into any other', () => {
    fc.assert(fc.property(text, text, (from, to) => {
      expect(withLineEdits(from, lineEdits(from, to))).toBe(to);
    }), { numRuns: 2_000 });
  });

  it('leaves lines alone that are the same in both texts', () => {
    expect(lineEdits('a\nb\nc\nd\n', 'a\nB\nc\nd\ne\n')).toEqual([
      { start: 1, end: 2, text: 'B\n' },
      { start: 4, end: 4, text: 'e\n' },
    ]);
  });

  it('has nothing to do between equal texts', () => {
    expect(lineEdits('a\nb', 'a\nb')).toEqual([]);
  });

  it('sees a missing line end at the end of a file', () => {
    expect(lineEdits('a\nb', 'a\nb\n')).toEqual([{ start: 1, end: 2, text: 'b\n' }]);
  });
});

describe('normalized', () => {
  it('drops the byte order mark and the kinds of line ends', () => {
    expect(normalized('\uFEFFa\r\nb\rc\n')).toBe('a\nb\nc\n');
  });
});

describe('withoutStep', () => {
  it('takes the step back when nothing else happened', () => {
    fc.assert(fc.property(text, text, (before, after) => {
      expect(withoutStep({ before, after, current: after })).toBe(before);
    }), { numRuns: 1_000 });
  });

  it('keeps what was typed elsewhere in the file, before and behind', () => {
    const before = numbered(20);
    const after = before.replace('line 10\n', 'changed\nadded\n');
    const typed = (file: string): string => `typed first\n${file.replace('line 17\n', 'typed last\n')}`;
    expect(withoutStep({ before, after, current: typed(after) })).toBe(typed(before));
  });

  it('refuses when a line of the step was edited', () => {
    const before = numbered(20);
    const after = before.replace('line 10\n', 'changed\n');
    expect(withoutStep({ before, after, current: after.replace('changed', 'changed again') })).toBeUndefined();
  });

  it('refuses when a line right beside the step was edited', () => {
    const before = numbered(20);
    const after = before.replace('line 10\n', 'changed\n');
    expect(withoutStep({ before, after, current: after.replace('line 11', 'typed') })).toBeUndefined();
  });

  it('does not mistake another place with the same lines for its own', () => {
    const before = `${numbered(3)}old\n${numbered(3)}new\n${numbered(3)}`;
    const after = before.replace('old', 'new');
    const current = after.replace('new', 'typed');
    expect(withoutStep({ before, after, current })).toBeUndefined();
  });

  it('refuses when the step removed lines and something was typed where they stood', () => {
    const before = numbered(5);
    const after = before.replace('line 2\n', '');
    expect(withoutStep({ before, after, current: after.replace('line 3\n', 'typed\nline 3\n') })).toBeUndefined();
  });
});
