import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { runResult } from '../../backend/cli/run-result.ts';
import { COMPILE_CACHE } from '../support/compile-cache.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import { BUILT } from './run-conductor.ts';

/* A plan is looked at on the command line: its own process, at a real terminal where one is needed, the real backend, a model server that counts. */

const PLAN = 'model_id = [0, 1]\nsubtasks = ["Look at the parser.", "Say what is wrong."]\naccess_list = [[], [0]]';
const OTHER = 'model_id = [1]\nsubtasks = ["Say what is wrong at once."]\naccess_list = [[]]';

let folder: string;
let workspace: string;
let server: ScriptedServer;
let environment: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-cli-review-'));
  workspace = path.join(folder, 'project');
  const home = path.join(folder, 'home');
  await mkdir(home, { mode: 0o700 });
  await mkdir(workspace);
  server = await ScriptedServer.start(({ model, text }) => (model !== 'planner' ? `${model} says so.` : text.includes('One step will do.') ? OTHER : PLAN));
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, price: { inputPerMillion: 1, outputPerMillion: 2 } };
  await writeFile(path.join(home, 'workers.json'), JSON.stringify({
    version: 1, conductor: 'planner', workers: [
      { ...worker, id: 'look', model: 'look' }, { ...worker, id: 'say', model: 'say' }, { ...worker, id: 'planner', model: 'planner', enabled: false },
    ],
  }));
  environment = { PATH: process.env.PATH ?? '', ...COMPILE_CACHE, HOME: folder, TMPDIR: folder, CONDUCTOR_HOME: home, SHELL: '/bin/sh', TERM: 'dumb' };
}, 120_000);

beforeEach(() => void server.requests.splice(0));

afterAll(async () => {
  await conductor('backend', 'stop');
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const asked = (): string[] => server.requests.map(({ model }) => model);

/** Without a terminal. */
async function conductor(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [BUILT, ...args], { cwd: workspace, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}

/** At a terminal. Each answer is typed when its question has been asked. */
async function atTerminal(args: readonly string[], answers: readonly [question: string, answer: string | (() => Promise<unknown>)][]): Promise<{ code: number | null; text: string }> {
  const command = [process.execPath, BUILT, ...args].map((word) => `'${word.replaceAll('\'', '\'\\\'\'')}'`).join(' ');
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: workspace, env: environment, stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  let from = 0;
  const left = [...answers];
  const next = (): number => (left[0] ? text.indexOf(left[0][0], from) : -1);
  child.stdout.setEncoding('utf8').on('data', (data: string) => {
    text += stripVTControlCharacters(data);
    // On a busy machine, two questions may come at once.
    for (let at = next(); at >= 0; at = next()) {
      const [, answer] = left.shift() ?? [];
      from = at + 1;
      if (typeof answer === 'string') child.stdin.write(`${answer}\n`);
      else void answer?.();
    }
  });
  const [code] = (await once(child, 'close')) as [number | null];
  expect(left, text).toEqual([]);
  return { code, text };
}

const QUESTION = 'parse() returns null for an empty line, why?';
const SOLVE = ['solve', QUESTION, '--rounds', '1', '--review'];

it('shows the plan with what it is expected to cost, asks, and runs it', async () => {
  const { code, text } = await atTerminal(SOLVE, [['[y/e/n/r]', 'perhaps'], ['[y/e/n/r]', 'y']]);
  expect(text).toMatch(/Expected +about \$0\.\d+ to \$0\.\d+/);
  expect(text).toContain('Look at the parser.');
  expect(text).toContain('say says so.');
  expect(asked()).toEqual(['planner', 'look', 'say']);
  expect(code).toBe(0);
});

it('takes answers that are typed before they are asked for', async () => {
  const { code, text } = await atTerminal(SOLVE, [['[y/e/n/r]', 'r\nOne step will do.\ny']]);
  expect(text).toContain('another plan is asked for: One step will do.');
  expect(asked()).toEqual(['planner', 'planner', 'say']);
  expect(code).toBe(0);
});

it('runs the plan as it was changed in the editor, once it is one', async () => {
  const editor = path.join(folder, 'editor.sh');
  await writeFile(editor, [
    '#!/bin/sh', 'if [ -e "$0.once" ]; then sed -i s/nobody/say/ "$1"; else touch "$0.once"; printf "step 1: nobody\\n  Say it at once.\\n" > "$1"; fi',
  ].join('\n'), { mode: 0o755 });
  environment.VISUAL = editor;
  const { code, text } = await atTerminal(SOLVE, [['[y/e/n/r]', 'e'], ['there is no worker "nobody"', ''], ['[y/e/n/r]', 'e'], ['Run the changed plan?', 'y'], ['May Conductor learn', 'n']])
    .finally(() => delete environment.VISUAL);
  expect(text).toMatch(/step 1: say\s+Say it at once\.\s+Expected: about/);
  expect(asked()).toEqual(['planner', 'say']);
  expect(server.requests.at(-1)?.text).toContain('Your subtask: Say it at once.');
  const [{ runId }] = JSON.parse((await conductor('runs', '--json')).stdout) as [{ runId: string }];
  const shown = JSON.parse((await conductor('runs', 'show', runId, '--json')).stdout) as ReturnType<typeof runResult>;
  expect(shown.rounds[0]).toMatchObject({ plan: { modelIds: [1] }, edited: { planned: { modelIds: [0, 1] }, forTraining: false } });
  expect(code).toBe(0);
});

it('asks for another plan by what is said of it, and cancels where the answer is no', async () => {
  const { code, text } = await atTerminal(SOLVE, [['[y/e/n/r]', 'r'], ['What should be different?', 'One step will do.'], ['[y/e/n/r]', 'n']]);
  expect(text).toContain('another plan is asked for: One step will do.');
  expect(text).toContain('Say what is wrong at once.');
  expect(asked()).toEqual(['planner', 'planner']);
  expect(code).toBe(130);
});

it('goes on with a plan that was left waiting, and withdraws its question where somebody else decides', async () => {
  const left = await atTerminal(SOLVE, [['[y/e/n/r]', async () => {
    const { stdout } = await conductor('runs', '--json');
    const [{ runId }] = JSON.parse(stdout) as [{ runId: string }];
    await conductor('runs', 'cancel', runId);
  }]]);
  expect(left.code).toBe(130);
  const [{ runId }] = JSON.parse((await conductor('runs', '--json')).stdout) as [{ runId: string }];

  // Without a terminal nobody can be asked: one sentence, and nothing is paid.
  const script = await conductor('runs', 'resume', runId, '--json');
  expect(script.code).toBe(3);
  expect(script.stderr).toContain(`"conductor runs resume ${runId}" at a terminal asks`);
  expect(JSON.parse(script.stdout) as ReturnType<typeof runResult>).toMatchObject({ state: 'waiting', rounds: [{ review: { state: 'waiting' } }] });
  expect(asked()).toEqual(['planner']);

  // The backend may end while the plan waits.
  await conductor('backend', 'stop');
  const resumed = await atTerminal(['runs', 'resume', runId], [['[y/e/n/r]', 'yes']]);
  expect(resumed.code).toBe(0);
  expect(asked()).toEqual(['planner', 'look', 'say']);
});

it('does not wait for a cheaper plan than the amount', async () => {
  const { code } = await atTerminal(['solve', QUESTION, '--rounds', '1', '--review-above', '5'], []);
  expect(code).toBe(0);
  expect(asked()).toEqual(['planner', 'look', 'say']);
});

it.each<[string, string[], RegExp]>([
  ['without a terminal', ['--review'], /there is none here/],
  ['with --json', ['--review', '--json'], /--json asks no questions/],
  ['with an amount as well', ['--review', '--review-above', '1'], /exclude each other/],
  ['above no amount', ['--review-above', 'much'], /--review-above takes a number/],
])('is refused %s, before anybody is asked', async (_what, args, says) => {
  const { code, stderr } = await conductor('solve', QUESTION, ...args);
  expect(stderr).toMatch(says);
  expect(code).toBe(2);
  expect(asked()).toEqual([]);
});
