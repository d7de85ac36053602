import { code, type Family } from './family.ts';

export const rectanglesFamily: Family = {
  kind: 'intervals',
  name: 'rectangles',
  path: 'src/rectangles.js',
  testPath: 'test/rectangles.test.js',
  summary: 'overlaps, areas and bounds of rectangles',
  exports: ['overlapOf', 'unionArea', 'containsPoint', 'boundsOf'],
  difficulty: 0.4,
  source: code`
/** The rectangle that two rectangles share, or null where they share no area. A rectangle is { x, y, width, height }. */
export function overlapOf(a, b) {
  const x = Math.max(a.x, b.x);
  const y = Math.max(a.y, b.y);
  const width = Math.min(a.x + a.width, b.x + b.width) - x;
  const height = Math.min(a.y + a.height, b.y + b.height) - y;
  return width > 0 && height > 0 ? { x, y, width, height } : null;
}

/** The area that two rectangles cover together. */
export function unionArea(a, b) {
  const overlap = overlapOf(a, b);
  return areaOf(a) + areaOf(b) - (overlap ? areaOf(overlap) : 0);
}

/** The left and the upper edge belong to a rectangle, the right and the lower one to its neighbours. */
export function containsPoint(rectangle, { x, y }) {
  const insideX = x >= rectangle.x && x < rectangle.x + rectangle.width;
  const insideY = y >= rectangle.y && y < rectangle.y + rectangle.height;
  return insideX && insideY;
}

/** The smallest rectangle around all points, or null where there are none. */
export function boundsOf(points) {
  if (points.length === 0) return null;
  const x = Math.min(...points.map((point) => point.x));
  const y = Math.min(...points.map((point) => point.y));
  const right = Math.max(...points.map((point) => point.x));
  const bottom = Math.max(...points.map((point) => point.y));
  return { x, y, width: right - x, height: bottom - y };
}

function areaOf({ width, height }) {
  return width * height;
}
`,
  test: code`
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundsOf, containsPoint, overlapOf, unionArea } from '../src/rectangles.js';

const square = { x: 0, y: 0, width: 4, height: 4 };

test('the overlap of two rectangles is a rectangle', () => {
  assert.deepEqual(overlapOf(square, { x: 2, y: 3, width: 5, height: 5 }), { x: 2, y: 3, width: 2, height: 1 });
});

test('a rectangle inside another one is the overlap', () => {
  const inner = { x: 1, y: 1, width: 2, height: 2 };
  assert.deepEqual(overlapOf(square, inner), inner);
});

test('rectangles that only touch do not overlap', () => {
  assert.equal(overlapOf(square, { x: 4, y: 0, width: 2, height: 4 }), null);
});

test('rectangles side by side in one direction only do not overlap', () => {
  assert.equal(overlapOf(square, { x: 10, y: 1, width: 2, height: 2 }), null);
});

test('a shared area is counted once', () => {
  assert.equal(unionArea(square, { x: 2, y: 2, width: 4, height: 4 }), 28);
  assert.equal(unionArea(square, { x: 10, y: 10, width: 1, height: 1 }), 17);
});

test('left and upper edges are inside, right and lower edges are not', () => {
  assert.equal(containsPoint(square, { x: 0, y: 0 }), true);
  assert.equal(containsPoint(square, { x: 4, y: 2 }), false);
  assert.equal(containsPoint(square, { x: 2, y: 4 }), false);
});

test('bounds hold all points, wherever they lie', () => {
  assert.deepEqual(boundsOf([{ x: 3, y: 8 }, { x: 5, y: 2 }]), { x: 3, y: 2, width: 2, height: 6 });
  assert.deepEqual(boundsOf([{ x: -4, y: -1 }, { x: -2, y: -3 }]), { x: -4, y: -3, width: 2, height: 2 });
});

test('there are no bounds without points', () => {
  assert.equal(boundsOf([]), null);
});
`,
  variants: [
    {
      id: 'touching-overlaps',
      edits: [{ find: 'width > 0 && height > 0', replace: 'width >= 0 && height >= 0' }],
      diagnosis: 'an overlap of width or height 0 counts as one, so rectangles that touch overlap',
      symptoms: [
        'overlapOf returns a rectangle of width 0 for two tiles that only share an edge.',
        'Neighbouring rectangles are reported as overlapping by overlapOf.',
      ],
      subtlety: 0.6,
    },
    {
      id: 'one-direction-enough',
      edits: [{ find: 'width > 0 && height > 0', replace: 'width > 0 || height > 0' }],
      diagnosis: 'it is enough for the rectangles to overlap in one of the two directions',
      symptoms: [
        'overlapOf finds an overlap with a negative width for rectangles that are far apart.',
        'Two rectangles in the same row but ten units apart overlap, says overlapOf.',
      ],
      subtlety: 0.4,
    },
    {
      id: 'shared-area-twice',
      edits: [{ find: ' - (overlap ? areaOf(overlap) : 0)', replace: '' }],
      diagnosis: 'the shared area is not taken off the sum of the two areas',
      symptoms: [
        'unionArea of two overlapping squares is too big: it returns 32 instead of 28.',
        'unionArea counts the common part twice.',
      ],
      subtlety: 0.3,
    },
    {
      id: 'right-edge-inside',
      edits: [{ find: 'x < rectangle.x + rectangle.width', replace: 'x <= rectangle.x + rectangle.width' }],
      diagnosis: 'a point on the right edge is taken for inside',
      symptoms: [
        'A click on the border between two tiles selects both: containsPoint is true for the right edge.',
        'containsPoint({ x: 0, y: 0, width: 4, height: 4 }, { x: 4, y: 2 }) should be false.',
      ],
      subtlety: 0.65,
    },
    {
      id: 'width-from-zero',
      edits: [{ find: 'width: right - x', replace: 'width: right' }],
      diagnosis: 'the width of the bounds is measured from 0 instead of from their left edge',
      symptoms: [
        'boundsOf returns a rectangle that is far too wide when the points do not start at x = 0.',
        'boundsOf([{ x: 3, y: 8 }, { x: 5, y: 2 }]) has width 5, it should be 2.',
      ],
      subtlety: 0.4,
    },
  ],
};
