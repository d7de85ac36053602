import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { isDemonstration } from '../backend/protocol/demonstration-runs.ts';
import type { PanelState, ViewOf } from '../backend/protocol/panel-messages.ts';
import { answerOf, elapsedOf, heldRound, undecidedRound } from '../backend/protocol/run-facts.ts';
import { isOver, type RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { servedIn } from '../backend/protocol/served.ts';
import { isVerified } from '../backend/protocol/verdict-facts.ts';
import type { BudgetLimit } from '../backend/protocol/worker-config.ts';
import { announcementOf } from './announcement.ts';
import { AnswerView } from './answer-view.tsx';
import { Elapsed } from './clock.tsx';
import { BaseView } from './base-view.tsx';
import { ContextView } from './context-view.tsx';
import { Button, Icon } from './controls.tsx';
import { BuildsOn, EarlierView } from './earlier-view.tsx';
import { FailedBeforeQuestion, LeftOutBefore } from './failed-before.tsx';
import { fillSentence } from './fill-sentence.ts';
import { FollowUp } from './follow-up.tsx';
import { formatDuration, formatMoney } from '../backend/protocol/figures.ts';
import { totalTokens } from '../backend/protocol/token-counts.ts';
import { useHost } from './host.ts';
import { formatCount } from './language.ts';
import { InlineCode } from './markdown/markdown.tsx';
import { Notice } from './notice.tsx';
import { ModelLines } from './model-lines.tsx';
import { PicturesOf } from './pictures.tsx';
import { RoundsView } from './rounds-view.tsx';
import { passesOf, stageOf } from './run-stage.ts';
import { simulatedSentence } from './simulated-workers.ts';
import type { ViewDefinition } from './view-definition.ts';

export const RUN_VIEW: ViewDefinition<'run'> = {
  subject: ({ run }) => run.runId,
  header: ({ run: { policy, pool } }) => ({
    conductor: policy.worker?.id ?? policy.model,
    model: servedIn(policy) ?? policy.model,
    simulated: simulatedSentence([...(policy.worker ? [policy.worker] : []), ...pool]),
    hasGraph: true,
  }),
  news: (before, after) => announcementOf(before.run, after.run),
  Content: RunView,
};

/** A run from its question to its answer. */
function RunView({ view, state }: { readonly view: ViewOf<'run'>; readonly state: PanelState }): JSX.Element {
  const host = useHost();
  const { run, applied, undoable, elsewhere = false } = view;
  const { models, trusted, pool, backend } = state;
  const goesOn = !isOver(run.state);
  const hasWorkers = (pool?.workers.length ?? 0) > 0;
  // A demonstration ends with its answer, and a question about another folder belongs into that folder's window.
  const mayContinue = !elsewhere && hasWorkers && run.request.question !== '' && againOf(run, pool) === 'ask';
  const ready = trusted && backend.state === 'connected' && pool?.conductor !== undefined;

  // The question was sent, so the text box can be cleared. The next question from outside counts as new, even if it is the same.
  useEffect(() => {
    const { question, continues = '' } = run.request;
    const wasNew = host.view.draft.trim() === question;
    const wasFollowUp = continues !== '' && host.view.followUp.runId === continues;
    host.remember({ takenDraft: '', ...(wasNew && { draft: '' }), ...(wasFollowUp && { followUp: { runId: '', question: '' } }) });
    if (wasNew) host.attach('', []);
    if (wasFollowUp) host.attach(continues, []);
  }, [host, run.runId, run.request.question, run.request.continues]);
  useTopAtEnd(goesOn);

  return (
    <>
      <EarlierView run={run} />
      <section aria-label={l10n.t('Question')}>
        <h2 class="question" dir="auto"><InlineCode text={run.request.question} /></h2>
        <PicturesOf run={run} />
        {run.context
          ? <ContextView context={run.context} id={run.runId} />
          : goesOn && <p class="quiet"><Icon name="loading" tone="busy" /> {l10n.t('Gathering context…')}</p>}
        <LeftOutBefore run={run} />
        {run.base && <BaseView base={run.base} id={run.runId} />}
        <Origin run={run} />
        <BuildsOn run={run} />
      </section>
      <StatusLine run={run} />
      <ModelLines models={models} conductor={run.policy.worker?.id ?? run.policy.model} />
      <RunNotice run={run} />
      {/* Until the run is over there is no answer, and its plan stands here. */}
      <AnswerView
        run={run} applied={applied} undoable={undoable} elsewhere={elsewhere} trusted={trusted} again={againOf(run, pool)}
      />
      {!goesOn && mayContinue && <FollowUp run={run} ready={ready} pool={pool} />}
      <RoundsView run={run} />
      {!goesOn && (
        <section class="after-run" aria-label={l10n.t('This run')}>
          <div class="actions">
            {run.request.question !== '' && hasWorkers && <AskOthers run={run} />}
            <Button onClick={() => host.post({ type: 'exportRun', runId: run.runId })} label={l10n.t('Export this run')}>{l10n.t('Export…')}</Button>
          </div>
        </section>
      )}
    </>
  );
}

/** The answer stands above the plan that was watched until then. */
function useTopAtEnd(goesOn: boolean): void {
  const wentOn = useRef(goesOn);
  useEffect(() => {
    if (wentOn.current && !goesOn) window.scrollTo(0, 0);
    wentOn.current = goesOn;
  }, [goesOn]);
}

/** A demonstration can be repeated while there is no enabled worker. Any other question goes back into the text box. */
function againOf(run: RunSnapshot, pool: PanelState['pool']): 'ask' | 'demonstrate' | undefined {
  if (!isDemonstration({ workspace: run.request.workspace, simulated: run.pool.some((worker) => worker.simulated) })) return 'ask';
  return pool?.workers.some((worker) => worker.enabled) ? undefined : 'demonstrate';
}

/** The run that this one was derived from. */
function Origin({ run: { parentId, retried, kind } }: { readonly run: RunSnapshot }): JSX.Element | null {
  const host = useHost();
  if (parentId === undefined || kind !== 'solve') return null;
  const before = (words: string): JSX.Element => (
    <button type="button" class="link" onClick={() => host.post({ type: 'open', runId: parentId })}>{words}</button>
  );
  const said = retried
    ? fillSentence(l10n.t('Step {0} of round {1} and the steps that read it ran again. The rest is kept from {2}.'),
        retried.step + 1, retried.round + 1, before(l10n.t('an earlier run')))
    : fillSentence(l10n.t('Asks the question of {0} again, with its context.'), before(l10n.t('an earlier run')));
  return <p class="quiet">{said}</p>;
}

/** The run's state, its cost, and the button to cancel it. Stays visible while the rest scrolls. */
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
        <NearlySpent run={run} />
        <span title={l10n.t('Spent on this run / budget')}>{spentOf(run)}</span> ·{' '}
        {goesOn ? <Elapsed since={run.acceptedAt + (run.pausedMs ?? 0)} /> : formatDuration(elapsedOf(run, run.updatedAt))}
      </span>
      {goesOn && <Button onClick={() => host.post({ type: 'cancel', runId: run.runId })} label={l10n.t('Cancel this run')}>{l10n.t('Cancel')}</Button>}
    </div>
  );
}

/** The amount spent and its limit: tokens if the token limit stopped the run, otherwise dollars. */
function spentOf({ spent, budget, stoppedBy }: RunSnapshot): string {
  if (stoppedBy !== 'runTokens') return formatMoney(spent, budget.runUsd);
  return l10n.t('{0} of {1} tokens', formatCount(totalTokens(spent.usage)), formatCount(budget.runTokens));
}

/** The limit with the largest used share, among the run's warnings. */
function NearlySpent({ run }: { readonly run: RunSnapshot }): JSX.Element | null {
  const shares = (run.warnings ?? []).map(({ limit, spent, of }) => ({ limit, share: limit.startsWith('day') ? spent / of : shareOf(run, limit, of) }));
  const [nearest] = shares.sort((a, b) => b.share - a.share);
  if (!nearest) return null;
  const percent = Math.floor(nearest.share * 100);
  return <><span title={l10n.t('A run stops at its limit and can be resumed.')}><Icon name="warning" tone="caution" /> {wordsOf(nearest.limit, percent)}</span> ·{' '}</>;
}

/** The run's own spending continues after the warning, so its share is computed anew. */
function shareOf({ spent }: RunSnapshot, limit: BudgetLimit, of: number): number {
  return (limit === 'runUsd' ? spent.usd : totalTokens(spent.usage)) / of;
}

function wordsOf(limit: BudgetLimit, percent: number): string {
  switch (limit) {
    case 'runUsd': return l10n.t('{0} % of its budget', percent);
    case 'runTokens': return l10n.t('{0} % of its tokens', percent);
    case 'dayUsd': return l10n.t('{0} % of the day\'s budget', percent);
    case 'dayTokens': return l10n.t('{0} % of the day\'s tokens', percent);
  }
}

/** Why the run does not continue, and the possible actions. */
function RunNotice({ run }: { readonly run: RunSnapshot }): JSX.Element | null {
  const host = useHost();
  const resume = (words: string): JSX.Element => (
    <Button appearance="primary" onClick={() => host.post({ type: 'resume', runId: run.runId })}>{words}</Button>
  );
  // A run without workers cannot be resumed; its question can be asked again.
  const canResume = run.pool.length > 0;
  switch (run.state) {
    case 'running':
      return null;
    case 'waiting':
      // The plan that waits stands below, with what it is expected to cost.
      if (heldRound(run)) return null;
      if (undecidedRound(run)) return <FailedBeforeQuestion run={run} />;
      return <Notice icon="watch" tone="caution">{run.message}</Notice>;
    case 'stopped':
      return <Notice icon="debug-pause" tone="caution" actions={resume(run.stoppedBy ? l10n.t('Resume…') : l10n.t('Resume'))}>{run.message}</Notice>;
    case 'cancelled':
      return (
        <Notice icon="circle-slash" tone="quiet" actions={canResume ? resume(l10n.t('Resume')) : undefined}>
          {l10n.t('Cancelled. Finished steps are kept and not paid for again.')}
        </Notice>
      );
    case 'failed':
      return (
        <Notice
          icon="error" tone="bad"
          actions={(
            <>
              {canResume && resume(l10n.t('Retry'))}
              {run.failure?.kind === 'test-command' && <ChooseTests />}
              <Button onClick={() => host.post({ type: 'showLogs' })}>{l10n.t('Show logs')}</Button>
            </>
          )}
        >
          {run.message}
        </Notice>
      );
    case 'completed':
      return <Ending run={run} />;
  }
}

/** The message of a completed run. A verdict needs none, and neither does an answer to a question that asks for no change. */
function Ending({ run }: { readonly run: RunSnapshot }): JSX.Element | null {
  const { round } = answerOf(run) ?? {};
  if (round?.verdict || run.outcome === 'answered' || !run.message) return null;
  const hadNoTests = run.outcome === 'unchecked' && (round?.answer?.edits.length ?? 0) > 0;
  const { icon, tone } = stageOf(run);
  return <Notice icon={icon} tone={tone} actions={hadNoTests && <ChooseTests />}>{run.message}</Notice>;
}

function ChooseTests(): JSX.Element {
  const host = useHost();
  return <Button onClick={() => host.post({ type: 'chooseTests' })}>{l10n.t('Choose a test command')}</Button>;
}

/** The same question and context with other workers. */
function AskOthers({ run }: { readonly run: RunSnapshot }): JSX.Element {
  const host = useHost();
  return <Button onClick={() => host.post({ type: 'again', runId: run.runId })}>{l10n.t('Run with other workers…')}</Button>;
}
