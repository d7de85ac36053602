import * as l10n from '@vscode/l10n';
import { formatDuration, formatUsd } from './figures.ts';
import type { LocalRecord, NoTry } from './local-first.ts';

/** Such as `tried 12 questions here, 5 verified`, `about $0.40 saved` and `about 40 s a try`. */
export function localRecordWords({ tried, verified, durationMs, saved }: LocalRecord): string[] {
  if (tried === 0) return [l10n.t('no question tried in this project yet')];
  return [
    tried === 1 ? l10n.t('1 question tried in this project, {0} verified', verified) : l10n.t('{0} questions tried in this project, {1} verified', tried, verified),
    ...savedWords(verified, saved),
    ...(durationMs === undefined ? [] : [l10n.t('about {0} a try', formatDuration(durationMs))]),
  ];
}

function savedWords(verified: number, saved: LocalRecord['saved']): string[] {
  if (verified === 0) return [];
  return [saved ? l10n.t('about {0} saved', formatUsd(Number(saved.usd.toPrecision(2)))) : l10n.t('what that saved is not known yet: too few paid runs to compare with')];
}

/** Why nobody tried first, as a sentence. */
export function noTryWords(because: NoTry): string {
  switch (because) {
    case 'no-tests': return l10n.t('Nobody tried first at no cost: no tests would judge the try.');
    case 'no-result': return l10n.t('Nobody tried first at no cost: the tests give no result on the code as it is.');
    case 'nothing-red': return l10n.t('Nobody tried first at no cost: all tests pass already, so none could verify the try.');
    case 'no-change': return l10n.t('Nobody tried first at no cost: the question asks for no change.');
    case 'nobody-free': return l10n.t('Nobody tried first at no cost: none of the workers costs nothing.');
    case 'nobody-paid': return l10n.t('Nobody tried first: no worker of this run costs money.');
  }
}
