import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { DiscardedPlan, RejectionView, RoundView } from '../../backend/protocol/run-snapshot.ts';
import { Countdown, Elapsed } from '../clock.tsx';
import { Icon } from '../controls.tsx';
import { Disclosure } from '../disclosure.tsx';
import { fillSentence } from '../fill-sentence.ts';
import { Capped } from '../markdown/capped.tsx';
import { tail } from '../markdown/visible-text.ts';
import { reasonsOf } from './plan-reasons.ts';
import { LocalTry } from './local-try.tsx';
import { PlanMended, PlannedBy, Planner } from './planned-by.tsx';

/** Streamed characters of the Conductor to show while it plans. */
const LIVE_TAIL = 1_200;

/** The Conductor's planning: its text while it plans, its rejected plans, and afterwards its reasons in a disclosure. */
export function Planning({ round, gaveUp, runGoesOn, id }: {
  readonly round: RoundView;
  /** The Conductor kept an answer that the tests rejected. */
  readonly gaveUp: boolean;
  readonly runGoesOn: boolean;
  readonly id: string;
}): JSX.Element {
  const attempt = round.planAttempt;
  const planned = round.plan !== undefined || round.kept;
  return (
    <>
      {round.rejections.map((rejection, index) => (
        <Rejection key={index} rejection={rejection} id={`${id}/rejection-${index}`} />
      ))}
      {(round.discarded ?? []).map((discarded, index) => <Discarded key={index} discarded={discarded} id={`${id}/discarded-${index}`} />)}
      {!planned && runGoesOn && attempt && !attempt.ended && (
        <div class="card planning">
          <div class="row">
            <Icon name="loading" tone="busy" /><strong>{l10n.t('Planning…')}</strong>
            {attempt.number > 1 && <span class="quiet">{l10n.t('attempt {0}', attempt.number)}</span>}
            <span class="figures"><Elapsed since={attempt.startedAt} /></span>
          </div>
          <Planner />
          {attempt.text !== '' && (
            <div class="excerpt live planning-text" dir="auto">
              <div>{tail(attempt.text, LIVE_TAIL)}<span class="cursor" /></div>
            </div>
          )}
        </div>
      )}
      {!planned && attempt?.ended && attempt.failure && (
        <div class="card planning">
          <div class="row">
            <Icon name={runGoesOn ? 'watch' : 'error'} tone={runGoesOn ? 'caution' : 'bad'} /><strong>{l10n.t('Planning')}</strong>
          </div>
          <p class="note" dir="auto">
            {attempt.retryAt !== undefined && runGoesOn
              ? fillSentence(l10n.t('Attempt {0} {1}: {2}'), attempt.number + 1, <Countdown at={attempt.retryAt} />, attempt.failure.message)
              : attempt.failure.message}
          </p>
        </div>
      )}
      {round.kept && (
        <p class="note kept">
          {gaveUp
            ? <><Icon name="circle-slash" tone="caution" /> {l10n.t('The Conductor had no better plan and gave up after round {0}.', round.index)}</>
            : <><Icon name="info" tone="quiet" /> {l10n.t('The Conductor kept the answer of round {0}.', round.index)}</>}
        </p>
      )}
      {round.localTry && <LocalTry record={round.localTry.record} />}
      {planned && !round.localTry && round.planKeptFrom === undefined && <><PlannedBy round={round} /><PlanMended round={round} /></>}
      {round.planEdited && <p class="note"><Icon name="info" tone="quiet" /> {l10n.t('You changed this plan before it ran.')}</p>}
      {planned && round.planText && <Reasons text={round.planText} kept={round.kept} id={`${id}/reasons`} />}
    </>
  );
}

/** The Conductor's reasons, and in a disclosure its complete text. The cards show the plan itself. */
function Reasons({ text, kept, id }: { readonly text: string; readonly kept: boolean; readonly id: string }): JSX.Element {
  const reasons = reasonsOf(text);
  return (
    <Disclosure id={id} title={kept ? l10n.t('Why no other plan') : l10n.t('Why this plan')}>
      {reasons !== '' && <div class="plan-text" dir="auto"><Capped text={reasons} /></div>}
      <Disclosure id={`${id}/as-written`} title={l10n.t('As the Conductor wrote it')} aside={l10n.t('workers and steps counted from 0')}>
        <div class="plan-text" dir="auto"><Capped text={text} /></div>
      </Disclosure>
    </Disclosure>
  );
}

function Discarded({ discarded: { text, wish }, id }: { readonly discarded: DiscardedPlan; readonly id: string }): JSX.Element {
  return (
    <div class="card rejection">
      <div class="row"><Icon name="refresh" tone="quiet" /><strong>{l10n.t('You asked for another plan')}</strong></div>
      {wish !== undefined && <p class="note" dir="auto">{wish}</p>}
      <Disclosure id={id} title={l10n.t('What the Conductor wrote')}>
        <div class="plan-text" dir="auto"><Capped text={text} /></div>
      </Disclosure>
    </div>
  );
}

function Rejection({ rejection, id }: { readonly rejection: RejectionView; readonly id: string }): JSX.Element {
  return (
    <div class="card rejection">
      <div class="row">
        <Icon name="warning" tone="caution" /><strong>{l10n.t('Plan rejected')}</strong><code class="reason-name">{rejection.reason}</code>
      </div>
      <p class="note" dir="auto">{rejection.message}</p>
      <Disclosure id={id} title={l10n.t('What the Conductor wrote')}>
        <div class="plan-text" dir="auto"><Capped text={rejection.text} /></div>
      </Disclosure>
    </div>
  );
}
