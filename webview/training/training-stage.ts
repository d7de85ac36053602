import * as l10n from '@vscode/l10n';
import { formatElapsed } from '../../backend/protocol/figures.ts';
import type { Comparison, Training, TrainingState } from '../../backend/protocol/training.ts';
import type { Stage } from '../run-stage.ts';

/*
 * The state of a training, as text. The view, the list and the screen reader announcements use these texts.
 */

export function trainingStage({ state, adopted, learned = true, step, steps, learnsFrom }: {
  readonly state: TrainingState; readonly adopted: boolean; readonly learned?: boolean | undefined; readonly step: number; readonly steps: number;
  readonly learnsFrom?: Training['learnsFrom'];
}): Stage {
  switch (state) {
    case 'preparing':
      return { text: l10n.t('Preparing'), icon: 'loading', tone: 'busy' };
    case 'training':
      return { text: l10n.t('Training, step {0} of {1}', Math.min(step + 1, steps), steps), icon: 'loading', tone: 'busy' };
    case 'waiting':
      return { text: l10n.t('Waiting'), icon: 'watch', tone: 'caution' };
    case 'evaluating':
      return { text: learnsFrom ? l10n.t('Judging by the newest plans') : l10n.t('Comparing on held-out tasks'), icon: 'loading', tone: 'busy' };
    case 'paused':
      return { text: l10n.t('Paused'), icon: 'debug-pause', tone: 'caution' };
    case 'failed':
      return { text: l10n.t('Failed'), icon: 'error', tone: 'bad' };
    case 'cancelled':
      return { text: l10n.t('Cancelled'), icon: 'circle-slash', tone: 'quiet' };
    case 'completed':
      if (!learned) return { text: l10n.t('Nothing learned'), icon: 'circle-slash', tone: 'caution' };
      return adopted
        ? { text: l10n.t('Adopted'), icon: 'pass-filled', tone: 'good' }
        : { text: l10n.t('Trained'), icon: 'mortar-board', tone: 'quiet' };
  }
}

/** What tasks or plans that were not learned from say of what was trained. */
export function verdictStage(says: Comparison['says']): Stage {
  switch (says) {
    case 'better':
      return { text: l10n.t('Better'), icon: 'pass-filled', tone: 'good' };
    case 'not-better':
      return { text: l10n.t('Not better'), icon: 'error', tone: 'bad' };
    case 'not-known':
      return { text: l10n.t('Not known'), icon: 'info', tone: 'caution' };
  }
}

/** The progress of the current phase from 0 to 1; undefined if there is none. */
export function fractionOf({ state, step, progress, making, config: { steps } }: Training): number | undefined {
  const part = progress ? progress.done / Math.max(1, progress.of) : undefined;
  switch (state) {
    case 'preparing':
    case 'evaluating':
      return part;
    case 'training':
    case 'waiting':
    case 'paused':
      if (making) return making.tried / Math.max(1, making.of);
      return Math.min(1, (step + (part ?? 0)) / steps);
    case 'completed':
    case 'failed':
    case 'cancelled':
      return undefined;
  }
}

/** The progress as text, such as `step 3 of 50, 2 of 4 tasks`. */
export function countsOf({ state, step, progress, making, config: { steps } }: Training): string {
  if (making && state === 'paused') return l10n.t('{0} of {1} candidates tried, {2} admitted', making.tried, making.of, making.train + making.heldOut);
  if (state === 'preparing') return progress ? l10n.t('{0} of {1} tried', progress.done, progress.of) : '';
  if (state === 'evaluating') return progress ? l10n.t('{0} of {1} tasks', progress.done, progress.of) : '';
  const done = l10n.t('{0} of {1} steps done', step, steps);
  return progress ? [done, l10n.t('{0} of {1} tasks of the next', progress.done, progress.of)].join(', ') : done;
}

/** The remaining time of the task generation or of the steps, without the comparison; undefined until it can be estimated. */
export function timeLeft({ state, step, secondsPerStep, progress, making, config }: Training): string | undefined {
  if (state === 'preparing' && making?.secondsLeft !== undefined) {
    return l10n.t('about {0} until the tasks are made', formatElapsed(making.secondsLeft * 1_000));
  }
  if (state !== 'training' || secondsPerStep === undefined) return undefined;
  const left = config.steps - step - (progress ? progress.done / Math.max(1, progress.of) : 0);
  return l10n.t('about {0} left', formatElapsed(secondsPerStep * Math.max(0, left) * 1_000));
}

/** The screen reader announcement for a training's change: state changes, not every step. */
export function trainingNews(before: Training | undefined, after: Training | undefined): string {
  if (!before || !after || before.trainingId !== after.trainingId) return '';
  if (before.state === after.state && before.adopted === after.adopted) return '';
  const { text } = trainingStage({ ...after, steps: after.config.steps });
  if (before.state === after.state) return `${text}.`;
  return after.message.startsWith(text) ? after.message : `${text}. ${after.message}`;
}
