import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectTask } from '../../../backend/train/tasks/project-task.ts';
import {
  ChangedProjectError, checkUnchanged, makeProjectTasks, UnusableProjectError, type ProjectTaskRecord, type TaskMakerParts,
} from '../../../backend/train/tasks/project-tasks.ts';
import { makeScratch, trySandbox, type Scratch } from '../../verify/setup.ts';

const { available, note } = await trySandbox();

const LIST = `export function last(list) {
  if (list.length === 0) return undefined;
  return list[list.length - 1];
}
`;
const SUM = `export function sum(list) {
  let all = 0;
  for (const one of list) all += one;
  return all;
}

export function unused(list) {
  const found = list[0];
  return found;
}
`;
const FILES = {
  'package.json': '{"type":"module"}',
  'src/list.js': LIST,
  'src/sum.js': SUM,
  'test/list.test.js': `
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { last } from '../src/list.js';
import { sum } from '../src/sum.js';
it('finds the last', () => assert.equal(last([1, 2, 3]), 3));
it('finds nothing in nothing', () => assert.equal(last([]), undefined));
it('adds', () => assert.equal(sum([1, 2, 3]), 6));
it('is known to fail', () => assert.equal(sum([1]), 7));
`,
};

const { signal } = new AbortController();
const partsOf = ({ verifier }: Scratch, workspace: string): TaskMakerParts =>
  ({
    verifier, workspace, signal,
    test: { command: 'node --test', runner: 'node-test' },
    gatherContext: async (folder, { paths }) =>
      ({ text: (await Promise.all(paths.map((file) => readFile(path.join(folder, file), 'utf8')))).join('\n'), shown: paths }),
  });

describe.skipIf(!available)(`tasks of a project (${note})`, { timeout: 240_000 }, () => {
  it('are what its tests can tell, split by file; answers to them are judged by the tests they broke', async () => {
    await using scratch = await makeScratch();
    const workspace = await scratch.project(FILES);
    const told: number[] = [];
    const options = { seed: 1, count: 6, heldOut: 0.5, kinds: ['write', 'repair'] as const };
    const tasks = await makeProjectTasks({ ...partsOf(scratch, workspace), onTried: ({ tried }) => told.push(tried) }, options);
    expect(tasks.length).toBeGreaterThanOrEqual(5);
    expect(told.at(-1)).toBeGreaterThanOrEqual(tasks.length);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(tasks.length);
    const splits = new Map(tasks.map((task) => [task.path, new Set(tasks.filter((other) => other.path === task.path).map(({ split }) => split))]));
    expect([...splits.values()].every(({ size }) => size === 1)).toBe(true);
    expect(new Set(tasks.map(({ split }) => split))).toEqual(new Set(['train', 'held-out']));
    // No test would notice.
    expect(tasks.map(({ question }) => question).join('\n')).not.toContain('unused');
    // One test fails anyway, and no task is about it.
    expect(tasks.flatMap(({ targets }) => targets ?? [])).not.toContain('test/list.test.js > is known to fail');

    const write = tasks.find(({ kind, question }) => kind === 'write' && question.includes('`last`')) as ProjectTaskRecord;
    expect(write.after).toContain('not written yet');
    const task = projectTask(write, { ...partsOf(scratch, workspace), sandboxAvailability: () => scratch.sandbox.availability() });
    expect(task.context).toContain('not written yet');
    const judged = async (answer: string) => {
      const patch = await task.checker.parsePatch(answer, task.base, task.shown);
      return await task.checker.verify({ base: task.base, patch, command: '', sandboxed: true, signal });
    };
    const right = await judged(`\`\`\`js title="src/list.js"\n${LIST}\`\`\`\n`);
    expect([right.outcome, right.score]).toEqual(['verified', 1]);
    const half = await judged(`\`\`\`js title="src/list.js"\n${LIST.replace('- 1', '- 2')}\`\`\`\n`);
    expect([half.outcome, half.score]).toEqual(['failed', 0.5]);
    expect((await judged('Nothing to do.')).outcome).toBe('refused');

    await checkUnchanged(workspace, tasks);
    await writeFile(path.join(workspace, 'src/list.js'), `${LIST}\n`);
    await expect(checkUnchanged(workspace, tasks)).rejects.toThrow(ChangedProjectError);
  });

  it('cannot be made where no test can judge, which is said', async () => {
    await using scratch = await makeScratch();
    const workspace = await scratch.project(FILES);
    const parts = { ...partsOf(scratch, workspace), test: { command: 'node --test nowhere/', runner: 'node-test' } };
    await expect(makeProjectTasks(parts, { seed: 1, count: 2, heldOut: 0.3, kinds: ['write', 'repair'] })).rejects.toThrow(UnusableProjectError);
  });
});
