import type { ComponentChildren } from 'preact';

/**
 * A sentence with elements in it, such as `fillSentence(l10n.t(…), <code>{command}</code>)`. The parts stand in for `{0}`, `{1}` and so
 * on, wherever a language puts them. All of them are given here and none to `l10n.t`: text of others may hold braces, too.
 */
export function fillSentence(sentence: string, ...parts: readonly ComponentChildren[]): ComponentChildren[] {
  return sentence.split(/\{(\d+)\}/).map((piece, index) => (index % 2 ? parts[Number(piece)] : piece));
}
