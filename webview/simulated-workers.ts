import * as l10n from '@vscode/l10n';
import { list } from './language.ts';

/** A sentence that names the simulated workers; undefined if all are real. */
export function simulatedSentence(workers: readonly { readonly id: string; readonly simulated: boolean }[]): string | undefined {
  const names = [...new Set(workers.filter(({ simulated }) => simulated).map(({ id }) => id))];
  if (names.length === 0) return undefined;
  return names.length === 1
    ? l10n.t('Simulated: {0} answers from a simulator, not from a real model.', list(names))
    : l10n.t('Simulated: {0} answer from a simulator, not from a real model.', list(names));
}
