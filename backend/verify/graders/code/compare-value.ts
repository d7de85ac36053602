/**
 * Whether a function returned the expected value, both as JSON, by the rule of Python's `==`, as in LiveCodeBench (`grade_call_based` in
 * `lcb_runner/evaluation/testing_util.py`). Numbers compare by their exact value, so 2 equals 2.0 and true equals 1. The order of an
 * object's keys does not matter. Text that is not JSON equals nothing.
 */
export function sameValue(expected: string, returned: string): boolean {
  const [one, other] = [parseExactly(expected), parseExactly(returned)];
  return one !== undefined && other !== undefined && same(one.value, other.value);
}

/** Whether a text can be an expected result. */
export const isComparable = (json: string): boolean => parseExactly(json) !== undefined;

/** Replaces NaN, which equals no number, where JSON allows only a number. No program writes zero like this. */
const NOT_A_NUMBER = '0e99999';

/** A number as written, because `JSON.parse` would round large numbers. */
class NumberText {
  readonly value: bigint | number;

  constructor(source: string) {
    const rounded = source === NOT_A_NUMBER ? Number.NaN : Number(source);
    if (/^-?\d+$/.test(source)) this.value = BigInt(source);
    else this.value = Number.isInteger(rounded) ? BigInt(rounded) : rounded;
  }
}

/** Python's JSON also has these three numbers. Strings are matched too, so that their contents stay unchanged. */
const BEYOND_JSON = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/gs;

function parseExactly(json: string): { readonly value: unknown } | undefined {
  const finite = json.replaceAll(BEYOND_JSON, (token) =>
    token.startsWith('"') ? token : token === 'NaN' ? NOT_A_NUMBER : token.startsWith('-') ? '-1e999' : '1e999',
  );
  try {
    const revive = (_key: string, value: unknown, context?: { readonly source?: string }): unknown =>
      typeof value === 'number' ? new NumberText(context?.source ?? String(value)) : value;
    return { value: JSON.parse(finite, revive as Parameters<typeof JSON.parse>[1]) as unknown };
  } catch {
    return undefined;
  }
}

function same(one: unknown, other: unknown): boolean {
  const [a, b] = [numberOf(one), numberOf(other)];
  if (a !== undefined || b !== undefined) return a === b;
  if (Array.isArray(one)) {
    return Array.isArray(other) && one.length === other.length && one.every((item, index) => same(item, other[index]));
  }
  if (isRecord(one)) {
    if (!isRecord(other)) return false;
    const keys = Object.keys(one);
    return (
      keys.length === Object.keys(other).length && keys.every((key) => Object.hasOwn(other, key) && same(one[key], other[key]))
    );
  }
  return one === other;
}

function numberOf(value: unknown): bigint | number | undefined {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return value instanceof NumberText ? value.value : undefined;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof NumberText);
