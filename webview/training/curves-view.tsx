import * as l10n from '@vscode/l10n';
import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Training } from '../../backend/protocol/training.ts';
import { Disclosure } from '../disclosure.tsx';
import { fillSentence } from '../fill-sentence.ts';
import { CurveView } from './curve-view.tsx';
import { curvesOf, type Curve } from './curves.ts';

/** The last rows of the table of figures: thousands would be of no use. */
const MAX_ROWS = 200;

/** The metrics of each step. Pointing at a step highlights it in all curves. A table has the same figures. */
export const CurvesView = memo(function CurvesView({ trainingId, metrics }: Pick<Training, 'trainingId' | 'metrics'>): JSX.Element | null {
  const curves = useMemo(() => curvesOf({ metrics }), [metrics]);
  const [at, look] = useState<number>();
  if (curves.length === 0) return null;
  return (
    <section class="curves" aria-labelledby="curves-title">
      <div class="row curves-title">
        <h2 id="curves-title">{l10n.t('Curves')}</h2>
        <span class="figures">{metrics.length === 1 ? l10n.t('step 1') : l10n.t('steps 1 to {0}', metrics.length)}</span>
      </div>
      <div class="curve-grid">
        {curves.map((curve) => <CurveView key={curve.name} curve={curve} at={at} onLook={look} />)}
      </div>
      <Disclosure id={`${trainingId}/figures`} title={l10n.t('All figures')}>
        <FigureTable curves={curves} steps={metrics.length} />
      </Disclosure>
    </section>
  );
});

function FigureTable({ curves, steps }: { readonly curves: readonly Curve[]; readonly steps: number }): JSX.Element {
  const first = Math.max(0, steps - MAX_ROWS);
  return (
    // Wider than a side panel: it scrolls, by keyboard too.
    <div class="figure-table" tabIndex={0} role="region" aria-label={l10n.t('Figures of each step')}>
      {first > 0 && (
        <p class="quiet">
          {fillSentence(l10n.t('The last {0} of {1} steps; {2} prints all.'), MAX_ROWS, steps, <code>conductor train curves</code>)}
        </p>
      )}
      <table>
        <thead><tr><th scope="col">{l10n.t('Step')}</th>{curves.map(({ name }) => <th key={name} scope="col">{name}</th>)}</tr></thead>
        <tbody>
          {Array.from({ length: steps - first }, (_, row) => first + row).map((step) => (
            <tr key={step}>
              <th scope="row">{step + 1}</th>
              {curves.map(({ name, values, format }) => {
                const value = values[step];
                return <td key={name}>{value === undefined ? '–' : format(value)}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
