import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { EvaluationCommand, EvaluationPageState } from '../../backend/protocol/evaluation-page.ts';
import type { EvaluationView } from '../../backend/protocol/evaluations.ts';
import { Icon } from '../controls.tsx';
import { formatCount, list } from '../language.ts';
import { Notice } from '../notice.tsx';
import { EvaluationProgress } from './evaluation-progress.tsx';
import { PlotView } from './plot-view.tsx';
import { ResultsTable } from './results-table.tsx';
import { SamplesView } from './samples-view.tsx';

export interface EvaluationPageProps {
  readonly state: EvaluationPageState;
  readonly post: (command: EvaluationCommand) => void;
}

/** One evaluation: how far it is, the plot, the table, and its samples. A function of the latest state. */
export function EvaluationPage({ state, post }: EvaluationPageProps): JSX.Element {
  const { evaluation, problem } = state;
  return (
    <main>
      {evaluation ? <Shown evaluation={evaluation} state={state} post={post} /> : problem === undefined && <p role="status">{l10n.t('Looking …')}</p>}
      <div class="problem" role="alert">{problem !== undefined && <Notice icon="error" tone="bad">{problem}</Notice>}</div>
    </main>
  );
}

function Shown({ evaluation, state, post }: EvaluationPageProps & { readonly evaluation: EvaluationView }): JSX.Element {
  const { rows, sources, simulated } = evaluation;
  return (
    <>
      <h1 class="evaluation-title" dir="auto">{l10n.t('Evaluation: {0}', list(sources))}</h1>
      {simulated && <p class="simulated"><Icon name="beaker" />{l10n.t('Simulation: the workers have made-up skills and prices. This shows nothing about real models.')}</p>}
      <p class="quiet">{factsOf(evaluation).join(' · ')}</p>
      <EvaluationProgress evaluation={evaluation} post={post} />
      {rows.length > 0 && (
        <>
          <section aria-labelledby="plot-title"><h2 id="plot-title">{l10n.t('Score against cost')}</h2><PlotView rows={rows} /></section>
          <section aria-labelledby="table-title"><h2 id="table-title">{l10n.t('Contestants')}</h2><ResultsTable evaluation={evaluation} /></section>
        </>
      )}
      {(state.allSamples > 0 || rows.length > 0) && <SamplesView state={state} names={rows.map(({ name }) => name)} seeds={evaluation.seeds} post={post} />}
    </>
  );
}

function factsOf({ tasks, seeds, pool, best }: EvaluationView): string[] {
  if (tasks === 0) return [];
  return [
    tasks === 1 ? l10n.t('1 task') : l10n.t('{0} tasks', formatCount(tasks)),
    seeds === 1 ? l10n.t('1 seed') : l10n.t('{0} seeds', seeds),
    l10n.t('Workers: {0}', list(pool)),
    ...(best ? [l10n.t('the best worker ({0}): {1}', whyBest(best.why), best.worker)] : []),
  ];
}

/** How the best worker was chosen, which must not be known from the tasks of the evaluation. */
function whyBest(why: string): string {
  switch (why) {
    case 'chosen': return l10n.t('chosen');
    case 'best in practice': return l10n.t('best in practice');
    case 'most expensive': return l10n.t('most expensive');
    default: return why;
  }
}
