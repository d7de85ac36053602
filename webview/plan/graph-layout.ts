import type { Edge } from './edges.ts';
import type { Layers, Slot } from './layers.ts';

/*
 * Layout of a layered plan in pixels: steps are boxes of one size, edges are curves.
 */

export interface PlacedStep {
  readonly step: number;
  readonly left: number;
  readonly top: number;
}

export interface CurvedEdge extends Edge {
  /** SVG paths of the line and of the arrow head at the reading step. */
  readonly line: string;
  readonly head: string;
}

export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  readonly stepWidth: number;
  readonly steps: readonly PlacedStep[];
  readonly edges: readonly CurvedEdge[];
}

/** One line for the worker's name, two for the subtask, one for the figures. */
export const STEP_HEIGHT = 92;
const STEP_WIDTH = { min: 140, usual: 164, max: 250 };
const LAYER_GAP = { min: 28, usual: 34, max: 72 };
const ROW_GAP = 14;
const LANE_HEIGHT = 6;
/** Distance between the ends of two lines into the same step. */
const PORT_GAP = 12;
const HEAD = 5;

/** The minimum, preferred and maximum width of the graph. */
export function widthsOf({ length }: Layers): Readonly<Record<keyof typeof STEP_WIDTH, number>> {
  const width = (kind: keyof typeof STEP_WIDTH): number => length * STEP_WIDTH[kind] + Math.max(0, length - 1) * LAYER_GAP[kind];
  return { min: width('min'), usual: width('usual'), max: width('max') };
}

/**
 * The layout for a width of at least `widthsOf(layers).min`. Extra width goes first to larger boxes, then to larger gaps, then to an empty
 * margin.
 */
export function layoutOf(layers: Layers, edges: readonly Edge[], available: number): GraphLayout {
  const count = Math.max(1, layers.length);
  const gaps = count - 1;
  const usualGaps = Math.min(LAYER_GAP.usual, Math.max(LAYER_GAP.min, gaps === 0 ? 0 : (available - count * STEP_WIDTH.usual) / gaps));
  const stepWidth = Math.min(STEP_WIDTH.max, Math.floor((available - gaps * usualGaps) / count));
  const gap = gaps === 0 ? 0 : Math.min(LAYER_GAP.max, Math.floor((available - count * stepWidth) / gaps));

  const relative = layers.map(middlesOf);
  const tops = layers.map((layer, index) => (relative[index]?.[0] ?? 0) - extent(layer[0]) / 2);
  const bottoms = layers.map((layer, index) => (relative[index]?.at(-1) ?? 0) + extent(layer.at(-1)) / 2);
  const top = Math.min(0, ...tops);
  const height = Math.max(0, ...bottoms) - top;
  const middles = relative.map((layer) => layer.map((middle) => middle - top));
  const left = (layer: number): number => layer * (stepWidth + gap);
  const placeOf = (layer: number, kind: Slot['kind'], step: number): number => {
    const at = layers[layer]?.findIndex((slot) => slot.kind === kind && slot.step === step) ?? -1;
    return middles[layer]?.[at] ?? 0;
  };
  const layerOf = (step: number): number => layers.findIndex((layer) => layer.some((slot) => slot.kind === 'step' && slot.step === step));

  /** The heights at which a line crosses the layers, from the step that is read to the reader. */
  const stops = ({ from, to }: Edge): number[] => {
    const [first, last] = [layerOf(from), layerOf(to)];
    const between = Array.from({ length: Math.max(0, last - first - 1) }, (_, index) => placeOf(first + 1 + index, 'lane', from));
    return [placeOf(first, 'step', from), ...between, placeOf(last, 'step', to)];
  };
  const curved = edges.map((edge) => {
    const heights = stops(edge);
    const rivals = edges.filter(({ to }) => to === edge.to).map((rival) => ({ rival, from: stops(rival).at(-2) ?? 0 }));
    const port = rivals.toSorted((a, b) => a.from - b.from).findIndex(({ rival }) => rival === edge) - (rivals.length - 1) / 2;
    const end = (heights.at(-1) ?? 0) + port * Math.min(PORT_GAP, (STEP_HEIGHT - 24) / rivals.length);
    return { ...edge, ...drawn([...heights.slice(0, -1), end], (layer) => left(layerOf(edge.from) + layer), stepWidth) };
  });
  return {
    width: count * stepWidth + gaps * gap,
    height,
    stepWidth,
    steps: layers.flatMap((layer, index) => layer.flatMap((slot, at) =>
      slot.kind === 'step' ? [{ step: slot.step, left: left(index), top: (middles[index]?.[at] ?? 0) - STEP_HEIGHT / 2 }] : [])),
    edges: curved,
  };
}

const extent = (slot: Slot | undefined): number => (slot?.kind === 'lane' ? LANE_HEIGHT : STEP_HEIGHT);

/** The middle of each slot relative to the middle of the layer's steps. Lanes above and below do not move steps, so a chain is level. */
function middlesOf(layer: readonly Slot[]): number[] {
  let bottom = 0;
  const middles = layer.map((slot, index) => {
    const middle = bottom + (index === 0 ? 0 : ROW_GAP) + extent(slot) / 2;
    bottom = middle + extent(slot) / 2;
    return middle;
  });
  const steps = middles.filter((_middle, index) => layer[index]?.kind === 'step');
  const centre = ((steps[0] ?? 0) + (steps.at(-1) ?? 0)) / 2;
  return middles.map((middle) => middle - centre);
}

/** A line that is horizontal at every layer and curved in between. */
function drawn(heights: readonly number[], left: (layer: number) => number, stepWidth: number): { line: string; head: string } {
  const last = heights.length - 1;
  const end = heights[last] ?? 0;
  const tip = left(last);
  const swings = heights.slice(1).map((height, index) => {
    const [from, to] = [left(index) + stepWidth, left(index + 1) - (index + 1 === last ? HEAD : 0)];
    const half = (from + to) / 2;
    const passes = index + 1 < last ? `H${left(index + 1) + stepWidth}` : '';
    return `C${half} ${heights[index]} ${half} ${height} ${to} ${height}${passes}`;
  });
  return {
    line: `M${left(0) + stepWidth} ${heights[0]}${swings.join('')}`,
    head: `M${tip - HEAD - 1} ${end - HEAD}L${tip} ${end}L${tip - HEAD - 1} ${end + HEAD}Z`,
  };
}
