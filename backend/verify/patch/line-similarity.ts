const MAX_KNOWN = 20_000;
let words = new Map<string, ReadonlyMap<string, number>>();

/** How much two lines have in common, from 0 to 1: Dice's coefficient of their words and signs. */
export function similarity(a: string, b: string): number {
  const [inA, inB] = [wordsOf(a), wordsOf(b)];
  let [common, total] = [0, 0];
  for (const [word, count] of inA) {
    common += Math.min(count, inB.get(word) ?? 0) * weightOf(word);
    total += count * weightOf(word);
  }
  for (const [word, count] of inB) total += count * weightOf(word);
  return total === 0 ? 0 : (2 * common) / total;
}

/** Signs say less than words. */
const weightOf = (word: string): number => (/[\p{L}\d]/u.test(word) ? 1 : 0.3);

function wordsOf(line: string): ReadonlyMap<string, number> {
  const known = words.get(line);
  if (known) return known;
  if (words.size > MAX_KNOWN) words = new Map();
  const counts = new Map<string, number>();
  for (const [word] of line.slice(0, 1_000).matchAll(/[\p{L}\d_]+|[^\s\p{L}\d_]/gu)) counts.set(word, (counts.get(word) ?? 0) + 1);
  words.set(line, counts);
  return counts;
}
