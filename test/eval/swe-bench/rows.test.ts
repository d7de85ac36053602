import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isSweBenchFile, readSweBench } from '../../../backend/eval/swe-bench/rows.ts';
import { makeScratch } from '../../verify/setup.ts';

const OLD = { repo: 'a/b', instance_id: 'a__b-1', base_commit: '0123', patch: 'gold', test_patch: '', problem_statement: 'It fails.', FAIL_TO_PASS: '["t.py::a"]', PASS_TO_PASS: '[]' };
const ROW = { ...OLD, image: 'swebench/sweb.eval.x86_64.a_1776_b-1:latest', eval_script: '#!/bin/bash\npytest -rA', log_parser: 'parse_log_pytest', eval_type: 'pass_and_fail', created_at: '2024-05-06T07:08:09Z' };

async function read(...rows: readonly object[]): Promise<Awaited<ReturnType<typeof readSweBench>>> {
  await using scratch = await makeScratch();
  const file = path.join(scratch.folder, 'swe.jsonl');
  await writeFile(file, rows.map((row) => JSON.stringify(row)).join('\n'));
  expect(await isSweBenchFile(file)).toBe(true);
  return await readSweBench(file);
}

describe('rows of SWE-bench', () => {
  it('are read with their image, their script and their tests, which are a list or its JSON', async () => {
    const { rows, notRun } = await read(ROW, { ...ROW, instance_id: 'a__b-2', FAIL_TO_PASS: ['t.py::b'] });
    expect(rows.map(({ id, failToPass }) => [id, failToPass])).toEqual([['a__b-1', ['t.py::a']], ['a__b-2', ['t.py::b']]]);
    expect(rows[0]).toMatchObject({ question: 'It fails.', image: ROW.image, evalScript: ROW.eval_script, passToPass: [], gold: 'gold', date: '2024-05-06' });
    expect(notRun.size).toBe(0);
  });

  it('are not run, with the reason, if they do not say how, or if they are of another language', async () => {
    const { rows, notRun } = await read(OLD, { ...ROW, log_parser: 'parse_log_jest' }, { ...ROW, log_parser: 'parse_log_jest', instance_id: 'a__b-2' }, { ...ROW, instance_id: 'a__b-3' });
    expect(rows.map(({ id }) => id)).toEqual(['a__b-3']);
    expect([...notRun].map(([kind, { rows: count }]) => [kind, count])).toEqual([['SWE-bench without scripts', 1], ['SWE-bench with parse_log_jest', 2]]);
  });

  it('name what reads the log of their tests', async () => {
    const named = ['parse_log_django', 'parse_log_sympy', 'parse_log_scikit', 'parse_log_seaborn', 'parse_log_matplotlib'];
    const { rows } = await read(...named.map((parser, index) => ({ ...ROW, instance_id: `a__b-${index}`, log_parser: parser })));
    expect(rows.map(({ log }) => log)).toEqual(['django', 'sympy', undefined, 'seaborn', 'matplotlib']);
  });

  it('of SWE-bench-Live have commands instead of a script, and an image of its own name', async () => {
    const live = { ...OLD, instance_id: 'Ada__b-1', FAIL_TO_PASS: ['t.py::a'], PASS_TO_PASS: [], test_patch: '--- a/t.py\n+++ b/t.py\n@@ -1,2 +1,3 @@\n+import a\n import b\n \n', test_cmds: ['cd tests', 'pytest -rA'], log_parser: 'pytest' };
    const { rows: [row, named], notRun } = await read(live, { ...live, instance_id: 'Ada__b-2', docker_image: 'ada/image:1' }, { ...live, instance_id: 'Ada__b-3', print_cmds: ['cat log'], log_parser: 'def parser(log): ...' });
    expect(row).toMatchObject({ form: 'SWE-bench-Live', image: 'starryzhang/sweb.eval.x86_64.ada_1776_b-1' });
    expect(row?.evalScript).toContain("bash -i -c 'cd tests ; pytest -rA'");
    // With the empty line of the file at the end, as the diff has it.
    expect(row?.evalScript).toContain('\n import b\n \nEND_OF_TESTS\n');
    expect(named?.image).toBe('ada/image:1');
    expect([...notRun.keys()]).toEqual(['SWE-bench without scripts']);
  });

  it.each([
    [{ FAIL_TO_PASS: 'no list' }, 'line 2: FAIL_TO_PASS: is no list of tests.'],
    [{ instance_id: '../out' }, 'line 2: instance_id: is no id.'],
    [{}, 'line 2: the row "a__b-1" is there twice.'],
  ])('with %o are refused', async (change, message) => {
    await expect(read(ROW, { ...ROW, ...change })).rejects.toThrow(message);
  });

  it('do not stand beside those of other data sets', async () => {
    await expect(read(ROW, { question: 'Which?', answer: '3' })).rejects.toThrow('line 2: this row is not of SWE-bench');
  });

  it('with an image whose name is an option are not run', async () => {
    expect((await read({ ...ROW, image: '--privileged' })).rows).toEqual([]);
  });
});
