import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { nats } from '../../backend/protocol/learning-words.ts';
import type { LoggedComparison } from '../../backend/protocol/learning.ts';
import { Icon } from '../controls.tsx';
import { Difference } from './difference.tsx';
import { verdictStage } from './training-stage.ts';

/** What the newest plans, which were not learned from, say of what was learned. */
export function LoggedView({ logged }: { readonly logged: LoggedComparison }): JSX.Element {
  const { verified, other, gain, formatRate, difference, pValue } = logged;
  const verdict = verdictStage(logged.says);
  return (
    <section class="comparison card" aria-labelledby="logged-title">
      <div class="row">
        <h2 id="logged-title">{l10n.t('Judged by the newest plans')}</h2>
        <span class={`comparison-verdict tone-${verdict.tone}`}><Icon name={verdict.icon} /> {verdict.text}</span>
      </div>
      <p class="quiet">{l10n.t('Plans for the newest questions were not learned from. None is carried out: what counts is how likely the Conductor is to write them.')}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">{l10n.t('Newest plans')}</th>
            <th scope="col">{l10n.t('Number')}</th>
            <th scope="col" title={l10n.t('Log-probability after learning less before, in nats; above 0 the Conductor is likelier to write such a plan now')}>{l10n.t('Gain')}</th>
          </tr>
        </thead>
        <tbody>
          <Row name={l10n.t('Verified')} count={verified} gain={gain.verified} />
          <Row name={l10n.t('Not verified')} count={other} gain={gain.other} />
        </tbody>
      </table>
      {difference && pValue !== undefined && (
        <Difference difference={difference} pValue={pValue} figure={nats} inUnits={(figure) => l10n.t('{0} nats', figure)} />
      )}
      <p class="quiet">
        {l10n.t('Valid plans: {0} before, {1} after. How many of its plans your tests would verify is not known before they are carried out.', percent(formatRate.before), percent(formatRate.after))}
      </p>
    </section>
  );
}

function Row({ name, count, gain }: { readonly name: string; readonly count: number; readonly gain: number }): JSX.Element {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{count}</td>
      <td>{count === 0 ? '' : <strong>{nats(gain)}</strong>}</td>
    </tr>
  );
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;
