/*
 * What a code block may have that does not belong to the code: line numbers that were copied along, and signs written as HTML entities.
 */

const NUMBERED = /^\s*(\d{1,6})(?:\s?[|│:]\s?|\s*→|\t|\s{2})(.*)$|^\s*(\d{1,6})\s*[|│:→]?\s*$/;

/** The lines without their numbers, if all lines with text have one and the numbers ascend. */
export function withoutLineNumbers(lines: readonly string[]): readonly string[] | undefined {
  let last = -1;
  let count = 0;
  const bare: string[] = [];
  for (const line of lines) {
    if (line.trim() === '') {
      bare.push(line);
      continue;
    }
    const match = NUMBERED.exec(line);
    // A line that says that something was left out has no number.
    if (!match) {
      if (count > 0 && /^\s*\W{0,4}\s*(?:\.{3}|…)/.test(line)) {
        bare.push(line);
        continue;
      }
      return undefined;
    }
    const number = Number(match[1] ?? match[3]);
    if (number <= last) return undefined;
    last = number;
    count += 1;
    bare.push(match[2] ?? '');
  }
  return count >= 2 || (count === 1 && bare.some((line) => line.trim() !== '')) ? bare : undefined;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", apos: "'", '#x27': "'", '#34': '"', amp: '&' };

/** The text with HTML's entities as signs; undefined if it has none. */
export function withoutEntities(text: string): string | undefined {
  const plain = text.replaceAll(/&(lt|gt|quot|apos|amp|#39|#x27|#34);/g, (whole, name: string) => ENTITIES[name] ?? whole);
  return plain === text ? undefined : plain;
}
