import * as l10n from '@vscode/l10n';
import { formatTokens, formatUsd } from './figures.ts';
import type { Range, WorkEstimate } from './work-estimate.ts';

/* What a plan is expected to cost, in words for people. */

/** Such as `about $0.012 to $0.04`; `unknown` where a price is not known. */
export function costWords({ usd }: { readonly usd?: Range | undefined }): string {
  if (usd === undefined) return l10n.t('unknown');
  if (usd.high === 0) return l10n.t('costs nothing');
  return about(usd, (value) => formatUsd(Number(value.toPrecision(2))));
}

/** Such as `about 4k to 12k tokens`. */
export function tokenWords({ tokens }: { readonly tokens: Range }): string {
  return l10n.t('{0} tokens', about(tokens, formatTokens));
}

/** Two ends that read the same are one number. */
function about({ low, high }: Range, format: (value: number) => string): string {
  const [from, to] = [format(low), format(high)];
  return from === to ? l10n.t('about {0}', to) : l10n.t('about {0} to {1}', from, to);
}

/** Where the estimate comes from, and what it does not know; one sentence each. */
export function estimateReasons({ steps, unpriced, left, usd, tokens }: WorkEstimate): string[] {
  const withRecord = steps.filter(({ from }) => from !== 'limits').length;
  return [
    unpriced.length > 0 ? l10n.t('What {0} will cost is not known.', unpriced.join(', '))
    : usd?.high === 0 ? l10n.t('Its workers cost nothing.')
    : withRecord === steps.length ? l10n.t('From what such steps cost in this project.')
    : withRecord === 0 ? l10n.t('This project has no record of such steps yet: the higher number is the most that they may cost.')
    : l10n.t('This project has a record of {0} of {1} steps; for the others the higher number is the most that they may cost.', withRecord, steps.length),
    ...(usd && usd.high > left.usd ? [l10n.t('The budget holds {0} more: the run may stop at its limit, and can go on with a higher one.', formatUsd(left.usd))]
      : unpriced.length > 0 && tokens.high > left.tokens
        ? [l10n.t('The budget holds {0} more tokens: the run may stop at its limit, and can go on with a higher one.', formatTokens(left.tokens))] : []),
  ];
}
