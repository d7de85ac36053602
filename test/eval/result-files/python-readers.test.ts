import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { writeResultFiles } from '../../../backend/eval/result-files/write-result-files.ts';
import { finished } from './finished.ts';

/* The other tools' own readers read our files. PYTHON names an interpreter that has the packages; without it, python3. */

const run = promisify(execFile);
const python = process.env['PYTHON'] ?? 'python3';
const hasModule = (name: string): Promise<boolean> =>
  run(python, ['-c', `import importlib.util, sys; sys.exit(importlib.util.find_spec("${name}") is None)`]).then(() => true, () => false);
const [hasInspect, hasEvalPlus] = await Promise.all([hasModule('inspect_ai'), hasModule('evalplus')]);

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

async function written(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-python-readers-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeResultFiles(folder, finished());
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
