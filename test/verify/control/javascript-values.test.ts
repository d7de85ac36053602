import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TestRunnerName } from '../../../backend/protocol/test-runners.ts';
import { alterExpectations } from '../../../backend/verify/control/alter-expectations.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ASSERT = 'import assert from \'node:assert/strict\';\nimport { it } from \'node:test\';\n';
const EXPECT = 'import { expect, it } from \'vitest\';\n';

/** The texts of the files that were altered, and whether it is sure that each of the tests fails then. */
async function alter(files: Readonly<Record<string, string>>, runner: TestRunnerName, titles: readonly string[] = ['it']) {
  const folder = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  const [file = ''] = Object.keys(files);
  const ids = titles.map((title) => `${file} > ${title}`);
  const { certain, texts } = await alterExpectations({ folder, paths: new Set(Object.keys(files)), runner: { name: runner, idRoot: 'file' }, ids });
  expect([...texts.keys()].filter((name) => name !== file), 'altered files other than that of the tests').toEqual([]);
  return { isSure: certain.size === ids.length, text: texts.get(file) ?? files[file] ?? '' };
}

describe('in JavaScript, the negative control follows an expected value back to where it is written', () => {
  it.each<[string, TestRunnerName, string, RegExp]>([
    ['a name', 'node-test', `${ASSERT}it('it', () => { const want = 600; assert.equal(f(1), want, \`not \${want}\`); });`, /const want = (?!600)\d{3};/],
    ['a name of the file', 'vitest', `${EXPECT}const WANT = 'first';\nit('it', () => { expect(f(1)).toEqual(WANT); expect(g(1)).toBe(WANT); });`, /WANT = '(?!first)[a-z]{5}'/],
    ['a name in a value', 'vitest', `${EXPECT}it('it', () => { const total = 600; expect(f(1)).toEqual({ total }); });`, /const total = (?!600)\d{3}; expect\(f\(1\)\)\.toEqual\(\{ total \}\)/],
    ['a member', 'vitest', `${EXPECT}const DATA = { raw: 'x', want: 600 };\nit('it', () => { expect(f(DATA.raw)).toBe(DATA.want); });`, /raw: 'x', want: (?!600)\d{3}/],
    ['a helper', 'mocha', 'function check(input, want) { expect(f(input)).to.equal(want); expect(g(input)).to.equal(want); }\nit(\'it\', function () { check(2, 600); });', /check\(2, (?!600)\d{3}\)/],
    ['a helper of a helper', 'jest', 'const one = (got, want) => { expect(got).toEqual(want); };\nconst both = (want) => { one(f(1), want); };\ntest(\'it\', () => { both([600]); });', /both\(\[(?!600)\d{3}\]\)/],
    ['a table', 'vitest', `${EXPECT}it.each([[1, 600], [2, 700]])('it %i', (given, want) => { expect(f(given)).toBe(want); });`, /\[\[1, (?!600)\d{3}\], \[2, (?!700)\d{3}\]\]/],
    ['a table of objects', 'jest', 'const ROWS = [{ a: 1, want: \'first\' }];\ntest.each(ROWS)(\'it $a\', ({ a, want }) => { expect(f(a)).toBe(want); });', /\{ a: 1, want: '(?!first)[a-z]{5}' \}/],
    ['a loop around tests', 'mocha', '[[1, 600], [2, 700]].forEach(([given, want]) => { it(`it ${given}`, () => { assert.strictEqual(f(given), want); }); });', /\[\[1, (?!600)\d{3}\], \[2, (?!700)\d{3}\]\]/],
    ['a loop in a test', 'ava', 'import test from \'ava\';\nconst rows = [{ given: 1, want: 600 }];\ntest(\'it\', (t) => { for (const { given, want } of rows) { t.is(f(given), want); } });', /given: 1, want: (?!600)\d{3}/],
    ['the values of an object', 'tape', 'const test = require(\'tape\');\ntest(\'it\', (t) => { for (const [given, want] of Object.entries({ a: 600 })) t.equal(f(given), want); t.end(); });', /\{ a: (?!600)\d{3} \}/],
    ['the rows that a helper is given', 'tape', 'const test = require(\'tape\');\nconst run = (t, rows) => { rows.forEach((row) => { t.equal(f(row.given), row.want, `${row.given} is ${row.want}`); }); };\ntest(\'it\', (t) => { const rows = [{ given: 1, want: 600 }]; run(t, rows); t.end(); });', /given: 1, want: (?!600)\d{3}/],
    ['an inline snapshot', 'vitest', `${EXPECT}it('it', () => { expect(f(1)).toMatchInlineSnapshot(\`"first"\`); });`, /Snapshot\(`"(?!first)[a-z]{5}"`\)/],
    ['a text without its margin', 'jest', 'test(\'it\', () => { const want = dedent`\n  first\n`; expect(f(1)).toBe(want); });', /dedent`\n {2}(?!first)[a-z]{5}\n`/],
    ['promises', 'jest', 'function all(values, want) { const made = values.map((value) => { return f(value).then((got) => { expect(got).toBe(want); }); }); return Promise.all(made); }\nit(\'it\', () => { return all([1, 2], 600); });', /all\(\[1, 2\], (?!600)\d{3}\)/],
    ['a callback before the end', 'mocha', 'it(\'it\', function (done) { load(1, function (err, got) { if (err) return done(err); assert.equal(got, 600); done(); }); });', /assert\.equal\(got, (?!600)\d{3}\)/],
    ['callbacks that are counted', 'node-test', 'const { test } = require(\'node:test\');\ntest(\'it\', (t) => { t.plan(2); on(\'a\', (got) => { t.assert.strictEqual(got, 600); t.assert.ok(after()); }); });', /strictEqual\(got, (?!600)\d{3}\)/],
    ['a class, by one that TypeScript knows with any `lib`', 'jest', 'it(\'it\', () => { expect(f(1)).toBeInstanceOf(Total); });', /toBeInstanceOf\((?:DataView|Int8Array|Int16Array|Float32Array)\)/],
    ['a clause after an error', 'node-test', `${ASSERT}it('it', () => { try { f(1); assert.fail('none'); } catch (error) { assert.equal(error.message, 'first'); } });`, /error\.message, '(?!first)[a-z]{5}'/],
    ['what is tidied up after', 'node-test', `${ASSERT}it('it', () => { try { assert.equal(f(1), 600); } finally { tidy(); } });`, /equal\(f\(1\), (?!600)\d{3}\)/],
    ['a check of its own', 'mocha', 'function assert(fine, message) { if (!fine) { throw new Error(message); } }\nit(\'it\', () => { assert(f(1) === \'first\'); });', /f\(1\) === '(?!first)[a-z]{5}'/],
  ])('through %s', async (_, runner, text, altered) => {
    for (let drawn = 0; drawn < 3; drawn += 1) {
      const made = await alter({ 'a.test.js': text }, runner, [/'it[ %$]/.test(text) || text.includes('`it $') ? 'it 1' : 'it']);
      expect(made).toMatchObject({ isSure: true, text: expect.stringMatching(altered) as string });
    }
  });

  it.each([
    ['a function', 'import { same as equal } from \'../support/checks.js\';', 'export function same(got, want) { expect(got).toBe(want); }\n', 'equal(f(1), 600);'],
    ['a member', 'import * as checks from \'../support/checks.js\';', 'export const same = (got, want) => { expect(got).toEqual(want); };\n', 'checks.same(f(1), 600);'],
    ['what is required', 'const { same } = require(\'../support/checks\');', 'exports.same = function (got, want) { assert.strictEqual(got, want); };\n', 'same(f(1), 600);'],
  ])('through %s of another file, which stays as it is', async (_, imported, helper, call) => {
    const made = await alter({ 'test/a.test.js': `${imported}\nit('it', () => { ${call} });\n`, 'support/checks.js': helper }, 'vitest');
    expect(made).toMatchObject({ isSure: true, text: expect.stringMatching(/f\(1\), (?!600)\d{3}\)/) as string });
  });

  it.each([
    ['turns a condition of its own', 'export function same(got) { expect(got).toBeTruthy(); }\n', 'same(f(1));'],
    ['has the value itself', 'export function same(got) { expect(got).toBe(600); }\n', 'same(f(1));'],
    ['computes with what it is given', 'export function same(want) { expect(back(f(want))).toBe(want); }\n', 'same(600);'],
  ])('and is not sure of a test whose helper in another file %s', async (_, helper, call) => {
    const text = `import { same } from './checks.js';\nit('it', () => { ${call} });\n`;
    expect(await alter({ 'a.test.js': text, 'checks.js': helper }, 'vitest')).toEqual({ isSure: false, text });
  });

  it.each([
    ['is computed with', `${EXPECT}it('it', () => { const text = 'first'; expect(decode(encode(text))).toBe(text); });`],
    ['is computed with by another test', `${EXPECT}const TEXT = 'first';\nit('it', () => { expect(f(1)).toBe(TEXT); });\nit('other', () => { expect(isFine(TEXT)).toBe(true); });`],
    ['is given by a row that is handed on', `${EXPECT}it.each([{ a: 1, want: 'first' }])('it', (row) => { expect(f(row)).toBe(row.want); });`],
    ['may be set again', `${EXPECT}let text = 'first';\nbeforeEach(() => { text = 'second'; });\nit('it', () => { expect(f(1)).toBe(text); });`],
    ['is exported', `${EXPECT}export const TEXT = 'first';\nit('it', () => { expect(f(1)).toBe(TEXT); });`],
    ['names the test', `${EXPECT}it.each([[1, 'first']])('it', (given, want) => { expect(f(given)).toBe(want); });`.replace('\'it\'', '\'it %i %s\'')],
    ['is computed with in the helper', `${EXPECT}function check(text) { expect(decode(encode(text))).toBe(text); }\nit('it', () => { check('first'); });`],
  ])('but leaves a value alone that %s', async (_, text) => {
    const title = text.includes('it %i') ? 'it 1 first' : 'it';
    for (let drawn = 0; drawn < 5; drawn += 1) expect(await alter({ 'a.test.js': text }, 'vitest', [title])).toMatchObject({ isSure: true, text: expect.stringContaining('\'first\'') as string });
  });

  it('alters no item that what contains it may hold anyway', async () => {
    const expectation = (items: string): string => `${EXPECT}it('it', () => { expect(f(1)).toEqual(expect.arrayContaining([${items}])); });`;
    const short = await alter({ 'a.test.js': expectation('4, true, "ab"') }, 'vitest');
    expect(short.text).toMatch(/toEqual\(\d{5}\)/);
    const long = await alter({ 'a.test.js': expectation('4, "first-name"') }, 'vitest');
    expect(long.text).toMatch(/\[4, "(?!first-name)[a-z]{5}-[a-z]{4}"\]/);
  });

  it.each([
    ['a list that may be empty', 'node-test', `${ASSERT}it('it', () => { for (const row of rows()) assert.equal(f(row), 600); });`],
    ['a callback that need not be called', 'mocha', 'it(\'it\', function (done) { on(\'a\', function (got) { assert.equal(got, 600); }); setTimeout(done, 10); });'],
    ['one of two callbacks that end the test', 'mocha', 'it(\'it\', function (done) { load(1, function (got) { assert.equal(got, 600); done(); }); setTimeout(() => done(), 10); });'],
    ['assertions of which not all are counted', 'node-test', 'const { test } = require(\'node:test\');\ntest(\'it\', (t) => { t.plan(1); on(\'a\', (got) => { t.assert.strictEqual(got, 600); }); on(\'b\', (got) => { t.assert.strictEqual(got, 700); }); });'],
    ['a counted assertion whose failure the code under test may swallow', 'node-test', 'const { test } = require(\'node:test\');\ntest(\'it\', (t) => { t.plan(1); on(\'a\', (got) => { t.assert.strictEqual(got, 600); }); });'],
    ['a clause that an error may leave out', 'node-test', `${ASSERT}it('it', () => { try { f(1); } catch (error) { assert.equal(error.message, 'first'); } });`],
    ['a snapshot that the run writes', 'vitest', `${EXPECT}it('it', () => { expect(f(1)).toMatchInlineSnapshot(); });`],
    ['a condition that the test has set up', 'vitest', `${EXPECT}it('it', () => { if (!prepared()) throw new Error('not prepared'); });`],
  ] as const)('and is not sure of %s', async (_, runner, text) => {
    expect(await alter({ 'a.test.js': text }, runner)).toEqual({ isSure: false, text });
  });

  it('also where a value contains itself', async () => {
    const text = `${EXPECT}const a = { b: c };\nconst c = [a];\nit('it', () => { expect(f(1)).toEqual(a); });`;
    expect((await alter({ 'a.test.js': text }, 'vitest')).isSure).toBe(true);
  });
});
