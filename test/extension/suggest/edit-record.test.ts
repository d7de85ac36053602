import { beforeEach, describe, expect, it } from 'vitest';
import { EditRecord, type TextChange } from '../../../extension/suggest/edit-record.ts';

let record: EditRecord;
const elsewhere = { path: '/b.ts', line: 0 };
const change = (startLine: number, startCharacter: number, endLine: number, endCharacter: number, text: string): TextChange =>
  ({ startLine, startCharacter, endLine, endCharacter, text });

beforeEach(() => {
  record = new EditRecord();
  record.open('/a.ts', () => 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n');
});

describe('an edit', () => {
  it('is what stood there before its first change, and what stands there now', () => {
    record.changed('/a.ts', [change(1, 0, 1, 3, 'd')]);
    record.changed('/a.ts', [change(1, 1, 1, 1, 'o')]);
    record.changed('/a.ts', [change(1, 2, 1, 2, 's')]);
    expect(record.recent(elsewhere)).toEqual([{ path: '/a.ts', line: 1, before: 'two', after: 'dos' }]);
  });

  it('grows with the lines that are typed below', () => {
    record.changed('/a.ts', [change(1, 3, 1, 3, '\nand')]);
    record.changed('/a.ts', [change(2, 3, 2, 3, '\nmore')]);
    expect(record.recent(elsewhere)).toEqual([{ path: '/a.ts', line: 1, before: 'two', after: 'two\nand\nmore' }]);
  });

  it('moves with the lines that are added or removed above it', () => {
    record.changed('/a.ts', [change(5, 0, 5, 3, 'seis')]);
    record.changed('/a.ts', [change(0, 0, 2, 0, '')]);
    expect(record.recent(elsewhere)).toEqual([
      { path: '/a.ts', line: 3, before: 'six', after: 'seis' }, { path: '/a.ts', line: 0, before: 'one\ntwo\nthree', after: 'three' },
    ]);
  });

  it('is one where it closes the gap between two', () => {
    record.changed('/a.ts', [change(0, 0, 0, 3, 'uno')]);
    record.changed('/a.ts', [change(4, 0, 4, 4, 'cinco')]);
    record.changed('/a.ts', [change(1, 0, 3, 4, 'x')]);
    expect(record.recent(elsewhere)).toEqual([{ path: '/a.ts', line: 0, before: 'one\ntwo\nthree\nfour\nfive', after: 'uno\nx\ncinco' }]);
  });

  it('of several places at once is several, in the lines of the document before it', () => {
    record.changed('/a.ts', [change(0, 0, 0, 3, '1\n1'), change(6, 0, 6, 5, '7')]);
    expect(record.recent(elsewhere)).toEqual([
      { path: '/a.ts', line: 7, before: 'seven', after: '7' }, { path: '/a.ts', line: 0, before: 'one', after: '1\n1' },
    ]);
  });

  it('that was taken back is none', () => {
    record.changed('/a.ts', [change(1, 0, 1, 3, 'dos')]);
    record.changed('/a.ts', [change(1, 0, 1, 3, 'two')]);
    expect(record.recent(elsewhere)).toEqual([]);
  });

  it('is none yet where the cursor is', () => {
    record.changed('/a.ts', [change(1, 0, 1, 3, 'dos')]);
    expect(record.recent({ path: '/a.ts', line: 1 })).toEqual([]);
    expect(record.recent({ path: '/a.ts', line: 6 })).toHaveLength(1);
  });

  it('of a document that was never in view, or that is closed, is not known', () => {
    record.changed('/b.ts', [change(0, 0, 0, 0, 'x')]);
    record.changed('/a.ts', [change(1, 0, 1, 3, 'dos')]);
    record.close('/a.ts');
    expect(record.recent(elsewhere)).toEqual([]);
  });

  it('that does not fit what is known of the document ends what is known of it', () => {
    record.changed('/a.ts', [change(1, 0, 1, 3, 'dos')]);
    record.changed('/a.ts', [change(70, 0, 70, 3, 'x')]);
    record.changed('/a.ts', [change(0, 0, 0, 3, 'x')]);
    expect(record.recent(elsewhere)).toEqual([]);
  });

  it('that is long is not told, and no more than the last eight are', () => {
    record.changed('/a.ts', [change(0, 0, 0, 3, 'x'.repeat(1_001))]);
    expect(record.recent(elsewhere)).toEqual([]);
    record.open('/c.ts', () => Array.from({ length: 60 }, (_, index) => `line ${index}`).join('\n'));
    for (let line = 0; line < 60; line += 3) record.changed('/c.ts', [change(line, 0, line, 0, '!')]);
    expect(record.recent(elsewhere).map(({ line }) => line)).toEqual([36, 39, 42, 45, 48, 51, 54, 57]);
  });

  it('agrees with the document after any changes', () => {
    let seed = 1;
    const next = (most: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % most;
    };
    let text = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n'.split('\n');
    for (let step = 0; step < 300; step += 1) {
      const startLine = next(text.length);
      const endLine = Math.min(text.length - 1, startLine + next(3));
      const startCharacter = next((text[startLine]?.length ?? 0) + 1);
      const endCharacter = endLine === startLine ? startCharacter : next((text[endLine]?.length ?? 0) + 1);
      const typed = ['', 'x', '\n', 'a\nb', 'word'][next(5)] ?? '';
      record.changed('/a.ts', [change(startLine, startCharacter, endLine, endCharacter, typed)]);
      const lines = [(text[startLine] ?? '').slice(0, startCharacter) + typed + (text[endLine] ?? '').slice(endCharacter)].join('').split('\n');
      text = [...text.slice(0, startLine), ...lines, ...text.slice(endLine + 1)];
      for (const { line, after } of record.recent(elsewhere)) {
        expect(text.slice(line, line + after.split('\n').length).join('\n')).toBe(after);
      }
    }
  });
});
