/**
 * Whether a program wrote what was expected, by LiveCodeBench's rule (`grade_stdio` in `lcb_runner/evaluation/testing_util.py`):
 * line by line without the spaces around each and around the whole; lines that differ are the same where both are numbers only
 * and those are equal as decimals, to the last digit.
 */
export function sameOutput(expected: string, written: string): boolean {
  const [ones, others] = [strippedLines(expected), strippedLines(written)];
  return ones.length === others.length && ones.every((line, index) => sameLine(line, others[index] ?? ''));
}

const strippedLines = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim());

function sameLine(one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [one.split(/\s+/), other.split(/\s+/)];
  return a.length === b.length && a.every((word, index) => sameDecimal(word, b[index] ?? ''));
}

function sameDecimal(one: string, other: string): boolean {
  const [a, b] = [canonicalDecimal(one), canonicalDecimal(other)];
  return a !== undefined && a === b;
}

/**
 * One way of writing for equal decimals: the digits that count and the power of ten of the last one. Undefined for other words.
 * Not-a-number equals nothing.
 */
function canonicalDecimal(word: string): string | undefined {
  const [, sign = '', whole = '', behind = '', exponent = '0'] =
    /^([-+]?)(?=\d|\.\d)(\d*)(?:\.(\d*))?(?:[eE]([-+]?\d{1,9}))?$/.exec(word) ?? [];
  if (whole + behind === '') {
    const infinite = /^([-+]?)inf(?:inity)?$/i.exec(word);
    return infinite ? `${infinite[1] === '-' ? '-' : ''}infinity` : undefined;
  }
  const digits = (whole + behind).replace(/^0+/, '');
  const counting = digits.replace(/0+$/, '');
  if (counting === '') return '0';
  return `${sign === '-' ? '-' : ''}${counting}e${Number(exponent) - behind.length + digits.length - counting.length}`;
}
