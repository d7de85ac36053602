import * as l10n from '@vscode/l10n';
import type { ComponentChildren, JSX } from 'preact';
import { memo } from 'preact/compat';
import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import type { RunSnapshot, StepView } from '../../backend/protocol/run-snapshot.ts';
import { Icon, ToolButton } from '../controls.tsx';
import { InlineCode, Markdown } from '../markdown/markdown.tsx';
import { tail } from '../markdown/visible-text.ts';
import { phaseOf, phaseStage, workerName } from '../run-stage.ts';
import { stepByKey } from './arrow-keys.ts';
import { readBy, type Edge } from './edges.ts';
import { layoutOf, STEP_HEIGHT, widthsOf, type CurvedEdge, type GraphLayout } from './graph-layout.ts';
import type { Layers } from './layers.ts';
import { workerColour } from './plan-list.tsx';
import { SimulatedTag } from './step-card.tsx';
import { StepFacts, StepPrompt } from './step-details.tsx';
import { StepSteering, Unread } from './step-steering.tsx';
import { StepTurns } from './step-turns.tsx';
import { HandedOn, readsOf, StandsIn, StepFigures, StepNote, TrialNote } from './step-facts.tsx';

interface PlanGraphProps {
  readonly steps: readonly StepView[];
  readonly edges: readonly Edge[];
  readonly layers: Layers;
  /** Width in pixels of graph and details together, and whether they are side by side. */
  readonly width: number;
  readonly beside: boolean;
  readonly selected: number | undefined;
  /** The selection is automatic and follows the running step. */
  readonly isFollowed: boolean;
  readonly onSelect: (step: number | null) => void;
  readonly pool: RunSnapshot['pool'];
  readonly runGoesOn: boolean;
  readonly round: number;
  readonly id: string;
  /** The result of the plan, shown below the graph. */
  readonly children: ComponentChildren;
}

/** Width in pixels of the details beside a graph, and of the gap before them. They take the width that the graph leaves. */
const DETAILS_WIDTH = { min: 380, max: 660 };
const DETAILS_GAP = 20;

/** Whether the details fit beside the graph. */
export function fitsBeside(layers: Layers, width: number): boolean {
  return width >= widthsOf(layers).usual + DETAILS_GAP + DETAILS_WIDTH.min;
}

/**
 * The plan as a graph: a step is right of the steps that it reads, and parallel steps are above one another. The steps are tabs, and the
 * selected step's details are the tab panel. Arrow keys move between steps, Enter selects.
 */
export function PlanGraph({
  steps, edges, layers, width, beside, selected, isFollowed, onSelect, pool, runGoesOn, round, id, children,
}: PlanGraphProps): JSX.Element {
  const [active, setActive] = useState<number | undefined>(undefined);
  const detailsWidth = Math.min(DETAILS_WIDTH.max, Math.max(DETAILS_WIDTH.min, width - DETAILS_GAP - widthsOf(layers).max));
  const graphWidth = beside ? width - detailsWidth - DETAILS_GAP : width;
  const layout = useMemo(() => layoutOf(layers, edges, graphWidth), [layers, edges, graphWidth]);
  const list = useRef<HTMLDivElement>(null);
  const pickedOut = active ?? selected;
  const read = pickedOut === undefined ? undefined : readBy(edges, pickedOut);
  const [reached, setReached] = useState<number | undefined>(undefined);
  const inTabOrder = reached ?? selected ?? steps[0]?.index;
  const shown = steps.find(({ index }) => index === selected);
  const close = useCallback(() => {
    // The Close button disappears with the details, so the focus returns to their step.
    list.current?.querySelector<HTMLElement>('[aria-selected="true"]')?.focus();
    onSelect(null);
  }, [onSelect]);
  const tab = (step: number): string => `${id}/tab-${step}`;

  const onKeyDown = (event: KeyboardEvent): void => {
    const from = Number((event.target as HTMLElement).closest<HTMLElement>('[data-step]')?.dataset['step']);
    const to = stepByKey(event.key, from, layout.steps);
    if (to === undefined) return;
    event.preventDefault();
    setReached(to);
    list.current?.querySelector<HTMLElement>(`[data-step="${to}"]`)?.focus();
  };

  return (
    <div class="plan-graph" data-beside={beside && shown !== undefined} style={{ '--details-width': `${detailsWidth}px` }}>
      <div class="nodes-and-edges" style={{ height: `${layout.height}px`, maxWidth: `${layout.width}px` }}>
        <Edges layout={layout} steps={steps} pickedOut={pickedOut} dimOthers={active !== undefined} />
        <div class="nodes" role="tablist" aria-label={l10n.t('Plan')} ref={list} onKeyDown={onKeyDown}>
          {steps.map((step) => {
            const placed = layout.steps.find((one) => one.step === step.index);
            return (
              <Node
                key={step.index} step={step} worker={workerName({ pool }, step.worker)} simulated={pool[step.worker]?.simulated ?? false}
                runGoesOn={runGoesOn} round={round} left={placed?.left ?? 0} top={placed?.top ?? 0} width={layout.stepWidth}
                tabId={tab(step.index)} panelId={`${id}/details`} isSelected={step.index === selected} isInTabOrder={step.index === inTabOrder}
                touched={step.index === pickedOut ? 'self' : read?.has(step.index) ? 'read' : undefined}
                onSelect={onSelect} onActive={setActive} onReached={setReached}
              />
            );
          })}
        </div>
      </div>
      {shown && (
        <section
          class="card step-panel" role="tabpanel" tabIndex={0} id={`${id}/details`} aria-labelledby={tab(shown.index)}
          data-worker={workerColour(shown.worker)}
        >
          <SelectedStep
            key={shown.index} step={shown} worker={workerName({ pool }, shown.worker)} simulated={pool[shown.worker]?.simulated ?? false}
            runGoesOn={runGoesOn} round={round} isPassing={isFollowed && runGoesOn} id={id} onClose={close}
          />
        </section>
      )}
      <div class="after-plan">{children}</div>
    </div>
  );
}

interface NodeProps {
  readonly step: StepView;
  readonly worker: string;
  readonly simulated: boolean;
  readonly runGoesOn: boolean;
  readonly round: number;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly tabId: string;
  readonly panelId: string;
  readonly isSelected: boolean;
  readonly isInTabOrder: boolean;
  readonly touched: 'self' | 'read' | undefined;
  readonly onSelect: (step: number) => void;
  readonly onActive: (step: number | undefined) => void;
  readonly onReached: (step: number) => void;
}

const Node = memo(function Node({
  step, worker, simulated, runGoesOn, round, left, top, width, tabId, panelId, isSelected, isInTabOrder, touched, onSelect, onActive, onReached,
}: NodeProps): JSX.Element {
  const phase = phaseOf(step, runGoesOn);
  const stage = phaseStage(phase);
  const reads = readsOf(step, round);
  return (
    <button
      type="button" role="tab" id={tabId} aria-selected={isSelected} aria-controls={isSelected ? panelId : undefined}
      tabIndex={isInTabOrder ? 0 : -1} class="node" data-step={step.index} data-state={step.state} data-worker={workerColour(step.worker)}
      data-touched={touched} title={step.subtask}
      style={{ left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${STEP_HEIGHT}px` }}
      onClick={() => onSelect(step.index)}
      onMouseEnter={() => onActive(step.index)} onMouseLeave={() => onActive(undefined)}
      onFocus={() => { onReached(step.index); onActive(step.index); }} onBlur={() => onActive(undefined)}
    >
      <span class="node-head">
        <Icon name={stage.icon} tone={stage.tone} label={`${stage.text}: `} />
        <bdi class="worker">{worker}</bdi>
        <StandsIn step={step} />
        {simulated && <Icon name="beaker" tone="caution" label={l10n.t('simulated')} />}
        <span class="quiet">{l10n.t('step {0}', step.index + 1)}</span>
        {reads !== undefined && <span class="visually-hidden">{reads}</span>}
      </span>
      <span class="node-task" dir="auto"><InlineCode text={step.subtask} /></span>
      <StepFigures step={step} phase={phase} name="node-figures" />
    </button>
  );
});

/** Decorative: every step lists in text what it reads. */
function Edges({ layout, steps, pickedOut, dimOthers }: {
  readonly layout: GraphLayout;
  readonly steps: readonly StepView[];
  readonly pickedOut: number | undefined;
  readonly dimOthers: boolean;
}): JSX.Element {
  const touches = ({ from, to }: CurvedEdge): boolean => from === pickedOut || to === pickedOut;
  // Draws highlighted edges last, on top.
  const ordered = layout.edges.toSorted((a, b) => Number(touches(a)) - Number(touches(b)));
  return (
    <svg class="graph-edges" width={layout.width} height={layout.height} aria-hidden="true">
      {ordered.map((edge) => (
        <g
          key={`${edge.from}-${edge.to}`} data-worker={workerColour(steps[edge.from]?.worker ?? 0)}
          class={touches(edge) ? 'edge edge-on' : dimOthers ? 'edge edge-off' : 'edge'}
        >
          <path class="edge-line" d={edge.line} />
          <path class="edge-head" d={edge.head} />
        </g>
      ))}
    </svg>
  );
}

/** Streamed characters to keep in the details: more than its lines can show. */
const LIVE_TAIL = 2_400;
/** Characters of an output to render immediately when a step is selected: more than a screen, rendered within one frame. */
const SHOWN_FIRST = 6_000;

/** All details of a step. */
const SelectedStep = memo(function SelectedStep({ step, worker, simulated, runGoesOn, round, isPassing, id, onClose }: {
  readonly step: StepView;
  readonly worker: string;
  readonly simulated: boolean;
  readonly runGoesOn: boolean;
  readonly round: number;
  /** True if it is shown only until the next step runs. Rendering it as finished text is then not worth the time. */
  readonly isPassing: boolean;
  readonly id: string;
  readonly onClose: () => void;
}): JSX.Element {
  const phase = phaseOf(step, runGoesOn);
  const stage = phaseStage(phase);
  const isLive = phase === 'running' || (isPassing && step.output !== undefined);
  const live = isLive ? (step.output ?? step.attempt?.text ?? '') : '';
  const reads = readsOf(step, round);
  return (
    <>
      <div class="panel-head">
        <Icon name={stage.icon} tone={stage.tone} label={`${stage.text}: `} />
        <h4 class="worker"><bdi>{worker}</bdi></h4>
        <span class="quiet">{[l10n.t('step {0}', step.index + 1), ...(reads === undefined ? [] : [reads])].join(' · ')}</span>
        {simulated && <SimulatedTag />}
        <StepFigures step={step} phase={phase} name="figures" />
        <ToolButton icon="close" label={l10n.t('Close the details')} onClick={onClose} />
      </div>
      <p class="subtask" dir="auto"><InlineCode text={step.subtask} /></p>
      <HandedOn step={step} phase={phase} />
      <StepNote step={step} phase={phase} />
      <StepSteering step={step} round={round} phase={phase} />
      <Unread step={step} phase={phase} />
      <TrialNote step={step} />
      <div class="panel-body">
        <StepFacts step={step} round={round} />
        <div class="panel-texts">
          <StepTurns step={step} id={id} />
          <StepPrompt step={step} round={round} id={id} />
          {(live !== '' || step.output !== undefined) && <h5 class="label">{l10n.t('Output')}</h5>}
          {live !== '' && (
            <div class="excerpt live live-output" dir="auto"><div>{tail(live, LIVE_TAIL)}<span class="cursor" /></div></div>
          )}
          {!isLive && step.output !== undefined && <Markdown text={step.output} first={SHOWN_FIRST} />}
        </div>
      </div>
    </>
  );
});
