import * as l10n from '@vscode/l10n';
import { formatDuration, formatUsd } from './figures.ts';
import type { Records, Tally, WorkerStanding } from './records.ts';
import type { StepRole } from './step-role.ts';

/* The table of records in words, as people read it. docs/decisions/0028 says how it is counted. */

/** Stands where a figure is not known. */
const UNKNOWN = '–';

export const percent = (share: number): string => l10n.t('{0} %', Math.round(100 * share));

/** What tests said, and what it cost and took. */
export function tallyCells({ verified, answers, share, usdPerVerified, usdPerAnswer, msPerAnswer }: Tally) {
  return {
    verified: l10n.t('{0} of {1}', verified, answers),
    interval: share ? l10n.t('{0} to {1} %', Math.round(100 * share.low), Math.round(100 * share.high)) : UNKNOWN,
    usdPerVerified: usdPerVerified === undefined ? UNKNOWN : formatUsd(usdPerVerified),
    usdPerAnswer: usdPerAnswer === undefined ? UNKNOWN : formatUsd(usdPerAnswer),
    time: msPerAnswer === undefined ? UNKNOWN : formatDuration(msPerAnswer),
  };
}

/**
 * What the table says to the question who earns their price, in sentences. It is about enabled workers only, and says nothing with fewer than two
 * that tests have judged.
 */
export function whoEarnsTheirPrice({ workers }: Pick<Records, 'workers'>): string[] {
  const judged = workers.filter(({ isInPool, total }) => isInPool && total.share !== undefined);
  const [best, next] = judged;
  if (!best || !next) return [];
  const [cheapest] = judged.filter(hasPrice).toSorted((a, b) => a.total.usdPerVerified - b.total.usdPerVerified);
  return [
    ...(cheapest ? [l10n.t('A verified answer costs least with {0}: {1}.', cheapest.worker, formatUsd(cheapest.total.usdPerVerified))] : []),
    ...(percent(best.expected) === percent(next.expected) ? [] : [best.worker === cheapest?.worker ? l10n.t('It is also expected to be right most often: {0}.', percent(best.expected)) : mostRight(best)]),
    ...(overlap(best, next)
      ? [l10n.t('The intervals of {0} and {1} overlap: it is not known yet which of them is right more often.', best.worker, next.worker)]
      : []),
  ];
}

function mostRight({ worker, expected, total: { usdPerVerified } }: WorkerStanding): string {
  return usdPerVerified === undefined
    ? l10n.t('{0} is expected to be right most often: {1}.', worker, percent(expected))
    : l10n.t('{0} is expected to be right most often: {1}, at {2} for each verified answer.', worker, percent(expected), formatUsd(usdPerVerified));
}

type Priced = WorkerStanding & { readonly total: { readonly usdPerVerified: number } };
const hasPrice = (standing: WorkerStanding): standing is Priced => standing.total.usdPerVerified !== undefined;

/** Whether either share may be the higher one. */
function overlap({ total: { share: a } }: WorkerStanding, { total: { share: b } }: WorkerStanding): boolean {
  return a !== undefined && b !== undefined && a.low <= b.high && b.low <= a.high;
}

export function roleWord(role: StepRole): string {
  switch (role) {
    case 'plan': return l10n.t('planning');
    case 'write': return l10n.t('writing');
    case 'check': return l10n.t('checking');
  }
}

/** The kind of a question, such as `bug`; one that is not known here stands as it is. */
export function kindWord(kind: string): string {
  switch (kind) {
    case 'explain': return l10n.t('explanation');
    case 'why': return l10n.t('why');
    case 'how-to': return l10n.t('how-to');
    case 'feature': return l10n.t('feature');
    case 'write': return l10n.t('new code');
    case 'bug': return l10n.t('bug');
    case 'refactor': return l10n.t('refactoring');
    case 'tests': return l10n.t('tests');
    case 'performance': return l10n.t('performance');
    case 'review': return l10n.t('review');
    case 'documentation': return l10n.t('documentation');
    case 'build': return l10n.t('build');
    case 'small-talk': return l10n.t('small talk');
    case 'unclear': return l10n.t('other questions');
    default: return kind;
  }
}
