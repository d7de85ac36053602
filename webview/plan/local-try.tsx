import * as l10n from '@vscode/l10n';
import type { JSX } from 'preact';
import { localRecordWords } from '../../backend/protocol/local-first-words.ts';
import type { LocalRecord } from '../../backend/protocol/local-first.ts';

/** What the round is in which a worker that costs nothing tries, with how such tries turned out before. */
export function LocalTry({ record }: { readonly record: LocalRecord }): JSX.Element {
  return (
    <p class="quiet planned-by">
      {l10n.t('Tried first, because it costs nothing')}
      {localRecordWords(record).map((words) => <> · <span class="whole">{words}</span></>)}
    </p>
  );
}
