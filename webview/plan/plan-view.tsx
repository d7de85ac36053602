import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { RunSnapshot, StepView } from '../../backend/protocol/run-snapshot.ts';
import { useSelected } from '../host.ts';
import { useIsWide, useWidth } from '../use-width.ts';
import { edgesOf } from './edges.ts';
import { widthsOf } from './graph-layout.ts';
import { layersOf } from './layers.ts';
import { fitsBeside, PlanGraph } from './plan-graph.tsx';
import { PlanList } from './plan-list.tsx';

/** The plan of a round: as a graph if there is room, otherwise as a list. */
export function PlanView({ steps, pool, runGoesOn, round, isLast, id, children }: {
  readonly steps: readonly StepView[];
  readonly pool: RunSnapshot['pool'];
  readonly runGoesOn: boolean;
  readonly round: number;
  readonly isLast: boolean;
  readonly id: string;
  /** The result of the plan. */
  readonly children: ComponentChildren;
}): JSX.Element {
  const [ref, width] = useWidth<HTMLDivElement>();
  const isWide = useIsWide();
  const { edges, layers } = usePlanShape(steps);
  const [chosen, choose] = useSelected(id);
  const selected = chosen === undefined ? (isLast ? stepOfInterest(steps) : undefined) : (chosen ?? undefined);
  return (
    <div class="plan" ref={ref}>
      {isWide && width >= widthsOf(layers).min
        ? (
            <PlanGraph
              steps={steps} edges={edges} layers={layers} width={width} beside={selected !== undefined && fitsBeside(layers, width)}
              selected={selected} isFollowed={chosen === undefined} onSelect={choose} pool={pool} runGoesOn={runGoesOn} round={round} id={id}
            >
              {children}
            </PlanGraph>
          )
        : <><PlanList steps={steps} pool={pool} runGoesOn={runGoesOn} round={round} id={id} />{children}</>}
    </div>
  );
}

/** The preferred width of the plan's graph, in pixels. */
export function usualWidth(steps: readonly StepView[]): number {
  return widthsOf(layersOf(steps.map(({ index }) => index), edgesOf(steps))).usual;
}

/** Edges and layers do not change while texts stream. */
function usePlanShape(steps: readonly StepView[]): { edges: ReturnType<typeof edgesOf>; layers: ReturnType<typeof layersOf> } {
  const shape = JSON.stringify(steps.map(({ index, reads }) => [index, reads]));
  return useMemo(() => {
    const edges = edgesOf(steps);
    return { edges, layers: layersOf(steps.map(({ index }) => index), edges) };
    // `shape` represents the steps.
  }, [shape]);
}

/** The step shown without a selection: the running one, otherwise the last one that ran. */
function stepOfInterest(steps: readonly StepView[]): number | undefined {
  const running = steps.find(({ state }) => state === 'running');
  return (running ?? steps.findLast(({ state }) => state === 'completed' || state === 'failed'))?.index;
}
