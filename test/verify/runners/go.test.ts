import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { goTest, parseGoEvents } from '../../../backend/verify/runners/go-test.ts';
import { ReportError } from '../../../backend/verify/runners/test-report.ts';
import { makeScratch, trySandbox } from '../setup.ts';
import { changes, judge, summary, tryProgram, type Files } from './setup.ts';

const { available, note } = await trySandbox();
const go = tryProgram('go', 'version');

const LIST = 'package list\n\nfunc Last(items []int) int { return items[0] }\n';
const FIXED = LIST.replace('items[0]', 'items[len(items)-1]');

const PROJECT: Files = {
  'go.mod': 'module example.com/list\n\ngo 1.21\n',
  'list.go': LIST,
  'list_test.go': `package list
import "testing"
func TestLast(t *testing.T) {
	t.Run("of one", func(t *testing.T) { if Last([]int{1}) != 1 { t.Fatal("not 1") } })
	t.Run("of two", func(t *testing.T) { if Last([]int{1, 2}) != 2 { t.Fatal("not 2") } })
}
func TestLater(t *testing.T) { t.Skip() }
`,
};

describe.skipIf(!available || !go.isHere)(`go test (${note}, ${go.note})`, { timeout: 300_000 }, () => {
  it('verifies an honest fix, and neither one that cannot be built nor one that ends the process', async () => {
    await using scratch = await makeScratch();
    // Fills the user's build cache. Without it each run compiles the standard library.
    execFileSync('go', ['test', '-run', '^$', './...'], { cwd: await scratch.project(PROJECT, 'compiled before'), stdio: 'ignore' });
    const verdict = await judge(scratch, PROJECT, { 'list.go': FIXED }, 'go test ./...');
    expect(verdict.reason).toBe('2 tests that failed before passed, and 1 test that passed still did.');
    expect(changes(verdict)).toEqual({
      'example.com/list > TestLast': 'failed → passed',
      'example.com/list > TestLast/of_one': 'passed → passed',
      'example.com/list > TestLast/of_two': 'failed → passed',
      'example.com/list > TestLater': 'skipped → skipped',
    });
    for (const text of [
      'package list\nfunc Last(items []int) string { return "x" }\n',
      `package list\nimport ("fmt"; "os")\nfunc init() { fmt.Print("=== RUN   TestLast\\n--- PASS: TestLast (0.00s)\\nPASS\\n"); os.Exit(0) }
func Last(items []int) int { return 0 }\n`,
    ]) {
      const failed = await judge(scratch, PROJECT, { 'list.go': text }, 'go test -v ./...');
      expect(failed).toMatchObject({ verified: false, outcome: 'failed' });
    }
  });

  it('verifies a fix of what cannot be built beside packages without tests', async () => {
    await using scratch = await makeScratch();
    const files = {
      ...PROJECT,
      'list.go': LIST.replace('items[0]', 'itms[0]'),
      'shown/main.go': 'package main\n\nimport "example.com/list"\n\nfunc main() { println(list.Last([]int{1})) }\n',
      'other/other.go': 'package other\n',
    };
    const verdict = await judge(scratch, files, { 'list.go': FIXED }, 'go test ./...');
    expect(verdict).toMatchObject({ verified: true, score: 1, reason: '3 tests that failed before passed, and 0 tests that passed still did.' });
    expect(Object.keys(changes(verdict))).not.toContain('example.com/list/shown');
    // It cannot be built for another reason now.
    const worse = { 'list.go': FIXED.replace('func Last', 'func last') };
    expect(await judge(scratch, files, worse, 'go test ./...')).toMatchObject({ verified: false, outcome: 'failed' });
  });
});

describe("go's report", () => {
  it('has packages that cannot be built, subtests of one name, and no pass for a test with a forged ending', async () => {
    const text = await readFile(path.join(import.meta.dirname, 'reports/go.jsonl'), 'utf8');
    const report = parseGoEvents(text, '/c');
    expect(summary(report)).toEqual([
      'passed example.com/a > TestA',
      'passed example.com/a > TestA/sub/x',
      'skipped example.com/a > TestA/sub/x#01',
      'failed example.com/a > TestB',
      'failed example.com/a/d > TestD',
      'failed container example.com/a/b',
      'passed container example.com/a/c',
    ]);
    expect(report.results.at(-2)?.message).toMatch(/b\.go:2:23: cannot use "x"/);
  });

  it('of a go before 1.24 says in plain lines what could not be built', () => {
    const text = '# example.com/b\nb.go:1: no\nFAIL\texample.com/b [build failed]\n';
    expect(summary(parseGoEvents(text, '/c'))).toEqual(['failed container example.com/b']);
  });

  it.each([
    ['is empty', ''],
    ['is cut off', '{"Action":"start","Package":"a"}\n{"Action":"pass","Package":"a","Test":"T"}\n'],
    ['is cut off in a line', '{"Action":"start","Pack'],
    ['has a test without a package', '{"Action":"pass","Package":"b"}\n{"Action":"pass","Package":"a","Test":"T"}\n'],
  ])('is an error where it %s', (_, text) => {
    expect(() => parseGoEvents(text, '/c')).toThrow(ReportError);
  });

  it('is asked for from every "go test", and cannot be from a command that shows none', async () => {
    const run = { copy: import.meta.dirname, shown: '/c', workspace: '/w', tools: '/t', report: '/r' };
    const { command } = await goTest.prepare({ command: 'go vet ./... && go test -v ./... -args -v', ...run });
    expect(command).toMatch(/\ngo vet \.\/\.\.\. && go test -json -count=1 {2}\.\/\.\.\. -args -v >>'\/r\/[^']+\.jsonl'$/);
    await expect(goTest.prepare({ command: 'make test', ...run })).rejects.toThrow(ReportError);
  });
});
