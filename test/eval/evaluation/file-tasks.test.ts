import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readFileTasks, type DateWindow } from '../../../backend/eval/evaluation/file-tasks.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const tools = { programs: { run: () => Promise.reject(new Error('no program')) }, comparer: { same: () => Promise.reject(new Error('no mathematics')) } };

it('takes the tasks of contests between two days, both included, and refuses to choose among tasks without dates', async () => {
  const folder = await temporaryFolder();
  const file = path.join(folder, 'livecodebench.jsonl');
  const rows = ['2024-07-31T19:30:00', '2024-08-01T00:00:00', '2024-09-15T07:30:00', '2024-10-01T00:00:00'].map((contest_date, index) => ({
    question_id: `q${index}`, question_title: 'Add', question_content: 'Add two numbers.', platform: 'atcoder', contest_id: 'c', contest_date, starter_code: '', difficulty: 'easy',
    public_test_cases: '[{"input": "1 2", "output": "3", "testtype": "stdin"}]', private_test_cases: '[]', metadata: '{}',
  }));
  await writeFile(file, rows.map((row) => JSON.stringify(row)).join('\n'));
  const read = async (dates?: DateWindow): Promise<string[]> => (await readFileTasks(file, { tools, seed: 1, dates })).map(({ id }) => id.slice(-2));
  expect(await read()).toEqual(['q0', 'q1', 'q2', 'q3']);
  expect(await read({})).toHaveLength(4);
  expect(await read({ start: '2024-08-01', end: '2024-09-15' })).toEqual(['q1', 'q2']);
  expect(await read({ start: '2024-09-16' })).toEqual(['q3']);
  expect(await read({ end: '2024-07-31' })).toEqual(['q0']);
  await writeFile(file, JSON.stringify({ ...rows[0], contest_date: undefined }));
  await expect(read({ start: '2024-08-01' })).rejects.toThrow(/line 1: its tasks have no dates, so --start-date and --end-date cannot choose among them\.$/);
});
