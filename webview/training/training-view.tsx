import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { unpricedTokensFor } from '../../backend/protocol/budget-limits.ts';
import { formatMoney, formatTokens, formatWhen } from '../../backend/protocol/figures.ts';
import { canGoOnComparing, isTrainingOver } from '../../backend/protocol/training-facts.ts';
import type { Training } from '../../backend/protocol/training.ts';
import type { TrainingAction, ViewOf } from '../../backend/protocol/panel-messages.ts';
import { useNow } from '../clock.tsx';
import { Button, Icon } from '../controls.tsx';
import { useHost } from '../host.ts';
import { language } from '../language.ts';
import { Notice } from '../notice.tsx';
import type { ViewDefinition } from '../view-definition.ts';
import { ComparisonView } from './comparison-view.tsx';
import { CurvesView } from './curves-view.tsx';
import { LoggedView } from './logged-view.tsx';
import { MembersView } from './members-view.tsx';
import { PlanCurvesView } from './plan-curves-view.tsx';
import { RolloutsView } from './rollouts-view.tsx';
import { TasksView } from './tasks-view.tsx';
import { countsOf, fractionOf, timeLeft, trainingNews, trainingStage } from './training-stage.ts';

export const TRAINING_VIEW: ViewDefinition<'training'> = {
  subject: ({ training }) => training.trainingId,
  header: ({ training: { conductor, model, simulated } }) => ({
    conductor, model,
    ...(simulated && {
      simulated: l10n.t('Simulated: the workers of this training are a simulator, so its scores say nothing about real models.'),
    }),
  }),
  news: (before, after) => trainingNews(before.training, after.training),
  Content: TrainingView,
};

/** A training: tasks, curves, plans, and the final comparison. */
function TrainingView({ view: { training, tasks, rollout } }: { readonly view: ViewOf<'training'> }): JSX.Element {
  const { trainingId, comparison, logged, metrics, simulated, members = [] } = training;
  return (
    <>
      <Title training={training} />
      <StatusLine training={training} />
      <Progress training={training} />
      <Ending training={training} />
      {comparison && <ComparisonView comparison={comparison} simulated={simulated} />}
      {logged && <LoggedView logged={logged} />}
      <Actions training={training} />
      {members.length > 0 && <MembersView members={members} />}
      {!training.learnsFrom && <TasksView training={training} notes={tasks} />}
      <CurvesView trainingId={trainingId} metrics={metrics} />
      <PlanCurvesView metrics={metrics} />
      <RolloutsView training={training} whole={rollout} isUnderWay={isUnderWay(training)} />
    </>
  );
}

function Title({ training }: { readonly training: Training }): JSX.Element {
  const { model, tasks, startedAt, learnsFrom } = training;
  const now = useNow(false);
  const taught = learnsFrom ? countOfPlans(tasks.train) : countOfTasks(tasks.train);
  const facts = [
    ...(tasks.train + tasks.heldOut > 0 ? [l10n.t('{0} to learn from', taught), l10n.t('{0} held out', tasks.heldOut)] : []),
    l10n.t('begun {0}', formatWhen(startedAt, now, language())),
  ];
  return (
    <section aria-label={l10n.t('Training')}>
      <h2 class="question" dir="auto">{titleOf(training)}</h2>
      <p class="quiet">
        <span dir="auto">{lastPart(model)}</span>, {facts.join(', ')}
      </p>
    </section>
  );
}

function titleOf({ workspace, learnsFrom }: Training): string {
  if (!learnsFrom) return l10n.t('Fine-tuning on {0}', lastPart(workspace));
  return workspace === '' ? l10n.t('Learning from earlier plans') : l10n.t('Learning from earlier plans in {0}', lastPart(workspace));
}

function countOfPlans(count: number): string {
  return count === 1 ? l10n.t('1 verified plan') : l10n.t('{0} verified plans', count);
}

function countOfTasks(count: number): string {
  return count === 1 ? l10n.t('1 task') : l10n.t('{0} tasks', count);
}

/** The last part of a path: the name of a folder, or of a model in a folder. */
function lastPart(folder: string): string {
  return folder.split(/[\\/]/).filter(Boolean).at(-1) ?? folder;
}

function StatusLine({ training }: { readonly training: Training }): JSX.Element {
  const stage = trainingStage({ ...training, steps: training.config.steps });
  return (
    <div class="status" data-tone={stage.tone}>
      <Icon name={stage.icon} tone={stage.tone} />
      <strong class="status-text">{stage.text}</strong>
      <span class="figures">{training.learnsFrom ? l10n.t('Nobody is paid') : <Spent training={training} />}</span>
    </div>
  );
}

function Spent({ training: { spentUsd, spentTokens, unpricedTokens, config: { budget } } }: { readonly training: Training }): JSX.Element {
  return (
    <>
      <span title={l10n.t('Spent / training budget')}>
        {formatMoney({ usd: spentUsd, unpricedTokens: 0 }, budget.usd)}
      </span> ·{' '}
      {unpricedTokens > 0 && (
        <>
          <span title={l10n.t('Tokens of unpriced workers / limit')}>
            {l10n.t('{0} of {1} tok unpriced', formatTokens(unpricedTokens), formatTokens(unpricedTokensFor(budget.usd)))}
          </span> ·{' '}
        </>
      )}
      <span title={l10n.t('Tokens used / limit')}>
        {l10n.t('{0} of {1} tok', formatTokens(spentTokens), formatTokens(budget.tokens))}
      </span>
    </>
  );
}

function Progress({ training }: { readonly training: Training }): JSX.Element | null {
  const { state, message } = training;
  if (isTrainingOver(state)) return null;
  // The status line says "Training." already.
  const news = state === 'training' ? message.replace(/^Training\.\s*/, '') : '';
  const fraction = fractionOf(training);
  const facts = [countsOf(training), timeLeft(training)].filter(Boolean).join(', ');
  return (
    <div class="training-progress">
      {fraction !== undefined && <progress aria-label={l10n.t('Progress of the training')} value={Math.round(fraction * 1_000)} max={1_000} />}
      {state === 'waiting'
        ? <Notice icon="watch" tone="caution">{message}</Notice>
        : (state === 'preparing' || news) && <p dir="auto">{news || message}</p>}
      {facts && <p class="quiet">{facts}</p>}
    </div>
  );
}

/** Why the training does not continue, or how it ended. */
function Ending({ training }: { readonly training: Training }): JSX.Element | null {
  const { state, message, adopted, conductor } = training;
  switch (state) {
    case 'preparing':
    case 'training':
    case 'waiting':
    case 'evaluating':
      return null;
    case 'paused':
      // The state label already says this.
      return message === 'Paused.' ? null : <Notice icon="debug-pause" tone="caution">{message}</Notice>;
    case 'failed':
      return <Notice icon="error" tone="bad">{message}</Notice>;
    case 'cancelled':
      return <Notice icon="circle-slash" tone="quiet">{l10n.t('Cancelled permanently. The result is not offered.')}</Notice>;
    case 'completed':
      return adopted
        ? <Notice icon="pass-filled" tone="good">{l10n.t('{0} plans with what was trained.', conductor)}</Notice>
        : <Notice icon="mortar-board" tone={training.learned === false ? 'caution' : 'quiet'}>{message}</Notice>;
  }
}

const isUnderWay = ({ state }: Training): boolean => !isTrainingOver(state) && state !== 'paused';

/** Whether a result can be compared before the last step. */
function canEndEarly({ state, step, config, tasks, finishing, learnsFrom }: Training): boolean {
  const isBeforeComparison = state === 'training' || state === 'waiting' || state === 'paused' || state === 'failed';
  return learnsFrom === undefined && isBeforeComparison && !finishing && step > 0 && step < config.steps && tasks.heldOut > 0;
}

function Actions({ training }: { readonly training: Training }): JSX.Element {
  const host = useHost();
  const { trainingId, state, stopped, comparison, logged, adopted, learnsFrom } = training;
  const isOffered = comparison?.says === 'better' || logged?.says === 'better';
  const post = (action: TrainingAction) => (): void => host.post({ type: 'training', action, trainingId });
  const goesOn = state === 'paused' || state === 'failed';
  return (
    <div class="actions training-actions">
      {isUnderWay(training) && <Button onClick={post('pause')} label={l10n.t('Pause this training')}>{l10n.t('Pause')}</Button>}
      {goesOn && stopped && <Button appearance="primary" onClick={post('resume')}>{l10n.t('Resume…')}</Button>}
      {goesOn && !stopped && <Button appearance="primary" onClick={post('resume')} label={l10n.t('Resume this training')}>{l10n.t('Resume')}</Button>}
      {goesOn && !stopped && !learnsFrom && <Button onClick={post('raiseBudget')}>{l10n.t('Raise budget…')}</Button>}
      {canEndEarly(training) && <Button onClick={post('finish')}>{l10n.t('Compare now…')}</Button>}
      {(isUnderWay(training) || state === 'paused') && <Button onClick={post('cancel')} label={l10n.t('Cancel this training')}>{l10n.t('Cancel')}</Button>}
      {state === 'completed' && isOffered && !adopted && (
        <Button appearance="primary" onClick={post('adopt')} label={l10n.t('Adopt what was trained')}>{l10n.t('Adopt')}</Button>
      )}
      {canGoOnComparing(training) && <Button onClick={post('resume')} label={l10n.t('Try the held-out tasks as often again')}>{l10n.t('Try more')}</Button>}
      {adopted && <Button onClick={post('goBack')} label={l10n.t('Go back to the previous Conductor')}>{l10n.t('Go back')}</Button>}
      {isTrainingOver(state) && !learnsFrom && <Button onClick={() => host.post({ type: 'fineTune' })}>{l10n.t('Train again')}</Button>}
      {isTrainingOver(state) && !adopted && <Button onClick={post('remove')} label={l10n.t('Remove this training')}>{l10n.t('Remove…')}</Button>}
    </div>
  );
}
