import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectTask } from '../../../backend/train/tasks/project-task.ts';
import {
  makeProjectTasks, UnusableProjectError, type Decision, type ProjectTaskRecord, type TaskMakerParts, type TriedCandidate,
} from '../../../backend/train/tasks/project-tasks.ts';
import { TrainingFolder } from '../../../backend/train/trainings/training-folder.ts';
import { keepFiles } from '../../../backend/verify/copies/keep-files.ts';
import { Verifier } from '../../../backend/verify/verify.ts';
import { MemoryBaseRunCache } from '../../../backend/verify/judge/base-run-cache.ts';
import { patchOf } from './patch-of.ts';
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
    const files = await scratch.verifier.onBase({ base: workspace }, signal, (folder, paths) =>
      keepFiles(folder, paths, { to: path.join(scratch.folder, 'training', 'files', 'project'), hasRepository: false, signal }));
    const tasks = await makeProjectTasks({ ...partsOf(scratch, workspace), files, onTried: ({ tried }) => told.push(tried) }, options);
    // A person works on, and deletes what the tasks are about.
    await writeFile(path.join(workspace, 'test/list.test.js'), 'throw new Error("being rewritten");');
    await rm(path.join(workspace, 'src'), { recursive: true });
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
    const task = projectTask(write, { ...partsOf(scratch, workspace), files, sandboxAvailability: () => scratch.sandbox.availability() });
    expect(task.context).toContain('not written yet');
    const judged = async (answer: string) => {
      const patch = await patchOf(task, answer);
      return await task.checker.verify({ base: task.base, patch, command: '', sandboxed: true, signal });
    };
    // A step's change is tried on the task's base, not on the project: `sum` is there, `last` is not.
    const tried = await task.checker.tryTests?.({
      base: task.base, command: '', newTests: false, timeoutMs: 60_000, signal,
      patch: await patchOf(task, '```js title="src/sum.js"\nexport const sum = () => 6;\n```\n'),
    });
    expect(tried?.results.filter(({ kind }) => kind === 'test').map(({ status }) => status)).toContain('failed');
    const right = await judged(`\`\`\`js title="src/list.js"\n${LIST}\`\`\`\n`);
    expect([right.outcome, right.score]).toEqual(['verified', 1]);
    const half = await judged(`\`\`\`js title="src/list.js"\n${LIST.replace('- 1', '- 2')}\`\`\`\n`);
    expect([half.outcome, half.score]).toEqual(['failed', 0.5]);
    expect((await judged('Nothing to do.')).outcome).toBe('refused');
  });

  it('that were paused go on where they were, to the same tasks as without a pause', async () => {
    await using scratch = await makeScratch();
    const workspace = await scratch.project(FILES);
    const folder = new TrainingFolder(scratch.folder);
    const options = { seed: 1, count: 3, heldOut: 0.5, kinds: ['write', 'repair'] as const };
    const whole: Decision[] = [];
    const tasks = await makeProjectTasks({ ...partsOf(scratch, workspace), onDecided: (decision) => whole.push(decision) }, options);

    const pause = new AbortController();
    const stopped = makeProjectTasks({
      ...partsOf(scratch, workspace), signal: pause.signal,
      onFound: (found) => folder.keepTried(found),
      onTried: ({ tried }) => { if (tried === 2) pause.abort(new Error('paused')); },
    }, options);
    await expect(stopped).rejects.toThrow('paused');
    await appendFile(path.join(scratch.folder, 'tried.jsonl'), '\n{"key":"torn');
    const known = await folder.tried();
    expect(known.size).toBe(2);

    const decisions: Decision[] = [];
    const found: TriedCandidate[] = [];
    const isNew: boolean[] = [];
    const again = await makeProjectTasks({
      ...partsOf(scratch, workspace), known,
      onFound: async (one) => void found.push(one),
      onDecided: (decision) => decisions.push(decision),
      onTried: ({ seconds }) => isNew.push(seconds !== undefined),
    }, options);
    expect(again).toEqual(tasks);
    expect(decisions.map(({ about, state }) => [about, state])).toEqual(whole.map(({ about, state }) => [about, state]));
    expect(isNew).toEqual(isNew.map((_, index) => index >= 2));
    expect(found).toHaveLength(isNew.length - 2);
    expect(found.some(({ key }) => known.has(key))).toBe(false);
    // What judges has changed: everything is tried anew.
    const other = { command: 'node --test test/*.js', runner: 'node-test' };
    const tried: TriedCandidate[] = [];
    await makeProjectTasks({ ...partsOf(scratch, workspace), test: other, known, onFound: async (one) => void tried.push(one) }, { ...options, count: 1 });
    expect(tried.length).toBeGreaterThan(0);
  });

  it('are the same where candidates are first tried by the tests that reach them', async () => {
    await using scratch = await makeScratch();
    const workspace = await scratch.project({
      ...FILES,
      'src/name.js': 'export function name(first, last) {\n  const both = [first, last];\n  return both.join(" ");\n}\n',
      'test/name.test.js': 'import assert from "node:assert/strict";\nimport { it } from "node:test";\nimport { name } from "../src/name.js";\n'
        + 'it("joins", async () => {\n  await new Promise((done) => { setTimeout(done, 300); });\n  assert.equal(name("A", "B"), "A B");\n});\n',
    });
    const made = async (first: boolean) => {
      const verifier = new Verifier({ ...scratch, baseRuns: new MemoryBaseRunCache(), paysToRunFirst: () => first });
      const decisions: Decision[] = [];
      const tasks = await makeProjectTasks({
        ...partsOf(scratch, workspace),
        verifier,
        onDecided: (decision) => decisions.push(decision),
      }, { seed: 3, count: 5, heldOut: 0.5, kinds: ['write', 'repair'] });
      return { tasks, decisions: decisions.map(({ about, state }) => [about, state]), reasons: decisions.map(({ reason }) => reason) };
    };
    const [whole, first] = [await made(false), await made(true)];
    expect(first.tasks).toEqual(whole.tasks);
    expect(first.decisions).toEqual(whole.decisions);
    expect(first.decisions.map(([, state]) => state)).toContain('left-out');
    expect(whole.reasons).toContain('No test notices it.');
    expect(first.reasons).toContain('None of the tests that reach it notices it.');
  });

  it('cannot be made where no test can judge, which is said', async () => {
    await using scratch = await makeScratch();
    const workspace = await scratch.project(FILES);
    const parts = { ...partsOf(scratch, workspace), test: { command: 'node --test nowhere/', runner: 'node-test' } };
    await expect(makeProjectTasks(parts, { seed: 1, count: 2, heldOut: 0.3, kinds: ['write', 'repair'] })).rejects.toThrow(UnusableProjectError);
  });

  it('cannot be made where no test passes, and the first that fails is named', async () => {
    await using scratch = await makeScratch();
    const workspace = await scratch.project({ ...FILES, 'test/setup.test.js': 'import "nowhere";\n' });
    const parts = { ...partsOf(scratch, workspace), test: { command: 'node --test test/setup.test.js', runner: 'node-test' } };
    const making = makeProjectTasks(parts, { seed: 1, count: 2, heldOut: 0.3, kinds: ['write', 'repair'] });
    await expect(making).rejects.toThrow(/none of its tests passes as it is with "node --test test\/setup\.test\.js"\. The first that fails is test\/setup\.test\.js: test failed/);
  });
});
