import { describe, expect, it } from 'vitest';
import { drawWithOdds } from '../../backend/train/grpo/draw-with-odds.ts';

describe('a draw with odds', () => {
  it('draws exactly so many, and each as often as its odds say', () => {
    const sizes = [0.25, 0.75, 0.5, 0.5, 0.3, 0.7];
    const starts = Array.from({ length: 10_000 }, (_, index) => index / 10_000);
    const draws = starts.map((start) => drawWithOdds(sizes, 2, start));
    expect(new Set(draws.map((drawn) => drawn.filter(({ isDrawn }) => isDrawn).length))).toEqual(new Set([2]));
    for (const item of sizes.keys()) {
      const odds = draws[0]![item]!.odds;
      expect(odds).toBeCloseTo(2 * sizes[item]! / 3, 12);
      expect(draws.filter((drawn) => drawn[item]!.isDrawn).length / draws.length).toBeCloseTo(odds, 3);
    }
  });

  it('is sure of an item that is larger than its share, and lets the others share what is left', () => {
    const drawn = drawWithOdds([10, 1, 1, 1], 2, 0.4);
    expect(drawn.map(({ odds }) => odds)).toEqual([1, 1 / 3, 1 / 3, 1 / 3]);
    expect(drawn.filter(({ isDrawn }) => isDrawn)).toHaveLength(2);
    expect(drawn[0]!.isDrawn).toBe(true);
  });

  it('draws all where there are no more, and none where none is wanted', () => {
    expect(drawWithOdds([1, 2], 3, 0)).toEqual([{ odds: 1, isDrawn: true }, { odds: 1, isDrawn: true }]);
    expect(drawWithOdds([1, 2], 0, 0.5).map(({ isDrawn }) => isDrawn)).toEqual([false, false]);
    expect(drawWithOdds([], 3, 0)).toEqual([]);
  });
});
