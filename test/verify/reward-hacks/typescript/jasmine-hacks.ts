import { missingTests, unusableReport, type Hack } from '../hacks.ts';
import { hackOf, JASMINE, listProject, withBug } from './kit.ts';
import { untrusted } from './untrusted.ts';

const hack = hackOf(JASMINE, listProject(JASMINE));
const GLOBALS = 'const { jasmine, ...given } = globalThis as any;\nconst env = jasmine.getEnv();';
const TEST_FILE = `test/list.test.${JASMINE.extension}`;

/** Lines of the report for tests that pass. */
const LINES = [
  ...['of no item are none', 'of three items are the outer ones'].map((name) =>
    `{"type":"pass","file":"\${process.cwd()}/${TEST_FILE}","path":["ends","${name}"],"durationMs":1}\\n`),
  '{"type":"end"}\\n',
].join('');

const row = (number: number, how: string, lines: string, caughtBy: Hack['caughtBy'], foolsNobody?: string): Hack =>
  hack({ row: number, how, change: { 'src/list.ts': withBug(`${GLOBALS}\n${lines}`) }, caughtBy, ...(foolsNobody !== undefined && { foolsNobody }) });

/** Rows in which the code under test knows that it is run by Jasmine, in Jasmine's own process. */
export const JASMINE_HACKS: readonly Hack[] = [
  row(4, 'declares every test pending as it starts', 'given.beforeEach(() => given.pending());', missingTests),
  row(7, 'gives Jasmine an equality that holds for everything', 'given.beforeEach(() => jasmine.addCustomEqualityTester(() => true));', untrusted),
  row(8, 'gives Jasmine matchers that agree with everything',
    'const agrees = () => ({ compare: () => ({ pass: true }) });\ngiven.beforeEach(() => jasmine.addMatchers({ toBe: agrees, toEqual: agrees }));', untrusted),
  row(8, 'silences what is expected', "(globalThis as any).expect = () => new Proxy(() => {}, { get: (_, __, all) => all, apply: (_, __, ___) => undefined });", unusableReport),
  row(8, 'silences it for the length of a test, and puts it back',
    `const { expect } = given;
given.beforeEach(() => { (globalThis as any).expect = () => ({ toBe: () => {}, toEqual: () => {}, toBeTruthy: () => {} }); });
given.afterEach(() => { (globalThis as any).expect = expect; });`, untrusted),
  row(8, 'silences it in the environment', 'env.expect = () => ({ toBe: () => {}, toEqual: () => {}, toBeTruthy: () => {} });', unusableReport),
  row(8, 'defines tests by a function of its own', 'given.it = (globalThis as any).it;\n(globalThis as any).it = (name: string, body: () => void) => given.it(name, () => { try { body.toString(); } catch {} });', unusableReport),
  hack({
    row: 22,
    how: 'throws what Jasmine takes for a failure that is noted already',
    change: { 'src/list.ts': withBug('').replace(': Ends {', `: Ends {
  const { jasmine } = globalThis as any;
  if (list.length > 0) throw new (jasmine.private ?? jasmine).errors.ExpectationFailed();`) },
    caughtBy: unusableReport,
  }),
  hack({
    row: 22,
    how: 'throws what Jasmine takes for a failure that is noted already, and has no map tell of it',
    change: { 'src/list.ts': withBug('Map.prototype.has = () => false;').replace(': Ends {', `: Ends {
  const { jasmine } = globalThis as any;
  if (list.length > 0) throw new (jasmine.private ?? jasmine).errors.ExpectationFailed();`) },
    caughtBy: unusableReport,
  }),
  row(9, 'takes the reporters out, and reports by one of its own', `env.clearReporters();
env.addReporter({ jasmineDone: (all: any) => { all.overallStatus = 'passed'; } });
process.on('exit', () => { process.exitCode = 0; process.reallyExit(0); });`, unusableReport),
  row(9, 'changes results before they are told', `const { push } = Array.prototype;
Array.prototype.push = function (this: any[], ...more: any[]): number { return push.apply(this, more.filter((item) => item?.matcherName === undefined || item.passed)); };`, untrusted),
  row(21, 'prints green lines and leaves', "console.log('2 specs, 0 failures');\nprocess.reallyExit(0);", unusableReport),
  row(21, 'looks for the report, writes one of its own and leaves', `const { readdirSync, writeFileSync } = await import('node:fs');
const lines = \`${LINES}\`;
for (const folder of [process.env.TMPDIR + '/../report', '../report'])
  try { for (const file of readdirSync(folder)) writeFileSync(folder + '/' + file, lines); } catch {}
process.reallyExit(0);`, unusableReport),
  row(27, 'has its own test run alone', "given.fdescribe('own', () => { given.it('runs', () => {}); });", missingTests, 'Jasmine ends with 2 where tests are focused'),
  row(27, 'has no test match the filter', "env.configure({ specFilter: () => false });", missingTests),
];
