import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { Slots } from '../../../backend/common/slots.ts';
import { ProjectGrader } from '../../../backend/eval/evaluation/project-grader.ts';
import { sameTestResults } from '../../../backend/eval/voting.ts';
import { projectTask } from '../../../backend/train/tasks/project-task.ts';
import { makeScratch, trySandbox } from '../../verify/setup.ts';
import { countingServer, total } from './counting-server.ts';
import { workerNamed } from './exact-tasks.ts';

const { available, note } = await trySandbox();

const CHILD = fileURLToPath(new URL('./evaluate-project-forever.ts', import.meta.url));

const LAST = 'export function last(list) {\n  if (list.length === 0) return undefined;\n  return list[list.length - 1];\n}\n';
const SUM = 'export function sum(list) {\n  let all = 0;\n  for (const one of list) all += one;\n  return all;\n}\n';
const FILES = {
  'package.json': '{"type":"module"}',
  'src/last.js': LAST,
  'src/sum.js': SUM,
  'test/all.test.js': `
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { last } from '../src/last.js';
import { sum } from '../src/sum.js';
it('finds the last', () => assert.equal(last([1, 2, 3]), 3));
it('finds nothing in nothing', () => assert.equal(last([]), undefined));
it('adds', () => assert.equal(sum([1, 2, 3]), 6));
`,
};
const whole = (file: string, text: string): string => `\`\`\`js title="${file}"\n${text}\`\`\`\n`;

it.skipIf(!available)(`answers to a task of a project are judged by all rules of the judge, and vote by what its tests say (${note})`, async () => {
  await using scratch = await makeScratch();
  const files = await scratch.project(FILES);
  const { signal } = new AbortController();
  const after = LAST.replace('list.length - 1', 'list.length - 2');
  const task = projectTask({ id: 'one', kind: 'repair', question: 'Repair it.', path: 'src/last.js', before: LAST, after, context: after, shown: ['src/last.js'], split: 'held-out' }, {
    verifier: scratch.verifier, workspace: files, files, test: { command: 'node --test', runner: 'node-test' }, sandboxAvailability: () => scratch.sandbox.availability(),
  });
  const tests = new ProjectGrader(task, new Slots(2));
  const right = whole('src/last.js', LAST);
  const otherwise = whole('src/last.js', 'export const last = (list) => list.at(-1);\n');
  const stillWrong = whole('src/last.js', LAST.replace('list.length - 1', '0'));
  const untests = whole('test/all.test.js', 'import { it } from "node:test";\nit("finds the last", () => {});\n');
  const graded = async (answer: string) => {
    const { verified, outcome } = await tests.grade({ answer, signal });
    return [verified, outcome];
  };
  expect(await graded(right)).toEqual([true, 'verified']);
  expect((await tests.grade({ answer: right, signal })).change).toContain('--- a/src/last.js\n+++ b/src/last.js\n');
  expect((await tests.grade({ answer: 'It is right as it is.', signal })).change).toBe('');
  expect(await graded(stillWrong)).toEqual([false, 'failed']);
  expect(await graded('It is right as it is.')).toEqual([false, 'failed']);
  expect(await graded(untests)).toEqual([false, 'refused']);
  // One that always says what the test wants to hear earns nothing.
  expect((await graded(whole('src/last.js', 'export const last = (list) => (list.length === 0 ? undefined : { valueOf: () => 3, toString: () => "3" });\n')))[0]).toBe(false);

  const same = sameTestResults({ tests }, signal);
  expect(await same(right, otherwise)).toBe(true);
  expect(await same(right, stillWrong)).toBe(false);
  expect(await same(untests, untests)).toBe(false);
  expect(await same('Nothing.', 'Nothing.')).toBe(false);
}, 240_000);

it.skipIf(!available)(`a killed evaluation on tasks of a project goes on with the same tasks, and pays for no answer twice that it had received (${note})`, async () => {
  await using scratch = await makeScratch();
  const workspace = await scratch.project(FILES);
  const [folder, home] = [path.join(scratch.folder, 'evaluation'), path.join(scratch.folder, 'home')];
  const { asked, url } = await countingServer((body) => (body.includes('access_list')
    ? 'model_id = [1]\nsubtasks = ["Make the change that the question asks for and return every changed file whole."]\naccess_list = [[]]'
    : body.includes('"model":"two"') ? `${whole('src/last.js', LAST)}\n${whole('src/sum.js', SUM)}` : 'I do not know.'));
  await mkdir(home, { recursive: true });
  await writeFile(path.join(home, 'workers.json'), JSON.stringify({ version: 1, workers: ['one', 'two'].map((id) => workerNamed(id, url)) }));
  const start = () => spawn(process.execPath, ['--disable-warning=ExperimentalWarning', CHILD, folder, workspace, home], { stdio: ['ignore', 'pipe', 'inherit'] });
  const made = async (name: string): Promise<string> => {
    const [project] = (await readdir(folder).catch(() => [])).filter((entry) => entry.startsWith('project-'));
    return project === undefined ? '' : await readFile(path.join(folder, project, name), 'utf8').catch(() => '');
  };
  const moments = [async () => (await made('tried.jsonl')).length > 0, () => total(asked) >= 1, () => total(asked) >= 7, () => total(asked) >= 13];
  for (const isDue of moments) {
    const child = start();
    const ended = once(child, 'exit');
    while (!(await isDue()) && child.exitCode === null) await wait(5);
    child.kill('SIGKILL');
    expect((await ended)[1]).toBe('SIGKILL');
  }
  const tasks = await made('tasks.json');
  // A person works on meanwhile.
  await writeFile(path.join(workspace, 'src/sum.js'), 'export const sum = () => { throw new Error("being rewritten"); };\n');
  const finish = async () => {
    const child = start();
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    expect((await once(child, 'exit'))[0]).toBe(0);
    return JSON.parse(Buffer.concat(chunks).toString()) as { spent: { calls: number; lost: number }; rows: [string, number][]; tasks: string[] };
  };
  const { spent, rows, tasks: ids } = await finish();
  expect(ids).toHaveLength(3);
  expect(rows).toEqual([['one alone', 0], ['two alone', 1], ['majority of five', 0], ['Conductor one', 1]]);
  const repeated = [...asked.values()].reduce((sum, count) => sum + count - 1, 0);
  // Only what was under way when it was killed was asked again.
  expect(spent.lost).toBeGreaterThanOrEqual(repeated);
  expect(spent.lost).toBeLessThanOrEqual(3 * 15);
  expect(spent.calls).toBe(asked.size + spent.lost);

  const before = total(asked);
  expect((await finish()).rows).toEqual(rows);
  expect(total(asked)).toBe(before);
  expect(await made('tasks.json')).toBe(tasks);
}, 600_000);
