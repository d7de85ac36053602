import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import type { Estimate } from '../../backend/protocol/training.ts';
import { fillSentence } from '../fill-sentence.ts';

/** After less before, with its interval and how often chance alone gives as much, or with an interval that holds however often one looks. @param figure writes a number, `inUnits` names its unit */
export function Difference({ difference, pValue, figure, inUnits }: {
  readonly difference: Estimate;
  readonly pValue?: number;
  readonly figure: (value: number) => string;
  readonly inUnits: (figure: string) => string;
}): JSX.Element {
  return (
    <p>
      {fillSentence(
        pValue === undefined
          ? l10n.t('Difference {0}, 95 % confidence interval {1} to {2}, however often one looks.')
          : l10n.t('Difference {0}, 95 % confidence interval {1} to {2}, p = {3}.'),
        <strong>{inUnits(figure(difference.mean))}</strong>,
        figure(difference.low), figure(difference.high), ...(pValue === undefined ? [] : [pValue < 0.001 ? '<0.001' : pValue.toFixed(3)]),
      )}
    </p>
  );
}
