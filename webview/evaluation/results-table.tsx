import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { EvaluationView, ResultRow } from '../../backend/protocol/evaluations.ts';
import { formatTokens, percent } from '../../backend/protocol/figures.ts';
import { totalTokens } from '../../backend/protocol/token-counts.ts';
import { Icon } from '../controls.tsx';
import { formatCount } from '../language.ts';

/** A row for each contestant. While samples come in, the rows compare the tasks that all have answered. */
export function ResultsTable({ evaluation: { rows, compared, tasks, spent } }: { readonly evaluation: EvaluationView }): JSX.Element {
  const hasPlans = rows.some(({ formatRate }) => formatRate !== undefined);
  return (
    <>
      {compared < tasks && <p class="quiet" role="status">{l10n.t('So far it compares {0} of {1} tasks: those that all contestants have answered.', formatCount(compared), formatCount(tasks))}</p>}
      <div class="table-scroll" role="region" tabIndex={0} aria-label={l10n.t('Table of contestants')}>
        <table class="results">
          <thead>
            <tr>
              <th scope="col"><span class="visually-hidden">{l10n.t('Number')}</span></th>
              <th scope="col">{l10n.t('Contestant')}</th>
              <th scope="col">{l10n.t('Right')}</th>
              <th scope="col">{l10n.t('95 % interval')}</th>
              <th scope="col">{l10n.t('Against the best alone')}</th>
              <th scope="col">{l10n.t('p-value')}</th>
              <th scope="col">{l10n.t('$ for 1,000 tasks')}</th>
              <th scope="col">{l10n.t('Tokens a task')}</th>
              <th scope="col">{l10n.t('Seconds')}</th>
              {hasPlans && <th scope="col">{l10n.t('Valid plans')}</th>}
              <th scope="col">{l10n.t('Frontier')}</th>
            </tr>
          </thead>
          <tbody>{rows.map((row, index) => <Row key={row.name} row={row} number={index + 1} hasPlans={hasPlans} />)}</tbody>
        </table>
      </div>
      <p class="quiet">{l10n.t('Intervals by the bootstrap over tasks and seeds; p by Fisher\'s randomisation test for pairs, against the best single worker. Dollars and tokens count all calls of a contestant, as if it were alone.')}{spent !== undefined && spent.unpricedTokens > 0 ? ` ${l10n.t('The dollars do not include calls without a known price.')}` : ''}</p>
    </>
  );
}

function Row({ row, number, hasPlans }: { readonly row: ResultRow; readonly number: number; readonly hasPlans: boolean }): JSX.Element {
  const { name, right, versusBest, costUsd, usage, seconds, formatRate, isOnFrontier } = row;
  return (
    <tr class={isOnFrontier ? 'on-frontier' : undefined}>
      <td>{number}</td>
      <th scope="row"><bdi>{name}</bdi></th>
      <td>{percent(right.mean)}</td>
      <td>{l10n.t('{0} to {1}', percent(right.low), percent(right.high))}</td>
      <td>{versusBest && `${versusBest.difference.mean >= 0 ? '+' : '−'}${percent(Math.abs(versusBest.difference.mean))}`}</td>
      <td>{versusBest?.pValue.toFixed(3)}</td>
      <td>{(1_000 * costUsd).toFixed(2)}</td>
      <td>{formatTokens(Math.round(totalTokens(usage)))}</td>
      <td>{seconds.toFixed(1)}</td>
      {hasPlans && <td>{formatRate === undefined ? '' : percent(formatRate)}</td>}
      <td>{isOnFrontier && <Icon name="check" label={l10n.t('on the frontier')} />}</td>
    </tr>
  );
}
