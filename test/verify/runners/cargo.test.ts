import { describe, expect, it } from 'vitest';
import { parseCargoReports } from '../../../backend/verify/runners/cargo-test.ts';
import { ReportError } from '../../../backend/verify/runners/test-report.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { changes, judge, summary, tryProgram, type Files } from './setup.ts';

const { available, note } = await trySandbox();
const cargo = tryProgram('cargo', '--version');

const LIB = `//! Lists.
/// The last item.
/// \`\`\`
/// assert_eq!(my_list::last(&[1, 2]), 2);
/// \`\`\`
pub fn last(items: &[i32]) -> i32 { items[0] }
#[cfg(test)]
mod tests {
    #[test]
    fn of_one() { assert_eq!(super::last(&[1]), 1); }
    #[test]
    #[ignore]
    fn later() {}
}
`;
const FIXED = LIB.replace('/// The last item.', '/// The last item.\n/// Of one item, that one.').replace('items[0]', 'items[items.len() - 1]');
const PROJECT: Files = {
  'Cargo.toml': '[package]\nname = "my-list"\nversion = "0.1.0"\nedition = "2021"\n',
  'src/lib.rs': LIB,
  'tests/ends.rs': '#[test]\nfn of_two() { assert_eq!(my_list::last(&[1, 2]), 2, "not 2"); }\n',
};

describe.skipIf(!available || !cargo.isHere)(`cargo test (${note}, ${cargo.note})`, { timeout: 300_000 }, () => {
  it('verifies an honest fix, tests in documentation included', async () => {
    await using scratch = await makeScratch();
    const verdict = await judge(scratch, PROJECT, { 'src/lib.rs': FIXED }, 'cargo test -q -- --nocapture');
    expect(verdict.reason).toBe('2 tests that failed before passed, and 1 test that passed still did.');
    expect(verdict.verified).toBe(true);
    expect(changes(verdict)).toEqual({
      'my-list > tests::of_one': 'passed → passed',
      'my-list > tests::later': 'skipped → skipped',
      'my-list > test ends > of_two': 'failed → passed',
      'my-list > doc > src/lib.rs - last': 'failed → passed',
    });
  });

  it('takes a binary with a harness of its own for one test, also if any option is a filter to it', async () => {
    await using scratch = await makeScratch();
    const own = 'fn main() {\n    let filter = std::env::args().nth(1);\n    println!("<of two> ... {filter:?}");\n    if filter.is_none() { assert_eq!(my_list::last(&[1, 2]), 2); }\n}\n';
    const silent = 'fn main() { assert_eq!(my_list::last(&[1]), 1); }\n';
    const targets = ['own', 'silent'].map((name) => `\n[[test]]\nname = "${name}"\nharness = false\n`).join('');
    const files = { ...PROJECT, 'Cargo.toml': `${PROJECT['Cargo.toml']}${targets}`, 'tests/own.rs': own, 'tests/silent.rs': silent };
    const verdict = await judge(scratch, files, { 'src/lib.rs': FIXED }, 'cargo test');
    expect(verdict, verdict.reason).toMatchObject({ verified: true });
    const plain = (text: string): string => text.replaceAll(/\/\/\/.*\n/g, '');
    const alone = { 'Cargo.toml': files['Cargo.toml'], 'tests/own.rs': own, 'tests/silent.rs': silent, 'src/lib.rs': plain(LIB) };
    await using another = await makeScratch();
    const byItsEnd = await judge(another, alone, { 'src/lib.rs': plain(FIXED) }, 'cargo test');
    expect(byItsEnd, byItsEnd.reason).toMatchObject({ verified: false, outcome: 'passes' });
    expect(changes(verdict)).toMatchObject({ 'my-list > test own': 'failed → passed', 'my-list > test silent': 'passed → passed', 'my-list > test ends > of_two': 'failed → passed' });
  });

  it('verifies a fix that makes the tests build at all, and no patch that ends the process or cannot be built', async () => {
    await using scratch = await makeScratch();
    const files = { ...PROJECT, 'src/lib.rs': '//! Nothing yet.\n' };
    const verdict = await judge(scratch, files, { 'src/lib.rs': FIXED.replace(/#\[ignore\][^}]*\{\}/, 'fn later() {}') }, 'cargo test');
    expect(verdict, verdict.reason).toMatchObject({ verified: true });
    const ended = LIB.replace('{ items[0] }', '{ if items.len() > 1 { std::process::exit(0) } items[0] }');
    for (const text of [ended, LIB.replace('items[0]', 'nothing')])
      expect(await judge(scratch, PROJECT, { 'src/lib.rs': text }, 'cargo test')).toMatchObject({ verified: false, outcome: 'failed' });
  });

  it('verifies a fix of what cannot be built beside packages without tests, and examples that are not run', async () => {
    await using scratch = await makeScratch();
    const later = LIB.replace('/// The last item.', '/// The last item.\n/// ```ignore\n/// last(of_nothing)\n/// ```');
    const files = {
      ...PROJECT,
      'Cargo.toml': `${PROJECT['Cargo.toml']}\n[workspace]\nmembers = ["shown", "used"]\n`,
      'src/lib.rs': later.replace('items[0]', 'itms[0]'),
      'shown/Cargo.toml': '[package]\nname = "shown"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nmy-list = { path = ".." }\n',
      'shown/src/main.rs': 'fn main() { println!("{}", my_list::last(&[1])); }\n',
      'used/Cargo.toml': '[package]\nname = "used"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nmy-list = { path = ".." }\n',
      'used/src/lib.rs': 'pub fn one() -> i32 { my_list::last(&[1]) }\n#[test]\nfn is_one() { assert_eq!(one(), 1); }\n',
      'fuzz/Cargo.toml': '[package]\nname = "fuzz"\nversion = "0.0.0"\n[workspace]\n',
      'fuzz/src/main.rs': '#[test]\nfn of_another_workspace() {}\nfn main() {}\n',
    };
    const fixed = later.replace('items[0]', 'items[items.len() - 1]');
    expect(await judge(scratch, files, { 'src/lib.rs': fixed }, 'cargo test --workspace')).toMatchObject({ verified: true, reason: '4 tests that failed before passed, and 0 tests that passed still did.' });
    // A patch that keeps tests from being compiled.
    const emptied = { 'src/lib.rs': fixed, 'used/src/lib.rs': `#![cfg(any())]\n${files['used/src/lib.rs']}` };
    expect(await judge(scratch, files, emptied, 'cargo test --workspace')).toMatchObject({ verified: false, reason: expect.stringContaining('1 still did not pass: used') });
  });
});

describe("cargo's report", () => {
  const build = [
    '{"reason":"compiler-artifact","target":{"name":"a","kind":["bin"]},"profile":{"test":true},"executable":"/c/target/debug/deps/a-1"}',
    '{"reason":"build-finished","success":true}',
  ].join('\n');
  const head = '{"type":"binary","package":"a","path":"/c/target/debug/deps/a-1"}';
  const started = '{ "type": "test", "event": "started", "name": "x" }';
  const ok = '{ "type": "test", "name": "x", "event": "ok", "exec_time": 0.5 }';
  const suite = '{ "type": "suite", "event": "ok", "passed": 1, "failed": 0, "ignored": 0 }';
  const end = '{"type":"end","code":0}';
  const parse = (lines: string[], built = build): string[] =>
    summary(parseCargoReports({ build: built, binaries: [[head, ...lines].join('\n')], packages: ['a'] }, '/c'));

  it('names package, target and test, whatever tests print in between', () => {
    expect(parse([started, `noise ${ok}`, suite, end])).toEqual(['passed a > bin a > x']);
  });

  it('numbers tests of one name in one binary, as a macro makes them, whichever ends first', () => {
    expect(parse([started, started, ok, ok, suite.replace('1', '2'), end])).toEqual(['passed a > bin a > x', 'passed a > bin a > x (2)']);
    expect(parse([started, started, ok, end])).toEqual(['passed a > bin a > x', 'failed container a > bin a']);
  });

  describe('of documentation tests', () => {
    const docs = (...lines: string[]) =>
      summary(parseCargoReports({ build, binaries: [['{"type":"binary","package":"a","path":"doc"}', ...lines].join('\n')], packages: ['a'] }, '/c'));
    const other = (line: string): string => line.replace('"x"', '"y"');

    it('takes those that share a binary and those that do not, which rustdoc reports one after the other', () => {
      expect(docs(started, ok, suite, other(started), other(ok), suite, end)).toEqual(['passed a > doc > x', 'passed a > doc > y']);
    });

    it.each([
      ['the numbers are others', [started, ok, suite, other(started), other(ok), end]],
      ['two reports differ about a test', [started, ok, suite, started, ok.replace('"ok"', '"failed"'), suite.replace('1', '0').replace('"failed": 0', '"failed": 1'), end.replace('0', '101')]],
    ])('is an error where %s', (_, lines) => {
      expect(() => docs(...lines)).toThrow(ReportError);
    });
  });

  it('has a binary that ended before its tests did as failed', () => {
    expect(parse([started, end])).toEqual(['failed container a > bin a']);
  });

  it('has a binary that failed although none of its tests did as failed', () => {
    expect(parse([started, ok, suite, end.replace('0', '101')])).toEqual(['passed a > bin a > x', 'failed container a > bin a']);
  });

  it('has every package as failed where the build does', () => {
    const failed = '{"reason":"build-finished","success":false}';
    expect(summary(parseCargoReports({ build: failed, binaries: [], packages: ['a', 'b'] }, '/c'))).toEqual([
      'failed container a',
      'failed container b',
    ]);
    const printed = "   Compiling a v0.1.0 (/c)\nwarning: unused\n  --> src/a.rs:1:1\nerror[E0425]: cannot find function `b`\n   --> src/lib.rs:6:33\n    |\nerror: could not compile `a` (lib) due to 1 previous error\n";
    const message = 'It cannot be built: cannot find function `b` at src/lib.rs:6:33';
    expect(parseCargoReports({ build: failed, binaries: [], packages: ['a'], printed }, '/c').results).toMatchObject([{ message }]);
  });

  it.each([
    ['a test that was never started passes', [ok, suite, end]],
    ['a test has two endings', [started, ok, ok, suite, end]],
    ['the numbers are others', [started, ok, suite.replace('1', '2'), end]],
    ['a test failed and the binary did not', [started, ok.replace('"ok"', '"failed"'), suite.replace('1', '0').replace('"failed": 0', '"failed": 1'), end]],
    ['there are two last words', [started, ok, suite, suite, end]],
  ])('is an error where %s', (_, lines) => {
    expect(() => parse(lines)).toThrow(ReportError);
  });

  it('is an error where cargo did not come to building', () => {
    expect(() => parse([started, ok, suite, end], '')).toThrow(ReportError);
  });
});
