/** The exact value of a written number, in lowest terms; `denominator` > 0. */
export interface WrittenNumber {
  readonly numerator: bigint;
  readonly denominator: bigint;
  /** For a decimal: the number of decimal places and of significant digits. */
  readonly decimals?: { readonly places: number; readonly significant: number };
}

const MAX_CHARACTERS = 1_000;

const INTEGER = String.raw`\d+|\d{1,3}(?:,\d{3})+`;
const DECIMAL = new RegExp(String.raw`^([-+]*)(?:(${INTEGER})\.?|(${INTEGER})?\.(\d+))$`);
const FRACTION = new RegExp(
  `^([-+]*)(?:${[
    String.raw`\\frac\{([-+]?\d+)\}\{([-+]?\d+)\}`,
    String.raw`\\frac(\d)(\d)`,
    String.raw`\\frac\{(\d+)\}(\d)`,
    String.raw`\\frac(\d)\{(\d+)\}`,
    String.raw`(\d+)/(\d+)`,
    String.raw`\((-\d+)\)/(\d+)`,
  ].join('|')})$`,
);

/** Reads an integer (with or without thousands separators), a decimal or a fraction. Undefined for anything else. */
export function writtenNumber(latex: string): WrittenNumber | undefined {
  const text = latex.replaceAll(/(?<!\d)\s+|\s+(?!\d)/g, '');
  if (text.length > MAX_CHARACTERS) return undefined;
  const decimal = DECIMAL.exec(text);
  if (decimal) {
    const [, signs = '', whole, wholeBefore = '0', behind] = decimal;
    if (whole !== undefined) return inLowestTerms(signed(signs, BigInt(whole.replaceAll(',', ''))), 1n);
    const digits = behind ?? '';
    const all = wholeBefore.replaceAll(',', '') + digits;
    const number = inLowestTerms(signed(signs, BigInt(all)), 10n ** BigInt(digits.length));
    return number && { ...number, decimals: { places: digits.length, significant: all.replace(/^0+/, '').length } };
  }
  const fraction = FRACTION.exec(text);
  if (!fraction) return undefined;
  const [top, bottom] = fraction.slice(2).filter((part) => part !== undefined);
  return inLowestTerms(signed(fraction[1] ?? '', BigInt(top ?? '0')), BigInt(bottom ?? '1'));
}

const signed = (signs: string, value: bigint): bigint =>
  [...signs].filter((sign) => sign === '-').length % 2 === 1 ? -value : value;

function inLowestTerms(numerator: bigint, denominator: bigint): WrittenNumber | undefined {
  if (denominator === 0n) return undefined;
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator < 0n ? -denominator : denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  const divisor = denominator < 0n ? -a : a;
  return { numerator: numerator / divisor, denominator: denominator / divisor };
}

/** A decimal with at least this many significant digits may be a rounded value. */
export const MIN_SIGNIFICANT_DIGITS = 6;

/**
 * Whether two written numbers mean the same. Two decimals must be equal. A decimal of at least six significant digits also matches a
 * fraction that differs by at most one unit of its last digit.
 */
export function sameWrittenNumber(one: WrittenNumber, other: WrittenNumber): boolean {
  if (one.numerator === other.numerator && one.denominator === other.denominator) return true;
  const [decimal, exact] = one.decimals ? [one, other] : [other, one];
  if (!decimal.decimals || exact.decimals || exact.denominator === 1n) return false;
  if (decimal.decimals.significant < MIN_SIGNIFICANT_DIGITS || terminates(exact)) return false;
  const difference = decimal.numerator * exact.denominator - exact.numerator * decimal.denominator;
  const scaled = (difference < 0n ? -difference : difference) * 10n ** BigInt(decimal.decimals.places);
  return scaled <= decimal.denominator * exact.denominator;
}

/** Whether a fraction has a finite decimal form. Such a fraction has no rounded form. */
function terminates({ denominator }: WrittenNumber): boolean {
  let rest = denominator;
  for (const prime of [2n, 5n]) while (rest % prime === 0n) rest /= prime;
  return rest === 1n;
}
