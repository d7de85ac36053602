import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { notDownloaded } from '../../../backend/verify/judge/not-installed.ts';
import { cargoNextest } from '../../../backend/verify/runners/cargo-nextest.ts';
import { gradle } from '../../../backend/verify/runners/gradle.ts';
import { expectJunitFiles } from '../../../backend/verify/runners/junit-files.ts';
import { maven } from '../../../backend/verify/runners/maven.ts';
import { parseJunit } from '../../../backend/verify/runners/junit.ts';
import { ReportError } from '../../../backend/verify/runners/test-report.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { changes, judge, summary, tryProgram, type Files } from './setup.ts';

const { available, note } = await trySandbox();
const cmake = tryProgram('cmake', '--version');

const recorded = async (name: string): Promise<string> => await readFile(path.join(import.meta.dirname, 'reports', name), 'utf8');

describe('a JUnit file', () => {
  it("of Maven's surefire names class and test, with what the failure says", async () => {
    const report = parseJunit(await recorded('surefire.xml'), '/c');
    expect(summary(report)).toEqual(['passed a.LTest > one', 'failed a.LTest > two', 'skipped a.LTest > later']);
    expect(report.results[1]?.message).toMatch(/^java\.lang\.AssertionError: a < b & "c" expected:<2> but was:<1>/);
    expect(report.results[1]?.durationMs).toBe(1);
  });

  it('of ctest names the test once, and has one that did not run as skipped', async () => {
    expect(summary(parseJunit(await recorded('ctest.xml'), '/c'))).toEqual([
      'passed one',
      'skipped two',
      'skipped later',
      'skipped skipped',
    ]);
  });

  it('has suites in suites, files, and errors outside of tests', () => {
    const text = `<?xml version="1.0"?><testsuites><testsuite name="outer">
      <testsuite name="inner" file="/c/src/a.test"><testcase name="x &#65;&#x42;&unknown;"/><testcase name="x &#65;&#x42;&unknown;"/></testsuite>
      <testsuite name="broken" errors="1"><error message="cannot load"><![CDATA[<deep> & more]]></error></testsuite>
      <testsuite name="counted" errors="2"/></testsuite></testsuites>`;
    const report = parseJunit(text, '/c');
    expect(summary(report)).toEqual([
      'passed src/a.test > outer > inner > x AB&unknown;',
      'passed src/a.test > outer > inner > x AB&unknown; (2)',
      'failed container outer > broken',
      'failed container outer > counted',
    ]);
    expect(report.results[2]?.message).toBe('cannot load\n<deep> & more');
  });

  it('declares no entities', () => {
    const text = '<!DOCTYPE t [<!ENTITY a "aaaa">]><testsuite><testcase name="&a;"/></testsuite>';
    expect(summary(parseJunit(text, '/c'))).toEqual(['passed &a;']);
    expect(() => parseJunit(text.replace('"aaaa"', 'SYSTEM "file:///etc/hostname"'), '/c')).toThrow(ReportError);
  });

  it.each([
    ['is empty', ''],
    ['is cut off', '<testsuite><testcase name="a"/>'],
    ['is no XML', 'PASSED'],
    ['is another document', '<html></html>'],
    ['has names that no XML has', '<testsuite><__proto__>1</__proto__></testsuite>'],
    ['is absurdly nested', '<testsuite>'.repeat(5_000) + '</testsuite>'.repeat(5_000)],
  ])('is an error where it %s', (_, text) => {
    expect(() => parseJunit(text, '/c')).toThrow(ReportError);
  });

  it('never makes the parser throw anything else', () => {
    const part = fc.constantFrom('<testsuite name="a">', '</testsuite>', '<testcase name="b"/>', '<failure/>', '<![CDATA[', ']]>', '&#x110000;', '<!--');
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string())), (parts) => {
        try {
          expect(Array.isArray(parseJunit(parts.join(''), '/c').results)).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(ReportError);
        }
      }),
    );
  });
});

describe('JUnit files that a command is to write', () => {
  const PASS = '<testsuite><testcase classname="s" name="x"/></testsuite>';

  it('are those that came while it ran, in the copy and without links', async () => {
    await using scratch = await makeScratch();
    const copy = await scratch.project({ 'reports/old.xml': PASS, 'node_modules/a/reports/no.xml': PASS });
    const read = await expectJunitFiles({ copy, shown: copy }, ['**/reports/*.xml', '../*.xml']);
    const end = { exitCode: 1, printed: 'BUILD FAILED' };
    await expect(read(end)).rejects.toThrow(ReportError);
    await writeFile(path.join(copy, 'reports/new.xml'), PASS.replace('"x"', '"new"'));
    await mkdir(path.join(scratch.folder, 'outside'));
    await writeFile(path.join(scratch.folder, 'outside/a.xml'), PASS);
    await symlink(path.join(scratch.folder, 'outside/a.xml'), path.join(copy, 'reports/link.xml'));
    await symlink(path.join(scratch.folder, 'outside'), path.join(copy, 'more'));
    expect(summary(await read(end))).toEqual(['passed s > new']);
  });

  it.each([
    ['maven', maven, `[INFO] Compiling 2 source files with javac
[ERROR] COMPILATION ERROR : 
[ERROR] COPY/src/main/java/a/Calc.java:[4,47] cannot find symbol
  symbol:   variable tow
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.13.0:compile (default-compile) on project a: Compilation failure
`, 'src/main/java/a/Calc.java:[4,47] cannot find symbol'],
    ['gradle', gradle, `> Task :lib:compileTestJava FAILED
COPY/src/test/java/a/CalcTest.java:7: error: cannot find symbol
* What went wrong:
Execution failed for task ':lib:compileTestJava'.
`, 'src/test/java/a/CalcTest.java:7: error: cannot find symbol'],
    ['nextest', cargoNextest, 'error[E0425]: cannot find value `tow` in this scope\nerror: could not compile `calc` (lib) due to 1 previous error\n', 'error[E0425]: cannot find value `tow` in this scope'],
  ] as const)('may be missing where the build of %s fails', async (_name, runner, text, message) => {
    await using scratch = await makeScratch();
    const copy = await scratch.project({ 'one/target/surefire-reports/a.xml': PASS });
    const command = { maven: 'mvn test', gradle: 'gradle test', nextest: 'cargo nextest run' }[runner.name];
    const { readReport } = await runner.prepare({ copy, shown: copy, workspace: copy, tools: scratch.folder, report: scratch.folder, command });
    const printed = text.replaceAll('COPY', copy);
    const { results } = await readReport({ exitCode: 1, said: '', printed });
    expect(results).toEqual([{ id: 'the build', kind: 'container', status: 'failed', message, hidesAll: true }]);
    // Without a failure it is what a test has printed.
    await expect(readReport({ exitCode: 0, said: '', printed })).rejects.toThrow(ReportError);
  });
});

describe('Maven', () => {
  it('finds the Maven of an mvnw that looks for it below HOME, and asks it for no trace of where artifacts came from', async () => {
    await using scratch = await makeScratch();
    const maven388 = 'wrapper/dists/apache-maven-3.8.8/19d0d031/bin/mvn';
    const copy = await scratch.project({ mvnw: `#!/bin/sh\nexec "$HOME/.m2/${maven388}" "$@"\n`, [`user/.m2/${maven388}`]: '#!/bin/sh\necho "$@"\n' });
    for (const file of ['mvnw', `user/.m2/${maven388}`]) await chmod(path.join(copy, file), 0o755);
    const { command } = await maven.prepare({ copy, shown: copy, workspace: copy, tools: scratch.folder, report: scratch.folder, command: './mvnw test' });
    const home = path.join(scratch.folder, 'nothing-in-it');
    await mkdir(home);
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { cwd: copy, env: { PATH: process.env.PATH, HOME: home, MAVEN_USER_HOME: path.join(copy, 'user/.m2') } });
    expect(stdout).toMatch(/^--batch-mode --offline .*-Daether\.enhancedLocalRepository\.trackingFilename=none .*test\n$/);
  });

  it.each([
    ['mvnw', maven, '.mvn/wrapper/maven-wrapper.properties', 'distributionUrl=https://host.test/a/apache-maven-3.8.8-bin.zip\n', 'apache-maven-3.8.8'],
    ['gradlew', gradle, 'gradle/wrapper/gradle-wrapper.properties', 'distributionUrl=https\\://host.test/distributions/gradle-8.5-bin.zip\n', 'gradle-8.5-bin'],
  ] as const)('is told where %s has not downloaded it, also if the wrapper fails without a word', async (wrapper, runner, file, text, name) => {
    await using scratch = await makeScratch();
    const copy = await scratch.project({ [wrapper]: '#!/bin/sh\nexit 1\n', [file]: text });
    await chmod(path.join(copy, wrapper), 0o755);
    const { command } = await runner.prepare({ copy, shown: copy, workspace: copy, tools: scratch.folder, report: scratch.folder, command: `./${wrapper} test` });
    const error: unknown = await promisify(execFile)('sh', ['-c', command], { cwd: copy, env: { PATH: process.env.PATH, HOME: scratch.folder } }).catch((failed: unknown) => failed);
    const told = notDownloaded((error as { readonly stderr: string }).stderr);
    expect(told).toBe(` Tests have no network: ${name} is not on this machine. To get it, run "./${wrapper} --version" once without Conductor, or name a command that takes an installed one.`);
  });
});

describe.skipIf(!available)(`a command of the user's own (${note})`, { timeout: 120_000 }, () => {
  const RUN = `#!/bin/sh
mkdir -p reports
if grep -q right answer.txt; then echo '<testsuite><testcase name="answer"/></testsuite>' > reports/a.xml
else echo '<testsuite><testcase name="answer"><failure>wrong</failure></testcase></testsuite>' > reports/a.xml; exit 1; fi
`;
  const FILES: Files = { 'check.sh': RUN, 'answer.txt': 'wrong\n' };

  it('judges by the JUnit files that the user names, and calls nothing verified by a report that the code could have written', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, FILES, { 'answer.txt': 'right' }, { command: 'sh check.sh', reports: 'reports/*.xml' });
    expect(verdict).toMatchObject({ verified: false, outcome: 'passes', score: 1, reason: expect.stringContaining('could write the report itself') });
    expect(changes(verdict)).toEqual({ answer: 'failed → passed' });
  });

  it('judges by the exit code where no JUnit file is named, and calls nothing verified', async () => {
    await using scratch = await makeScratch();
    const silent = { ...FILES, 'check.sh': 'cat answer.txt; grep -q right answer.txt\n', 'helper.txt': 'x\n' };
    const fixed = await judge(scratch, silent, { 'answer.txt': 'right' }, { command: 'sh check.sh' });
    expect(fixed).toMatchObject({ verified: false, outcome: 'passes', reason: expect.stringContaining('by its exit code alone') });
    expect(changes(fixed)).toEqual({ 'sh check.sh': 'failed → passed' });
    const wrong = await judge(scratch, silent, { 'answer.txt': 'still wrong' }, { command: 'sh check.sh' });
    expect(wrong).toMatchObject({ outcome: 'failed', tests: [{ id: 'sh check.sh', after: 'failed', message: expect.stringContaining('still wrong') }] });
    const tampered = await judge(scratch, silent, { 'check.sh': 'exit 0\n' }, { command: 'sh check.sh' });
    expect(tampered).toMatchObject({ outcome: 'refused' });
  });

  it.each([
    ['files that are named', { reports: 'reports/*.xml' }],
    ['the exit code', {}],
  ])('finds the programs of installed packages that a script of package.json starts, and judges by %s', async (_, how) => {
    await using scratch = await makeScratch();
    const installed = { ...FILES, 'package.json': '{"scripts":{"test":"own-runner check.sh"}}', 'node_modules/.bin/own-runner': { link: '/bin/sh' } };
    const verdict = await judge(scratch, installed, { 'answer.txt': 'right' }, { command: 'npm test', ...how });
    expect(verdict).toMatchObject({ outcome: 'passes', score: 1 });
  });

  it.each([
    ['the command cannot be started', { command: './no-such-program' }, /could not be started/],
    ['none is named for a runner that is', { command: 'sh check.sh', runner: 'custom' }, /name the JUnit files/],
    ['no such file comes', { command: 'sh check.sh', reports: 'elsewhere/*.xml' }, /wrote no JUnit file/],
    ['there is no such runner', { command: 'sh check.sh', runner: 'nothing' }, /no test runner of the name/],
  ])('judges nothing where %s', async (_, test, reason) => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, FILES, { 'answer.txt': 'right' }, test);
    expect(verdict).toMatchObject({ outcome: 'infrastructure', reason: expect.stringMatching(reason) });
  });
});

describe.skipIf(!available || !cmake.isHere)(`ctest (${note}, ${cmake.note})`, { timeout: 240_000 }, () => {
  it('passes an honest fix in a fresh build, since its tests have no negative control, and none that cannot be built', async () => {
    await using scratch = await makeScratch();
    const files: Files = {
      'CMakeLists.txt': `cmake_minimum_required(VERSION 3.16)
project(sample C)
enable_testing()
add_executable(ends tests/ends.c last.c)
add_test(NAME of-one COMMAND ends 1)
add_test(NAME of-two COMMAND ends 2)
`,
      'last.c': 'int last(const int *items, int count) { return items[0]; }\n',
      'tests/ends.c': '#include <stdlib.h>\nint last(const int *, int);\nint main(int c, char **v) { int items[] = {1, 2}, n = atoi(v[1]); return last(items, n) != n; }\n',
    };
    const command = 'cmake -S . -B conductor-build && cmake --build conductor-build && ctest --test-dir conductor-build';
    const fixed = 'int last(const int *items, int count) { return items[count - 1]; }\n';
    const verdict = await judge(scratch, files, { 'last.c': fixed }, command);
    expect(verdict).toMatchObject({ outcome: 'passes', score: 1 });
    expect(changes(verdict)).toEqual({ 'of-one': 'passed → passed', 'of-two': 'failed → passed' });
    expect(await judge(scratch, files, { 'last.c': 'int last(' }, command)).toMatchObject({ verified: false, outcome: 'failed' });
  });
});
