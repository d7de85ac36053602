import * as l10n from '@vscode/l10n';
import { formatUsd } from './figures.ts';
import type { PriceOrigin } from './price-origin.ts';

/** A known price in words, with where it comes from and of which day it is. In dollars for a million tokens. */
export function priceWords({ inputPerMillion, outputPerMillion, origin }: { readonly inputPerMillion: number; readonly outputPerMillion: number; readonly origin: PriceOrigin }): string {
  if (origin.list === 'free') return l10n.t('costs nothing');
  return l10n.t('{0} in, {1} out for a million tokens ({2})', formatUsd(inputPerMillion), formatUsd(outputPerMillion), originWords(origin));
}

function originWords({ list, asOf = '', name = '' }: PriceOrigin): string {
  switch (list) {
    case 'worker': return l10n.t('your workers.json');
    case 'file': return l10n.t('your prices.json of {0}', asOf);
    case 'conductor': return l10n.t('list of Conductor, {0}', asOf);
    case 'catalogue': return l10n.t('{0}, {1}', name, asOf);
    case 'free': return l10n.t('costs nothing');
  }
}
