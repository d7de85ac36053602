import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { drawMix, type DrawnTasks, type TaskMix } from '../../backend/train/trainings/task-mix.ts';
import type { Task } from '../../backend/verify/graders/tasks/grader-spec.ts';
import { readTasks } from '../../backend/verify/graders/tasks/task-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let workspace: string;
let kept: string;
beforeEach(async () => {
  workspace = await temporaryFolder();
  kept = path.join(workspace, 'kept.jsonl');
  const lines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const numbers = Array.from({ length: 12 }, (_, index) => index);
  // The last two rows ask the same.
  await writeFile(path.join(workspace, 'math.jsonl'), lines([...numbers, 11].map((index) => ({ problem: `What is ${index} + 1?`, answer: String(index + 1), unique_id: `m${index}` }))));
  await writeFile(path.join(workspace, 'mmlu.csv'), ['Question,A,B,C,D,Answer', ...numbers.map((index) => `"Which, of ${index}?",a,b,c,d,B`)].join('\n'));
});

const MIX: TaskMix = { files: ['math.jsonl', 'mmlu.csv'], each: 4, heldOut: 2 };
const draw = (mix: Partial<TaskMix> = {}, seed = 1): Promise<DrawnTasks> => drawMix({ ...MIX, ...mix }, { workspace, seed, kept });

async function keptTasks(): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of readTasks(kept)) tasks.push(task);
  return tasks;
}

describe('a mix of tasks', () => {
  it('has as many of each file to train on, as many held out, and keeps them as tasks of our own form', async () => {
    const { train, heldOut } = await draw();
    expect([train.length, heldOut.length]).toEqual([8, 4]);
    const tasks = await keptTasks();
    expect(tasks.map(({ id }) => id).sort()).toEqual([...train, ...heldOut].sort());
    const kinds = (ids: readonly string[]): string[] => ids.map((id) => tasks.find((task) => task.id === id)?.grader.kind ?? '');
    expect(kinds(train)).toEqual([...Array<string>(4).fill('math'), ...Array<string>(4).fill('choice')]);
    expect(kinds(heldOut)).toEqual(['math', 'math', 'choice', 'choice']);
    expect(new Set(tasks.map(({ question }) => question)).size).toBe(12);
  });

  it('follows from its seed', async () => {
    const first = await draw();
    const bytes = await readFile(kept);
    expect(await draw()).toEqual(first);
    expect(await readFile(kept)).toEqual(bytes);
    expect((await draw({}, 2)).train).not.toEqual(first.train);
  });

  it('draws a question once, also where two files have it', async () => {
    await expect(draw({ files: ['math.jsonl'], each: 12, heldOut: 1 })).rejects.toThrow('math.jsonl has 12 tasks, and 12 to train on with 1 to hold out are wanted: lower tasks.mix.each or tasks.mix.heldOut.');
    await expect(draw({ files: ['math.jsonl', 'math.jsonl'] })).rejects.toThrow(/has 0 tasks/);
  });

  it('draws what an evaluation saw solved at some tries and not at others', async () => {
    const tried = path.join(workspace, 'results.json');
    const samples = Array.from({ length: 12 }, (_, index) => [0, 1].map((seed) => ({ task: `m${index}`, seed, verified: index < 4 || (index < 10 && seed === 0) }))).flat();
    await writeFile(tried, JSON.stringify({ version: 1, samples }));
    const { train, heldOut } = await draw({ files: ['math.jsonl'], tried: 'results.json' });
    expect([...train, ...heldOut].sort()).toEqual(['m4', 'm5', 'm6', 'm7', 'm8', 'm9']);
    await expect(draw({ files: ['math.jsonl'], each: 5, tried: 'results.json' })).rejects.toThrow('math.jsonl has 6 tasks that results.json saw solved at some tries and not at others');
    for (const wrong of ['', '[]', '{"samples": [{"task": 1}]}']) {
      await writeFile(tried, wrong);
      await expect(draw({ tried: 'results.json' })).rejects.toThrow(/cannot be read as the results\.json/);
    }
    await expect(draw({ tried: 'none.json' })).rejects.toThrow(/cannot be read/);
  });
});
