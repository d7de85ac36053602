import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawGutter, edgesOf, gutterWidth, lanesOf, readBy, type CardBox, type Edge } from '../../../webview/plan/edges.ts';

const plan = (...reads: number[][]): { index: number; reads: number[] }[] => reads.map((read, index) => ({ index, reads: read }));
const boxes = (count: number, height = 60, gap = 8): Map<number, CardBox> =>
  new Map(Array.from({ length: count }, (_, step) => [step, { top: step * (height + gap), height }]));

/** Plans of up to five steps, each reading any of those before it. */
const edgeLists = fc
  .array(fc.array(fc.nat(4), { maxLength: 5 }), { minLength: 1, maxLength: 5 })
  .map((reads) => edgesOf(plan(...reads)));

describe('edgesOf', () => {
  it('has an edge for each read, in the order of the readers', () => {
    expect(edgesOf(plan([], [0], [1, 0]))).toEqual([{ from: 0, to: 1 }, { from: 0, to: 2 }, { from: 1, to: 2 }]);
  });

  it('leaves out what cannot be drawn: itself, later steps, steps that are not there, the same twice', () => {
    expect(edgesOf(plan([0, 1, 7], [0, 0]))).toEqual([{ from: 0, to: 1 }]);
  });
});

describe('lanesOf', () => {
  it('draws a chain in one lane', () => {
    expect(new Set(lanesOf(edgesOf(plan([], [0], [1], [2]))).values())).toEqual(new Set([0]));
  });

  it('gives the longer line the outer lane', () => {
    const lanes = lanesOf(edgesOf(plan([], [0], [0, 1])));
    expect(lanes.get(1)).toBe(0);
    expect(lanes.get(0)).toBe(1);
  });

  it('never puts two lines that overlap into one lane', () => {
    fc.assert(fc.property(edgeLists, (edges) => {
      const lanes = lanesOf(edges);
      const end = (from: number): number => Math.max(...edges.filter((edge) => edge.from === from).map((edge) => edge.to));
      const sources = [...lanes.keys()];
      for (const a of sources) {
        for (const b of sources) {
          if (a < b && lanes.get(a) === lanes.get(b)) expect(b).toBeGreaterThanOrEqual(end(a));
        }
      }
    }));
  });
});

describe('drawGutter', () => {
  const numbers = (path: string): number[] => (path.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);

  it('needs no room where nobody reads anybody', () => {
    expect(gutterWidth(edgesOf(plan([], [])))).toBe(0);
    expect(drawGutter([], boxes(2)).edges).toEqual([]);
  });

  it('starts at the card that is read and ends at the card that reads, inside the gutter', () => {
    fc.assert(fc.property(edgeLists, (edges) => {
      const cards = boxes(5);
      const { width, edges: drawn } = drawGutter(edges, cards);
      expect(drawn).toHaveLength(edges.length);
      for (const edge of drawn) {
        const [startX, startY] = numbers(edge.line);
        const endY = numbers(edge.head)[1] ?? Number.NaN;
        const inside = (y: number, card: number): boolean => {
          const box = cards.get(card) as CardBox;
          return y > box.top && y < box.top + box.height;
        };
        expect(startX).toBe(width);
        expect(inside(startY ?? Number.NaN, edge.from)).toBe(true);
        expect(inside(endY, edge.to)).toBe(true);
        expect(Math.min(...numbers(edge.line))).toBeGreaterThanOrEqual(0);
      }
    }));
  });

  it('lets no two lines enter or leave a card at the same height', () => {
    fc.assert(fc.property(edgeLists, (edges) => {
      const { edges: drawn } = drawGutter(edges, boxes(5));
      const entries = drawn.map((edge: Edge & { head: string }) => `${edge.to}@${numbers(edge.head)[1]}`);
      expect(new Set(entries).size).toBe(entries.length);
    }));
  });

  it('leaves out the edges of a card that was not measured yet', () => {
    expect(drawGutter(edgesOf(plan([], [0], [0])), boxes(2)).edges.map((edge) => edge.to)).toEqual([1]);
  });

  it('moves its lines when a card grows', () => {
    const edges = edgesOf(plan([], [0]));
    expect(drawGutter(edges, boxes(2, 300)).edges[0]?.line).not.toBe(drawGutter(edges, boxes(2, 60)).edges[0]?.line);
  });
});

describe('readBy', () => {
  it('names what a step reads', () => {
    expect(readBy(edgesOf(plan([], [0], [0, 1])), 2)).toEqual(new Set([0, 1]));
  });
});
