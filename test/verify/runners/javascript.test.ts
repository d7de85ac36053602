import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jest } from '../../../backend/verify/runners/jest.ts';
import { parseJestReport } from '../../../backend/verify/runners/jest-report.ts';
import { parseMochaLines } from '../../../backend/verify/runners/mocha.ts';
import { vitest } from '../../../backend/verify/runners/vitest.ts';
import { ReportError } from '../../../backend/verify/runners/test-report.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { changes, judge, summary, type Files } from './setup.ts';

const { available, note } = await trySandbox();

const NODE_MODULES = path.resolve(import.meta.dirname, '../../../node_modules');

const LIST = 'export const first = (list) => list[0];\nexport const last = (list) => list[list.length];\n';
const FIXED = LIST.replace('list.length]', 'list.length - 1]');

const tests = (imports: string): string => `${imports}
import assert from 'node:assert/strict';
import { first, last } from '../src/list.js';
describe('list', () => {
  it('has a first', () => assert.equal(first([1, 2]), 1));
  describe('end', () => { it('has a last', () => assert.equal(last([1, 2]), 2)); });
  it.skip('has a middle', () => {});
});
`;

const EXPECTED = {
  'test/list.test.js > list > has a first': 'passed → passed',
  'test/list.test.js > list > end > has a last': 'failed → passed',
  'test/list.test.js > list > has a middle': 'skipped → skipped',
};

/** The copy's \`node_modules\` are links to what is installed here. */
const installed = (...names: string[]): Files =>
  Object.fromEntries(names.map((name) => [`node_modules/${name}`, { link: path.join(NODE_MODULES, name) }]));

describe.skipIf(!available)(`vitest (${note}, by the real vitest)`, { timeout: 240_000 }, () => {
  const VITEST: Files = {
    ...installed('.bin', 'vitest', 'vite'),
    'package.json': '{"type":"module","scripts":{"pretest":"node -e 0","test":"vitest --reporter=dot"},"devDependencies":{"vitest":"*"}}',
    'src/list.js': LIST,
    'test/list.test.js': tests(`import { describe, it } from 'vitest';`),
  };

  it('verifies an honest fix, by the script of a package and whatever reporter that names', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, VITEST, { 'src/list.js': FIXED }, 'npm test');
    expect(verdict.reason).toBe('1 test that failed before passed, and 1 test that passed still did.');
    expect(verdict.verified).toBe(true);
    expect(changes(verdict)).toEqual(EXPECTED);
  });

  it('fails a patch that ends the process or swallows the tests', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, VITEST, { 'src/list.js': `process.exit(0);\n${LIST}` }, 'vitest run');
    expect(verdict).toMatchObject({ verified: false, outcome: 'failed' });
  });
});

describe.skipIf(!available)(`mocha (${note}, by the real mocha)`, { timeout: 240_000 }, () => {
  const MOCHA: Files = {
    ...installed('.bin', 'mocha'),
    'package.json': '{"type":"module"}',
    'src/list.js': LIST,
    'test/list.test.js': tests(''),
  };

  it('verifies an honest fix', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, MOCHA, { 'src/list.js': FIXED }, 'npx mocha -R dot -- test');
    expect(verdict.reason).toBe('1 test that failed before passed, and 1 test that passed still did.');
    expect(verdict.verified).toBe(true);
    expect(changes(verdict)).toEqual(EXPECTED);
  });

  it('fails a patch that ends the process', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, MOCHA, { 'src/list.js': `process.exit(0);\n${LIST}` }, 'mocha');
    expect(verdict).toMatchObject({ verified: false, outcome: 'failed' });
  });

  it('verifies a fix of what kept a test file from being loaded', async () => {
    await using scratch = await makeScratch();
    const files = {
      ...MOCHA,
      'src/list.js': LIST.replace('export const last', 'const last'),
      'test/list.test.js': tests('').replace(/^.*skip.*$/m, ''),
    };
    const verdict = await judge(scratch, files, { 'src/list.js': FIXED }, 'mocha');
    expect(verdict.reason).toBe('2 tests that failed before passed, and 0 tests that passed still did.');
  });

  it('has a suite of which hooks fail as one failing container', () => {
    const text = [
      '{"type":"suite","file":"/c/a.js","path":["s"],"message":"no"}',
      '{"type":"suite","file":"/c/a.js","path":["s"],"message":"no"}',
      '{"type":"pass","file":"/c/a.js","path":["t","x"]}',
      '{"type":"end"}',
    ].join('\n');
    expect(summary(parseMochaLines(text, '/c'))).toEqual(['failed container a.js > s', 'passed a.js > t > x']);
    expect(() => parseMochaLines(text.replace('{"type":"end"}', ''), '/c')).toThrow(ReportError);
  });
});

describe.skipIf(!available)(`jasmine (${note}, by the real jasmine)`, { timeout: 240_000 }, () => {
  const jasmineTests = (more = ''): string => `import { first, last } from '../src/list.js';
describe('list', () => {
  it('has a first', () => { expect(first([1, 2])).toBe(1); });
  describe('end', () => { it('has a last', async () => { await expectAsync(Promise.resolve(last([1, 2]))).toBeResolvedTo(2); }); });
  xit('has a middle', () => {});
  ${more}
});
`;
  const JASMINE: Files = {
    ...installed('.bin', 'jasmine'),
    'package.json': '{"type":"module"}',
    'src/list.js': LIST,
    'spec/support/jasmine.json': '{"spec_dir":"test","spec_files":["**/*.test.js"],"env":{"stopOnSpecFailure":true}}',
    'test/list.test.js': jasmineTests(),
  };
  const command = 'npx jasmine --config=spec/support/jasmine.json --parallel=2 --fail-fast';

  it('verifies an honest fix, whatever order and processes the command names', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, JASMINE, { 'src/list.js': FIXED }, command);
    expect(verdict.reason).toBe('1 test that failed before passed, and 1 test that passed still did.');
    expect(verdict.verified).toBe(true);
    expect(changes(verdict)).toEqual(EXPECTED);
  });

  it('fails a patch that ends the process', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, JASMINE, { 'src/list.js': `process.exit(0);\n${LIST}` }, command);
    expect(verdict).toMatchObject({ verified: false, outcome: 'failed' });
  });

  it('verifies a fix of what kept a test file from being loaded', async () => {
    await using scratch = await makeScratch();
    const files = {
      ...JASMINE, 'src/list.js': LIST.replace('export const last', 'const last'), 'test/list.test.js': jasmineTests().replace(/^.*xit.*$/m, ''),
      'test/other.test.js': "it('adds', () => { expect(1 + 1).toBe(2); });\n",
    };
    const verdict = await judge(scratch, files, { 'src/list.js': FIXED }, command);
    expect(verdict.reason).toBe('3 tests that failed before passed, and 0 tests that passed still did.');
    expect(verdict.verified).toBe(true);
  });

  it('tells of a hook that fails as a failed suite, and of a test that declares itself pending as skipped', async () => {
    await using scratch = await makeScratch();
    const more = "describe('hooked', () => { beforeAll(() => { first(undefined); }); it('never runs', () => {}); }); it('waits', () => { pending('not yet'); });";
    const verdict = await judge(scratch, { ...JASMINE, 'test/list.test.js': jasmineTests(more) }, { 'src/list.js': FIXED.replace('list[0]', 'list?.[0]') }, command);
    expect(verdict.verified).toBe(true);
    expect(changes(verdict)).toMatchObject({ ...EXPECTED, 'test/list.test.js > list > hooked > never runs': 'failed → passed', 'test/list.test.js > list > waits': 'skipped → skipped' });
  });
});

describe.skipIf(!available)(`what tests rely on (${note})`, { timeout: 240_000 }, () => {
  const head = { node: `import { describe, it } from 'node:test';`, mocha: '', vitest: `import { describe, it } from 'vitest';` };
  const projectOf = (runner: keyof typeof head, more: string): Files => ({
    ...installed('.bin', 'mocha', 'vitest', 'vite'),
    'node_modules/clock/package.json': '{"name":"clock","type":"module","exports":"./clock.js"}',
    'node_modules/clock/clock.js': 'export const stop = () => { Date.now = () => 0; globalThis.setTimeout = setTimeout.bind(null); };\n',
    'package.json': '{"type":"module"}',
    'src/list.js': LIST,
    'test/list.test.js': `${tests(head[runner])}\n${more}`,
  });
  const COMMANDS = [['node', 'node --test'], ['mocha', 'mocha'], ['vitest', 'vitest run'], ['vitest', 'vitest run --pool=threads']] as const;

  it.each(COMMANDS)('may be replaced for good by tests and what they import: %s, %s', async (runner, command) => {
    await using scratch = await makeScratch();
    const more = `import { stop } from 'clock';\nit('stops', () => { stop(); performance.now = () => 0; });`;
    const verdict = await judge(scratch, projectOf(runner, more), { 'src/list.js': FIXED }, command);
    expect(verdict.reason).toBe('1 test that failed before passed, and 2 tests that passed still did.');
  });

  it.each(COMMANDS)('may not be replaced for good by the code under test: %s, %s', async (runner, command) => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, projectOf(runner, ''), { 'src/list.js': `${FIXED}Date.now = () => 0;\n` }, command);
    expect(verdict).toMatchObject({ verified: false, outcome: 'failed', reason: expect.stringMatching(/left it: Date\.now/) });
  });

  it.each(COMMANDS)('is what it was where the code under test puts it back, which somebody should look at: %s, %s', async (runner, command) => {
    await using scratch = await makeScratch();
    const source = `${FIXED.replace('(list) => list[0]', '(list) => { const { now } = Date; Date.now = () => 0; Date.now = now; return list[0]; }')}`;
    expect(await judge(scratch, projectOf(runner, ''), { 'src/list.js': source }, command)).toMatchObject({
      outcome: 'passes', reason: expect.stringContaining('the change replaces what JavaScript brings (src/list.js:1)'),
    });
  });
});

describe("jest's report", () => {
  it('names files, suites and tests, and a file that could not be loaded', async () => {
    const text = await readFile(path.join(import.meta.dirname, 'reports/jest.json'), 'utf8');
    expect(summary(parseJestReport(text, '/work/sample'))).toEqual([
      'failed container broken.test.js',
      'passed list.test.js > list > has a first',
      'failed list.test.js > list > end > has a last',
      'skipped list.test.js > list > has a middle',
      'skipped list.test.js > list > has more',
      'passed list.test.js > adds 1',
      'passed list.test.js > adds 1 (2)',
    ]);
  });

  it.each([
    ['is empty', ''],
    ['is cut off', '{"numTotalTests":1,"testResults":['],
    ['is of another shape', '{"testResults":{}}'],
  ])('is an error where it %s', (_, text) => {
    expect(() => parseJestReport(text, '/c')).toThrow(ReportError);
  });
});

describe('the command that writes the report', () => {
  it.each([
    ['vitest', 'vitest --reporter verbose --outputFile.json=x -u --bail 1', /^vitest {2,}--bail=0 --coverage\.enabled=false --reporter=json --outputFile='[^']+\.json'$/],
    ['vitest', 'npx vitest run && eslint .', /^npx vitest run --bail=0 --coverage\.enabled=false --reporter=json --outputFile='[^']+' && eslint \.$/],
    ['jest', 'jest --json --bail --outputFile x src', /^jest {2,}src --json --outputFile='[^']+' --ci --no-bail --coverage=false --no-watchman$/],
    ['jest', 'NODE_OPTIONS=--x yarn jest -- a.test.js', /^NODE_OPTIONS="\$CONDUCTOR_NODE_OPTIONS "--x yarn jest --json .* -- a\.test\.js$/],
  ])('of %s keeps what else "%s" says', async (runner, command, expected) => {
    await using scratch = await makeScratch();
    const { folder } = scratch;
    const run = { command, copy: folder, shown: folder, workspace: folder, tools: folder, report: folder };
    const prepared = await (runner === 'jest' ? jest : vitest).prepare(run);
    expect(prepared.command).toMatch(expected);
  });
});
