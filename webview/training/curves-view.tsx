import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Training } from '../../backend/protocol/training.ts';
import { Disclosure } from '../disclosure.tsx';
import { CurveView } from './curve-view.tsx';
import { curvesOf, type Curve } from './curves.ts';

/** Rows of the table of figures: the last ones, as a page of thousands would be read by nobody. */
const MAX_ROWS = 200;

/** What was measured at each step; a step that is pointed at is looked at in all curves. The same figures stand in a table. */
export const CurvesView = memo(function CurvesView({ trainingId, metrics }: Pick<Training, 'trainingId' | 'metrics'>): JSX.Element | null {
  const curves = useMemo(() => curvesOf({ metrics }), [metrics]);
  const [at, look] = useState<number>();
  if (curves.length === 0) return null;
  return (
    <section class="curves" aria-labelledby="curves-title">
      <div class="row curves-title">
        <h2 id="curves-title">Curves</h2>
        <span class="figures">{metrics.length === 1 ? 'step 1' : `steps 1 to ${metrics.length}`}</span>
      </div>
      <div class="curve-grid">
        {curves.map((curve) => <CurveView key={curve.name} curve={curve} at={at} onLook={look} />)}
      </div>
      <Disclosure id={`${trainingId}/figures`} title="All figures">
        <FigureTable curves={curves} steps={metrics.length} />
      </Disclosure>
    </section>
  );
});

function FigureTable({ curves, steps }: { readonly curves: readonly Curve[]; readonly steps: number }): JSX.Element {
  const first = Math.max(0, steps - MAX_ROWS);
  return (
    // Wider than a side panel: it scrolls, by keyboard too.
    <div class="figure-table" tabIndex={0} role="region" aria-label="Figures of each step">
      {first > 0 && <p class="quiet">The last {MAX_ROWS} of {steps} steps; <code>conductor train curves</code> prints all.</p>}
      <table>
        <thead><tr><th scope="col">Step</th>{curves.map(({ name }) => <th key={name} scope="col">{name}</th>)}</tr></thead>
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
