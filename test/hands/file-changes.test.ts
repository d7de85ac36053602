import { expect, it } from 'vitest';
import { changed, changeOf, lastOfEach } from '../../backend/hands/file-changes.ts';

const TEXTS = [null, '', 'a', 'a\n', 'a\nb\n', 'b\na\n', 'a\nb\nc\nd', 'a\nX\nc\nd', 'a\r\nb\r\n', 'a\nb\na\nb\n', 'a\nb\n\n\n', 'ä\n😀\nb\n'];

it('makes every text again from every other one', () => {
  for (const before of TEXTS)
    for (const after of TEXTS) expect(changed(before, changeOf('f', before, after)), JSON.stringify([before, after])).toBe(after);
});

it('holds the lines that differ, and no others', () => {
  expect(changeOf('f', 'a\nb\nc\n', 'a\nB\nc\n')).toEqual({ path: 'f', line: 2, removed: 'b\n', inserted: 'B\n' });
  expect(changeOf('f', 'a\nc\n', 'a\nb\nc\n')).toEqual({ path: 'f', line: 2, removed: '', inserted: 'b\n' });
});

it('does not apply to another text', () => {
  const change = changeOf('f', 'a\nb\n', 'a\nc\n');
  for (const other of [null, '', 'a\n', 'a\nx\n']) expect(changed(other, change)).toBeUndefined();
  expect(changed('there\n', changeOf('f', null, 'new\n'))).toBeUndefined();
  expect(changed('other\n', changeOf('f', 'old\n', null))).toBeUndefined();
});

it('keeps the last change of each file, and none of a file that is as it was', () => {
  const first = changeOf('f', 'a\n', 'b\n');
  const second = changeOf('f', 'a\n', 'c\n');
  const gone = { path: 'g', line: 1, removed: '', inserted: '' };
  expect(lastOfEach([first, changeOf('g', 'a\n', 'b\n'), second, gone])).toEqual([second]);
});
