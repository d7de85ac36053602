import * as l10n from '@vscode/l10n';
import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ContextView as ContextSent, RoundView as Round, RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { Elapsed } from './clock.tsx';
import { ContextView } from './context-view.tsx';
import { Icon } from './controls.tsx';
import { formatDuration, formatMoney } from '../backend/protocol/figures.ts';
import { useExpanded } from './host.ts';
import { Planning } from './plan/planning.tsx';
import { PlanEditor } from './plan/plan-editor.tsx';
import { PlanView, usualWidth } from './plan/plan-view.tsx';
import { roundSummary } from './run-stage.ts';
import { useIsWide } from './use-width.ts';
import { TestRunFigures, VerdictView } from './verdict-view.tsx';

interface RoundProps {
  readonly round: Round;
  readonly pool: RunSnapshot['pool'];
  /** What its models were sent of the workspace, if it is not what the question was first sent with. */
  readonly context: ContextSent | undefined;
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
  round, pool, context, runId, isHeld, runGoesOn, isLast, revised, gaveUp, isOffered, startedAt, endedAt, id,
}: RoundProps): JSX.Element {
  const isWide = useIsWide();
  const held = isHeld && round.plan && round.planAttempt && round.review
    ? { plan: round.plan, attemptId: round.planAttempt.attemptId, estimate: round.review.estimate } : undefined;
  const { pausedMs = 0 } = round;
  const [open, setOpen] = useExpanded(id, isWide || !revised);
  const width = useMemo(() => usualWidth(round.steps), [round.steps.length]);
  const paid = [...(round.planSpent ? [round.planSpent] : []), ...round.steps.map((step) => step.spent)];
  const spent = {
    usd: paid.reduce((sum, one) => sum + one.usd, 0),
    unpricedTokens: paid.reduce((sum, one) => sum + one.unpricedTokens, 0),
    estimated: paid.some((one) => one.estimated),
  };
  return (
    <section class="round" aria-labelledby={`${id}-title`} style={{ '--usual-width': `${width}px` }}>
      <div class="round-title">
        <h3 id={`${id}-title`}>
          <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
            <Icon name={open ? 'chevron-down' : 'chevron-right'} />{titleOf(round)}
          </button>
        </h3>
        <span class="figures">
          {!open && `${roundSummary(round, gaveUp)} · `}
          {(spent.usd > 0 || spent.unpricedTokens > 0) && (
            <span title={l10n.t('What the plan and the steps of this round cost')}>{formatMoney(spent)} · </span>
          )}
          {endedAt === undefined ? <Elapsed since={startedAt + pausedMs} /> : formatDuration(endedAt - startedAt - pausedMs)}
        </span>
      </div>
      {open && (
        <>
          {context && <ContextView context={context} id={id} />}
          <Planning round={round} gaveUp={gaveUp} runGoesOn={runGoesOn} id={id} />
          {held && <PlanEditor round={round} run={{ runId, pool }} {...held} />}
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

function titleOf({ index, planKeptFrom }: Round): string {
  return [l10n.t('Round {0}', index + 1), ...(planKeptFrom === undefined ? [] : [l10n.t('plan kept')])].join(' · ');
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
