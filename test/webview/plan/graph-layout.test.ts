import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepByKey } from '../../../webview/plan/arrow-keys.ts';
import { edgesOf } from '../../../webview/plan/edges.ts';
import { layoutOf, STEP_HEIGHT, widthsOf, type GraphLayout } from '../../../webview/plan/graph-layout.ts';
import { layersOf } from '../../../webview/plan/layers.ts';

function laidOut(reads: readonly (readonly number[])[], width?: number): GraphLayout {
  const edges = edgesOf(reads.map((read, index) => ({ index, reads: read })));
  const layers = layersOf(reads.map((_read, index) => index), edges);
  return layoutOf(layers, edges, width ?? widthsOf(layers).usual);
}

const plans = fc.array(fc.array(fc.nat(9), { maxLength: 9 }), { minLength: 1, maxLength: 10 });

describe('layoutOf', () => {
  it('lets no two steps touch, and keeps all within its size', () => {
    fc.assert(fc.property(plans, fc.integer({ min: 0, max: 3_000 }), (reads, more) => {
      const edges = edgesOf(reads.map((read, index) => ({ index, reads: read })));
      const layers = layersOf(reads.map((_read, index) => index), edges);
      const available = widthsOf(layers).min + more;
      const { steps, stepWidth, width, height } = layoutOf(layers, edges, available);
      expect(width).toBeLessThanOrEqual(available);
      for (const { left, top, step } of steps) {
        expect(left).toBeGreaterThanOrEqual(0);
        expect(left + stepWidth).toBeLessThanOrEqual(width);
        expect(top).toBeGreaterThanOrEqual(0);
        expect(top + STEP_HEIGHT).toBeLessThanOrEqual(height);
        const touching = steps.filter((other) => other.step !== step && Math.abs(other.left - left) < stepWidth && Math.abs(other.top - top) < STEP_HEIGHT);
        expect(touching).toEqual([]);
      }
    }));
  });

  it('draws a chain level, whatever passes above and below it', () => {
    const { steps } = laidOut([[], [0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]);
    expect(new Set(steps.map(({ top }) => top)).size).toBe(1);
  });

  it('leads lines into a step at different heights, in the order in which they come', () => {
    const { edges } = laidOut([[], [], [], [0, 1, 2]]);
    const ends = edges.map(({ head }) => Number(/L\d+ ([\d.]+)L/.exec(head)?.[1]));
    expect(ends).toEqual(ends.toSorted((a, b) => a - b));
    expect(new Set(ends).size).toBe(3);
  });

  it('takes the room there is, as far as it is of use', () => {
    const chain = [[], [0], [1]];
    expect(laidOut(chain, 500).width).toBeGreaterThan(480);
    expect(laidOut(chain, 2_000).width).toBeLessThan(1_000);
  });
});

describe('the arrow keys', () => {
  // 0 and 1 above one another, then 2, then 3.
  const { steps } = laidOut([[], [], [0, 1], [2]]);

  it.each([
    ['ArrowDown', 0, 1], ['ArrowUp', 1, 0], ['ArrowRight', 1, 2], ['ArrowRight', 2, 3], ['ArrowLeft', 3, 2], ['Home', 3, 0], ['End', 0, 3],
  ] as const)('%s leads from step %i to step %i', (key, from, to) => {
    expect(stepByKey(key, from, steps)).toBe(to);
  });

  it.each([['ArrowUp', 0], ['ArrowRight', 3], ['ArrowDown', 2], ['Enter', 0], ['constructor', 0]])('%s leads nowhere from step %i', (key, from) => {
    expect(stepByKey(key, from, steps)).toBeUndefined();
  });
});
