import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { edgesOf, type Edge } from '../../../webview/plan/edges.ts';
import { crossingsOf, depthsOf, joints, layersOf, type Layers } from '../../../webview/plan/layers.ts';

const edges = (...reads: number[][]): Edge[] => edgesOf(reads.map((read, index) => ({ index, reads: read })));
const positions = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const named = (layers: Layers): string[][] => layers.map((layer) => layer.map(({ kind, step }) => (kind === 'step' ? `${step}` : `lane ${step}`)));

/** Plans of up to ten steps, each reading any of those before it. */
const plans = fc.array(fc.array(fc.nat(9), { maxLength: 9 }), { minLength: 1, maxLength: 10 });

describe('depthsOf', () => {
  it('puts a step one layer behind the last of those that it reads', () => {
    expect([...depthsOf(positions(4), edges([], [], [0, 1], [0, 2])).values()]).toEqual([0, 0, 1, 2]);
  });
});

describe('layersOf', () => {
  it('puts steps that read nothing of each other above one another', () => {
    expect(named(layersOf(positions(4), edges([], [], [], [0, 1, 2])))).toEqual([['0', '1', '2'], ['3']]);
  });

  it('leads what is read further on past the layers between, in one lane for all its readers', () => {
    const layers = named(layersOf(positions(4), edges([], [0], [0, 1], [0, 2])));
    expect(layers.map((layer) => layer.toSorted())).toEqual([['0'], ['1', 'lane 0'], ['2', 'lane 0'], ['3']]);
  });

  it('orders a layer so that lines do not cross that need not', () => {
    // As written, 2 reads the lower of the two and 3 the upper one.
    const crossed = edges([], [], [1], [0]);
    const layers = layersOf(positions(4), crossed);
    expect(crossingsOf(layers, crossed)).toBe(0);
    expect(named(layers)).toEqual([['0', '1'], ['3', '2']]);
  });

  it('has every step once, reads from left to right, and a place for every line in each layer that it passes', () => {
    fc.assert(fc.property(plans, (reads) => {
      const all = edges(...reads);
      const layers = layersOf(positions(reads.length), all);
      const layerOf = new Map(layers.flatMap((layer, index) => layer.flatMap(({ kind, step }) => (kind === 'step' ? [[step, index]] : []))));
      expect([...layerOf.keys()].sort((a, b) => a - b)).toEqual(positions(reads.length));
      for (const { from, to } of all) {
        const [first, last] = [layerOf.get(from) ?? 0, layerOf.get(to) ?? 0];
        expect(first).toBeLessThan(last);
        for (let between = first + 1; between < last; between += 1) {
          expect(layers[between]?.filter(({ kind, step }) => kind === 'lane' && step === from)).toHaveLength(1);
        }
      }
    }));
  });

  it('joins every line from layer to layer', () => {
    fc.assert(fc.property(plans, (reads) => {
      const all = edges(...reads);
      const layers = layersOf(positions(reads.length), all);
      const steps = layers.flatMap((_layer, index) => joints(layers, index, all).map(([, to]) => layers[index + 1]?.[to]));
      for (const { to } of all) expect(steps.some((slot) => slot?.kind === 'step' && slot.step === to)).toBe(true);
    }));
  });
});
