import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import type { StepView } from '../../backend/protocol/run-snapshot.ts';
import { Countdown, Elapsed } from '../clock.tsx';
import { Icon, Tag, ToolButton } from '../controls.tsx';
import { formatDuration, formatStepSpent } from '../../backend/protocol/figures.ts';
import { useExpanded } from '../host.ts';
import { Capped } from '../markdown/capped.tsx';
import { InlineCode, Markdown } from '../markdown/markdown.tsx';
import { excerptOf } from '../markdown/render-markdown.ts';
import { tail } from '../markdown/visible-text.ts';
import { list, phaseOf, phaseStage, type StepPhase } from '../run-stage.ts';

interface StepCardProps {
  readonly step: StepView;
  readonly worker: string;
  readonly simulated: boolean;
  readonly runGoesOn: boolean;
  /** Position of the step's round in the run. */
  readonly round: number;
  /** Prefix of the keys under which the card remembers what was opened. */
  readonly id: string;
}

/** Streamed characters kept in the closed card: more than its few lines can show. */
const LIVE_TAIL = 600;

/** One step: who does it, how it stands, what it costs, what it was told and what it says. */
export const StepCard = memo(function StepCard({ step, worker, simulated, runGoesOn, round, id }: StepCardProps): JSX.Element {
  const [open, setOpen] = useExpanded(`${id}/step-${step.index}`);
  const phase = phaseOf(step, runGoesOn);
  const stage = phaseStage(phase);
  const number = step.index + 1;
  const streamed = phase === 'running' ? (step.attempt?.text ?? '') : '';
  const hasText = streamed !== '' || step.output !== undefined;
  return (
    <>
      <div class="step-head">
        <span class="step-icon"><Icon name={stage.icon} tone={stage.tone} label={`${stage.text}: `} /></span>
        <div class="step-who">
          <h4 class="worker"><bdi>{worker}</bdi></h4>
          <span class="quiet">step {number}{readsOf(step, round)}</span>
          {simulated && <Tag title="Answers from a simulator, not from a real model">simulated</Tag>}
        </div>
        {hasText && (
          <ToolButton
            icon={open ? 'chevron-down' : 'chevron-right'} expanded={open}
            label={`${open ? 'Hide' : 'Show'} the full output of step ${number}`} onClick={() => setOpen(!open)}
          />
        )}
      </div>
      <p class="subtask" dir="auto"><InlineCode text={step.subtask} /></p>
      <StepNote step={step} phase={phase} />
      {hasText && !open && (
        // The button above does the same from the keyboard.
        <div class={streamed ? 'excerpt live' : 'excerpt'} dir="auto" onClick={() => setOpen(true)}>
          {streamed
            ? <div>{tail(streamed, LIVE_TAIL).replace(/\n\s*\n/g, '\n')}<span class="cursor" /></div>
            : <div>{excerptOf(step.output ?? '')}</div>}
        </div>
      )}
      {open && streamed && <div class="streaming" dir="auto"><Capped text={streamed} /><span class="cursor" /></div>}
      {open && step.output !== undefined && <div class="output"><Markdown text={step.output} /></div>}
      <Figures step={step} phase={phase} />
    </>
  );
});

function readsOf({ reads, readsPreviousRound }: StepView, round: number): string {
  const steps = reads.map((position) => position + 1);
  const read = readsPreviousRound && round > 0 ? [`round ${round}`, ...steps.map((step) => `step ${step}`)] : steps;
  return read.length > 0 ? ` · reads ${list(read)}` : '';
}

function Figures({ step, phase }: { readonly step: StepView; readonly phase: StepPhase }): JSX.Element | null {
  const spent = formatStepSpent(step.spent);
  if (phase === 'running' && step.attempt) {
    return <p class="step-figures">{spent.map((figure) => `${figure} · `)}<Elapsed since={step.attempt.startedAt} /></p>;
  }
  const took = step.durationMs === undefined ? [] : [formatDuration(step.durationMs)];
  const figures = [...spent, ...took];
  return figures.length > 0 ? <p class="step-figures">{figures.join(' · ')}</p> : null;
}

/** What the state alone does not say. */
function StepNote({ step, phase }: { readonly step: StepView; readonly phase: StepPhase }): JSX.Element | null {
  const { attempt, failure } = step;
  if (phase === 'pending' && step.reads.length > 0) return <p class="note quiet">Starts when {stepsNamed(step.reads)} done.</p>;
  if (phase === 'not-run') return <p class="note quiet">Not run.</p>;
  if (phase === 'running' && attempt && attempt.number > 1) return <p class="note quiet">Attempt {attempt.number}</p>;
  if (phase === 'retrying' && attempt?.failure) {
    return (
      <p class="note tone-caution">
        Attempt {attempt.number + 1} {attempt.retryAt === undefined ? 'follows' : <Countdown at={attempt.retryAt} />}:{' '}
        <span dir="auto">{attempt.failure.message}</span>
      </p>
    );
  }
  if (phase === 'failed' && failure) return <p class="note tone-bad" dir="auto">{failure.message}</p>;
  if (phase === 'skipped') return <p class="note quiet" dir="auto">Skipped: {step.skippedBecause}</p>;
  if (step.finishReason === 'length') return <p class="note tone-caution">Cut off at the worker’s output limit.</p>;
  if (step.finishReason === 'content-filter') return <p class="note tone-caution">Stopped by the provider’s content filter.</p>;
  return null;
}

function stepsNamed(positions: readonly number[]): string {
  const numbers = list(positions.map((position) => position + 1));
  return positions.length === 1 ? `step ${numbers} is` : `steps ${numbers} are`;
}
