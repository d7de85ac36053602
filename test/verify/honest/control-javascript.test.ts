import { describe, it } from 'vitest';
import { trySandbox } from '../setup.ts';
import { expectHonest, installed, TIMEOUT_MS, type HonestFix } from './setup.ts';

const { available, note } = await trySandbox();

const BROKEN = `export const twice = (value) => value;
export const later = async (value) => twice(value);
export const odd = (value) => value;
`;
const CALC = `export const twice = (value) => (Array.isArray(value) ? [...value, ...value] : value + value);
export const later = async (value) => twice(value);
export function odd(value) {
  if (value % 2 === 0) throw new RangeError(\`not odd: \${value}\`);
  return value;
}
`;

const HELPERS = `import assert from 'node:assert';
export const check = (found, expected) => assert.equal(found, expected, \`\${found} is not \${expected}\`);
export const matches = (predicate) => ({ asymmetricMatch: predicate, toString: () => 'matches' });
`;

/** Tests of which an expectation, altered in a simple way, would hold all the same, or would never be come to. */
const NODE_TESTS = `
import assert, { AssertionError } from 'node:assert/strict';
import loose, { ok } from 'node:assert';
import { describe, it, mock, test } from 'node:test';
import { later, odd, twice } from '../src/calc.js';
import { check } from '../src/helpers.js';

const EXPECTED = { one: 2, two: 4 };

test('forms', () => {
  assert(twice(1) === 2);
  assert.ok(twice(2) > 3, 'four');
  ok(twice(3) !== 3);
  assert.equal(twice(1), 2);
  loose.equal(twice(2), '4');
  assert.notEqual(twice(1), 1);
  assert.deepEqual(twice([1]), [1, 1]);
  assert.notDeepEqual(twice([1]), [1]);
  assert.match(twice('ab'), /b.*b$/);
  assert.doesNotMatch(twice('ab'), /^ab$/);
  assert.deepStrictEqual(new Map([[twice(1), new Set([twice(2)])]]), new Map([[2, new Set([4])]]));
  assert.strictEqual(Number.isNaN(twice(NaN)), true);
  assert.ifError(twice(1) === 2 ? null : new Error('not two'));
  assert.doesNotThrow(() => check(twice(1), 2));
  assert.partialDeepStrictEqual({ a: twice(1), b: 2 }, { a: 2 });
});

test('errors', async () => {
  assert.throws(() => odd(2), RangeError);
  assert.throws(() => odd(2), /not odd: 2/);
  assert.throws(() => odd(4), { name: 'RangeError', message: 'not odd: 4' });
  assert.throws(() => odd(6), (error) => error instanceof RangeError && error.message.endsWith('6'));
  await assert.rejects(later(1).then((value) => odd(value)), /not odd/);
  await assert.rejects(async () => odd(await later(1)));
  await assert.doesNotReject(later(1));
});

test('expects an assertion to fail', () => {
  assert.throws(() => assert.equal(twice(1), 1), AssertionError);
  assert.throws(() => check(twice(1), 5), /2 is not 5/);
});

test('catches an assertion', () => {
  try {
    assert.equal(twice(1), 1);
  } catch (error) {
    assert.ok(error instanceof AssertionError);
    return;
  }
  throw new Error('one is not twice one');
});

test('tries until it holds', async () => {
  for (let attempt = 0; ; attempt += 1) {
    try {
      assert.equal(twice(attempt), 6);
      assert.ok(attempt < 6);
      break;
    } catch (error) {
      if (attempt > 4) throw error;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
});

test('returns early', () => {
  for (const number of [1, 2, 3]) {
    if (number === 2) return assert.equal(twice(number), 4);
  }
});

test('side effects', () => {
  const numbers = [1, 2, 3].map(twice);
  assert.equal(numbers.shift(), 2);
  assert.equal(numbers.shift(), 4);
  assert.ok(numbers.pop() === 6 && numbers.length === 0);
});

test('in no iteration', () => {
  for (let index = 0; index < twice(0); index += 1) assert.equal(index, -1);
  if (twice(1) === 3) assert.fail('three');
  assert.equal(twice(5), 10);
});

test('without an assertion', () => { if (twice(2) !== 4) throw new Error('not four'); });
test('by a helper', () => check(twice(2), 4));
test('by a function of its own', () => {
  const expectTwice = (number) => assert.equal(twice(number), number * 2);
  [1, 2].forEach(expectTwice);
});
test('as an expression', () => assert.equal(twice(1), 2));
test('as a promise', () => later(1).then((value) => assert.equal(value, 2)));
test('awaits', async () => { assert.equal(await later(1), 2); });
test('in a callback', (t, done) => { later(1).then((value) => { assert.equal(value, 2); done(); }).catch(done); });
test('in a listener', async () => {
  const target = new EventTarget();
  const seen = new Promise((resolve, reject) => target.addEventListener('x', () => {
    try { assert.equal(twice(1), 2); resolve(); } catch (error) { reject(error); }
  }));
  target.dispatchEvent(new Event('x'));
  await seen;
});
test('with a plan', (t) => {
  t.plan(2);
  t.assert.equal(twice(1), 2);
  t.assert.deepEqual([twice(2)], [4]);
});
test('mocks', () => {
  const called = mock.fn(twice);
  called(1);
  assert.equal(called.mock.callCount(), 1);
  assert.deepEqual(called.mock.calls[0].result, 2);
});
test('both sides', () => assert.equal(twice(twice(1)) - twice(1), twice(1)));
test('a round trip', () => { const data = { n: twice(1) }; assert.deepEqual(JSON.parse(JSON.stringify(data)), data); assert.equal(data.n, 2); });
test('tolerance', () => { assert.ok(Math.abs(twice(0.1) - 0.2) < 1e-9); assert.ok(twice(100) >= 150); });

for (const [name, expected] of Object.entries(EXPECTED)) test(\`of a table: \${name}\`, () => assert.equal(twice(name.length === 3 && name === 'one' ? 1 : 2), expected));

describe('nested', () => {
  const cases = [{ given: 1, expected: 2 }, { given: 3, expected: 6 }];
  for (const { given, expected } of cases) {
    describe(\`\${given}\`, () => {
      it('is doubled', () => { assert.equal(twice(given), expected); });
    });
  }
  it('has subtests', async (t) => {
    for (const number of [1, 2]) await t.test(String(number), () => { assert.equal(twice(number), number + number); });
  });
});
`;

const nodeNames = [
  ...[...NODE_TESTS.matchAll(/^test\('([^']+)'/gm)].map(([, name]) => name),
  ...['of a table: one', 'of a table: two', 'nested > 1 > is doubled', 'nested > 3 > is doubled', 'nested > has subtests'],
  ...['nested > has subtests > 1', 'nested > has subtests > 2'],
];

const NODE: HonestFix = {
  files: { 'package.json': '{"type":"module"}', 'src/calc.js': BROKEN, 'src/helpers.js': HELPERS, 'test/calc.test.js': NODE_TESTS },
  fix: { 'src/calc.js': CALC },
  command: 'node --test',
  mended: nodeNames.map((name) => `test/calc.test.js > ${name}`),
};

const VITEST_TESTS = `
import { assert, beforeEach, describe, expect, it, should, test, vi } from 'vitest';
import { later, odd, twice } from '../src/calc.js';
import { check, matches } from '../src/helpers.js';

should();
let seen = [];
beforeEach(() => { seen = [twice(1)]; });

it('matches anything', () => {
  expect(twice(1)).toEqual(expect.anything());
  expect({ id: 7, value: twice(1), list: [1, twice(2)] }).toEqual({ id: expect.any(Number), value: 2, list: expect.arrayContaining([4]) });
  expect({ a: twice(1), b: 1 }).toMatchObject({ a: 2 });
  expect({ a: twice(1) }).toMatchObject({});
  expect([twice(1), 'x']).toEqual([2, expect.stringMatching(/./)]);
  expect(twice(1)).toEqual(matches(() => true));
  expect(twice(2)).toSatisfy((value) => value > 3);
});

it('has many forms', () => {
  expect(twice(1)).toBe(2);
  expect(twice(1)).not.toBe(1);
  expect(twice(100)).toBeGreaterThan(150);
  expect(twice(100)).toBeLessThanOrEqual(1e9);
  expect(twice(100)).toBeCloseTo(210, -2);
  expect(twice(0.1)).toBeCloseTo(0.2);
  expect(twice('ab')).toMatch(/ab/);
  expect(twice('ab')).toMatch('bab');
  expect(twice('ab')).toContain('ba');
  expect(twice([1])).toContain(1);
  expect(twice([1])).toHaveLength(2);
  expect({ a: { b: twice(1) } }).toHaveProperty('a.b', 2);
  expect({ a: { b: twice(1) } }).toHaveProperty('a.b');
  expect(twice(1)).toBeTruthy();
  expect(twice(0)).toBeFalsy();
  expect(twice(NaN)).toBeNaN();
  expect(twice(1)).toBeDefined();
  expect(twice(1) === 2 ? null : 1).toBeNull();
  expect([undefined][twice(0)]).toBeUndefined();
  expect(twice(1)).toBeTypeOf('number');
  expect(twice([])).toBeInstanceOf(Array);
  expect([1, 2, 4]).toContain(twice(2));
  expect([2, 3]).toContainEqual(twice(1));
  expect(twice(1)).toBeOneOf([2, 3]);
  expect(twice(1), 'with a message').toStrictEqual(2);
  expect(twice('x')).toMatchInlineSnapshot('"xx"');
  expect(twice([1])).toMatchInlineSnapshot(\`
    [
      1,
      1,
    ]
  \`);
});

it('asserts in the style of chai', () => {
  assert.equal(twice(1), 2);
  assert.isTrue(twice(1) === 2);
  assert.deepEqual(twice([1]), [1, 1]);
  expect(twice(1)).to.equal(2);
  expect(twice([1])).to.have.lengthOf(2).and.to.include(1);
  expect(twice(1)).to.be.a('number').that.is.above(1);
  twice(1).should.equal(2);
});

it('expects an assertion to fail', () => {
  expect(() => expect(twice(1)).toBe(1)).toThrow();
  expect(() => check(twice(1), 5)).toThrow(/2 is not 5/);
  expect(() => odd(2)).toThrow(RangeError);
  expect(() => odd(2)).toThrowError('not odd');
  expect(() => odd(4)).toThrow(new RangeError('not odd: 4'));
});

it('waits', async () => {
  let count = 0;
  await vi.waitFor(() => { count += 1; expect(twice(count)).toBe(6); });
  expect(count).toBe(3);
  await expect.poll(() => twice((count += 1))).toBeGreaterThan(8);
  await vi.waitUntil(() => twice(count) > 8);
});

it('is counted', async () => {
  expect.assertions(2);
  await expect(later(1)).resolves.toBe(2);
  await expect(later(2).then(odd)).rejects.toThrow('not odd: 4');
});
it('has one', () => { expect.hasAssertions(); expect(twice(1)).toBe(2); });
it('is soft', () => { expect.soft(twice(1)).toBe(2); expect.soft(twice(2)).toBe(4); });
it('tries until it holds', () => {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    try { expect(twice(attempt)).toBe(18); return; } catch { continue; }
  }
  expect.unreachable('never');
});
it('mocks', () => {
  const called = vi.fn(twice);
  called(1, { any: 'x' });
  expect(called).toHaveBeenCalledWith(1, expect.anything());
  expect(called).toHaveBeenCalledOnce();
  expect(called).toHaveReturnedWith(2);
  expect(called.mock.results[0].value).toBe(2);
  expect(called).not.toHaveBeenCalledWith(2);
  expect(called).toHaveBeenLastCalledWith(expect.any(Number), { any: expect.any(String) });
});
it('by a helper', () => check(twice(2), 4));
it('by a value of a hook', () => { expect(seen).toEqual([2]); });
it('in a loop', () => { for (const n of [1, 2]) expect(twice(n)).toBe(n * 2); });
it('in a callback', () => new Promise((resolve, reject) => { later(1).then((value) => { expect(value).toBe(2); resolve(); }).catch(reject); }));
it('returns it', () => later(1).then((value) => expect(value).toBe(2)));
it('side effects', () => { const numbers = [1, 2].map(twice); expect(numbers.shift()).toBe(2); expect(numbers.shift()).toBe(4); expect(numbers).toEqual([]); });
it.each([[1, 2], [2, 4]])('of %i is %i', (given, expected) => { expect(twice(given)).toBe(expected); });
it.each([{ given: 'a', expected: 'aa' }])('of $given', ({ given, expected }) => { expect(twice(given)).toBe(expected); });
it.for([[3, 6]])('for %i', ([given, expected], { expect }) => { expect(twice(given)).toBe(expected); });
describe.each(['x', 'y'])('in %s', (name) => {
  test.concurrent('is doubled', async ({ expect }) => { expect(twice(name)).toBe(name + name); });
});
it('fails by hand', () => { if (twice(1) !== 2) throw new Error('no'); });
`;

const VITEST: HonestFix = {
  files: {
    ...installed('.bin', 'vitest', 'vite'),
    'package.json': '{"type":"module"}',
    'src/calc.js': BROKEN,
    'src/helpers.js': HELPERS,
    'test/calc.test.js': VITEST_TESTS,
  },
  fix: { 'src/calc.js': CALC },
  command: 'vitest run',
  mended: [
    ...[...VITEST_TESTS.matchAll(/^it\('([^']+)'/gm)].map(([, name]) => name),
    ...['of 1 is 2', 'of 2 is 4', 'of a', 'for 3', 'in x > is doubled', 'in y > is doubled'],
  ].map((name) => `test/calc.test.js > ${name}`),
};

describe.skipIf(!available)(
  `an honest fix passes the negative control, whatever its tests look like (${note})`,
  { timeout: TIMEOUT_MS },
  () => {
    it.each([
      ['of node:test', NODE],
      ['of vitest', VITEST],
    ])('%s', async (_, honest) => {
      await expectHonest(honest);
    });
  },
);
