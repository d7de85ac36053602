import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { writeResultFiles } from '../../../backend/eval/result-files/write-result-files.ts';
import type { FileEdit } from '../../../backend/verify/patch/patch.ts';
import { unifiedDiff } from '../../../backend/verify/patch/unified-diff.ts';
import { finished, sampleOf } from './finished.ts';

/* The other tools' own readers read our files. PYTHON names an interpreter that has the packages; without it, python3. */

const run = promisify(execFile);
const python = process.env['PYTHON'] ?? 'python3';
const hasModule = (name: string): Promise<boolean> =>
  run(python, ['-c', `import importlib.util, sys; sys.exit(importlib.util.find_spec("${name}") is None)`]).then(() => true, () => false);
const [hasInspect, hasEvalPlus, hasSweBench] = await Promise.all([hasModule('inspect_ai'), hasModule('evalplus'), hasModule('swebench')]);

const INSPECT = `
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log
logs = sorted((read_eval_log(info) for info in list_eval_logs(sys.argv[1])), key=lambda log: log.eval.model)
print(json.dumps([{
    "model": log.eval.model, "status": log.status, "version": log.version,
    "accuracy": log.results.scores[0].metrics["accuracy"].value,
    "samples": [[s.id, s.epoch, s.target, s.scores["conductor"].value, s.output.completion, s.output.usage.total_tokens, s.metadata["plans"][0][-1]["worker"]]
                for s in log.samples],
} for log in logs]))
`;

const EVALPLUS = `
import json, sys
from evalplus.data.utils import load_solutions
print(json.dumps([{ "task_id": s["task_id"], "solution": s["solution"] } for s in load_solutions(sys.argv[1])]))
`;

const SWE_BENCH = `
import json, sys
from swebench.harness.utils import get_predictions_from_file
print(json.dumps(get_predictions_from_file(sys.argv[1], "", "")))
`;

const CHANGED: readonly FileEdit[] = [
  { path: 'src/a.txt', kind: 'modify', before: 'one\ntwo\n', after: 'one\n2' },
  { path: 'b.txt', kind: 'create', before: null, after: 'new\n' },
  { path: 'c.txt', kind: 'delete', before: 'old', after: null },
];

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-python-readers-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function written(change: Parameters<typeof finished>[0] = {}): Promise<string> {
  const folder = await newFolder();
  await writeResultFiles(folder, finished(change));
  return folder;
}

const tried = (has: boolean, name: string): string => (has ? 'read' : `not tried, ${python} has no ${name}`);

it.skipIf(!hasInspect)(`Inspect reads its logs (${tried(hasInspect, 'inspect_ai')})`, async () => {
  const { stdout } = await run(python, ['-c', INSPECT, path.join(await written(), 'inspect')]);
  const logs = JSON.parse(stdout) as { model: string; status: string; version: number; accuracy: number; samples: unknown[][] }[];
  expect(logs.map(({ model, status, version }) => [model, status, version])).toEqual([['conductor/Conductor two', 'success', 2], ['conductor/one alone', 'success', 2]]);
  // Six samples each: of the Conductor two are wrong, of the worker one.
  expect(logs.map(({ accuracy }) => accuracy)).toEqual([expect.closeTo(4 / 6), expect.closeTo(5 / 6)]);
  expect(logs[0]?.samples[0]).toEqual(['letters', 1, 'B', 'C', 'Answer: C', 145, 'two']);
  expect(logs[0]?.samples.map(([id, epoch, , value]) => [id, epoch, value])).toContainEqual(['HumanEval/0', 2, 'I']);
}, 120_000);

it.skipIf(!hasEvalPlus)(`EvalPlus reads its samples (${tried(hasEvalPlus, 'evalplus')})`, async () => {
  const { stdout } = await run(python, ['-c', EVALPLUS, path.join(await written(), 'evalplus', 'humaneval', '01-one-alone.jsonl')]);
  const solutions = JSON.parse(stdout) as { task_id: string; solution: string }[];
  expect(solutions.map((one) => one.task_id)).toEqual(['HumanEval/0', 'HumanEval/0']);
  expect(solutions[0]?.solution).toContain('return 2 * x');
}, 120_000);

it.skipIf(!hasSweBench)(`SWE-bench reads its predictions (${tried(hasSweBench, 'swebench')})`, async () => {
  const change = CHANGED.map(unifiedDiff).join('');
  const folder = await written({ samples: [0, 1].map((seed) => sampleOf({ contestant: 'one alone', task: 'repair src/a.txt', seed, change })) });
  const { stdout } = await run(python, ['-c', SWE_BENCH, path.join(folder, 'swe-bench', '01-one-alone-seed-1.jsonl')]);
  expect(JSON.parse(stdout)).toEqual([{ instance_id: 'repair src/a.txt', model_name_or_path: 'conductor/one alone', model_patch: change }]);
}, 120_000);

it('git applies what a prediction of SWE-bench changes, as its harness has it do', async () => {
  const folder = await newFolder();
  for (const { path: file, before } of CHANGED.filter((edit) => edit.before !== null)) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    await writeFile(path.join(folder, file), before ?? '');
  }
  await writeFile(path.join(folder, 'patch.diff'), CHANGED.map(unifiedDiff).join(''));
  await run('git', ['apply', '--verbose', 'patch.diff'], { cwd: folder });
  expect(await readFile(path.join(folder, 'src/a.txt'), 'utf8')).toBe('one\n2');
  expect((await readdir(folder)).sort()).toEqual(['b.txt', 'patch.diff', 'src']);
});
