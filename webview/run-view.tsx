import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ApplyOutcome, PanelModel } from '../backend/protocol/panel-messages.ts';
import { answerOf, isOver, type RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { isVerified } from '../backend/protocol/verdict-facts.ts';
import { AnswerView } from './answer-view.tsx';
import { Elapsed } from './clock.tsx';
import { ContextView } from './context-view.tsx';
import { Button, Icon } from './controls.tsx';
import { formatDuration, formatMoney } from '../backend/protocol/figures.ts';
import { useHost } from './host.ts';
import { InlineCode } from './markdown/markdown.tsx';
import { Notice } from './notice.tsx';
import { ModelLines } from './model-lines.tsx';
import { RoundsView } from './rounds-view.tsx';
import { passesOf, stageOf } from './run-stage.ts';

/** A run from its question to its answer. */
export function RunView({ run, models, applied }: {
  readonly run: RunSnapshot;
  readonly models: readonly PanelModel[];
  readonly applied: ApplyOutcome | undefined;
}): JSX.Element {
  const host = useHost();
  const goesOn = !isOver(run.state);

  // The question was taken: it need not wait in the text box any longer. The next one from outside is new, whatever it says.
  useEffect(() => {
    host.remember({ takenDraft: '', ...(host.view.draft.trim() === run.request.question && { draft: '' }) });
  }, [host, run.runId, run.request.question]);

  return (
    <>
      <section aria-label="Question">
        <h2 class="question" dir="auto"><InlineCode text={run.request.question} /></h2>
        {run.context
          ? <ContextView context={run.context} id={run.runId} />
          : goesOn && <p class="quiet"><Icon name="loading" tone="busy" /> Gathering context…</p>}
      </section>
      <StatusLine run={run} />
      <ModelLines models={models} />
      <RunNotice run={run} />
      <RoundsView run={run} />
      <AnswerView run={run} applied={applied} />
    </>
  );
}

/** Where the run stands, what it has cost, and the way to end it. Stays in sight while the rest scrolls. */
function StatusLine({ run }: { readonly run: RunSnapshot }): JSX.Element {
  const host = useHost();
  const stage = stageOf(run);
  const goesOn = !isOver(run.state);
  const verdict = run.state === 'completed' ? answerOf(run)?.round.verdict : undefined;
  const passes = verdict && isVerified(verdict) ? passesOf(verdict) : undefined;
  return (
    <div class="status" data-tone={stage.tone}>
      <Icon name={stage.icon} tone={stage.tone} />
      <strong class="status-text">{stage.text}{passes && ` ${passes}`}</strong>
      <span class="figures">
        <span title="Spent on this run, of what it may cost at most">{formatMoney(run.spent, run.budget.runUsd)}</span> ·{' '}
        {goesOn ? <Elapsed since={run.acceptedAt} /> : formatDuration(run.updatedAt - run.acceptedAt)}
      </span>
      {goesOn && <Button onClick={() => host.post({ type: 'cancel', runId: run.runId })} label="Cancel this run">Cancel</Button>}
    </div>
  );
}

/** Why the run does not go on, and what to do. */
function RunNotice({ run }: { readonly run: RunSnapshot }): JSX.Element | null {
  const host = useHost();
  const resume = (words: string): JSX.Element => (
    <Button appearance="primary" onClick={() => host.post({ type: 'resume', runId: run.runId })}>{words}</Button>
  );
  switch (run.state) {
    case 'running':
      return null;
    case 'waiting':
      return <Notice icon="watch" tone="caution">{run.message}</Notice>;
    case 'stopped':
      return <Notice icon="debug-pause" tone="caution" actions={resume('Resume')}>{run.message}</Notice>;
    case 'cancelled':
      return (
        <Notice icon="circle-slash" tone="quiet" actions={resume('Resume')}>
          Cancelled. Finished steps are kept and not paid for again.
        </Notice>
      );
    case 'failed':
      return (
        <Notice
          icon="error" tone="bad"
          actions={<>{resume('Retry')}{run.failure?.kind === 'test-command' && <ChooseTests />}<Button onClick={() => host.post({ type: 'showLogs' })}>Show logs</Button></>}
        >
          {run.message}
        </Notice>
      );
    case 'completed':
      return <Ending run={run} />;
  }
}

/** How a run ended that has an answer. A verdict explains itself. */
function Ending({ run }: { readonly run: RunSnapshot }): JSX.Element | null {
  const { round } = answerOf(run) ?? {};
  if (round?.verdict || !run.message) return null;
  const hadNoTests = run.outcome === 'unchecked' && (round?.answer?.edits.length ?? 0) > 0;
  const { icon, tone } = stageOf(run);
  return <Notice icon={icon} tone={tone} actions={hadNoTests && <ChooseTests />}>{run.message}</Notice>;
}

function ChooseTests(): JSX.Element {
  const host = useHost();
  return <Button onClick={() => host.post({ type: 'chooseTests' })}>Choose a test command</Button>;
}
