import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { runResult } from '../../backend/cli/run-result.ts';
import { COMPILE_CACHE } from '../support/compile-cache.ts';
import { ScriptedServer } from '../support/scripted-server.ts';

/* What people do with a run once it is there, from the command line: its own process, the real backend, a model server that counts. */

const runCli = fileURLToPath(new URL('../../run-cli.mjs', import.meta.url));
const PLAN = 'model_id = [0, 1]\nsubtasks = ["Look.", "Say."]\naccess_list = [[], [0]]';
const KEY = 'not-a-shape-41';

let folder: string;
let home: string;
let workspace: string;
let server: ScriptedServer;
let said = 0;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-again-'));
  home = path.join(folder, 'home');
  workspace = path.join(folder, 'project');
  await mkdir(home, { mode: 0o700 });
  await mkdir(workspace);
  server = await ScriptedServer.start(({ model }) => (model === 'planner' ? PLAN : `${model} says ${(said += 1)}, and knows ${KEY}.`));
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, key: 'SOME_KEY' };
  await writeFile(path.join(home, 'workers.json'), JSON.stringify({
    version: 1, conductor: 'planner', workers: [
      { ...worker, id: 'look', model: 'look' }, { ...worker, id: 'say', model: 'say' }, { ...worker, id: 'planner', model: 'planner', enabled: false },
    ],
  }));
}, 120_000);

afterAll(async () => {
  await conductor('backend', 'stop');
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

async function conductor(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [runCli, ...args], {
    cwd: workspace,
    env: { PATH: process.env.PATH ?? '', ...COMPILE_CACHE, HOME: folder, TMPDIR: folder, CONDUCTOR_HOME: home, SOME_KEY: KEY },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}

async function run(...args: string[]): Promise<ReturnType<typeof runResult>> {
  const { stdout, stderr } = await conductor(...args, '--json');
  expect(stderr).toBe('');
  return JSON.parse(stdout) as ReturnType<typeof runResult>;
}

/** Whom the server was asked for since. */
const asked = (): string[] => server.requests.splice(0).map(({ model }) => model);

describe('a run', () => {
  it('has one of its steps asked again, and pays for no other', async () => {
    const first = await run('solve', 'parse() returns null for an empty line?', '--rounds', '1');
    asked();
    const retried = await run('runs', 'retry', first.runId, '--step', '2');
    expect(asked()).toEqual(['say']);
    expect(retried.runId).not.toBe(first.runId);
    expect(retried.rounds[0]?.steps[0]?.output).toBe(first.rounds[0]?.steps[0]?.output);
    expect(retried.answer?.text).not.toBe(first.answer?.text);
    const { stderr } = await conductor('runs', 'show', retried.runId);
    expect(stderr).toContain(`step 2 of round 1 of run ${first.runId}; the rest is kept`);
    expect(stderr).toMatch(/step 1 look +kept, not paid for again/);
  });

  it('is asked again of other workers', async () => {
    const first = await run('solve', 'parse() returns null for a comment?', '--rounds', '1');
    asked();
    const again = await run('runs', 'again', first.runId, '--worker', 'say', '--worker', 'look', '--conductor', 'planner');
    expect(asked()).toEqual(['planner', 'say', 'look']);
    expect(again).toMatchObject({ question: 'parse() returns null for a comment?', state: 'completed' });
  });

  it('is written down as a document or as JSON, whole, and without its key', async () => {
    const { runId } = await run('solve', 'Why though?', '--rounds', '1');
    const printed = await conductor('runs', 'export', runId, '--format', 'markdown');
    expect(printed.stdout).toContain(`# Conductor run ${runId}\n`);
    expect((await conductor('runs', 'export', runId, '--format', 'markdown', '--out', 'run.md')).code).toBe(0);
    expect((await conductor('runs', 'export', runId, '--format', 'json', '-o', 'run.json')).code).toBe(0);
    expect((await readdir(workspace)).sort()).toEqual(['run.json', 'run.md']);
    const [markdown, json] = await Promise.all(['run.md', 'run.json'].map((file) => readFile(path.join(workspace, file), 'utf8'))) as [string, string];
    expect(markdown).toBe(printed.stdout);
    expect(JSON.parse(json)).toMatchObject({ format: 'conductor-run/1', run: { runId } });
    expect(json).toContain('and knows [key].');
    expect(markdown + json).not.toContain(KEY);
    const nowhere = await conductor('runs', 'export', runId, '--format', 'json', '--out', 'nowhere/run.json');
    expect(nowhere).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('could not be written') });
  });
});

it.each<[string, string[], RegExp]>([
  ['a step that is not named', ['runs', 'retry', 'x'], /--step N/],
  ['a step before the first', ['runs', 'retry', 'x', '--step', '0'], /--step/],
  ['an unknown format', ['runs', 'export', 'x', '--format', 'pdf'], /markdown, json or events/],
  ['an option of another action', ['runs', 'resume', 'x', '--worker', 'say'], /"runs again" does/],
])('refuses %s', async (_what, args, says) => {
  const { code, stderr } = await conductor(...args);
  expect(stderr).toMatch(says);
  expect(code).toBe(2);
});
