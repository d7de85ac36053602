import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { formatTokens, formatUsd } from '../../backend/protocol/figures.ts';
import type { Comparison, Estimate } from '../../backend/protocol/training.ts';
import { Icon } from '../controls.tsx';
import { Difference } from './difference.tsx';
import { verdictStage } from './training-stage.ts';

/** The trained Conductor compared with the previous one, on held-out tasks. */
export function ComparisonView({ comparison, simulated }: { readonly comparison: Comparison; readonly simulated: boolean }): JSX.Element {
  const { tasks, pairs, costUsd, before, after, difference } = comparison;
  const verdict = verdictStage(comparison.says);
  return (
    <section class="comparison card" aria-labelledby="comparison-title">
      <div class="row">
        <h2 id="comparison-title">{l10n.t('Held-out comparison')}</h2>
        <span class={`comparison-verdict tone-${verdict.tone}`}><Icon name={verdict.icon} /> {verdict.text}</span>
      </div>
      <p class="quiet">
        {simulated
          ? l10n.t('Tasks never trained on: {0}. Tries by each: {1}, for {2} in all. The same simulated workers.', tasks, pairs, formatUsd(costUsd))
          : l10n.t('Tasks never trained on: {0}. Tries by each: {1}, for {2} in all. The same workers.', tasks, pairs, formatUsd(costUsd))}
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">{l10n.t('Conductor')}</th>
            <th scope="col">{l10n.t('Verified')}</th>
            <th scope="col">{l10n.t('Parse')}</th>
            <th scope="col">{l10n.t('Cost a run')}</th>
          </tr>
        </thead>
        <tbody>
          <Row name={l10n.t('Before')} {...before} />
          <Row name={l10n.t('Trained')} {...after} />
        </tbody>
      </table>
      <Intervals before={before.verified} after={after.verified} />
      <Difference difference={difference} figure={points} inUnits={(figure) => l10n.t('{0} points', figure)} />
      <More comparison={comparison} />
    </section>
  );
}

/** What more would cost where it is not known. */
function More({ comparison: { says, more } }: { readonly comparison: Comparison }): JSX.Element | null {
  if (says !== 'not-known') return null;
  return (
    <p class="quiet">
      {more
        ? l10n.t('At this rate, about {0} more tries by each, for {1}, would tell.', more.pairs, formatUsd(more.usd))
        : l10n.t('At this rate, more tries would not tell soon.')}
    </p>
  );
}

function Row({ name, verified, formatRate, costUsd, tokens }: Comparison['before'] & { readonly name: string }): JSX.Element {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td><strong>{percent(verified.mean)}</strong> <span class="quiet interval">{l10n.t('{0} to {1}', figure(verified.low), percent(verified.high))}</span></td>
      <td>{percent(formatRate)}</td>
      <td>{[formatUsd(costUsd), ...(tokens === undefined ? [] : [l10n.t('{0} tok', formatTokens(tokens))])].join(' · ')}</td>
    </tr>
  );
}

const PLOT = { width: 300, height: 36 };

/** Both scores on one line from 0 to 100 %; decorative, because the table has the same data. */
function Intervals({ before, after }: { readonly before: Estimate; readonly after: Estimate }): JSX.Element {
  const bar = ({ mean, low, high }: Estimate, y: number): string => {
    const x = (share: number): number => Math.round(Math.min(1, Math.max(0, share)) * PLOT.width * 10) / 10;
    return `M${x(low)} ${y}H${x(high)}M${x(mean)} ${y - 5}v10`;
  };
  return (
    <div class="intervals" aria-hidden="true">
      <svg viewBox={`0 0 ${PLOT.width} ${PLOT.height}`} preserveAspectRatio="none">
        <path class="interval-before" d={bar(before, 10)} />
        <path class="interval-after" d={bar(after, 26)} />
      </svg>
      <span class="interval-scale quiet"><span>0 %</span><span>{l10n.t('verified')}</span><span>100 %</span></span>
    </div>
  );
}

const figure = (share: number): string => (100 * share).toFixed(1);
const percent = (share: number): string => `${figure(share)} %`;

/** A difference of shares, in percentage points. */
function points(difference: number): string {
  const size = figure(Math.abs(difference));
  if (Number(size) === 0) return size;
  return `${difference > 0 ? '+' : '−'}${size}`;
}
