/*
 * Why a piece is sent, in a few words. A piece is put together from parts that were found for reasons of their own.
 */

/** Maximum number of reasons shown for a piece. */
const MAX_REASONS = 3;
const MAX_WORDS = 3;
const HAS = 'has ';
const BESIDE = 'beside what was found';

/** Such as `has merge, inner`. */
export function foundWords(words: readonly string[]): string {
  return words.length === 0 ? BESIDE : `${HAS}${[...new Set(words)].slice(0, MAX_WORDS).join(', ')}`;
}

/** What is known for certain first, then the words of all parts; that a part lies beside others only where nothing else is said. */
export function briefReason(reasons: readonly string[]): string {
  const isFound = (reason: string): boolean => reason.startsWith(HAS);
  const known = reasons.filter((reason) => !isFound(reason) && reason !== BESIDE).slice(0, MAX_REASONS);
  const words = reasons.filter(isFound).flatMap((reason) => reason.slice(HAS.length).split(', '));
  const more = words.length > 0 && known.length < MAX_REASONS ? [foundWords(words)] : [];
  return [...known, ...more].join('; ') || (reasons.includes(BESIDE) ? BESIDE : '');
}
