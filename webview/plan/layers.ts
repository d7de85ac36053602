import type { Edge } from './edges.ts';

/*
 * A plan in layers, left to right: a step is one layer after the last step that it reads. If the reader is further away, the edge passes
 * the layers between in a lane, shared by all readers of the step, so that no line runs behind a step. After Sugiyama, Tagawa and Toda,
 * "Methods for visual understanding of hierarchical system structures" (1981): layers by longest paths, then a few sweeps that move
 * connected slots next to each other. Plans have about five steps; a layout library would be larger than the page.
 */

/** A place in a layer: a step, or the lane of an earlier step's output. */
export interface Slot {
  readonly kind: 'step' | 'lane';
  /** Position of the step, or of the step whose output passes. */
  readonly step: number;
}

export type Layers = readonly (readonly Slot[])[];

const SWEEPS = 6;

/** The layer of each step, from 0. Every edge leads from a smaller position to a larger one. */
export function depthsOf(positions: readonly number[], edges: readonly Edge[]): ReadonlyMap<number, number> {
  const depths = new Map<number, number>();
  for (const step of positions.toSorted((a, b) => a - b)) {
    const read = edges.filter(({ to }) => to === step).map(({ from }) => depths.get(from) ?? 0);
    depths.set(step, read.length === 0 ? 0 : Math.max(...read) + 1);
  }
  return depths;
}

/** The layers, each ordered from top to bottom so that few lines cross. */
export function layersOf(positions: readonly number[], edges: readonly Edge[]): Layers {
  const depths = depthsOf(positions, edges);
  const layers: Slot[][] = Array.from({ length: Math.max(-1, ...depths.values()) + 1 }, () => []);
  for (const [step, depth] of depths) {
    layers[depth]?.push({ kind: 'step', step });
    const readers = edges.filter(({ from }) => from === step).map(({ to }) => depths.get(to) ?? 0);
    for (let layer = depth + 1; layer < Math.max(depth, ...readers); layer += 1) layers[layer]?.push({ kind: 'lane', step });
  }
  return untangled(layers, edges);
}

/** The connections between layer `index` and the next one, as pairs of places in the two layers. */
export function joints(layers: Layers, index: number, edges: readonly Edge[]): [number, number][] {
  const [here, next] = [layers[index] ?? [], layers[index + 1] ?? []];
  return here.flatMap(({ step }, from) => next.flatMap((slot, to): [number, number][] => {
    const joined = slot.kind === 'lane' ? slot.step === step : edges.some((edge) => edge.from === step && edge.to === slot.step);
    return joined ? [[from, to]] : [];
  }));
}

export function crossingsOf(layers: Layers, edges: readonly Edge[]): number {
  return layers.reduce((sum, _layer, index) => {
    const pairs = joints(layers, index, edges);
    return sum + pairs.filter(([a, b], at) => pairs.slice(at + 1).some(([c, d]) => (a - c) * (b - d) < 0)).length;
  }, 0);
}

/** The ordering with the fewest crossings, from sweeps alternately to the right and to the left. */
function untangled(layers: Layers, edges: readonly Edge[]): Layers {
  let best = layers;
  let current = layers;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    current = swept(current, edges, sweep % 2 === 0);
    if (crossingsOf(current, edges) < crossingsOf(best, edges)) best = current;
  }
  return best;
}

function swept(layers: Layers, edges: readonly Edge[], toTheRight: boolean): Layers {
  const ordered = layers.map((layer) => [...layer]);
  const indices = toTheRight ? ordered.keys() : [...ordered.keys()].reverse();
  for (const index of indices) {
    const layer = ordered[index] ?? [];
    const neighbour = ordered[toTheRight ? index - 1 : index + 1];
    if (!neighbour) continue;
    const pairs = toTheRight ? joints(ordered, index - 1, edges).map(([a, b]) => [b, a]) : joints(ordered, index, edges);
    // Places count from the middle, because layers are centred.
    const weightOf = (place: number): number => {
      const joined = pairs.filter(([own]) => own === place).map(([, other]) => (other ?? 0) - (neighbour.length - 1) / 2);
      return joined.length === 0 ? place - (layer.length - 1) / 2 : joined.reduce((sum, other) => sum + other, 0) / joined.length;
    };
    const weights = new Map(layer.map((slot, place) => [slot, weightOf(place)]));
    ordered[index] = layer.toSorted((a, b) => (weights.get(a) ?? 0) - (weights.get(b) ?? 0));
  }
  return ordered;
}
