/**
 * Whether a program wrote the expected output, by LiveCodeBench's rule (`grade_stdio` in `lcb_runner/evaluation/testing_util.py`). Compares
 * line by line, without spaces around each line and around the whole. Different lines match if both consist of numbers that are equal as
 * decimals, to the last digit.
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
 * The same text for equal decimals: the significant digits and the power of ten of the last one. Undefined for other words. NaN equals
 * nothing.
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
