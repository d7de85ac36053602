import { formatElapsed } from '../../backend/protocol/figures.ts';
import type { Training, TrainingState } from '../../backend/protocol/training.ts';
import type { Stage } from '../run-stage.ts';

/*
 * Where a training stands, in words. The view, the list and the announcements for screen readers read these.
 */

export function trainingStage({ state, adopted, step, steps }: {
  readonly state: TrainingState; readonly adopted: boolean; readonly step: number; readonly steps: number;
}): Stage {
  switch (state) {
    case 'preparing':
      return { text: 'Preparing', icon: 'loading', tone: 'busy' };
    case 'training':
      return { text: `Training, step ${Math.min(step + 1, steps)} of ${steps}`, icon: 'loading', tone: 'busy' };
    case 'waiting':
      return { text: 'Waiting', icon: 'watch', tone: 'caution' };
    case 'evaluating':
      return { text: 'Comparing on held-out tasks', icon: 'loading', tone: 'busy' };
    case 'paused':
      return { text: 'Paused', icon: 'debug-pause', tone: 'caution' };
    case 'failed':
      return { text: 'Failed', icon: 'error', tone: 'bad' };
    case 'cancelled':
      return { text: 'Cancelled', icon: 'circle-slash', tone: 'quiet' };
    case 'completed':
      return adopted ? { text: 'Adopted', icon: 'pass-filled', tone: 'good' } : { text: 'Trained', icon: 'mortar-board', tone: 'quiet' };
  }
}

/** How far what is under way is, from 0 to 1; undefined where nothing is counted. */
export function fractionOf({ state, step, progress, config: { steps } }: Training): number | undefined {
  const part = progress ? progress.done / Math.max(1, progress.of) : undefined;
  switch (state) {
    case 'preparing':
    case 'evaluating':
      return part;
    case 'training':
    case 'waiting':
    case 'paused':
      return Math.min(1, (step + (part ?? 0)) / steps);
    case 'completed':
    case 'failed':
    case 'cancelled':
      return undefined;
  }
}

/** What has been counted, such as `step 3 of 50, 2 of 4 tasks`. */
export function countsOf({ state, step, progress, config: { steps } }: Training): string {
  const counted = progress && `${progress.done} of ${progress.of} ${state === 'preparing' ? 'tried' : 'tasks'}`;
  if (state === 'preparing' || state === 'evaluating') return counted ?? '';
  return [`${step} of ${steps} steps done`, ...(counted ? [`${counted} of the next`] : [])].join(', ');
}

/** How long the steps that are left will take, comparison not counted; undefined where nobody can say yet. */
export function timeLeft({ state, step, secondsPerStep, progress, config }: Training): string | undefined {
  if (state !== 'training' || secondsPerStep === undefined) return undefined;
  const left = config.steps - step - (progress ? progress.done / Math.max(1, progress.of) : 0);
  return `about ${formatElapsed(secondsPerStep * Math.max(0, left) * 1_000)} left`;
}

/** What a screen reader is told when a training went on: changes of state, not each step. */
export function trainingNews(before: Training | undefined, after: Training | undefined): string {
  if (!before || !after || before.trainingId !== after.trainingId) return '';
  if (before.state === after.state && before.adopted === after.adopted) return '';
  const { text } = trainingStage({ ...after, steps: after.config.steps });
  if (before.state === after.state) return `${text}.`;
  return after.message.startsWith(text) ? after.message : `${text}. ${after.message}`;
}
