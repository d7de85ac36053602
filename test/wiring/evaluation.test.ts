import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { EvaluationRequestError } from '../../backend/eval/evaluation/request-error.ts';
import type { EvaluationRequest } from '../../backend/eval/evaluation/request.ts';
import { USUAL_EVALUATION } from '../../backend/protocol/evaluation-request.ts';
import { openEvaluation } from '../../backend/wiring/evaluation.ts';
import { environmentKeys } from '../../backend/wiring/evaluation-keys.ts';

/** Opens an evaluation of files with simulated workers. */
async function openFiles(files: Readonly<Record<string, string>>, request: Partial<EvaluationRequest> = {}) {
  const home = await mkdtemp(path.join(tmpdir(), 'conductor-open-evaluation-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(home, name), text);
  const sources = Object.keys(files).filter((name) => name.endsWith('.jsonl')).map((name) => path.join(home, name));
  const { close, ...opened } = await openEvaluation(
    { ...USUAL_EVALUATION, practice: [], planners: [], contestants: ['alone'], simulated: true, sources, folder: path.join(home, 'results'), ...request },
    { home, keys: environmentKeys({}), host: 'terminal', signal: new AbortController().signal },
  );
  onTestFinished(close);
  return opened;
}

const TASK = `${JSON.stringify({ problem: '1 + 1?', answer: '2' })}\n`;
const DATED = `${JSON.stringify({
  question_title: 'Double', question_content: 'Print twice the number.', question_id: 'q', platform: 'atcoder', contest_date: '2024-05-04T00:00:00', starter_code: '',
  public_test_cases: JSON.stringify([{ input: '2\n', output: '4\n', testtype: 'stdin' }]), private_test_cases: '[]', metadata: '{}',
})}\n`;

it('refuses an evaluation where a file has no task, or none of the days that are asked for', async () => {
  expect((await openFiles({ 'one.jsonl': TASK })).tasks).toMatchObject([{ name: 'one.jsonl', tasks: 1 }]);
  await expect(openFiles({ 'one.jsonl': TASK, 'empty.jsonl': '\n' })).rejects.toThrow('There is no task in empty.jsonl.');
  await expect(openFiles({ 'lcb.jsonl': DATED }, { dates: { start: '2025-01-01' } })).rejects.toThrow('There is no task in lcb.jsonl of these days.');
  expect((await openFiles({ 'lcb.jsonl': DATED }, { dates: { start: '2024-01-01' } })).tasks).toMatchObject([{ tasks: 1 }]);
});

it('refuses what is no switch of a Conductor as a request that cannot be met', async () => {
  const refused = (planner: string): Promise<unknown> => openFiles({ 'one.jsonl': TASK }, { contestants: [], planners: [planner] });
  await expect(refused('sim-aspen+nothing')).rejects.toThrow(EvaluationRequestError);
  await expect(refused('conductor-mini+examples=none')).rejects.toThrow(EvaluationRequestError);
});

it('leaves no folder where it refuses', async () => {
  const parent = await mkdtemp(path.join(tmpdir(), 'conductor-refused-'));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  await expect(openFiles({ 'one.jsonl': TASK }, { folder: path.join(parent, 'new'), best: 'nobody' })).rejects.toThrow('"nobody" of --best is not in the pool');
  expect(await readdir(parent)).toEqual([]);
  await mkdir(path.join(parent, 'old'));
  await expect(openFiles({ 'one.jsonl': TASK }, { folder: path.join(parent, 'old'), best: 'nobody' })).rejects.toThrow(EvaluationRequestError);
  expect(await readdir(parent)).toEqual(['old']);
});

it('refuses practice without a task', async () => {
  const home = await mkdtemp(path.join(tmpdir(), 'conductor-practice-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const empty = path.join(home, 'practice.jsonl');
  await writeFile(empty, '');
  await expect(openFiles({ 'one.jsonl': TASK }, { practice: [empty], contestants: ['router'] })).rejects.toThrow(`There is no task in ${empty}.`);
});

it('writes nothing into a folder that has files of others with the names of results', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-others-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(path.join(folder, 'results.json'), 'precious');
  await expect(openFiles({ 'one.jsonl': TASK }, { folder })).rejects.toThrow('would be overwritten');
  expect(await readFile(path.join(folder, 'results.json'), 'utf8')).toBe('precious');
});
