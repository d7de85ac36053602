import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import type { RoundView as Round, RunSnapshot } from '../backend/protocol/run-snapshot.ts';
import { Elapsed } from './clock.tsx';
import { Icon } from './controls.tsx';
import { formatDuration, formatMoney } from '../backend/protocol/figures.ts';
import { useExpanded } from './host.ts';
import { deviceName } from './model-lines.tsx';
import { Planning } from './plan/planning.tsx';
import { PlanGraph } from './plan/plan-graph.tsx';
import { roundSummary } from './run-stage.ts';
import { TestRunFigures, VerdictView } from './verdict-view.tsx';

interface RoundProps {
  readonly round: Round;
  readonly pool: RunSnapshot['pool'];
  readonly runGoesOn: boolean;
  /** A round that a later one revised is closed at first. */
  readonly revised: boolean;
  /** When the round began and, once it is over, ended; milliseconds since 1970. */
  readonly startedAt: number;
  readonly endedAt: number | undefined;
  readonly id: string;
}

/** One plan and what came of it. */
export const RoundView = memo(function RoundView({
  round, pool, runGoesOn, revised, startedAt, endedAt, id,
}: RoundProps): JSX.Element {
  const [open, setOpen] = useExpanded(id, !revised);
  const planTime = round.planDurationMs === undefined ? '' : ` · plan ${formatDuration(round.planDurationMs)}${round.sampled ? ` on the ${deviceName(round.sampled.device)}` : ''}`;
  const steps = round.steps.map((step) => step.spent);
  const spent = {
    usd: steps.reduce((sum, step) => sum + step.usd, 0),
    unpricedTokens: steps.reduce((sum, step) => sum + step.unpricedTokens, 0),
    estimated: steps.some((step) => step.estimated),
  };
  return (
    <section class="round" aria-labelledby={`${id}-title`}>
      <div class="round-title">
        <h3 id={`${id}-title`}>
          <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
            <Icon name={open ? 'chevron-down' : 'chevron-right'} />Round {round.index + 1}{planTime}
          </button>
        </h3>
        <span class="figures">
          {!open && `${roundSummary(round)} · `}
          {(spent.usd > 0 || spent.unpricedTokens > 0) && (
            <span title="What the steps of this round cost">{formatMoney(spent)} · </span>
          )}
          {endedAt === undefined ? <Elapsed since={startedAt} /> : formatDuration(endedAt - startedAt)}
        </span>
      </div>
      {open && (
        <>
          <Planning round={round} runGoesOn={runGoesOn} id={id} />
          {round.steps.length > 0 && (
            <PlanGraph steps={round.steps} pool={pool} runGoesOn={runGoesOn} round={round.index} id={id} />
          )}
          {round.verifying && (
            <div class="card">
              <div class="row">
                <Icon name="loading" tone="busy" /><strong>Checking</strong>
                <span class="figures">
                  <TestRunFigures {...round.verifying} /> · <Elapsed since={round.verifying.startedAt} />
                </span>
              </div>
            </div>
          )}
          {round.verdict && <VerdictView verdict={round.verdict} id={id} />}
        </>
      )}
    </section>
  );
});
