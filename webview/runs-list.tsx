import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import type { RunSummary } from '../backend/protocol/methods.ts';
import { useNow } from './clock.tsx';
import { Count, Icon } from './controls.tsx';
import { formatMoney, formatWhen } from '../backend/protocol/figures.ts';
import { useHost } from './host.ts';
import { InlineCode } from './markdown/markdown.tsx';
import type { Stage } from './run-stage.ts';

/** Past runs, newest first. */
export const RunsList = memo(function RunsList({ runs }: { readonly runs: readonly RunSummary[] }): JSX.Element | null {
  const host = useHost();
  const now = useNow(false);
  if (runs.length === 0) return null;
  return (
    <section class="runs" aria-labelledby="runs-title">
      <div class="row section-title"><h2 id="runs-title">Past runs</h2><Count>{runs.length}</Count></div>
      <ul>
        {runs.map((run) => {
          const stage = summaryStage(run);
          return (
            <li key={run.runId}>
              <button type="button" class="run" onClick={() => host.post({ type: 'open', runId: run.runId })}>
                <Icon name={stage.icon} tone={stage.tone} />
                <span class="run-question" dir="auto"><InlineCode text={run.question} /></span>
                <span class="quiet run-facts">
                  {[
                    stage.text,
                    formatMoney(run),
                    formatWhen(run.acceptedAt, now),
                    ...(run.simulated ? ['simulated'] : []),
                  ].join(' · ')}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
});

function summaryStage({ state, outcome }: RunSummary): Stage {
  switch (state) {
    case 'running':
      return { text: 'running', icon: 'loading', tone: 'busy' };
    case 'waiting':
      return { text: 'waiting', icon: 'watch', tone: 'caution' };
    case 'stopped':
      return { text: 'stopped by the budget', icon: 'debug-pause', tone: 'caution' };
    case 'failed':
      return { text: 'failed', icon: 'error', tone: 'bad' };
    case 'cancelled':
      return { text: 'cancelled', icon: 'circle-slash', tone: 'quiet' };
    case 'completed':
      if (outcome === 'verified') return { text: 'verified', icon: 'pass-filled', tone: 'good' };
      if (outcome === 'not-verified') return { text: 'not verified', icon: 'error', tone: 'bad' };
      return { text: 'unchecked', icon: 'info', tone: 'quiet' };
  }
}
