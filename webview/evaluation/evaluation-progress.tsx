import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { EvaluationCommand } from '../../backend/protocol/evaluation-page.ts';
import type { EvaluationView } from '../../backend/protocol/evaluations.ts';
import { formatMoney } from '../../backend/protocol/figures.ts';
import { Button } from '../controls.tsx';
import { formatCount } from '../language.ts';
import { Notice } from '../notice.tsx';

/** What it does, how far it is and what was spent, with what a person can do about it. */
export function EvaluationProgress({ evaluation, post }: { readonly evaluation: EvaluationView; readonly post: (command: EvaluationCommand) => void }): JSX.Element {
  const { state, done, all, spent, budget, isPractice } = evaluation;
  const isUnderWay = state === 'preparing' || state === 'running' || state === 'waiting' || state === 'elsewhere';
  return (
    <section aria-label={l10n.t('Progress')} class="evaluation-progress">
      {isUnderWay && (all > 0
        ? <progress aria-label={isPractice ? l10n.t('Progress of the practice') : l10n.t('Progress of the evaluation')} value={done} max={all} />
        : <progress aria-label={l10n.t('Progress of the evaluation')} />)}
      <p class="row">
        <strong>{wordsOf(evaluation)}</strong>
        {all > 0 && <span>{l10n.t('{0} of {1} answers', formatCount(done), formatCount(all))}</span>}
        {spent && <span class="quiet">{l10n.t('{0} paid in all', formatMoney(spent, budget.usd))}</span>}
      </p>
      {evaluation.message !== undefined && <p dir="auto">{evaluation.message}</p>}
      {spent !== undefined && spent.lost > 0 && (
        <Notice icon="info" tone="quiet">{l10n.t('{0} calls ended with a killed process: they may be billed, count with the most that they can cost, and are asked again.', spent.lost)}</Notice>
      )}
      <div class="actions"><Actions evaluation={evaluation} post={post} /></div>
    </section>
  );
}

function Actions({ evaluation: { state, page }, post }: { readonly evaluation: EvaluationView; readonly post: (command: EvaluationCommand) => void }): JSX.Element {
  const remove = <Button onClick={() => post({ type: 'remove' })}>{l10n.t('Remove…')}</Button>;
  switch (state) {
    case 'preparing': case 'running': case 'waiting':
      return <Button icon="debug-stop" onClick={() => post({ type: 'stop' })}>{l10n.t('Stop')}</Button>;
    case 'elsewhere':
      return <Button icon="refresh" onClick={() => post({ type: 'refresh' })}>{l10n.t('Refresh')}</Button>;
    case 'budget':
      return <><Button appearance="primary" onClick={() => post({ type: 'resume' })}>{l10n.t('Raise Budget and Go On…')}</Button>{remove}</>;
    case 'stopped': case 'failed':
      return <><Button appearance="primary" onClick={() => post({ type: 'resume' })}>{l10n.t('Go On…')}</Button>{remove}</>;
    case 'over':
      return <>{page !== undefined && <Button onClick={() => post({ type: 'openResults' })}>{l10n.t('Show Files of Results')}</Button>}{remove}</>;
  }
}

function wordsOf({ state, isPractice }: EvaluationView): string {
  switch (state) {
    case 'preparing': return l10n.t('Reading or making the tasks…');
    case 'running': return isPractice ? l10n.t('Trying the workers on practice tasks…') : l10n.t('Evaluating…');
    case 'waiting': return l10n.t('Waiting');
    case 'elsewhere': return l10n.t('Another process is at work on it, such as a terminal.');
    case 'stopped': return l10n.t('Stopped. What was paid for is kept.');
    case 'budget': return l10n.t('Stopped: the budget does not allow the next call.');
    case 'failed': return l10n.t('Failed. What was paid for is kept.');
    case 'over': return l10n.t('Done');
  }
}
