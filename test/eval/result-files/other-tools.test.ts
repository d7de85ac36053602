import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EVALPLUS_SETS, evalPlusSamples } from '../../../backend/eval/result-files/evalplus-samples.ts';
import { fileNameOf } from '../../../backend/eval/result-files/file-names.ts';
import { inspectLog } from '../../../backend/eval/result-files/inspect-log.ts';
import { sweBenchPredictions } from '../../../backend/eval/result-files/swe-bench-predictions.ts';
import { writeResultFiles } from '../../../backend/eval/result-files/write-result-files.ts';
import { finished, sampleOf } from './finished.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-result-files-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

describe('the folder of results', () => {
  it('has our own files, the page, a log of Inspect for each contestant, and samples of EvalPlus where tasks are its', async () => {
    const folder = await newFolder();
    await writeResultFiles(folder, finished());
    expect((await readdir(folder, { recursive: true })).sort()).toEqual([
      'evalplus', 'evalplus/humaneval', 'evalplus/humaneval/01-one-alone.jsonl', 'evalplus/humaneval/02-conductor-two.jsonl',
      'evalplus/mbpp', 'evalplus/mbpp/01-one-alone.jsonl', 'evalplus/mbpp/02-conductor-two.jsonl',
      'inspect', expect.stringMatching(/^inspect\/2026-03-01T10-00-00_01-one-alone_\w{22}\.json$/), expect.stringMatching(/^inspect\/2026-03-01T10-00-00_02-conductor-two_\w{22}\.json$/),
      'plot.svg', 'results.html', 'results.json', 'samples.jsonl',
    ]);
  });

  it('replaces the logs of an earlier run, and leaves what is not its own', async () => {
    const folder = await newFolder();
    await mkdir(path.join(folder, 'inspect'));
    const theirs = '2026-01-01T00-00-00+00-00_task_abc.json';
    await writeFile(path.join(folder, 'inspect', theirs), '{}');
    const first = finished();
    await writeResultFiles(folder, first);
    await writeResultFiles(folder, { ...first, results: { ...first.results, at: '2026-03-02T10:00:00.000Z' } });
    expect((await readdir(path.join(folder, 'inspect'))).map((name) => name.slice(0, 10)).sort()).toEqual(['2026-01-01', '2026-03-02', '2026-03-02']);
  });

  it('has no samples of EvalPlus without its tasks', async () => {
    const folder = await newFolder();
    await writeResultFiles(folder, finished({ samples: [sampleOf({ contestant: 'one alone', task: 'letters' })] }));
    expect(await readdir(folder)).not.toContain('evalplus');
  });
});

describe('predictions of SWE-bench', () => {
  const diff = '--- a/src/a.js\n+++ b/src/a.js\n@@ -1,1 +1,1 @@\n-one\n+two\n';
  const samples = [0, 1].flatMap((seed) => [
    sampleOf({ contestant: 'one alone', task: 'repair src/a.js', seed, change: diff }),
    sampleOf({ contestant: 'one alone', task: 'letters', seed }),
    sampleOf({ contestant: 'Conductor two', task: 'repair src/a.js', seed, change: '' }),
  ]);

  it('are what a contestant changed, a file for each seed, and not for other tasks', async () => {
    const folder = await newFolder();
    await writeResultFiles(folder, finished({ samples }));
    expect((await readdir(path.join(folder, 'swe-bench'))).sort()).toEqual([
      '01-one-alone-seed-1.jsonl', '01-one-alone-seed-2.jsonl', '02-conductor-two-seed-1.jsonl', '02-conductor-two-seed-2.jsonl',
    ]);
    const lines = (await readFile(path.join(folder, 'swe-bench', '01-one-alone-seed-2.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([{ instance_id: 'repair src/a.js', model_name_or_path: 'conductor/one alone', model_patch: diff }]);
    expect(sweBenchPredictions(finished({ samples }), 'Conductor two')[0]).toEqual([expect.objectContaining({ model_patch: '' })]);
  });

  it('are not there where no task is of a project', async () => {
    const folder = await newFolder();
    await writeResultFiles(folder, finished());
    expect(await readdir(folder)).not.toContain('swe-bench');
  });
});

it('gives each contestant a file name that is safe and its own', () => {
  expect([fileNameOf('../../etc/x', 0), fileNameOf('…', 1), fileNameOf('Fusion\'s single', 11)]).toEqual(['01-etc-x', '02-contestant', '12-fusion-s-single']);
});

describe('a log of Inspect', () => {
  it('is the same as before', async () => {
    await expect(`${JSON.stringify(inspectLog(finished(), 'Conductor two'), null, 2)}\n`).toMatchFileSnapshot('golden/inspect-log.json');
  });
});

describe('samples of EvalPlus', () => {
  it('are the programs that were judged, by its own ids', () => {
    const [humanEval, mbpp] = EVALPLUS_SETS;
    const code = 'def twice(x):\n    return 2 * x\n';
    expect(evalPlusSamples(finished(), 'one alone', humanEval)).toEqual(Array(2).fill({ task_id: 'HumanEval/0', solution: `import math\n\n\ndef twice(x):\n    """Doubles."""\n\n${code}` }));
    expect(evalPlusSamples(finished(), 'one alone', mbpp)).toEqual(Array(2).fill({ task_id: 'Mbpp/2', solution: `\n${code}` }));
  });

  it('are empty where the answer has no code', () => {
    expect(evalPlusSamples(finished(), 'Conductor two', EVALPLUS_SETS[0]).map(({ solution }) => solution)).toEqual(['', '']);
  });
});
