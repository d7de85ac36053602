import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RunSnapshot, StepView } from '../../backend/protocol/run-snapshot.ts';
import { workerName } from '../run-stage.ts';
import { drawGutter, edgesOf, gutterWidth, readBy, type CardBox, type Edge } from './edges.ts';
import { StepCard } from './step-card.tsx';

/** Colours of workers, by ordinal. Red and green have other meanings here. */
const WORKER_COLOURS = 5;

export function workerColour(ordinal: number): number {
  return ordinal % WORKER_COLOURS;
}

/** The plan as a list of cards, with lines at the left for reads. Hovering or focusing a card highlights its lines. */
export function PlanList({ steps, pool, runGoesOn, round, id }: {
  readonly steps: readonly StepView[];
  readonly pool: RunSnapshot['pool'];
  readonly runGoesOn: boolean;
  readonly round: number;
  readonly id: string;
}): JSX.Element {
  const [active, setActive] = useState<number | undefined>(undefined);
  const edges = useMemo(() => edgesOf(steps), [steps]);
  const read = active === undefined ? undefined : readBy(edges, active);
  const graph = useRef<HTMLOListElement>(null);
  const boxes = useCardBoxes(graph, steps.length);

  return (
    <div class="graph" style={{ '--gutter': `${gutterWidth(edges)}px` }}>
      <Gutter edges={edges} boxes={boxes} active={active} steps={steps} />
      <ol class="cards" ref={graph} aria-label={l10n.t('Plan')}>
        {steps.map((step) => (
          <li
            key={step.index}
            class="step"
            data-step={step.index}
            data-state={step.state}
            data-worker={workerColour(step.worker)}
            data-touched={step.index === active ? 'self' : read?.has(step.index) ? 'read' : undefined}
            onMouseEnter={() => setActive(step.index)}
            onMouseLeave={() => setActive(undefined)}
            onFocusCapture={() => setActive(step.index)}
            onBlurCapture={() => setActive(undefined)}
          >
            <StepCard
              step={step} worker={workerName({ pool }, step.worker)} simulated={pool[step.worker]?.simulated ?? false}
              runGoesOn={runGoesOn} round={round} id={id}
            />
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Decorative: every card lists in text what it reads. */
export function Gutter({ edges, boxes, active, steps }: {
  readonly edges: readonly Edge[];
  readonly boxes: ReadonlyMap<number, CardBox>;
  readonly active: number | undefined;
  readonly steps: readonly Pick<StepView, 'worker'>[];
}): JSX.Element | null {
  const drawing = useMemo(() => drawGutter(edges, boxes), [edges, boxes]);
  if (edges.length === 0) return null;
  const worker = (step: number): number => workerColour(steps[step]?.worker ?? 0);
  // Draws highlighted edges last, on top.
  const touches = ({ from, to }: Edge): boolean => from === active || to === active;
  const ordered = [...drawing.edges].sort((a, b) => Number(touches(a)) - Number(touches(b)));
  return (
    <svg class="gutter" width={drawing.width} aria-hidden="true">
      {ordered.map((edge) => (
        <g
          key={`${edge.from}-${edge.to}`} data-worker={worker(edge.from)}
          class={active === undefined ? 'edge' : touches(edge) ? 'edge edge-on' : 'edge edge-off'}
        >
          <path class="edge-line" d={edge.line} />
          <path class="edge-head" d={edge.head} />
        </g>
      ))}
    </svg>
  );
}

/** The positions of the cards, updated when their sizes change. */
export function useCardBoxes(list: { readonly current: HTMLOListElement | null }, count: number): ReadonlyMap<number, CardBox> {
  const [boxes, setBoxes] = useState<ReadonlyMap<number, CardBox>>(new Map());
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    const cards = [...element.children] as HTMLElement[];
    const measure = (): void =>
      setBoxes((before) => {
        const boxOf = ({ offsetTop, offsetHeight }: HTMLElement): CardBox => ({ top: offsetTop, height: offsetHeight });
        const next = new Map(cards.map((card) => [Number(card.dataset['step']), boxOf(card)]));
        return sameBoxes(before, next) ? before : next;
      });
    measure();
    const observer = new ResizeObserver(measure);
    for (const card of cards) observer.observe(card);
    return () => observer.disconnect();
  }, [list, count]);
  return boxes;
}

function sameBoxes(a: ReadonlyMap<number, CardBox>, b: ReadonlyMap<number, CardBox>): boolean {
  return a.size === b.size && [...a].every(([step, box]) => b.get(step)?.top === box.top && b.get(step)?.height === box.height);
}
