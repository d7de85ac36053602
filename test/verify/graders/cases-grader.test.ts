import { describe, expect, it } from 'vitest';
import { CasesGrader, type CasesGraderOptions, type TestCase } from '../../../backend/verify/graders/code/cases-grader.ts';
import type { Grade } from '../../../backend/verify/graders/grader.ts';
import { ProgramSandbox } from '../../../backend/verify/graders/code/program-sandbox.ts';
import { GraderInfrastructureError } from '../../../backend/verify/graders/grader.ts';
import { makeScratch } from '../setup.ts';
import { gradeOf, javascript, programsIn, python, sourceOf, tryPrograms } from './setup.ts';

const pythonHere = await tryPrograms('python');
const javascriptHere = await tryPrograms('javascript');

const SUMS: readonly TestCase[] = [
  { input: '1 2', output: '3' },
  { input: '5 6\n', output: '11\n' },
];

const CALLS: readonly TestCase[] = [
  { input: '[1, 2]\n[3]', output: '[1, 2, 3]' },
  { input: '"a"\n"b"', output: '"ab"' },
];

async function gradeIn(options: Partial<CasesGraderOptions>, answer: string): Promise<Grade> {
  await using scratch = await makeScratch();
  return await gradeOf(new CasesGrader({ cases: () => SUMS, ...options }, programsIn(scratch)), answer);
}

describe.skipIf(!pythonHere.available)(`a Python program on cases (${pythonHere.note})`, { timeout: 120_000 }, () => {
  it.each([
    ['reads with input', 'a, b = map(int, input().split())\nprint(a + b)'],
    ['reads all of standard input', 'import sys\nprint(sum(map(int, sys.stdin.read().split())))'],
    ['opens standard input as a file', 'print(sum(map(int, open(0).read().split())))'],
    [
      'does its work behind a check for the main program',
      sourceOf('if __name__ == "__main__":', '    print(sum(map(int, input().split())))'),
    ],
    [
      'does its work in a thread',
      sourceOf(
        'import threading',
        'def main():',
        '    print(sum(map(int, input().split())))',
        'threading.Thread(target=main).start()',
      ),
    ],
    ['ends by exit', 'print(sum(map(int, input().split())))\nexit(0)'],
    ['uses a module that it did not import', 'print(reduce(add, map(int, input().split())))'],
    [
      'recurses deeply',
      sourceOf('def depth(n): return 0 if n == 0 else 1 + depth(n - 1)', 'depth(5000)', 'print(sum(map(int, input().split())))'),
    ],
    ['starts with a future import', 'from __future__ import annotations\nprint(sum(map(int, input().split())))'],
  ])('is verified where it %s', async (_how, source) => {
    expect(await gradeIn({}, python(source))).toMatchObject({ verified: true, score: 1, outcome: 'verified' });
  });

  it('is failed at its first wrong case, and the cases behind it have not run', async () => {
    const grade = await gradeIn({}, python('print(11)'));
    expect(grade).toMatchObject({ verified: false, score: 0, outcome: 'failed' });
    expect(grade.tests.map(({ after }) => after)).toEqual(['failed', 'missing']);
    expect(grade.reason).not.toContain('3.');
  });

  it('is scored by the share of cases where all are to run', async () => {
    const grade = await gradeIn({ runAllCases: true }, python('print(11)'));
    expect(grade).toMatchObject({ verified: false, score: 0.5, outcome: 'failed' });
  });

  it('is failed where it ends with an error, even after the right output', async () => {
    const grade = await gradeIn({}, python('print(sum(map(int, input().split())))\nraise ValueError("late")'));
    expect(grade).toMatchObject({ score: 0, outcome: 'failed' });
    expect(grade.reason).toContain('ValueError: late');
  });

  it('answers large output whole', async () => {
    const lines = Array.from({ length: 200_000 }, (_, index) => String(index)).join('\n');
    const cases = (): TestCase[] => [{ input: '', output: lines }];
    expect((await gradeIn({ cases }, python('for i in range(200000): print(i)'))).outcome).toBe('verified');
  });

  it.each([
    ['a function', 'def join(a, b):\n    return a + b'],
    ['a method of Solution', sourceOf('class Solution:', '    def join(self, a, b):', '        return a + b')],
    ['a function that prints', sourceOf('def join(a, b):', '    print("noise")', '    return a + b')],
    [
      'a function that returns a tuple',
      sourceOf('def join(a, b):', '    return tuple(a) + tuple(b) if isinstance(a, list) else a + b'),
    ],
  ])('is verified by calling %s', async (_how, source) => {
    expect((await gradeIn({ cases: () => CALLS, functionName: 'join' }, python(source))).outcome).toBe('verified');
  });

  it.each([
    ['has no such function', 'def other(a, b):\n    return a + b'],
    ['returns nothing', 'def join(a, b):\n    pass'],
    ['returns a set', 'def join(a, b):\n    return set(a) | set(b)'],
    ['is no Python', 'def join(a, b:'],
  ])('is failed where it %s', async (_how, source) => {
    expect((await gradeIn({ cases: () => CALLS, functionName: 'join' }, python(source))).outcome).toBe('failed');
  });

  it('may return integers of any size', async () => {
    const cases = (): TestCase[] => [{ input: '200', output: String(3n ** 200n) }];
    expect((await gradeIn({ cases, functionName: 'f' }, python('def f(n): return 3 ** n'))).outcome).toBe('verified');
    expect((await gradeIn({ cases, functionName: 'f' }, python('def f(n): return 3 ** n + 1'))).outcome).toBe('failed');
  });
});

describe.skipIf(!javascriptHere.available)(`a JavaScript program on cases (${javascriptHere.note})`, { timeout: 120_000 }, () => {
  it('is verified by what it writes', async () => {
    const source = "const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number);\nconsole.log(a + b);";
    expect((await gradeIn({ language: 'javascript' }, javascript(source))).outcome).toBe('verified');
  });

  it.each([
    ['a global function', 'var join = (a, b) => { console.log("noise"); return Array.isArray(a) ? [...a, ...b] : a + b; };'],
    ['an exported function', 'module.exports = { join: async (a, b) => Array.isArray(a) ? a.concat(b) : a + b };'],
  ])('is verified by calling %s', async (_how, source) => {
    const options = { cases: () => CALLS, functionName: 'join', language: 'javascript' } as const;
    expect((await gradeIn(options, javascript(source))).outcome).toBe('verified');
  });

  it('is failed where it returns something else, or throws', async () => {
    const options = { cases: () => CALLS, functionName: 'join', language: 'javascript' } as const;
    expect((await gradeIn(options, javascript('const join = () => [];'))).outcome).toBe('failed');
    expect((await gradeIn(options, javascript('const join = () => { throw new Error("no"); };'))).outcome).toBe('failed');
  });
});

describe.skipIf(!pythonHere.available || !javascriptHere.available)('cases in one process', { timeout: 120_000 }, () => {
  const TWICE: readonly TestCase[] = [1, 2, 3, 4].map((n) => ({ input: String(n), output: String(2 * n) }));
  const inOne = (language: 'python' | 'javascript', more: Partial<CasesGraderOptions> = {}): Partial<CasesGraderOptions> =>
    ({ cases: () => TWICE, functionName: 'twice', language, inOneProcess: true, ...more });

  it.each([
    ['python', python(sourceOf('class Solution:', '    def twice(self, n):', '        print("noise")', '        return n + n'))],
    ['javascript', javascript('let calls = 0; const twice = async (n) => { calls += 1; return n + n; }; module.exports = { twice };')],
  ] as const)('are each called with their own arguments, in %s', async (language, answer) => {
    expect((await gradeIn(inOne(language), answer)).tests.map(({ after }) => after)).toEqual(['passed', 'passed', 'passed', 'passed']);
  });

  it.each([
    ['python', 'raises', python('def twice(n): return 2 * n if n != 3 else 1 / 0'), 'ZeroDivisionError'],
    ['javascript', 'throws', javascript('const twice = (n) => { if (n === 3) throw new Error("no threes"); return 2 * n; };'), 'ended with an error'],
    ['javascript', 'leaves', javascript('const twice = (n) => { if (n === 3) process.exit(0); return 2 * n; };'), 'not the expected'],
    ['javascript', 'goes on for ever', javascript('const twice = (n) => { while (n === 3); return 2 * n; };'), 'in time'],
  ] as const)('are passed up to where a program in %s %s', async (language, _how, answer, reason) => {
    const grade = await gradeIn(inOne(language, { runAllCases: true, limits: { cpuTimeMs: 1_500 } }), answer);
    expect(grade.outcome).toBe('failed');
    expect(grade.tests.slice(0, 2).map(({ after }) => after)).toEqual(['passed', 'passed']);
    expect(grade.tests.filter(({ after }) => after === 'failed').length).toBeGreaterThan(0);
    expect(grade.reason).toContain(reason);
  });
});

describe('grading on cases', () => {
  const unused = { run: () => Promise.reject(new Error('No program was to run.')) };

  it('fails an answer without a whole program, and runs nothing', async () => {
    const grader = new CasesGrader({ cases: () => SUMS }, unused);
    expect((await gradeOf(grader, 'I cannot.')).outcome).toBe('failed');
    expect((await gradeOf(grader, '```python\nprint(3)')).outcome).toBe('failed');
  });

  it('is infrastructure where the machine or the task fails', async () => {
    const brokenMachine = { run: () => Promise.reject(new GraderInfrastructureError('No Python here.')) };
    expect(await gradeOf(new CasesGrader({ cases: () => SUMS }, brokenMachine), python('print(3)'))).toEqual({
      verified: false,
      score: 0,
      outcome: 'infrastructure',
      reason: 'No Python here.',
      tests: [],
    });
    expect((await gradeOf(new CasesGrader({ cases: () => [] }, unused), python('print(3)'))).outcome).toBe('infrastructure');
    const badCase = { cases: () => [{ input: '1', output: 'not JSON' }], functionName: 'f' };
    expect((await gradeOf(new CasesGrader(badCase, unused), python('print(3)'))).outcome).toBe('infrastructure');
  });

  it('is infrastructure where no interpreter is found', async () => {
    await using scratch = await makeScratch();
    const sandbox = {
      run: () =>
        Promise.resolve({
          exitCode: 127,
          stdout: '',
          stderr: 'python3: not found',
          durationMs: 1,
          sandboxed: true,
        }),
    };
    const programs = new ProgramSandbox({ sandbox, folders: scratch.folders, hidden: [] });
    const grade = await gradeOf(new CasesGrader({ cases: () => SUMS }, programs), python('print(3)'));
    expect(grade).toMatchObject({ outcome: 'infrastructure' });
    expect(grade.reason).toContain('python3');
  });

  it('throws the reason of an abort while the interpreter is looked for', async () => {
    await using scratch = await makeScratch();
    const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<never>()];
    const run = (): Promise<never> => {
      started.resolve();
      return gate.promise;
    };
    const programs = new ProgramSandbox({ sandbox: { run }, folders: scratch.folders, hidden: [] });
    const aborted = new AbortController();
    const grading = gradeOf(new CasesGrader({ cases: () => SUMS }, programs), python('print(1)'), aborted.signal);
    await started.promise;
    aborted.abort(new Error('enough'));
    await expect(grading).rejects.toThrow('enough');
    gate.reject(new Error('the machine is gone'));
  });

  it('throws the reason of an abort', async () => {
    const grader = new CasesGrader({ cases: () => SUMS }, unused);
    await expect(gradeOf(grader, python('print(3)'), AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});
