import * as l10n from '@vscode/l10n';
import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Training } from '../../backend/protocol/training.ts';
import { CurveView } from './curve-view.tsx';
import { planCurves, workersByKind, workersIn } from './plan-curves.ts';

/** What the plans of each step do: small curves in groups, and who works for which kind of question. */
export const PlanCurvesView = memo(function PlanCurvesView({ metrics }: Pick<Training, 'metrics'>): JSX.Element | null {
  const { groups, workers, kinds } = useMemo(() => {
    const ids = workersIn(metrics);
    return { groups: planCurves(metrics), workers: ids, kinds: workersByKind(metrics, ids) };
  }, [metrics]);
  const [at, look] = useState<number>();
  if (groups.length === 0) return null;
  return (
    <section class="plan-curves" aria-labelledby="plan-curves-title">
      <div class="row curves-title">
        <h2 id="plan-curves-title">{l10n.t('What the plans do')}</h2>
      </div>
      {groups.map(({ id, title, curves }) => (
        <div key={id} role="group" aria-labelledby={`plan-curves-${id}`}>
          <h3 id={`plan-curves-${id}`}>{title}</h3>
          <div class="curve-grid">
            {curves.map((curve) => <CurveView key={curve.name} curve={curve} at={at} onLook={look} />)}
          </div>
        </div>
      ))}
      {kinds.length > 0 && (
        <>
          <h3>{l10n.t('Who works for which kind of question, at the beginning and at the end')}</h3>
          <div class="figure-table" tabIndex={0} role="region" aria-label={l10n.t('Workers by kind of question')}>
            <table>
              <thead><tr><th scope="col">{l10n.t('Kind')}</th>{workers.map((id) => <th key={id} scope="col">{id}</th>)}</tr></thead>
              <tbody>
                {kinds.map(({ kind, shares }) => (
                  <tr key={kind}><th scope="row">{kind}</th>{shares.map((share, index) => <td key={workers[index]}>{share}</td>)}</tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </section>
  );
});
