import type { ComponentChildren } from 'preact';

/**
 * Fills elements into a sentence, as in `fillSentence(l10n.t(…), <code>{command}</code>)`. The parts replace `{0}`, `{1}` and so on in the
 * order of the translation. All parts are passed here and none to `l10n.t`, because inserted text may contain braces.
 */
export function fillSentence(sentence: string, ...parts: readonly ComponentChildren[]): ComponentChildren[] {
  return sentence.split(/\{(\d+)\}/).map((piece, index) => (index % 2 ? parts[Number(piece)] : piece));
}
