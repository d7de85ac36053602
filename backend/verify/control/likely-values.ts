import { pick, type Dice } from './dice.ts';

/* Other values that are written like the original and look as likely: a number of as many digits, a text of the same kind of signs. */

const OTHER_DIGITS = ['0123456789', '0123456789abcdef', '0123456789ABCDEF'];

const digitsLike = (digit: string): string => OTHER_DIGITS.find((digits) => digits.includes(digit)) ?? '0123456789';

/**
 * Another number in the notation of this one, of no larger type; undefined for a notation that is unknown. A fraction, and any number compared with a
 * `tolerance`, is changed by half of it or more. Undefined if the tolerance (absolute) may still be met.
 */
export function otherNumber(text: string, dice: Dice, tolerance?: number): string | undefined {
  const [, prefix = ''] = /^(0[xob]|0(?=[0-7_]+$))[\da-f_]+n?$/i.exec(text) ?? [];
  if (prefix !== '') {
    const places = [...text.matchAll(/[\da-f]/gi)].map(({ index }) => index).filter((index) => index >= prefix.length);
    const digits = /x/i.test(prefix) ? undefined : /b/i.test(prefix) ? '01' : '01234567';
    return tolerance === undefined ? withOtherDigit(text, places, dice, () => digits) : undefined;
  }
  if (!/^(?:\d[\d_]*)?\.?[\d_]*(?:e[+-]?\d+)?n?$/i.test(text)) return undefined;
  const exponent = text.search(/e/i);
  const places = [...text.matchAll(/\d/g)].map(({ index }) => index).filter((index) => exponent < 0 || index < exponent);
  // A number does not begin with a zero.
  if (/^[\d_]+n?$/.test(text) && tolerance === undefined) return withOtherDigit(text, places, dice, (place) => (place === places[0] && places.length > 1 ? '123456789' : undefined));
  const leading = places.find((index) => text[index] !== '0') ?? places[0];
  if (leading === undefined) return undefined;
  const digit = Number(text[leading]);
  const digits = [...'123456789'].filter((other) => digit === 0 || Number(other) >= 2 * digit || 2 * Number(other) <= digit).join('');
  const other = withOtherDigit(text, [leading], dice, () => digits);
  return other !== undefined && Math.abs(valueOf(other) - valueOf(text)) > 2 * (tolerance ?? 0) ? other : undefined;
}

const plain = (text: string): string => text.replaceAll('_', '').replace(/n$/, '');
const valueOf = (text: string): number => Number(plain(text));

/** The largest numbers of the types of integers, and the sizes of their smallest ones. */
const LARGEST = [8n, 16n, 32n, 64n, 128n].flatMap((bits) => [2n ** (bits - 1n) - 1n, 2n ** (bits - 1n), 2n ** bits - 1n]);
const LARGEST_FLOATS = [3.4028234663852886e38, Number.MAX_VALUE];

/** Whether a type holds one number and not the other, so that altered code may not compile. */
function needsLargerType(other: string, text: string): boolean {
  if (!/^(?:0[xob][\da-f_]+|[\d_]+)n?$/i.test(text)) return LARGEST_FLOATS.some((largest) => valueOf(text) <= largest && valueOf(other) > largest);
  const [before, after] = [BigInt(plain(text)), BigInt(plain(other))];
  return LARGEST.some((largest) => before <= largest && after > largest);
}

/** With another digit at one of these places. */
function withOtherDigit(text: string, places: readonly number[], dice: Dice, digitsAt: (place: number) => string | undefined): string | undefined {
  for (const place of shuffled(places, dice)) {
    const digit = text.charAt(place);
    const others = [...(digitsAt(place) ?? digitsLike(digit))].filter((other) => other !== digit).map((other) => text.slice(0, place) + other + text.slice(place + 1));
    const other = pick(others.filter((each) => !needsLargerType(each, text)), dice);
    if (other !== undefined) return other;
  }
  return undefined;
}

/** A number that nothing in a test is likely to equal. */
export const anyNumber = (dice: Dice): string => String(10_000 + dice(90_000));

/** A backslash with what belongs to it, or a single character. */
const TOKENS = /\\(?:u\{[^}]*\}|u[\da-f]{4}|U[\da-f]{8}|x[\da-f]{2}|N\{[^}]*\}|[0-7]{1,3}|[\s\S])|[\s\S]/gi;

const CLASSES = ['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789'];
const SIGNS = '-_.:;,/+*#@=!?';

/** Another text of the same length and alphabet, as it is written between quotes. `every` changes all letters and digits of it. */
export function otherText(written: string, dice: Dice, { every = false } = {}): string {
  const tokens = written.match(TOKENS) ?? [];
  const places = tokens.flatMap((token, index) => (CLASSES.some((signs) => token.length === 1 && signs.includes(token)) ? [index] : []));
  const changed = every ? places : shuffled(places, dice).slice(0, Math.ceil(places.length / 3));
  if (changed.length > 0) return changedAt(tokens, changed, CLASSES, dice);
  const sign = tokens.findIndex((token) => token.length === 1 && SIGNS.includes(token));
  return sign < 0 ? written + (pick([...(CLASSES[0] ?? '')], dice) ?? '') : changedAt(tokens, [sign], [SIGNS], dice);
}

function changedAt(tokens: readonly string[], places: readonly number[], alphabets: readonly string[], dice: Dice): string {
  const chosen = new Set(places);
  const other = (token: string): string => {
    const alphabet = alphabets.find((signs) => signs.includes(token)) ?? '';
    return pick([...alphabet].filter((sign) => sign !== token), dice) ?? token;
  };
  return tokens.map((token, index) => (chosen.has(index) ? other(token) : token)).join('');
}

function shuffled(places: readonly number[], dice: Dice): readonly number[] {
  const left = [...places];
  return places.map(() => left.splice(dice(left.length), 1)[0] ?? 0);
}
