import * as l10n from '@vscode/l10n';
import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { spentIn } from '../backend/protocol/run-facts.ts';
import type { ContextView as ContextSent, RoundView as Round, RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { Elapsed } from './clock.tsx';
import { ContextView } from './context-view.tsx';
import { Icon } from './controls.tsx';
import { formatDuration, formatMoney } from '../backend/protocol/figures.ts';
import { useExpanded } from './host.ts';
import { Planning } from './plan/planning.tsx';
import { PlanEditor } from './plan/plan-editor.tsx';
import { PlanView, usualWidth } from './plan/plan-view.tsx';
import { attemptSummary, roundSummary } from './run-stage.ts';
import { useIsWide } from './use-width.ts';
import { TestRunFigures, VerdictView } from './verdict-view.tsx';

interface RoundProps {
  readonly round: Round;
  readonly pool: RunSnapshot['pool'];
  /** What its models were sent of the workspace, if it is not what the question was first sent with. */
  readonly context: ContextSent | undefined;
  /** It is one of several attempts, of which none revises another. */
  readonly isAttempt: boolean;
  readonly runGoesOn: boolean;
  readonly isLast: boolean;
  /** A round that a later one revised is initially closed, unless there is room for both. */
  readonly revised: boolean;
  readonly runId: string;
  /** Its plan waits for a person. */
  readonly isHeld: boolean;
  /** The Conductor kept an answer that the tests rejected. */
  readonly gaveUp: boolean;
  /** Its answer is the one that the run offers. */
  readonly isOffered: boolean;
  /** When the round began and, once it is over, ended; milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly id: string;
}

/** One plan and its result. */
export const RoundView = memo(function RoundView({
  round, pool, isAttempt, context, runId, isHeld, runGoesOn, isLast, revised, gaveUp, isOffered, startedAt, endedAt, id,
}: RoundProps): JSX.Element {
  const isWide = useIsWide();
  const held = isHeld && round.plan && round.planAttempt && round.review
    ? { plan: round.plan, attemptId: round.planAttempt.attemptId, estimate: round.review.estimate } : undefined;
  const { pausedMs = 0 } = round;
  const [open, setOpen] = useExpanded(id, (isWide && !isAttempt) || !revised);
  const width = useMemo(() => usualWidth(round.steps), [round.steps.length]);
  const spent = spentIn(round);
  return (
    <section class="round" aria-labelledby={`${id}-title`} style={{ '--usual-width': `${width}px` }}>
      <div class="round-title">
        <h3 id={`${id}-title`}>
          <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
            <Icon name={open ? 'chevron-down' : 'chevron-right'} />{titleOf(round, isAttempt)}{isAttempt && isOffered && <span class="quiet"> · {l10n.t('offered')}</span>}
          </button>
        </h3>
        <span class="figures">
          {(!open || isAttempt) && `${isAttempt ? attemptSummary(round, runGoesOn) : roundSummary(round, gaveUp)} · `}
          {(spent.usd > 0 || spent.unpricedTokens > 0) && (
            <span title={l10n.t('What the plan and the steps of this round cost')}>{formatMoney(spent)}{isAttempt ? '' : ' · '}</span>
          )}
          {/* Attempts are planned one after the other and tried later: their times overlap. */}
          {isAttempt && !round.localTry ? null : endedAt === undefined ? <Elapsed since={startedAt + pausedMs} /> : formatDuration(endedAt - startedAt - pausedMs)}
        </span>
      </div>
      {open && (
        <>
          {round.failure && <p class={round.failure.kind === 'cancelled' ? 'note' : 'note tone-bad'} dir="auto">{round.failure.message}</p>}
          {context && <ContextView context={context} id={id} />}
          <Planning round={round} gaveUp={gaveUp} runGoesOn={runGoesOn} id={id} />
          {held && <PlanEditor round={round} isAttempt={isAttempt} run={{ runId, pool }} {...held} />}
          {held ? null : round.steps.length > 0
            ? (
                <PlanView steps={round.steps} pool={pool} runGoesOn={runGoesOn} round={round.index} isLast={isLast} id={id}>
                  <Verification round={round} id={id} isOffered={isOffered} />
                </PlanView>
              )
            : <Verification round={round} id={id} isOffered={isOffered} />}
        </>
      )}
    </section>
  );
});

function titleOf({ index, localTry, planKeptFrom }: Round, isAttempt: boolean): string {
  return [isAttempt ? l10n.t('Attempt {0}', index + 1) : l10n.t('Round {0}', index + 1), ...(localTry ? [l10n.t('local try')] : []), ...(planKeptFrom === undefined || localTry ? [] : [l10n.t('plan kept')])].join(' · ');
}

/** The running tests, and their result. */
function Verification({ round: { verifying, verdict }, id, isOffered }: { readonly round: Round; readonly id: string; readonly isOffered: boolean }): JSX.Element {
  return (
    <>
      {verifying && (
        <div class="card">
          <div class="row">
            <Icon name="loading" tone="busy" /><strong>{l10n.t('Checking')}</strong>
            <span class="figures">
              <TestRunFigures {...verifying} /> · <Elapsed since={verifying.startedAt} />
            </span>
          </div>
        </div>
      )}
      {verdict && <VerdictView verdict={verdict} id={id} isOffered={isOffered} />}
    </>
  );
}
