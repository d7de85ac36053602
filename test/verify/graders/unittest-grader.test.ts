import { describe, expect, it } from 'vitest';
import { UnittestGrader, type UnittestGraderOptions } from '../../../backend/verify/graders/code/unittest-grader.ts';
import type { Grade } from '../../../backend/verify/graders/grader.ts';
import { makeScratch } from '../setup.ts';
import { gradeOf, programsIn, python, sourceOf, tryPrograms } from './setup.ts';

const { available, note } = await tryPrograms('python');

const TEST = `
import unittest
from unittest.mock import patch

class TestCases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.known = {2: 4}

    def test_number(self):
        for number, square in self.known.items():
            with self.subTest(number):
                self.assertEqual(task_func(number), square)

    def test_negative(self):
        self.assertTrue(task_func(-3) == 9)

    def test_refuses(self):
        with self.assertRaises(TypeError):
            task_func(None)

    @patch("builtins.print")
    def test_is_quiet(self, printed):
        task_func(1)
        printed.assert_not_called()
`;

async function gradeIn(source: string, options: Partial<UnittestGraderOptions> = {}): Promise<Grade> {
  await using scratch = await makeScratch();
  return await gradeOf(new UnittestGrader({ test: TEST, ...options }, programsIn(scratch)), python(source));
}

describe.skipIf(!available)(`a class of unit tests (${note})`, { timeout: 120_000 }, () => {
  it('verifies a right program', async () => {
    const grade = await gradeIn('def task_func(x):\n    return x * x');
    expect(grade).toMatchObject({ verified: true, score: 1, outcome: 'verified' });
    expect(grade.tests.map(({ id }) => id)).toEqual(['test_number', 'test_negative', 'test_refuses', 'test_is_quiet']);
  });

  it('scores a wrong one by the share of its tests', async () => {
    const grade = await gradeIn('def task_func(x):\n    if x is None: raise TypeError\n    return 9');
    expect(grade).toMatchObject({ verified: false, score: 0.75, outcome: 'failed' });
  });

  it.each([
    ['does not define the function', 'x = 1'],
    ['is no Python', 'def task_func(x:'],
    ['fails when it is loaded', 'raise ValueError("no")'],
  ])('fails a program that %s', async (_how, source) => {
    expect(await gradeIn(source)).toMatchObject({ verified: false, score: 0, outcome: 'failed' });
  });

  it('lets objects of the program be compared by their own honest rule', async () => {
    const test = sourceOf(
      'import unittest',
      'class TestCases(unittest.TestCase):',
      '    def test_it(self):',
      '        self.assertEqual(make(1), make(1))',
      '        self.assertNotEqual(make(1), make(2))',
    );
    const source = sourceOf(
      'from dataclasses import dataclass',
      '@dataclass',
      'class Point:',
      '    x: int',
      'def make(x): return Point(x)',
    );
    expect((await gradeIn(source, { test })).outcome).toBe('verified');
  });

  it('puts the imports of the task before the program', async () => {
    const options = { prelude: 'import math\ndef task_func(x):\n    pass\n' };
    expect((await gradeIn('def task_func(x):\n    return int(math.pow(x, 2))', options)).outcome).toBe('verified');
  });

  it('is infrastructure where a module of the task is missing', async () => {
    const grade = await gradeIn(sourceOf('def task_func(x):', '    return x * x'), { modules: ['json', 'no_such_module_here'] });
    expect(grade).toMatchObject({ verified: false, outcome: 'infrastructure' });
    expect(grade.reason).toContain('no_such_module_here');
  });

  it('is infrastructure where the task has no tests', async () => {
    expect((await gradeIn('x = 1', { test: 'class TestCases: pass' })).outcome).toBe('infrastructure');
  });
});
