import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { StepView } from '../../backend/protocol/run-snapshot.ts';
import { formatDuration, formatStepSpent } from '../../backend/protocol/figures.ts';
import { useContext } from 'preact/hooks';
import { Countdown, Elapsed } from '../clock.tsx';
import { Icon } from '../controls.tsx';
import { fillSentence } from '../fill-sentence.ts';
import { list } from '../language.ts';
import { visibleText } from '../markdown/visible-text.ts';
import { workerName, type StepPhase } from '../run-stage.ts';
import { RunContext } from './step-details.tsx';

/*
 * Facts that every view of a step shows.
 */

/** `reads round 1, 1 and 2`; undefined for a step that reads nothing. `round` counts from 0. */
export function readsOf({ reads, readsPreviousRound }: Pick<StepView, 'reads' | 'readsPreviousRound'>, round: number): string | undefined {
  const steps = reads.map((position) => position + 1);
  if (readsPreviousRound && round > 0) {
    return l10n.t('reads {0}', list([l10n.t('round {0}', round), ...steps.map((step) => l10n.t('step {0}', step))]));
  }
  return steps.length > 0 ? l10n.t('reads {0}', list(steps)) : undefined;
}

/** Tokens, money and time, in one line. */
export function StepFigures({ step, phase, name }: {
  readonly step: StepView;
  readonly phase: StepPhase;
  /** CSS class of the line. */
  readonly name: string;
}): JSX.Element | null {
  // A kept step cost this run neither money nor time.
  if (step.keptFrom !== undefined) return <span class={name}>{l10n.t('kept')}</span>;
  const spent = formatStepSpent(step.spent);
  if (phase === 'running' && step.attempt) {
    return <span class={name}>{spent.map((figure) => `${figure} · `)}<Elapsed since={(step.turnedAt ?? step.attempt.startedAt) - (step.durationMs ?? 0)} /></span>;
  }
  const took = step.durationMs === undefined ? [] : [formatDuration(step.durationMs)];
  const figures = [...spent, ...took];
  return figures.length > 0 ? <span class={name}>{figures.join(' · ')}</span> : null;
}

/** Why those failed who were to do the step, one a line, with their names; the last line says who does it now. */
export function HandedOn({ step, phase }: { readonly step: StepView; readonly phase: StepPhase }): JSX.Element | null {
  const run = useContext(RunContext);
  const { handedOn = [] } = step;
  if (!run || handedOn.length === 0) return null;
  const now = <bdi>{workerName(run, step.worker)}</bdi>;
  return (
    <ul class="note handed-on">
      {handedOn.map(({ failure }, index) => (
        <li key={index} class="tone-caution" dir="auto"><Icon name="warning" /> {failure.message}</li>
      ))}
      {(phase === 'completed' || phase === 'stopped') && <li class="quiet">{fillSentence(l10n.t('Done by {0} instead.'), now)}</li>}
      {(phase === 'pending' || phase === 'running' || phase === 'stopping' || phase === 'retrying') && <li class="quiet">{fillSentence(l10n.t('Given to {0} instead.'), now)}</li>}
    </ul>
  );
}

/** That another worker was to do it, as an icon; its name is told by those who do not see it, too. */
export function StandsIn({ step }: { readonly step: StepView }): JSX.Element | null {
  const run = useContext(RunContext);
  const [planned] = step.handedOn ?? [];
  if (!run || !planned) return null;
  const words = l10n.t('instead of {0}', workerName(run, planned.worker));
  return <span class="stands-in" title={words}><Icon name="arrow-swap" tone="caution" label={words} /></span>;
}

/** What the tests say of its change, for the steps that read it. */
export function TrialNote({ step: { trial } }: { readonly step: StepView }): JSX.Element | null {
  if (!trial) return null;
  const { startedAt, result } = trial;
  if (!result) return <p class="note quiet"><Icon name="loading" tone="busy" /> {l10n.t('The tests run with its change.')} <Elapsed since={startedAt} /></p>;
  const { passed, failed, problem } = result;
  if (problem !== undefined) return <p class="note quiet" dir="auto">{fillSentence(l10n.t('The tests were not run with its change: {0}'), visibleText(problem))}</p>;
  const [icon, tone] = failed > 0 ? ['error', 'bad'] as const : ['pass', 'good'] as const;
  return <p class="note quiet"><Icon name={icon} tone={tone} /> {l10n.t('Tests with its change: {0} passed, {1} failed', passed, failed)}</p>;
}

/** A note that adds to the state. */
export function StepNote({ step, phase }: { readonly step: StepView; readonly phase: StepPhase }): JSX.Element | null {
  const { attempt, failure } = step;
  if (phase === 'pending' && step.reads.length > 0) return <p class="note quiet">{startsWhen(step.reads)}</p>;
  if (phase === 'not-run') return <p class="note quiet">{l10n.t('Not run.')}</p>;
  if (phase === 'running' && attempt && attempt.number > 1) return <p class="note quiet">{l10n.t('Attempt {0}', attempt.number)}</p>;
  if (phase === 'retrying' && attempt?.failure) {
    const message = <span dir="auto">{attempt.failure.message}</span>;
    return (
      <p class="note tone-caution">
        {attempt.retryAt === undefined
          ? fillSentence(l10n.t('Attempt {0} follows: {1}'), attempt.number + 1, message)
          : fillSentence(l10n.t('Attempt {0} {1}: {2}'), attempt.number + 1, <Countdown at={attempt.retryAt} />, message)}
      </p>
    );
  }
  if (phase === 'failed' && failure) return <p class="note tone-bad" dir="auto">{failure.message}</p>;
  if (phase === 'skipped') return <p class="note quiet" dir="auto">{fillSentence(l10n.t('Skipped: {0}'), step.skippedBecause)}</p>;
  if (phase === 'stopping') return <p class="note quiet">{l10n.t('Stopping…')}</p>;
  if (phase === 'stopped') return <p class="note tone-caution">{l10n.t('You stopped it. It handed on what it had.')}</p>;
  if (step.finishReason === 'length') return <p class="note tone-caution">{l10n.t('Cut off at the worker’s output limit.')}</p>;
  if (step.finishReason === 'content-filter') return <p class="note tone-caution">{l10n.t('Stopped by the provider’s content filter.')}</p>;
  if (step.returned) return <p class="note quiet" dir="auto">{fillSentence(l10n.t('Given back once: {0}'), step.returned.text)}</p>;
  return null;
}

function startsWhen(positions: readonly number[]): string {
  const numbers = list(positions.map((position) => position + 1));
  return positions.length === 1 ? l10n.t('Starts when step {0} is done.', numbers) : l10n.t('Starts when steps {0} are done.', numbers);
}
