import { expect, it } from 'vitest';
import { firstLineSent } from '../../../extension/suggest/first-line-sent.ts';

/** Lines of so many characters each. */
const first = (line: number, characters: number): number => firstLineSent(line, (from) => (line - from) * characters);

it('sends a short document from its beginning', () => {
  expect(first(0, 40)).toBe(0);
  expect(first(799, 20)).toBe(0);
});

it('sends a long one from a line that typing does not change', () => {
  expect(first(5_000, 20)).toBe(4_200);
  expect(new Set([5_000, 5_001, 5_050, 5_099].map((line) => first(line, 20)))).toEqual(new Set([4_200]));
});

it('starts further down in a document with long lines, until the text is short enough', () => {
  expect(first(5_000, 100)).toBe(4_700);
  expect(first(5_010, 1_000_000)).toBe(5_000);
});
