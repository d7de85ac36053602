/**
 * Whether a function returned what was expected, both as JSON, by the rule of Python's `==`, which LiveCodeBench compares with
 * (`grade_call_based` in `lcb_runner/evaluation/testing_util.py`): numbers by their exact value, so that 2 equals 2.0 and true
 * equals 1, and the order of an object's keys does not count. Text that is not JSON equals nothing.
 */
export function sameValue(expected: string, returned: string): boolean {
  const [one, other] = [parseExactly(expected), parseExactly(returned)];
  return one !== undefined && other !== undefined && same(one.value, other.value);
}

/** Whether a text can be an expected result. */
export const isComparable = (json: string): boolean => parseExactly(json) !== undefined;

/** Stands for NaN, which no number equals, in a place where only a number can stand; nobody writes a zero so. */
const NOT_A_NUMBER = '0e99999';

/** Numbers as written: `JSON.parse` would round the large ones. */
class NumberText {
  readonly value: bigint | number;

  constructor(source: string) {
    const rounded = source === NOT_A_NUMBER ? Number.NaN : Number(source);
    if (/^-?\d+$/.test(source)) this.value = BigInt(source);
    else this.value = Number.isInteger(rounded) ? BigInt(rounded) : rounded;
  }
}

/** Python writes and reads these three beside JSON. Strings are matched so that what is inside them stays. */
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
