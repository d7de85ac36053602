import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { runResult } from '../../backend/cli/run-result.ts';
import { storedEventSchema } from '../../backend/protocol/run-events.ts';
import { writeSampleProject } from '../../backend/simulator/sample-project.ts';
import { SimulatorServer } from '../../backend/simulator/server.ts';
import { modelFolder } from '../golden/golden.ts';
import { COMPILE_CACHE } from '../support/compile-cache.ts';

/* The command line as people and scripts use it: its own process, the real backend, simulated workers on a real socket. */

const runCli = fileURLToPath(new URL('../../run-cli.mjs', import.meta.url));
/** A bug that the simulated workers of this seed mend in their first round. */
const SEED = 8;

let folder: string;
let home: string;
let workspace: string;
let question: string;
let simulator: SimulatorServer;

interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(args: readonly string[], environment: Record<string, string> = {}, cwd = workspace) {
  const child = spawn(process.execPath, [runCli, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...COMPILE_CACHE, HOME: folder, TMPDIR: folder, CONDUCTOR_HOME: home, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const result = once(child, 'close').then(([code]): Result => ({ code: code as number | null, ...output }));
  return { child, output, result };
}
const conductor = (...args: string[]): Promise<Result> => start(args).result;

async function writeWorkers(file: unknown): Promise<void> {
  await writeFile(path.join(home, 'workers.json'), JSON.stringify(file));
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-cli-'));
  home = path.join(folder, 'home');
  workspace = path.join(folder, 'project');
  await mkdir(home, { mode: 0o700 });
  simulator = await SimulatorServer.start({ seed: SEED, latency: 0 });
  ({ question } = await writeSampleProject(workspace, { seed: SEED }));
  await writeFile(path.join(workspace, 'logo.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0xff]));
  await usual();
}, 120_000);

const usual = (budget = {}): Promise<void> => writeWorkers({
  version: 1, conductor: 'sim-conductor', budget, workers: [...simulator.workers(), { ...simulator.conductor(), enabled: false }],
});

afterAll(async () => {
  await conductor('backend', 'stop');
  await simulator.close();
  await rm(folder, { recursive: true, force: true });
});

describe('conductor solve', () => {
  it('prints the answer on standard output, tells the rest on standard error, and ends with 0 when verified', async () => {
    const { code, stdout, stderr } = await conductor('solve', question, '--yes');
    expect(stderr).toContain('Verified');
    expect(stderr).toContain('SIMULATED');
    expect(stderr).toMatch(/failed\s+→ passed/);
    expect(stdout).toContain('```js src/');
    expect(code).toBe(0);
  });

  it('prints one JSON object with the fields that scripts rely on', async () => {
    const { code, stdout } = await conductor('solve', question, '--json', '--yes');
    const result = JSON.parse(stdout) as ReturnType<typeof runResult>;
    expect(code).toBe(0);
    expect(Object.keys(result)).toEqual([
      'schema', 'runId', 'question', 'pictures', 'continues', 'earlier', 'workspace', 'state', 'outcome', 'asks', 'verified', 'message', 'failure', 'simulated', 'conductor', 'planner', 'answer',
      'verdict', 'context', 'attempts', 'localFirst', 'verifiedCost', 'rounds', 'spent', 'acceptedAt', 'updatedAt',
    ]);
    expect(result).toMatchObject({ schema: 1, question, workspace, state: 'completed', outcome: 'verified', verified: true, simulated: true });
    expect(result.answer?.edits[0]).toMatchObject({ path: expect.stringMatching(/^src\//), kind: 'modify', diff: expect.stringContaining('@@') });
    expect(result.verdict?.tests.filter(({ before, after }) => before === 'failed' && after === 'passed').length).toBeGreaterThan(0);
    expect(result.rounds[0]?.steps[0]).toMatchObject({ state: 'completed', worker: expect.stringMatching(/^sim-/) });
  });

  it('writes the change into the project where it is asked to, and not one that the tests do not verify where that is asked, too', async () => {
    const project = path.join(folder, 'applied');
    const { question: asked } = await writeSampleProject(project, { seed: SEED });
    const solve = (...options: string[]): Promise<Result> => conductor('solve', asked, '--json', '--apply', '--workspace', project, ...options);
    const sources = async (): Promise<string> => (await Promise.all((await readdir(path.join(project, 'src'))).map((name) => readFile(path.join(project, 'src', name), 'utf8')))).join('\n');
    const before = await sources();
    const untested = JSON.parse((await solve('--no-tests', '--require-verified')).stdout) as ReturnType<typeof runResult> & { applied: string[] };
    expect(untested.answer?.edits.length).toBeGreaterThan(0);
    expect(untested.applied).toEqual([]);
    expect(await sources()).toBe(before);
    const solved = JSON.parse((await solve('--require-verified')).stdout) as ReturnType<typeof runResult> & { applied: string[] };
    expect(solved.outcome).toBe('verified');
    expect(solved.applied).toEqual(solved.answer?.edits.map((edit) => edit.path));
    const after = await sources();
    expect(after).not.toBe(before);

    // Looked at first, and written, taken back and written again later.
    const undone = await conductor('runs', 'undo', 'last', '--workspace', project);
    expect(undone).toMatchObject({ code: 0, stderr: expect.stringContaining(`Taken back: ${solved.applied.join(', ')}.`) as string });
    expect(await sources()).toBe(before);
    expect(await conductor('runs', 'undo', solved.runId)).toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing was taken back') as string });
    const shown = await conductor('runs', 'show', 'last', '--workspace', path.join(project, 'src'));
    expect(shown.stderr).toContain(`conductor runs apply ${solved.runId}`);
    expect(await conductor('runs', 'apply', solved.runId)).toMatchObject({ code: 0, stderr: expect.stringContaining(`"conductor runs undo ${solved.runId}" takes it back`) as string });
    expect(await sources()).toBe(after);
    expect(await conductor('runs', 'apply', solved.runId)).toMatchObject({ code: 1 });
    expect(await sources()).toBe(after);
    expect(await conductor('runs', 'show', 'last', '--workspace', folder)).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no run of') as string });
  });

  it('continues from an answer, by its id or from the last one, and builds on its change', async () => {
    const first = JSON.parse((await conductor('solve', question, '--json', '--yes')).stdout) as ReturnType<typeof runResult>;
    expect(first).toMatchObject({ continues: null, earlier: null });
    const { stdout, stderr } = await conductor('solve', 'Why is that right?', '--continue', 'last', '--yes');
    expect(stderr).toMatch(new RegExp(`Continues\\s+from run ${first.runId}: ${question.slice(0, 20)}`));
    expect(stderr).toContain('The change of the earlier answer is not applied yet, so this answer has both.');
    expect(stdout).not.toBe('');
    const second = JSON.parse((await conductor('solve', question, '--continue', first.runId, '--json', '--yes')).stdout) as ReturnType<typeof runResult>;
    expect(second).toMatchObject({
      continues: first.runId,
      earlier: {
        thread: first.runId, exchanges: [{ runId: first.runId, question, state: 'completed', outcome: 'verified', told: true }],
        change: { runId: first.runId, state: 'pending', files: [first.answer?.edits[0]?.path], reason: null },
      },
    });
    const unknown = await conductor('solve', 'And now?', '--continue', 'nobody');
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no run "nobody"') as string });
    const nothing = await conductor('solve', 'And now?', '--continue', 'last', '--workspace', home);
    expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining('none to continue from') as string });
    expect((await conductor('runs', 'list', '--search', 'nothing of the kind')).stderr).toBe('No run matches; without options, the runs of all projects are listed.\n');
    const { stdout: listed } = await conductor('runs', 'list', '--json');
    expect((JSON.parse(listed) as { runId: string; thread?: string }[]).find(({ runId }) => runId === second.runId)).toMatchObject({ thread: first.runId });
  }, 240_000);

  it('ends with 3 at its budget, and a raised budget lets the run go on', async () => {
    await usual({ runTokens: 100 });
    const stopped = await conductor('solve', question, '--json', '--yes');
    expect(stopped.code).toBe(3);
    const { runId } = JSON.parse(stopped.stdout) as { runId: string };
    await usual();
    const { code, stdout } = await conductor('runs', 'resume', runId, '--json', '--yes');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ runId, outcome: 'verified' });
  });

  it('is cancelled by the first Ctrl+C, even where that comes as two signals, and ends with 130', async () => {
    const slow = await SimulatorServer.start({ seed: SEED, latency: 200 });
    await writeWorkers({ version: 1, conductor: 'sim-conductor', workers: [...slow.workers(), { ...slow.conductor(), enabled: false }] });
    const { child, output, result } = start(['solve', question]);
    await new Promise<void>((resolve) => child.stderr.on('data', () => output.stderr.includes('Context') && resolve()));
    child.kill('SIGINT');
    await new Promise<void>((resolve) => child.stderr.on('data', () => output.stderr.includes('Cancelling') && resolve()));
    child.kill('SIGINT');
    const { code, stderr } = await result;
    expect(stderr).toContain('Cancelled');
    expect(code).toBe(130);
    await slow.close();
    await usual();
  });

  it('starts a backend that was killed again and follows the run to its end', async () => {
    const slow = await SimulatorServer.start({ seed: SEED, latency: 1 });
    await writeWorkers({ version: 1, conductor: 'sim-conductor', workers: [...slow.workers(), { ...slow.conductor(), enabled: false }] });
    const { result } = start(['solve', question, '--json', '--yes']);
    await vi.waitFor(() => expect(slow.answering).toBeGreaterThan(0), { timeout: 30_000 });
    const { pid } = JSON.parse(await readFile(path.join(home, 'backend.json'), 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    const { code, stdout, stderr } = await result;
    expect(stderr).toContain('The connection to the backend closed; connecting again.');
    expect(JSON.parse(stdout)).toMatchObject({ state: 'completed', outcome: 'verified' });
    expect(code).toBe(0);
    await slow.close();
    await usual();
  }, 120_000);

  it.each([
    ['an empty question', ['solve', ' '], 1, /empty/],
    ['an unknown worker', ['solve', 'why?', '--worker', 'gtp'], 1, /"gtp"/],
    ['a file that is not there', ['solve', 'why?', '--file', 'src/nowhere.js'], 1, /nowhere\.js/],
    ['a file that is not text', ['solve', 'why?', '--file', 'logo.png'], 1, /logo\.png/],
    ['a file outside the workspace', ['solve', 'why?', '--file', '../../etc/passwd'], 1, /passwd/],
    ['a folder that is not there', ['solve', 'why?', '--workspace', 'nowhere'], 1, /not a folder/],
    ['no question', ['solve'], 2, /question/],
    ['a word too many', ['solve', 'why', 'so'], 2, /quotes/],
    ['an unknown option', ['solve', 'why?', '--wat'], 2, /wat/],
    ['an unknown command', ['slove'], 2, /slove/],
    ['a command that only JavaScript knows', ['constructor'], 2, /constructor/],
    ['such a command on runs', ['runs', 'toString', 'x'], 2, /toString/],
    ['a limit that is no number', ['runs', 'list', '--limit', 'x'], 2, /--limit/],
    ['an unknown run', ['runs', 'show', 'nope'], 1, /nope/],
  ])('%s: one sentence and an exit code', async (_name, args, expected, says) => {
    const { code, stderr, stdout } = await conductor(...args);
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/^\s+at .*:\d+:\d+/m);
    expect(stdout).toBe('');
    expect(code).toBe(expected);
  });

  it('says what to do when there is no worker, and when workers.json is broken', async () => {
    await writeWorkers({ version: 1, workers: [] });
    const runs = async (): Promise<string> => (await conductor('runs', '--json')).stdout;
    const before = await runs();
    expect(await conductor('solve', 'why?')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('conductor worker add') });
    expect(await runs()).toBe(before);
    await writeFile(path.join(home, 'workers.json'), '{ "version": 1, "workers": [ { "id": "x" ');
    expect(await conductor('solve', 'why?')).toMatchObject({ code: 1, stderr: expect.stringContaining('workers.json') });
    await usual();
  });
});

it('ends quietly when whoever reads its output has seen enough', async () => {
  const { child, output, result } = start(['--help']);
  child.stdout.destroy();
  expect((await result).code).toBe(0);
  expect(output.stderr).toBe('');
});

it.each([['solve', '--rounds'], ['runs', '--search'], ['worker', '--no-try'], ['backend', 'stop'], ['demo', '--seed']])(
  '%s --help and -h print its usage', async (command, option) => {
    for (const help of ['--help', '-h']) {
      const { code, stdout, stderr } = await conductor(command, help);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(option);
    }
  },
);

it('says in one sentence that Node is too old, before anything else runs', async () => {
  const pretend = encodeURIComponent("Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })");
  expect(await start(['solve', 'why?'], { NODE_OPTIONS: `--import=data:text/javascript,${pretend}` }).result).toEqual({
    code: 1, stdout: '', stderr: expect.stringMatching(/^[^\n]*needs Node 22\.13 or later; this is Node 20\.20\.2\.[^\n]*\n$/),
  });
});

describe('conductor runs', () => {
  it('lists what was asked, the newest first, and shows and exports one of them', async () => {
    const list = await conductor('runs', 'list', '--json');
    const runs = JSON.parse(list.stdout) as { runId: string; state: string; acceptedAt: number }[];
    expect(runs.length).toBeGreaterThan(3);
    expect(runs.map(({ acceptedAt }) => acceptedAt)).toEqual(runs.map(({ acceptedAt }) => acceptedAt).sort((a, b) => b - a));
    // What failed at once is in the journal like everything else.
    expect(runs.filter(({ state }) => state === 'failed').length).toBeGreaterThan(3);

    const completed = runs.find(({ state }) => state === 'completed')?.runId ?? '';
    const shown = await conductor('runs', 'show', completed, '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({ runId: completed, state: 'completed' });
    expect((await conductor('runs', 'show', completed)).stderr).toContain('Verified');
    const exported = await conductor('runs', 'export', completed);
    const events = exported.stdout.trim().split('\n').map((line) => storedEventSchema.parse(JSON.parse(line)));
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events[0]?.event.type).toBe('run.accepted');
    expect(events.at(-1)?.event.type).toBe('run.completed');
  });
});

describe('conductor worker', () => {
  it('tries a worker before it is added, and leaves a key in the environment alone', async () => {
    const keyed = await SimulatorServer.start({ seed: 1, latency: 0, key: 'right' });
    const [worker] = keyed.workers();
    const add = ['worker', 'add', 'keyed', '--provider', 'openai-compatible', '--model', worker?.model ?? '', '--base-url', `${keyed.url}/v1`, '--key', 'SIM_KEY'];
    expect(await start(add, { SIM_KEY: 'wrong' }).result).toMatchObject({ code: 1, stderr: expect.stringContaining('not added') });
    await conductor('backend', 'stop');
    expect(await start(add, { SIM_KEY: 'right' }).result).toMatchObject({ code: 0, stdout: expect.stringContaining('keyed') });
    const files = await readdir(home);
    for (const file of files.filter((name) => /json|log/.test(name))) {
      expect(await readFile(path.join(home, file), 'utf8'), file).not.toContain('right"');
    }
    const replaced = await conductor(...add, '--no-try');
    expect(replaced).toMatchObject({ code: 0, stderr: expect.stringContaining('it was replaced') });
    expect(await conductor('worker', 'remove', 'keyed')).toMatchObject({ code: 0 });
    await keyed.close();
  });

  it('finds the API of a server whose address was given without a path', async () => {
    const [worker] = simulator.workers();
    const { code, stderr } = await conductor('worker', 'add', 'below', '--provider', 'openai-compatible', '--model', worker?.model ?? '', '--base-url', simulator.url);
    expect(stderr).toContain(`"below" answered at ${simulator.url}/v1`);
    expect(code).toBe(0);
    expect(JSON.parse((await conductor('worker', 'list', '--json')).stdout)).toMatchObject({
      workers: expect.arrayContaining([expect.objectContaining({ worker: expect.objectContaining({ id: 'below', baseUrl: `${simulator.url}/v1` }) })]),
    });
    await usual();
  });

  it('offers the agents that are installed, and starts one before it is added', async () => {
    const programs = await mkdtemp(path.join(tmpdir(), 'agents-'));
    await copyFile(fileURLToPath(new URL('../workers/acp/fake-agent.ts', import.meta.url)), path.join(programs, 'fake-agent.ts'));
    await writeFile(path.join(programs, 'opencode'), `#!/bin/sh\nexec "${process.execPath}" "${programs}/fake-agent.ts" edit\n`, { mode: 0o755 });
    await writeFile(path.join(programs, 'codex-acp'), `#!/bin/sh\nexec "${process.execPath}" "${programs}/fake-agent.ts" no-login\n`, { mode: 0o755 });
    const environment = { PATH: `${programs}${path.delimiter}${process.env['PATH']}` };
    await conductor('backend', 'stop');
    try {
      const { stdout } = await start(['worker', 'agents'], environment).result;
      expect(stdout).toMatch(/✓ opencode +OpenCode +conductor worker add opencode --agent opencode/);
      expect(stdout).toMatch(/– gemini +Gemini CLI +not installed: npm install -g/);
      const added = await start(['worker', 'add', 'oc', '--agent', 'opencode', '--step-usd', '0.5', '--host', '127.0.0.1:9999'], environment).result;
      expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining('"oc" answered') });
      const { workers } = JSON.parse((await conductor('worker', 'list', '--json')).stdout) as { workers: { worker: { id: string; agent?: object } }[] };
      expect(workers.find(({ worker }) => worker.id === 'oc')?.worker.agent).toMatchObject({ command: ['opencode', 'acp'], hosts: ['127.0.0.1:9999'], stepUsd: 0.5 });
      const refused = await start(['worker', 'add', 'cx', '--agent', 'codex'], environment).result;
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('the agent is not logged in') });
    } finally {
      await conductor('backend', 'stop');
      await rm(programs, { recursive: true, force: true });
      await usual();
    }
  }, 180_000);

  it('says who plays the Conductor once the one that did is removed', async () => {
    const { code, stderr } = await conductor('worker', 'remove', 'sim-conductor');
    expect(stderr).toContain('"conductor-mini" plans: part of Conductor');
    expect(code).toBe(0);
    await usual();
  });

  it('leaves planning to the model that is part of Conductor when the first one is added', async () => {
    await writeWorkers({ version: 1, workers: [] });
    const add = ['worker', 'add', 'first', '--provider', 'openai', '--model', 'm', '--no-try', '--json'];
    const pool = JSON.parse((await conductor(...add)).stdout) as { conductor: string | null; workers: unknown[] };
    expect(pool).toMatchObject({ conductor: null, workers: [{ worker: { id: 'first' } }] });
    await usual();
  });

  it.each([
    [[], '--provider takes openai, openai-compatible, anthropic, local.'],
    [['--provider', 'gemini'], '--provider takes openai, openai-compatible, anthropic, local, not "gemini".'],
    [['--provider', 'openai'], '--model takes'],
    [['--provider', 'openai', '--model', 'm', '--served', 'owner/m'], '--served: only an openai-compatible worker can be "served"'],
    [['--provider', 'openai', '--model', 'm', '--served-folder', 'here'], '--served-folder goes with --served.'],
    [['--provider', 'openai', '--model', 'm', '--adapter', 'here'], '--adapter: only a local worker, or one with "served", can have an adapter'],
  ])('add %j: names what is missing', async (args, sentence) => {
    expect(await conductor('worker', 'add', 'x', ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) });
  });
});

describe('a model of this machine', () => {
  it('is tried like any other worker, and is named by its folder from wherever that was named', async () => {
    const model = modelFolder('qwen2-tiny');
    const { code, stderr } = await conductor('worker', 'add', 'tiny', '--provider', 'local', '--model', path.relative(workspace, model));
    expect(stderr).toContain('"tiny" answered');
    expect(code).toBe(0);
    const { workers } = JSON.parse((await conductor('worker', 'list', '--json')).stdout) as { workers: { worker: { id: string; model: string } }[] };
    expect(workers.map(({ worker }) => worker).find(({ id }) => id === 'tiny')).toMatchObject({ provider: 'local', model });
    await usual();
  }, 60_000);

  it('plays the Conductor once it is chosen, and one that is not there cannot', async () => {
    const chosen = await conductor('model', 'choose', modelFolder('qwen3-tiny'), '--json');
    const { conductor: id } = JSON.parse(chosen.stdout) as { conductor: string };
    expect(chosen.stderr).toContain(`"${id}" plays the Conductor and answers as a worker from now on`);
    expect(await conductor('model', 'choose', 'acme/other')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('acme/other') });
    await usual();
  });
});

describe('a worker without a price', () => {
  it('costs null in JSON, because unpriced is not free, and is named where dollars do not hold it', async () => {
    const unpriced = [...simulator.workers(), simulator.conductor()].map(({ price: _price, ...worker }) => worker);
    await writeWorkers({ version: 1, conductor: simulator.conductor().id, workers: unpriced });
    const solved = await conductor('solve', question, '--yes', '--max-usd', '2');
    expect(solved.stderr).toMatch(/\$2\.00 does not hold the unpriced .*sim-conductor/);
    const { runId } = (JSON.parse((await conductor('runs', 'list', '--limit', '1', '--json')).stdout) as [{ runId: string }])[0];
    const result = JSON.parse((await conductor('runs', 'show', runId, '--json')).stdout) as ReturnType<typeof runResult>;
    expect(result.spent.usd).toBeNull();
    expect(result.spent.unpricedTokens).toBeGreaterThan(0);
    expect(result.rounds[0]?.steps[0]).toMatchObject({ usd: null, unpricedTokens: expect.any(Number) });
    await usual();
  });
});

it('conductor demo ends verified and leaves nothing behind', async () => {
  const before = (await readdir(folder)).sort();
  const { code, stderr } = await conductor('demo', '--seed', String(SEED));
  expect(stderr).toContain('SIMULATED');
  expect(stderr).toContain('✓');
  expect(stderr).not.toContain('runs apply');
  expect(code).toBe(0);
  expect((await readdir(folder)).sort()).toEqual(before);
}, 60_000);
