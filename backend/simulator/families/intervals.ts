import { code, type Family } from './family.ts';

export const intervalsFamily: Family = {
  kind: 'intervals',
  name: 'intervals',
  path: 'src/intervals.js',
  testPath: 'test/intervals.test.js',
  summary: 'joins ranges, finds the gaps between them, measures them',
  exports: ['mergeRanges', 'findGaps', 'coveredLength'],
  difficulty: 0.5,
  source: code`
/** The ranges [start, end] in order, those that overlap or touch joined into one. The ranges given are left as they are. */
export function mergeRanges(ranges) {
  const sorted = ranges.map((range) => [...range]).sort((a, b) => a[0] - b[0]);
  const merged = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last && range[0] <= last[1]) {
      last[1] = Math.max(last[1], range[1]);
    } else {
      merged.push(range);
    }
  }
  return merged;
}

/** The parts of the window that no range covers. */
export function findGaps(ranges, [windowStart, windowEnd]) {
  const gaps = [];
  let free = windowStart;
  for (const [start, end] of mergeRanges(ranges)) {
    if (free >= windowEnd) break;
    if (start > free) gaps.push([free, Math.min(start, windowEnd)]);
    free = Math.max(free, end);
  }
  if (free < windowEnd) gaps.push([free, windowEnd]);
  return gaps;
}

/** The length that the ranges cover together, an overlap counted once. */
export function coveredLength(ranges) {
  return mergeRanges(ranges).reduce((sum, [start, end]) => sum + end - start, 0);
}
`,
  test: code`
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coveredLength, findGaps, mergeRanges } from '../src/intervals.js';

test('overlapping ranges are joined', () => {
  assert.deepEqual(mergeRanges([[1, 4], [3, 6], [8, 9]]), [[1, 6], [8, 9]]);
});

test('ranges that only touch are joined', () => {
  assert.deepEqual(mergeRanges([[1, 3], [3, 5]]), [[1, 5]]);
});

test('a range inside another one changes nothing', () => {
  assert.deepEqual(mergeRanges([[1, 10], [2, 3]]), [[1, 10]]);
});

test('ranges are ordered by number, not by text', () => {
  assert.deepEqual(mergeRanges([[10, 12], [9, 9.5], [2, 3]]), [[2, 3], [9, 9.5], [10, 12]]);
});

test('the ranges given are not changed', () => {
  const ranges = [[5, 6], [1, 2], [2, 4]];
  mergeRanges(ranges);
  assert.deepEqual(ranges, [[5, 6], [1, 2], [2, 4]]);
});

test('gaps are found before, between and after the ranges', () => {
  assert.deepEqual(findGaps([[2, 4], [6, 8]], [0, 10]), [[0, 2], [4, 6], [8, 10]]);
});

test('gaps end with the window', () => {
  assert.deepEqual(findGaps([[2, 4], [20, 30]], [0, 10]), [[0, 2], [4, 10]]);
  assert.deepEqual(findGaps([[-5, 15]], [0, 10]), []);
});

test('an overlap is measured once', () => {
  assert.equal(coveredLength([[0, 4], [2, 6]]), 6);
  assert.equal(coveredLength([]), 0);
});
`,
  variants: [
    {
      id: 'touching-apart',
      edits: [{ find: 'range[0] <= last[1]', replace: 'range[0] < last[1]' }],
      diagnosis: 'a range that starts exactly where the last one ends is not joined to it',
      symptoms: [
        'mergeRanges([[1, 3], [3, 5]]) returns two ranges, I expect [[1, 5]].',
        'Ranges that touch are not joined by mergeRanges.',
      ],
      subtlety: 0.6,
    },
    {
      id: 'inner-range-shrinks',
      edits: [{ find: 'Math.max(last[1], range[1])', replace: 'range[1]' }],
      diagnosis: 'the end of a joined range is taken from the later one, even when that ends earlier',
      symptoms: [
        'mergeRanges([[1, 10], [2, 3]]) gives [[1, 3]].',
        'A small range inside a big one makes mergeRanges cut the big one short.',
      ],
      subtlety: 0.5,
    },
    {
      id: 'sorted-as-text',
      edits: [{ find: '.sort((a, b) => a[0] - b[0])', replace: '.sort()' }],
      diagnosis: 'the ranges are sorted as text, so 10 comes before 9',
      symptoms: [
        'mergeRanges puts [10, 12] before [9, 9.5].',
        'As soon as there are numbers above 9, the order that mergeRanges returns is wrong.',
      ],
      subtlety: 0.55,
    },
    {
      id: 'input-changed',
      edits: [{ find: 'ranges.map((range) => [...range]).sort', replace: 'ranges.sort' }],
      diagnosis: 'the ranges given by the caller are sorted and changed in place',
      symptoms: [
        'After calling mergeRanges my own list of ranges is in another order and has other ends.',
        'mergeRanges modifies the array I pass in.',
      ],
      subtlety: 0.65,
    },
    {
      id: 'last-gap-lost',
      edits: [{ find: '  if (free < windowEnd) gaps.push([free, windowEnd]);\n', replace: '' }],
      diagnosis: 'the gap between the last range and the end of the window is never added',
      symptoms: [
        'findGaps([[2, 4], [6, 8]], [0, 10]) misses the gap from 8 to 10.',
        'The free time at the end of the day is missing from findGaps.',
      ],
      subtlety: 0.35,
    },
    {
      id: 'gap-leaves-window',
      edits: [{ find: 'Math.min(start, windowEnd)', replace: 'start' }],
      diagnosis: 'a gap before a range that starts behind the window is not cut off at the end of the window',
      symptoms: [
        'findGaps([[2, 4], [20, 30]], [0, 10]) returns a gap that ends at 20, outside the window.',
        'findGaps sometimes gives me gaps that reach beyond the window.',
      ],
      subtlety: 0.7,
    },
    {
      id: 'overlap-counted-twice',
      edits: [{ find: 'return mergeRanges(ranges).reduce', replace: 'return ranges.reduce' }],
      diagnosis: 'the lengths are added up without joining the ranges first, so an overlap counts twice',
      symptoms: [
        'coveredLength([[0, 4], [2, 6]]) is 8 instead of 6.',
        'coveredLength counts the shared part of two ranges twice.',
      ],
      subtlety: 0.3,
    },
  ],
};
