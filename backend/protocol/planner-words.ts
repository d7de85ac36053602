import * as l10n from '@vscode/l10n';
import { formatDuration, formatUsd } from './figures.ts';
import type { PlanEstimate, PlannerReason } from './planner-choice.ts';

/** Why the model plans, in words that follow its name. */
export function plannerReason(why: PlannerReason): string {
  switch (why) {
    case 'asked': return l10n.t('chosen for this question');
    case 'chosen': return l10n.t('your choice');
    case 'trained': return l10n.t('with what it learned here');
    case 'only': return l10n.t('the only one of your workers that can plan');
    case 'strongest': return l10n.t('the best planner for its price among your workers');
    case 'cheapest': return l10n.t('the cheapest planner among your workers');
    case 'free': return l10n.t('the largest of your workers that cost nothing');
    // Whoever reads it is told of the missing price beside it.
    case 'unpriced':
    case 'first': return l10n.t('the first of your workers');
    case 'none-can': return l10n.t('part of Conductor; none of your workers can plan');
    case 'simulated': return l10n.t('part of Conductor; the workers are simulated');
    case 'routing': return l10n.t('part of Conductor');
  }
}

/** What a plan will cost and how long it will take, as far as known. */
export function estimateWords({ usd, durationMs }: PlanEstimate): string[] {
  return [
    usd === undefined ? l10n.t('price not known')
    : usd === 0 ? l10n.t('costs nothing')
    : l10n.t('about {0} a plan', formatUsd(Number(usd.toPrecision(2)))),
    ...(durationMs === undefined ? [] : [l10n.t('about {0}', formatDuration(durationMs))]),
  ];
}
