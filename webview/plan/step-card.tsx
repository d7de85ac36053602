import * as l10n from '@vscode/l10n';
import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import type { StepView } from '../../backend/protocol/run-snapshot.ts';
import { Icon, Tag, ToolButton } from '../controls.tsx';
import { useExpanded } from '../host.ts';
import { Capped } from '../markdown/capped.tsx';
import { InlineCode, Markdown } from '../markdown/markdown.tsx';
import { excerptOf } from '../markdown/render-markdown.ts';
import { tail } from '../markdown/visible-text.ts';
import { phaseOf, phaseStage } from '../run-stage.ts';
import { StepFacts, StepPrompt } from './step-details.tsx';
import { StepSteering, Unread } from './step-steering.tsx';
import { StepTurns } from './step-turns.tsx';
import { HandedOn, readsOf, StepFigures, StepNote, TrialNote } from './step-facts.tsx';

interface StepCardProps {
  readonly step: StepView;
  readonly worker: string;
  readonly simulated: boolean;
  readonly runGoesOn: boolean;
  /** Position of the step's round in the run. */
  readonly round: number;
  /** Prefix of the keys that store which parts of the card are open. */
  readonly id: string;
}

/** Streamed characters to keep in the closed card: more than its few lines can show. */
const LIVE_TAIL = 600;

/** A step in the list: worker, state, cost, subtask and output; when opened, all details. */
export const StepCard = memo(function StepCard({ step, worker, simulated, runGoesOn, round, id }: StepCardProps): JSX.Element {
  const [open, setOpen] = useExpanded(`${id}/step-${step.index}`);
  const phase = phaseOf(step, runGoesOn);
  const stage = phaseStage(phase);
  const number = step.index + 1;
  const streamed = phase === 'running' ? (step.attempt?.text ?? '') : '';
  const hasText = streamed !== '' || step.output !== undefined;
  const reads = readsOf(step, round);
  return (
    <>
      <div class="step-head">
        <span class="step-icon"><Icon name={stage.icon} tone={stage.tone} label={`${stage.text}: `} /></span>
        <div class="step-who">
          <h4 class="worker"><bdi>{worker}</bdi></h4>
          <span class="quiet">{[l10n.t('step {0}', number), ...(reads === undefined ? [] : [reads])].join(' · ')}</span>
          {simulated && <SimulatedTag />}
        </div>
        <ToolButton
          icon={open ? 'chevron-down' : 'chevron-right'} expanded={open}
          label={open ? l10n.t('Hide the details of step {0}', number) : l10n.t('Show the details of step {0}', number)}
          onClick={() => setOpen(!open)}
        />
      </div>
      <p class="subtask" dir="auto"><InlineCode text={step.subtask} /></p>
      <HandedOn step={step} phase={phase} />
      <StepNote step={step} phase={phase} />
      <StepSteering step={step} round={round} phase={phase} />
      <Unread step={step} phase={phase} />
      <TrialNote step={step} />
      {hasText && !open && (
        // The button above does the same from the keyboard.
        <div class={streamed ? 'excerpt live' : 'excerpt'} dir="auto" onClick={() => setOpen(true)}>
          {streamed
            ? <div>{tail(streamed, LIVE_TAIL).replace(/\n\s*\n/g, '\n')}<span class="cursor" /></div>
            : <div>{excerptOf(step.output ?? '')}</div>}
        </div>
      )}
      {open && <><StepFacts step={step} round={round} /><StepTurns step={step} id={id} /><StepPrompt step={step} round={round} id={id} /></>}
      {open && streamed && <div class="streaming" dir="auto"><Capped text={streamed} /><span class="cursor" /></div>}
      {open && step.output !== undefined && <div class="output"><Markdown text={step.output} /></div>}
      <StepFigures step={step} phase={phase} name="step-figures" />
    </>
  );
});

export function SimulatedTag(): JSX.Element {
  return <Tag title={l10n.t('Answers from a simulator, not from a real model')}>{l10n.t('simulated')}</Tag>;
}
