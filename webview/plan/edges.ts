import type { StepView } from '../../backend/protocol/run-snapshot.ts';

/*
 * Draws which steps read which, in a gutter left of the cards. Each step that is read owns one lane: its line leaves its card, runs down
 * the lane and branches to each card that reads it. Lines that do not overlap share a lane, so a chain needs only one.
 */

export interface Edge {
  /** Position of the step whose output is read. */
  readonly from: number;
  readonly to: number;
}

/** Vertical extent of a card, in pixels from the top of the graph. */
export interface CardBox {
  readonly top: number;
  readonly height: number;
}

export interface DrawnEdge extends Edge {
  /** SVG paths of the line and of the arrow head at the reading card. */
  readonly line: string;
  readonly head: string;
}

export interface GutterDrawing {
  readonly width: number;
  readonly edges: readonly DrawnEdge[];
}

const LANE = 10;
const MARGIN = 9;
const RADIUS = 6;
const FIRST_PORT = 13;
const PORT_GAP = 7;
const HEAD = 4;

/** The edges of a plan, in the order of their readers. Ignores reads of missing or later steps. */
export function edgesOf(steps: readonly Pick<StepView, 'index' | 'reads'>[]): Edge[] {
  const known = new Set(steps.map((step) => step.index));
  return steps.flatMap((step) =>
    [...new Set(step.reads)]
      .filter((from) => known.has(from) && from < step.index)
      .sort((a, b) => a - b)
      .map((from) => ({ from, to: step.index })));
}

/** The lane of each step that is read; 0 is next to the cards. Short lines get the inner lanes, so that few lines cross. */
export function lanesOf(edges: readonly Edge[]): ReadonlyMap<number, number> {
  const lastReader = new Map<number, number>();
  for (const { from, to } of edges) lastReader.set(from, Math.max(to, lastReader.get(from) ?? to));
  const spans = [...lastReader].map(([from, to]) => ({ from, to }));
  spans.sort((a, b) => a.to - a.from - (b.to - b.from) || a.from - b.from);

  const lanes = new Map<number, number>();
  for (const span of spans) {
    // Two lines that only meet at a card may share a lane: one enters the card above the point where the other leaves it.
    const taken = spans
      .filter((other) => lanes.has(other.from) && other.from < span.to && span.from < other.to)
      .map((other) => lanes.get(other.from));
    let lane = 0;
    while (taken.includes(lane)) lane += 1;
    lanes.set(span.from, lane);
  }
  return lanes;
}

/** Width of the gutter in pixels. It depends only on the plan, so that cards do not move after they are measured. */
export function gutterWidth(edges: readonly Edge[]): number {
  const lanes = new Set(lanesOf(edges).values()).size;
  return lanes === 0 ? 0 : MARGIN + lanes * LANE;
}

/** The lines as SVG paths. `boxes` are the cards by position; edges of cards that are not measured are omitted. */
export function drawGutter(edges: readonly Edge[], boxes: ReadonlyMap<number, CardBox>): GutterDrawing {
  const lanes = lanesOf(edges);
  const width = gutterWidth(edges);
  const x = (from: number): number => width - MARGIN - (lanes.get(from) ?? 0) * LANE;

  // Inner lanes enter a card above outer ones, so that lines into the same card do not cross.
  const entries = (to: number): number[] =>
    edges.filter((edge) => edge.to === to).map((edge) => edge.from).sort((a, b) => x(b) - x(a));
  const entryY = (edge: Edge, box: CardBox): number => box.top + FIRST_PORT + entries(edge.to).indexOf(edge.from) * PORT_GAP;
  const exitY = (from: number, box: CardBox): number => box.top + FIRST_PORT + entries(from).length * PORT_GAP;

  const drawn = edges.flatMap((edge) => {
    const source = boxes.get(edge.from);
    const reader = boxes.get(edge.to);
    if (!source || !reader) return [];
    const lane = x(edge.from);
    const start = exitY(edge.from, source);
    const end = entryY(edge, reader);
    const line =
      `M${width} ${start}H${lane + RADIUS}Q${lane} ${start} ${lane} ${start + RADIUS}` +
      `V${end - RADIUS}Q${lane} ${end} ${lane + RADIUS} ${end}H${width - HEAD}`;
    const head = `M${width - HEAD - 1} ${end - HEAD}L${width} ${end}L${width - HEAD - 1} ${end + HEAD}Z`;
    return [{ ...edge, line, head }];
  });
  return { width, edges: drawn };
}

/** The steps whose outputs a step reads. */
export function readBy(edges: readonly Edge[], step: number): ReadonlySet<number> {
  return new Set(edges.filter((edge) => edge.to === step).map((edge) => edge.from));
}
