import { describe, expect, it } from 'vitest';
import { CheckGrader } from '../../../backend/verify/graders/code/check-grader.ts';
import { sameAnswerFor } from '../../../backend/verify/graders/tasks/same-answer.ts';
import { makeScratch } from '../setup.ts';
import { gradeOf, mathComparer, programsIn, python, sourceOf, tryPrograms } from './setup.ts';

const { available, note } = await tryPrograms('python');
const prelude = sourceOf('def double(x):', '    """Doubles.', '    >>> double(2)', '    4', '    """', '');
const test = sourceOf('def check(candidate):', '    assert candidate(2) == 4', '    assert candidate(-1) == -2', 'check(double)');

async function verdict(answer: string) {
  await using scratch = await makeScratch();
  return await gradeOf(new CheckGrader({ prelude, test, limits: { cpuTimeMs: 2_000 } }, programsIn(scratch)), answer);
}

describe('a program with its checks', () => {
  it.skipIf(!available).each([
    ['the whole function', python('def double(x):\n    return 2 * x'), true],
    ['the rest of it alone', python('    return 2 * x'), true],
    ['a wrong result', python('def double(x):\n    return x * x'), false],
    ['an end before the checks', python('def double(x):\n    return 2 * x\nimport sys; sys.exit(0)'), false],
    ['an end of the process', python('import os; os._exit(0)'), false],
    ['no program', 'Double it.', false],
    ['endless work', python('while True: pass'), false],
  ] as const)(`is right if nothing is raised up to its end: %s (${note})`, async (_name, answer, isRight) => {
    const grade = await verdict(answer);
    expect(grade).toMatchObject({ verified: isRight, score: Number(isRight), outcome: isRight ? 'verified' : 'failed' });
  }, 120_000);
});

describe('a vote', () => {
  it.skipIf(!available)(`takes programs that behave alike on the examples of the question for the same (${note})`, async () => {
    await using scratch = await makeScratch();
    const comparer = mathComparer();
    const isSame = sameAnswerFor({ kind: 'check', prelude, test, visible: ['double(2)', 'assert double(3) == 6'] },
      { programs: programsIn(scratch), comparer }, new AbortController().signal);
    const [sum, product, square] = [python('def double(x):\n    return x + x'), python('def double(x):\n    return 2 * x'), python('def double(x):\n    return x * x')];
    expect(await isSame(sum, product)).toBe(true);
    expect(await isSame(sum, square)).toBe(false);
    expect(await isSame('No code.', 'No code.')).toBe(false);
    await comparer.close();
  });

  it('is by equivalence for mathematics, by letter for choices', async () => {
    const comparer = mathComparer();
    const tools = { comparer, programs: { run: () => Promise.reject(new Error('No program is run for this.')) } };
    const { signal } = new AbortController();
    const inMathematics = sameAnswerFor({ kind: 'math', answer: '1' }, tools, signal);
    expect(await inMathematics('\\boxed{\\frac{1}{2}}', 'So it is \\boxed{0.5}')).toBe(true);
    expect(await inMathematics('\\boxed{\\frac{1}{2}}', '\\boxed{2}')).toBe(false);
    const inChoices = sameAnswerFor({ kind: 'choice', choices: ['red', 'blue'], answer: 0 }, tools, signal);
    expect(await inChoices('Answer: B', 'It must be blue.\nAnswer: (B)')).toBe(true);
    expect(await inChoices('Answer: B', 'Answer: A')).toBe(false);
    await comparer.close();
  });
});
