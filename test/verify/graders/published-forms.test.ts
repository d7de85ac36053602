import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { Task } from '../../../backend/verify/graders/tasks/grader-spec.ts';
import { checkTaskFile, readTasks } from '../../../backend/verify/graders/tasks/task-file.ts';
import { makeScratch } from '../setup.ts';

/* Rows as the data sets are published, with contents of our own. */

const ROWS = {
  'HumanEval': {
    task_id: 'HumanEval/0', prompt: 'def double(x):\n    """Doubles.\n    >>> double(2)\n    4\n    """\n', entry_point: 'double',
    canonical_solution: '    return 2 * x\n', test: 'def check(candidate):\n    assert candidate(2) == 4\n',
  },
  'MBPP': {
    task_id: 11, text: 'Write a function that doubles a number.', code: 'def double(x):\n  return 2 * x',
    test_list: ['assert double(2) == 4'], test_setup_code: 'import math', challenge_test_list: [],
  },
  'GSM8K': { question: 'Ann has 1,200 pens and buys 12 more. How many has she?', answer: '1,200 + 12 = <<1200+12=1212>>1,212\n#### 1,212' },
  'AIME': { question: 'Find the number of such integers.', answer: '204' },
  'MMLU-Pro': {
    question_id: 70, question: 'Which colour?', options: ['red', 'blue', 'green', 'white', 'black'], answer: 'E', answer_index: 4, category: 'other',
  },
  'DeepMath': { question: 'Evaluate the limit.', final_answer: '0', difficulty: 4.5, topic: 'Calculus', r1_solution_1: 'Zero.' },
  'MMLU': { question: 'Which colour?', choices: ['red', 'blue'], answer: 1, subject: 'art' },
} as const;

async function taskOf(row: unknown): Promise<Task> {
  await using scratch = await makeScratch();
  const file = path.join(scratch.folder, 'rows.jsonl');
  await writeFile(file, JSON.stringify(row));
  for await (const task of readTasks(file)) return task;
  throw new Error('The file has no task.');
}

it.for(Object.entries(ROWS))('a row of %s is taken for one', async ([form, row]) => {
  expect((await taskOf(row)).form).toBe(form);
});

it('the checks of a program are those of its data set, and what the question shows is known', async () => {
  expect(await taskOf(ROWS.HumanEval)).toMatchObject({
    id: 'HumanEval/0',
    reference: '```python\ndef double(x):\n    """Doubles.\n    >>> double(2)\n    4\n    """\n    return 2 * x\n```',
    grader: { kind: 'check', prelude: ROWS.HumanEval.prompt, test: `${ROWS.HumanEval.test}\ncheck(double)`, visible: ['double(2)'] },
  });
  expect(await taskOf(ROWS.MBPP)).toMatchObject({ grader: { kind: 'check', prelude: '', test: 'import math\nassert double(2) == 4', visible: ['assert double(2) == 4'] } });
  const plus = { ...ROWS.MBPP, text: undefined, prompt: 'Double it.', test_imports: ['import numpy'], test: 'all of them' };
  expect((await taskOf(plus)).grader).toMatchObject({ test: 'all of them' });
});

it('a table of MMLU without a header, as its authors publish it, is read whole', async () => {
  await using scratch = await makeScratch();
  const file = path.join(scratch.folder, 'art_test.csv');
  const rows = ['"Which, of these?",red,blue,green,white,C', 'What is A?,A,B,C,D,A'];
  for (const count of [1, 2]) {
    await writeFile(file, rows.slice(0, count).join('\n'));
    const tasks: Task[] = [];
    for await (const task of readTasks(file)) tasks.push(task);
    expect(tasks.map(({ form, grader, line }) => [form, grader, line])).toEqual([
      ['MMLU', { kind: 'choice', choices: ['red', 'blue', 'green', 'white'], answer: 2 }, 1],
      ['MMLU', { kind: 'choice', choices: ['A', 'B', 'C', 'D'], answer: 0 }, 2],
    ].slice(0, count));
  }
});

it('BigCodeBench asks in words, or for the rest of a program, and is judged alike', async () => {
  await using scratch = await makeScratch();
  const row = {
    task_id: 'BigCodeBench/0', complete_prompt: 'import itertools\ndef task_func(numbers):\n    """Sums."""\n', instruct_prompt: 'Sum the numbers.', canonical_solution: '    return 0',
    code_prompt: 'import itertools\ndef task_func(numbers):', test: 'import unittest\nclass TestCases(unittest.TestCase):\n    pass', entry_point: 'task_func', doc_struct: '{}', libs: "['itertools']",
  };
  const file = path.join(scratch.folder, 'bcb.jsonl');
  const read = async (bigCodeBench?: 'complete'): Promise<Task> => {
    for await (const task of readTasks(file, bigCodeBench && { bigCodeBench })) return task;
    throw new Error('The file has no task.');
  };
  await writeFile(file, JSON.stringify(row));
  const [instruct, complete] = [await read(), await read('complete')];
  expect(instruct.question).toMatch(/^Sum the numbers\./);
  expect(complete.question).toMatch(/^Complete this Python program\.\n\n```python\nimport itertools\ndef task_func\(numbers\):\n {4}"""Sums\."""\n```\n\nEnd with the whole program/);
  expect(complete.grader).toEqual(instruct.grader);
  await writeFile(file, JSON.stringify({ ...row, complete_prompt: undefined }));
  await expect(read('complete')).rejects.toThrow('line 1: it has no "complete_prompt".');
});

it('tasks of SWE-bench are recognised, and it is said once what runs them', async () => {
  await using scratch = await makeScratch();
  const row = { repo: 'a/b', instance_id: 'a__b-1', base_commit: '0123', patch: '', test_patch: '', problem_statement: 'It fails.', FAIL_TO_PASS: '["t"]', PASS_TO_PASS: '[]' };
  const file = path.join(scratch.folder, 'swe.jsonl');
  await writeFile(file, [row, { ...row, instance_id: 'a__b-2' }].map((one) => JSON.stringify(one)).join('\n'));
  const { forms, elsewhere, problems, unreadable } = await checkTaskFile(file);
  expect([forms.size, problems, unreadable]).toEqual([0, [], 0]);
  const message = 'Tasks of SWE-bench are judged in images of their own. They are for "conductor eval", in a file without rows of other data sets.';
  expect(Object.fromEntries(elsewhere)).toEqual({ 'SWE-bench': { rows: 2, message } });
  await expect(taskOf(row)).rejects.toThrow(message);
});

it('the result of GSM8K is what follows "####", without commas, and the last letter of ten options counts', async () => {
  expect((await taskOf(ROWS.GSM8K)).grader).toEqual({ kind: 'math', answer: '1212' });
  expect((await taskOf(ROWS['MMLU-Pro'])).grader).toMatchObject({ kind: 'choice', answer: 4 });
  expect((await taskOf({ Problem: 'Find it.', Answer: 25, ID: '2024-I-1', Solution: '…' }))).toMatchObject({ id: 'aime/2024-I-1', grader: { kind: 'math', answer: '25' } });
});

it('a check says what each row was taken for, and why others cannot be read, also of a packed file', async () => {
  await using scratch = await makeScratch();
  const file = path.join(scratch.folder, 'mixed.jsonl.gz');
  const lines = [JSON.stringify(ROWS.GSM8K), JSON.stringify(ROWS.HumanEval), '{"colour": "red"}', 'no JSON', JSON.stringify(ROWS.MMLU)];
  await writeFile(file, gzipSync(lines.join('\n')));
  const { forms, problems, unreadable } = await checkTaskFile(file);
  expect(Object.fromEntries(forms)).toEqual({ GSM8K: 1, HumanEval: 1 });
  expect(unreadable).toBe(2);
  expect(problems).toEqual([expect.stringContaining('line 3: it has no "grader", and its fields (colour)'), expect.stringContaining('line 4: this is not JSON')]);
  await writeFile(file, 'this is not gzip');
  expect((await checkTaskFile(file)).problems).toEqual([expect.stringContaining('this cannot be unpacked: incorrect header check.')]);
});
