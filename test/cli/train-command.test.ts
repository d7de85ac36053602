import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { trainingSchema, type Training } from '../../backend/protocol/training.ts';
import { COMPILE_CACHE } from '../support/compile-cache.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import { MINI, unequalAnswer, unequalWorkers } from '../support/unequal-workers.ts';
import { trySandbox } from '../verify/setup.ts';

/* Training as people and scripts start it: the command line, the real backend, conductor-mini, workers of a script on a real socket. */

const { available, note } = await trySandbox();
const runCli = fileURLToPath(new URL('../../run-cli.mjs', import.meta.url));

let folder: string;
let workspace: string;
let home: string;
let server: ScriptedServer;

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const conductor = (...args: string[]): Promise<Result> => conductorAt(home, ...args);
const conductorAt = (home: string, ...args: string[]): Promise<Result> => start(home, ...args).result;

/** Two steps make nothing better: what held-out tasks say is written into the training, while no backend has it. */
async function callBetter(home: string, trainingId: string): Promise<void> {
  await conductorAt(home, 'backend', 'stop');
  const file = path.join(home, 'trainings', trainingId, 'training.json');
  const training = JSON.parse(await readFile(file, 'utf8')) as Training;
  await writeFile(file, JSON.stringify({ ...training, comparison: { ...training.comparison, says: 'better' } }));
}

function start(home: string, ...args: string[]) {
  const child = spawn(process.execPath, [runCli, ...args], {
    cwd: workspace,
    env: { PATH: process.env['PATH'] ?? '', ...COMPILE_CACHE, HOME: folder, TMPDIR: folder, CONDUCTOR_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const result = once(child, 'close').then(([code]): Result => ({ code: code as number | null, ...output }));
  return { child, output, result };
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-train-'));
  [workspace, home] = [path.join(folder, 'project'), path.join(folder, 'home')];
  await Promise.all([workspace, home].map((one) => mkdir(one, { mode: 0o700 })));
  server = await ScriptedServer.start(unequalAnswer);
  await writeFile(path.join(home, 'workers.json'), JSON.stringify({
    version: 1,
    conductor: 'mini',
    workers: [{ id: 'mini', provider: 'local', model: MINI, promptProfile: 'mini', enabled: false }, ...unequalWorkers(server.baseUrl)],
    local: { device: 'cpu', precision: 'full' },
  }));
  const tasks = Array.from({ length: 6 }, (_, index) => ({ id: `t${index}`, question: `What is ${index}?`, grader: { kind: 'exact', answer: String(index) } }));
  await writeFile(path.join(workspace, 'conductor.tasks.jsonl'), tasks.map((task) => JSON.stringify(task)).join('\n'));
  await writeFile(path.join(workspace, 'train.json'), JSON.stringify({
    tasks: { project: false, heldOut: 0.5 }, steps: 2, tasksPerStep: 1, groupSize: 4, adapter: { rank: 2 }, evaluation: { samples: 1 },
  }));
});
afterAll(async () => {
  await conductor('backend', 'stop');
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

describe.skipIf(!available)(`conductor train (${note})`, { timeout: 240_000 }, () => {
  it('says what it may spend, and begins nothing without a yes', async () => {
    const { code, stderr } = await conductor('train', '--config', 'train.json', '--max-usd', '2', '--max-tokens', '30000');
    expect(code).toBe(2);
    expect(stderr).toContain('spends at most $2.00 and 30k tokens.');
    expect(stderr).toContain('use --yes');
    expect((await conductor('train', 'list')).stderr).toContain('No training yet');
  });

  it('says what is missing before it speaks of money', async () => {
    const bare = path.join(folder, 'bare');
    await mkdir(bare, { mode: 0o700 });
    const { code, stderr } = await conductorAt(bare, 'train', '--config', 'train.json');
    await conductorAt(bare, 'backend', 'stop');
    expect([code, stderr]).toEqual([1, expect.stringContaining('No worker is ready to do what is planned')]);
    expect(stderr).not.toContain('$');
  });

  it('trains, compares on held-out tasks, has what was trained adopted and taken back, and shows it all', async () => {
    const { code, stderr } = await conductor('train', '--config', 'train.json', '--yes');
    expect(stderr).toMatch(/step 1\/2 {2}reward \d/);
    expect(stderr).toMatch(/held-out tasks.*\(simulated\)/);
    expect(code).toBe(0);
    expect(stderr).toMatch(/is not known after \d+ pairs of tries for \$\S+, so it is not offered\./);
    const [, trainingId = ''] = /conductor train resume (\S+)/.exec(stderr) ?? [];

    expect((await conductor('train', 'list')).stdout).toContain(`${trainingId}  completed, simulated  step 2 of 2`);
    const shown = await conductor('train', 'show', trainingId, '--json');
    expect(trainingSchema.parse(JSON.parse(shown.stdout))).toMatchObject({ trainingId, state: 'completed', adopted: false });
    const [first, ...tasks] = (await conductor('train', 'show', trainingId, '--tasks')).stdout.trim().split('\n');
    expect(first).toMatch(/^train {5}\S+ {2}It is in \S+, whose tasks are used as they are\.$/);
    expect(tasks.at(-1)).toMatch(/^held-out /);
    expect((await conductor('train', 'show', trainingId)).stderr).toMatch(/\d tasks? to learn from, \d held out\. Which, and why/);
    const curves = (await conductor('train', 'curves', trainingId)).stdout.trim().split('\n').map((line) => JSON.parse(line));
    expect(curves).toMatchObject([{ step: 1, format_rate: 1 }, { step: 2 }]);

    const adapter = async (): Promise<unknown> =>
      (JSON.parse(await readFile(path.join(home, 'workers.json'), 'utf8')) as { workers: { adapter?: string }[] }).workers[0]?.adapter;
    expect(await conductor('train', 'adopt', trainingId)).toMatchObject({ code: 1, stderr: expect.stringContaining('Only what held-out tasks show to be better can be adopted.') });
    await callBetter(home, trainingId);
    expect((await conductor('train', 'adopt', trainingId)).stderr).toContain('plans with the trained weights');
    expect(await adapter()).toBe(path.join(home, 'adapters', trainingId));
    expect((await conductor('train', 'back', trainingId)).stderr).toContain('plans with its previous weights again');
    expect(await adapter()).toBeUndefined();
  });

  it('is paused by Ctrl+C, stays so while it is only looked at, and goes on with the limits that it is given', async () => {
    await writeFile(path.join(workspace, 'long.json'), JSON.stringify({
      tasks: { project: false, heldOut: 0 }, steps: 400, tasksPerStep: 1, groupSize: 2, maxTokens: 4, adapter: { rank: 2 },
    }));
    const { child, output, result } = start(home, 'train', '--config', 'long.json', '--yes');
    await vi.waitFor(() => expect(output.stderr).toContain('step 1/400'), { timeout: 60_000 });
    child.kill('SIGINT');
    const paused = await result;
    expect([paused.code, paused.stderr]).toEqual([3, expect.stringContaining('Pausing; press Ctrl+C again to leave without waiting.')]);
    expect(paused.stderr).not.toContain('Cancelling');
    const [, trainingId = ''] = /conductor train resume (\S+)/.exec(paused.stderr) ?? [];

    const followed = await conductor('train', 'follow', trainingId);
    expect([followed.code, followed.stderr]).toEqual([3, expect.stringContaining('Paused. ')]);
    expect(followed.stderr).toContain(`conductor train resume ${trainingId}`);

    const resumed = start(home, 'train', 'resume', trainingId, '--max-usd', '20', '--max-tokens', '30000000', '--json');
    const state = async (): Promise<string> => (await conductor('train', 'list')).stdout;
    await vi.waitFor(async () => expect(await state()).toContain(`${trainingId}  training`), { timeout: 60_000 });
    expect(await conductor('train', 'pause', trainingId, '--json')).toEqual({ code: 0, stdout: '', stderr: '' });
    const { code, stdout } = await resumed.result;
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ trainingId, state: 'paused', config: { budget: { usd: 20, tokens: 30_000_000 } } });

    expect(await conductor('train', 'cancel', trainingId)).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await conductor('train', 'follow', trainingId)).toMatchObject({ code: 130, stderr: expect.stringContaining('Cancelled.') });
    expect(await conductor('train', 'remove', trainingId)).toMatchObject({ code: 0 });
  });

  it('is ended early with what it has learned by then', async () => {
    await writeFile(path.join(workspace, 'early.json'), JSON.stringify({
      tasks: { project: false, heldOut: 0.5 }, steps: 400, tasksPerStep: 1, groupSize: 4, adapter: { rank: 2 }, evaluation: { samples: 1 },
    }));
    const { output, result } = start(home, 'train', '--config', 'early.json', '--yes');
    await vi.waitFor(() => expect(output.stderr).toContain('step 1/400'), { timeout: 60_000 });
    const [, trainingId = ''] = /^(\S+) {2}training/m.exec((await conductor('train', 'list')).stdout) ?? [];
    const { code, stdout } = await conductor('train', 'finish', trainingId, '--json');
    expect(code).toBe(0);
    const training = trainingSchema.parse(JSON.parse(stdout));
    expect(training).toMatchObject({ state: 'completed', comparison: { pairs: expect.any(Number) } });
    expect(training.step).toBeLessThan(400);
    expect((await result).code).toBe(0);
  });

  it('trains the model that is part of Conductor where nobody else plans, and plans with what it learned in this version alone', async () => {
    const bundled = path.join(folder, 'bundled');
    await mkdir(bundled, { mode: 0o700 });
    const file = path.join(bundled, 'workers.json');
    const before = { version: 1, workers: unequalWorkers(server.baseUrl) as { id: string }[], local: { device: 'cpu', precision: 'full' } };
    await writeFile(file, JSON.stringify(before));
    const pool = async (): Promise<{ conductor?: string; workers: { id: string; model: string; adapter?: string }[] }> => JSON.parse(await readFile(file, 'utf8'));
    const ask = () => conductorAt(bundled, 'solve', 'What is 3?', '--yes', '--json');
    try {
      const { code, stderr } = await conductorAt(bundled, 'train', '--config', 'train.json', '--yes');
      expect([code, stderr]).toEqual([0, expect.stringContaining('Training "conductor-mini" runs up to')]);
      const [, trainingId = ''] = /conductor train resume (\S+)/.exec(stderr) ?? [];
      await callBetter(bundled, trainingId);
      await conductorAt(bundled, 'train', 'adopt', trainingId);
      const adapter = path.join(bundled, 'adapters', trainingId);
      // By its name: where it lies changes with each version.
      expect(await pool()).toMatchObject({ conductor: 'conductor-mini' });
      expect((await pool()).workers.at(-1)).toMatchObject({ id: 'conductor-mini', model: 'conductor-mini', adapter });
      expect((await ask()).stdout).toContain('"output"');

      await writeFile(path.join(adapter, 'conductor-base.json'), JSON.stringify({ sha256: 'of another version' }));
      const refused = await ask();
      expect(refused.stdout + refused.stderr).toContain('was trained on an earlier version of the model that is part of Conductor');
      await conductorAt(bundled, 'train', 'back', trainingId);
      expect((await pool()).conductor).toBeUndefined();
      expect((await pool()).workers.map(({ id }) => id)).toEqual(before.workers.map(({ id }) => id));
    } finally {
      await conductorAt(bundled, 'backend', 'stop');
    }
  });

  it('says what is wrong with a configuration, and which training there is not', async () => {
    await writeFile(path.join(workspace, 'bad.json'), '{"steps":0}');
    const bad = await conductor('train', '--config', 'bad.json', '--yes');
    expect([bad.code, bad.stderr]).toEqual([2, expect.stringContaining('bad.json: steps:')]);
    expect((await conductor('train', 'show', 'nobody')).stderr).toContain('There is no training "nobody"');
  });
});

it.each<[string, string[], string]>([
  ['an option of another action', ['follow', 'x', '--max-usd', '20'], '"train follow" takes no --max-usd; "train start", "train join", "train resume" do.'],
  ['a project that it does not look at', ['resume', 'x', '-w', 'elsewhere'], '"train resume" takes no --workspace; "train start", "train join", "train list" do.'],
  ['a share of a token', ['resume', 'x', '--max-tokens', '1.5'], '--max-tokens takes a whole number from 1'],
  ['no tokens at all', ['--max-tokens', '0'], '--max-tokens takes a whole number from 1'],
])('refuses %s before it asks the backend', async (_what, args, sentence) => {
  const nowhere = path.join(folder, 'nowhere');
  expect(await conductorAt(nowhere, 'train', ...args)).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) });
  expect(existsSync(nowhere)).toBe(false);
});
