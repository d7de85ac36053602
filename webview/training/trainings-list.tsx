import * as l10n from '@vscode/l10n';
import { memo } from 'preact/compat';
import type { JSX } from 'preact';
import { formatMoney, formatWhen } from '../../backend/protocol/figures.ts';
import type { TrainingSummary } from '../../backend/protocol/training.ts';
import { useNow } from '../clock.tsx';
import { Count, Icon } from '../controls.tsx';
import { useHost } from '../host.ts';
import { language } from '../language.ts';
import { trainingStage } from './training-stage.ts';

/** Past trainings, newest first. */
export const TrainingsList = memo(function TrainingsList({ trainings }: { readonly trainings: readonly TrainingSummary[] }): JSX.Element | null {
  const host = useHost();
  const now = useNow(false);
  if (trainings.length === 0) return null;
  return (
    <section class="runs" aria-labelledby="trainings-title">
      <div class="row section-title"><h2 id="trainings-title">{l10n.t('Trainings')}</h2><Count>{trainings.length}</Count></div>
      <ul>
        {trainings.map((training) => {
          const { trainingId, state, startedAt, step, steps, spentUsd, unpricedTokens, simulated, learnsFrom } = training;
          const stage = trainingStage(training);
          const facts = [
            ...(state === 'training' ? [] : [l10n.t('{0} of {1} steps', step, steps)]),
            learnsFrom ? l10n.t('from earlier plans') : formatMoney({ usd: spentUsd, unpricedTokens }),
            formatWhen(startedAt, now, language()),
            ...(simulated ? [l10n.t('simulated')] : []),
          ];
          return (
            <li key={trainingId}>
              <button type="button" class="run" onClick={() => host.post({ type: 'training', action: 'open', trainingId })}>
                <Icon name={stage.icon} tone={stage.tone} />
                <span class="run-question">{stage.text}</span>
                <span class="quiet run-facts">{facts.join(' · ')}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
});
