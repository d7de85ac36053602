import * as l10n from '@vscode/l10n';
import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { costPlot } from '../../backend/protocol/cost-plot.ts';
import type { ResultRow } from '../../backend/protocol/evaluations.ts';

/** The plot of the report. `costPlot` escapes the names in it. */
export const PlotView = memo(function PlotView({ rows }: { readonly rows: readonly ResultRow[] }): JSX.Element {
  const { source } = costPlot(rows);
  return (
    <>
      <p class="quiet">{l10n.t('Bars are 95 % intervals. The line is the frontier: for the money, no contestant on or below it is better. Numbers are those of the table.')}</p>
      <div class="plot" role="group" tabIndex={0} aria-label={l10n.t('Score against cost')} dangerouslySetInnerHTML={{ __html: source }} />
    </>
  );
});
