import * as l10n from '@vscode/l10n';
import type { PlanMend } from './plan-mend.ts';
import type { RoundView } from './run-snapshot.ts';

/** Why the plan of a round is not as it was written and what was changed, in one sentence; undefined where the plan was taken as it was written. Steps count from 1. */
export function mendOf({ planMended, rejections, steps }: Pick<RoundView, 'planMended' | 'rejections' | 'steps'>): string | undefined {
  if (!planMended) return undefined;
  if (planMended.byRecords) return l10n.t('What tests said of your workers chose who does what.');
  const { wrong, written, reworded, rewired } = planMended;
  const faults = [...new Set(wrong.map(faultWords))].join('; ');
  const changes = [
    ...(steps.length === written ? [] : [l10n.t('the number of steps ({0} instead of {1})', steps.length, written)]),
    ...reworded.map((step) => l10n.t('the instruction of step {0}', step + 1)),
    ...rewired.map((step) => l10n.t('what step {0} reads', step + 1)),
  ].join(', ');
  return rejections.some(({ reason }) => reason === 'senseless')
    ? l10n.t('The plan made no sense twice ({0}), so the nearest one that does was taken; changed: {1}.', faults, changes)
    : l10n.t('The plan made no sense ({0}), so the nearest one that does was taken; changed: {1}.', faults, changes);
}

function faultWords({ rule, step = 0 }: PlanMend['wrong'][number]): string {
  switch (rule) {
    case 'steps': return l10n.t('one step is enough for this question');
    case 'unread': return l10n.t('nobody reads step {0}', step + 1);
    case 'repeated': return l10n.t('step {0} repeats another', step + 1);
    case 'unseen': return l10n.t('step {0} speaks of work that it is not shown', step + 1);
    case 'last': return l10n.t('the last step does not return what was asked for');
    case 'fault': return l10n.t('step {0} looks for a fault that nobody reported', step + 1);
  }
}
