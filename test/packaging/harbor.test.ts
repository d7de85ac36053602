import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { runResult } from '../../backend/cli/run-result.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import { GitRepository } from '../verify/git-repository.ts';

/* `harbor run` with a packaged extension, on tasks of its own form, each on a machine of bubblewrap. The models are scripted. */

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
/** PYTHON names an interpreter that has harbor. */
const python = process.env['PYTHON'] ?? 'python3';
const hasHarbor = await run(python, ['-c', 'import harbor.agents.installed.base']).then(() => true, () => false);
const hasBubblewrap = await run('bwrap', ['--version']).then(() => true, () => false);
const lacks = hasHarbor ? (hasBubblewrap ? '' : 'not tried, there is no bubblewrap') : `not tried, ${python} has no harbor`;

const platform = `${process.platform}-${process.arch}`;
const KEY = 'not-a-shape-41';
const MEDIAN = `def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
`;
const MENDED = `def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
`;
const TEST = `import unittest
from median import median


class MedianTest(unittest.TestCase):
    def test_odd(self):
        self.assertEqual(median([3, 1, 2]), 2)

    def test_even(self):
        self.assertEqual(median([4, 1, 2, 3]), 2.5)
`;
/** As an item of a list, which is no option. */
const EVEN = '- median([4, 1, 2, 3]) is 3 and should be 2.5. Don\'t change the tests; $(touch /app/x)';
const fileAnswer = (name: string, text: string): string => `\`${name}\`:\n\`\`\`\n${text}\`\`\`\n`;
const judge = (condition: string): string => `#!/bin/bash\n${condition} && echo 1 > /logs/verifier/reward.txt || echo 0 > /logs/verifier/reward.txt\n`;

interface Trial {
  readonly agent_info: { readonly name: string; readonly version: string };
  readonly agent_result: Readonly<Record<string, unknown>>;
  readonly verifier_result: { readonly rewards: { readonly reward: number } } | null;
  readonly exception_info: { readonly exception_type: string; readonly exception_message: string } | null;
}

interface Trajectory {
  readonly schema_version: string;
  readonly steps: readonly {
    readonly source: string; readonly model_name?: string; readonly message: string;
    readonly metrics?: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly cost_usd: number };
    readonly observation?: { readonly results: readonly { readonly content: string }[] };
  }[];
  readonly final_metrics: Readonly<Record<string, number>>;
}

describe.skipIf(lacks !== '')(`Conductor under Harbor${lacks === '' ? '' : ` (${lacks})`}`, () => {
  let folder: string;
  let server: ScriptedServer;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'conductor-harbor-test-'));
    server = await ScriptedServer.start(({ model, text }) => {
      if (text.includes('No key')) return { status: 401, code: 'invalid_api_key', message: 'Incorrect API key provided.' };
      // The first answer is wrong, and only who runs the tests knows: its median of four is 2.25.
      if (model === 'planner') return `model_id = [0]\nsubtasks = ["${text.includes('2.25') ? 'Take the mean of both.' : 'Answer the user.'}"]\naccess_list = [[]]`;
      if (text.includes('for ever')) return { begin: 'Well', rest: new Promise(() => {}) };
      if (text.includes('haiku')) return fileAnswer('haiku.txt', 'Ein alter Teich.\nEin Frosch springt hinein.\nDas Geraeusch des Wassers.\n');
      return fileAnswer('median.py', text.includes('mean of both') ? MENDED : MEDIAN.replace('// 2]', '// 2] * 0.75'));
    });
    await run(process.execPath, ['package-vsix.mjs', platform], { cwd: root, maxBuffer: 1 << 26 });
    await writeFile(path.join(folder, 'workers.json'), JSON.stringify({
      version: 1, conductor: 'planner', workers: [
        { id: 'a', provider: 'openai-compatible', baseUrl: server.baseUrl, key: 'SOME_KEY', model: 'a', price: { inputPerMillion: 1, outputPerMillion: 10 } },
        { id: 'planner', provider: 'openai-compatible', baseUrl: server.baseUrl, key: 'SOME_KEY', model: 'planner', enabled: false, price: { inputPerMillion: 2, outputPerMillion: 20 } },
      ],
    }));
    await task('mend', EVEN, judge('python3 -c "from median import median; assert median([4, 1, 2, 3]) == 2.5 and median([5]) == 5" && [ ! -e x ]'));
    new GitRepository(path.join(folder, 'tasks', 'mend', 'environment'), { 'median.py': MEDIAN, 'test_median.py': TEST });
    await task('write', 'Write a haiku into haiku.txt.', judge('[ "$(wc -l < haiku.txt)" = 3 ]'));
    await writeFile(path.join(folder, 'tasks', 'write', 'environment', 'notes.txt'), 'Nothing yet.\n');
    await task('slow', 'Wait for ever.', judge('true'), 20);
    await task('refused', 'No key opens this.', judge('true'));
  }, 300_000);

  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function task(name: string, instruction: string, judging: string, seconds = 300): Promise<void> {
    const place = path.join(folder, 'tasks', name);
    for (const part of ['environment', 'tests']) await mkdir(path.join(place, part), { recursive: true });
    await writeFile(path.join(place, 'task.toml'), 'schema_version = "1.4"\n\n[environment]\ndocker_image = "none"\nworkdir = "/app"\n\n[agent]\ntimeout_sec = SECONDS\n\n[verifier]\ntimeout_sec = 60\n'.replace('SECONDS', String(seconds)));
    await writeFile(path.join(place, 'instruction.md'), instruction);
    await writeFile(path.join(place, 'tests', 'test.sh'), judging);
    await chmod(path.join(place, 'tests', 'test.sh'), 0o755);
  }

  it('plans, works, tests and writes; Harbor judges, and has its tokens, dollars and trajectory', async () => {
    const noted = path.join(folder, 'noted.jsonl');
    const version = (JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { version: string }).version;
    const env = {
      PATH: process.env['PATH'], HOME: folder, SOME_KEY: KEY, HARBOR_TELEMETRY: '0', DO_NOT_TRACK: '1', PYTHONDONTWRITEBYTECODE: '1',
      PYTHONPATH: [path.join(root, 'packaging/harbor'), path.join(root, 'test/packaging')].join(path.delimiter),
    };
    await run(python, [
      '-m', 'harbor.cli.main', 'run', '-p', path.join(folder, 'tasks'), '-a', 'conductor_agent:Conductor', '-e', 'harbor_folder:Folder', '-o', path.join(folder, 'jobs'), '--job-name', 'job', '-n', '1', '-y', '-q',
      '--ak', `vsix=${path.join(root, `conductor-${version}-${platform}.vsix`)}`, '--ak', `workers=${path.join(folder, 'workers.json')}`, '--ak', 'max_usd=1',
      '--ek', `node=${process.execPath}`, '--ek', `noted=${noted}`,
    ], { env, cwd: folder, maxBuffer: 1 << 26 });

    const trial = async (name: string): Promise<{ trial: Trial; trajectory: Trajectory; solved: ReturnType<typeof runResult> }> => {
      const place = path.join(folder, 'jobs', 'job', (await readdir(path.join(folder, 'jobs', 'job'))).find((entry) => entry.startsWith(`${name}__`)) ?? '');
      const read = async (file: string): Promise<unknown> => JSON.parse(await readFile(path.join(place, file), 'utf8'));
      return { trial: await read('result.json') as Trial, trajectory: await read('agent/trajectory.json') as Trajectory, solved: await read('agent/conductor.json') as ReturnType<typeof runResult> };
    };
    const { trial: mend, trajectory, solved } = await trial('mend');
    expect(mend.exception_info).toBeNull();
    expect(mend.verifier_result?.rewards.reward).toBe(1);
    expect(mend.agent_info).toMatchObject({ name: 'conductor', version });
    // The question came whole: no shell had a part in it.
    expect(solved.question).toBe(EVEN);
    expect(solved).toMatchObject({ state: 'completed', outcome: 'verified' });
    // Two rounds, of two calls each: the server counts 100 and 20 tokens for each.
    expect(solved.rounds).toHaveLength(2);
    const calls = server.requests.filter(({ text }) => text.includes('median'));
    expect(calls.map(({ model }) => model)).toEqual(['planner', 'a', 'planner', 'a']);
    expect(mend.agent_result).toMatchObject({
      n_input_tokens: 400, n_cache_tokens: 0, n_output_tokens: 80, metadata: { outcome: 'verified', applied: ['median.py'] },
      model_usage: { a: { n_input_tokens: 200, n_output_tokens: 40 }, planner: { n_input_tokens: 200, n_output_tokens: 40 } },
    });
    expect(mend.agent_result['cost_usd']).toBeCloseTo(2 * (100 * 1 + 20 * 10 + 100 * 2 + 20 * 20) / 1e6, 9);
    expect(trajectory.schema_version).toBe('ATIF-v1.8');
    expect(trajectory.steps.map(({ source, model_name: model }) => [source, model])).toEqual([['user', undefined], ['agent', 'planner'], ['agent', 'a'], ['agent', 'planner'], ['agent', 'a']]);
    expect(trajectory.steps[2]?.observation?.results[0]?.content).toMatch(/^failed: /);
    expect(trajectory.steps[4]?.observation?.results[0]?.content).toMatch(/^verified: /);
    const cost = trajectory.steps.reduce((sum, { metrics }) => sum + (metrics?.cost_usd ?? 0), 0);
    expect(cost).toBeCloseTo(trajectory.final_metrics['total_cost_usd'] ?? 0, 9);

    const { trial: write } = await trial('write');
    expect(write.exception_info).toBeNull();
    expect(write.verifier_result?.rewards.reward).toBe(1);

    // At Harbor's limit of time a run ends, and what it has cost so far is known: the plan, and at most the answer that did not come.
    const { trial: slow, solved: ended } = await trial('slow');
    expect(slow.exception_info?.exception_type).toBe('AgentTimeoutError');
    expect(ended.state).toBe('cancelled');
    expect(slow.agent_result['n_input_tokens']).toBeGreaterThanOrEqual(100);
    expect(slow.agent_result['cost_usd']).toBeGreaterThanOrEqual((100 * 2 + 20 * 20) / 1e6);

    // What the models' server refuses is no wrong answer: Harbor tells both apart, and knows which refusals are worth another try.
    const { trial: refused } = await trial('refused');
    expect(refused.exception_info).toMatchObject({ exception_type: 'AgentAuthenticationError', exception_message: expect.stringContaining('Incorrect API key') as string });

    // Keys are there while the agent runs, and at no other time.
    expect(server.requests.every(({ authorization }) => authorization === `Bearer ${KEY}`)).toBe(true);
    const commands = (await readFile(noted, 'utf8')).trim().split('\n').map((line) => JSON.parse(line) as { command: string; env: string[] });
    expect(commands.filter(({ env: names }) => names.includes('SOME_KEY')).map(({ command }) => command.includes('cli.mjs solve'))).toEqual([true, true, true, true]);
  }, 600_000);
});
