import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SimulatedTool } from '../../../backend/simulator/simulated-model.ts';
import { BUILT } from '../../cli/run-conductor.ts';
import { COMPILE_CACHE } from '../../support/compile-cache.ts';
import { ScriptedServer, type ScriptedAnswer, type ScriptedRequest } from '../../support/scripted-server.ts';
import { GitRepository } from '../../verify/git-repository.ts';
import { trySandbox } from '../../verify/setup.ts';
import { handsOf } from './editing.ts';
import { outputOf } from './output-of.ts';
import { CLIENTS } from './serve-clients.ts';

/*
 * Claude Code, Codex and OpenCode as they come from npm, set up by `conductor install` and led through `conductor serve`, with workers played by a
 * script: the model breaks a test, is kept from stopping by the gate, has Conductor's `solve` mend it, by MCP, writes that, has it verified, and
 * stops. Each has a home of its own: nobody's login is read.
 */

interface Led {
  /** Its name for `conductor install`. */
  readonly name: string;
  /** Under `clients/node_modules`. */
  readonly file: string;
  /** Arguments by which nobody is asked whether Conductor's hook and tools may be used. */
  readonly trusts: readonly string[];
}

const LED: readonly Led[] = [
  { name: 'claude', file: '@anthropic-ai/claude-code-linux-x64/claude', trusts: ['--settings', '{"enableAllProjectMcpServers":true}', '--allowedTools', 'mcp__conductor'] },
  { name: 'codex', file: '@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex', trusts: ['--trust', '--dangerously-bypass-hook-trust'] },
  { name: 'opencode', file: 'opencode-linux-x64-baseline/bin/opencode', trusts: [] },
];

const INSTALLED = fileURLToPath(new URL('clients/node_modules/', import.meta.url));
const sandbox = await trySandbox();

const BROKEN = 'export const sum = () => 1;\n';
const RIGHT = 'export const sum = (list) => list.reduce((a, b) => a + b, 0);\n';
const PLAN = 'model_id = [0, 1]\nsubtasks = ["Say how to go about it.", "Mend sum."]\naccess_list = [[], [0]]';
const DONE = 'Done: the tests say so.';

let places: { root: string; home: string; project: string };
let workers: ScriptedServer;
let served: ChildProcess;
let url: string;
let script: (asked: ScriptedRequest) => ScriptedAnswer;

const environment = (): Record<string, string> => ({ PATH: process.env['PATH'] ?? '', ...COMPILE_CACHE, HOME: places.home });
const conductor = (...args: string[]): string => execFileSync(process.execPath, [BUILT, ...args], { cwd: places.project, env: environment(), encoding: 'utf8', stdio: 'pipe' });

beforeEach(async () => {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-doors-')));
  places = { root, home: path.join(root, 'home'), project: path.join(root, 'project') };
  // Codex starts servers of MCP with few of its variables, so Conductor's folder is where it is by default.
  const folder = path.join(places.home, '.conductor');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  workers = await ScriptedServer.start((asked) => script(asked));
  const worker = { provider: 'openai-compatible', baseUrl: workers.baseUrl, maxOutputTokens: 8_000, price: { inputPerMillion: 1, outputPerMillion: 1 } };
  await writeFile(path.join(folder, 'workers.json'), JSON.stringify({
    version: 1, conductor: 'planner', workers: [
      { ...worker, id: 'planner', model: 'planner', enabled: false }, { ...worker, id: 'adviser', model: 'adviser' }, { ...worker, id: 'sim-birch', model: 'speaker' },
    ],
  }));
  new GitRepository(places.project, {
    'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }),
    'src/sum.js': 'export const sum = (list) => list.reduce((a, b) => a + b);\n',
    'test/sum.test.js': 'import assert from "node:assert/strict";\nimport test from "node:test";\nimport { sum } from "../src/sum.js";\n'
      + 'test("sums", () => assert.equal(sum([1, 2]), 3));\ntest("sums nothing", () => assert.equal(sum([]), 0));\n',
  });
  // OpenCode would fetch what plugins may import before it begins.
  for (const configured of [path.join(places.home, '.config/opencode'), path.join(places.project, '.opencode')]) {
    await mkdir(path.join(configured, 'node_modules'), { recursive: true });
    await writeFile(path.join(configured, 'package-lock.json'), JSON.stringify({ packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } }));
  }
  served = spawn(process.execPath, [BUILT, 'serve', '--port', '0'], { env: environment(), stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = (await once(served.stdout!, 'data')) as [Buffer];
  url = new URL(String(line).trim()).origin;
});

afterEach(async () => {
  if (served.exitCode === null) {
    served.kill('SIGINT');
    await once(served, 'close');
  }
  conductor('backend', 'stop');
  await workers.close();
  await rm(places.root, { recursive: true, force: true });
});

/** What the client has told the model. */
interface Told {
  kept: string;
  solved: string;
  verified: string;
}

/** What the model does, in order. */
function careless(file: string, told: Told): (asked: ScriptedRequest) => ScriptedAnswer {
  let turn = 0;
  return ({ model, messages, tools: names, body }) => {
    if (model === 'planner') return PLAN;
    if (model === 'adviser') return 'An empty list has no first number to begin with.';
    const hands = handsOf(((body['tools'] ?? []) as { readonly function: SimulatedTool }[]).map((tool) => tool.function));
    const [solve, verify] = ['solve', 'verify'].map((name) => names.find((tool) => tool.includes('conductor') && tool.endsWith(`_${name}`)));
    const last = messages.at(-1);
    // Claude Code tells its model of tools that it has to search for first.
    if (names.includes('ToolSearch') && solve === undefined && last?.role !== 'tool') return { calls: [{ name: 'ToolSearch', arguments: { query: 'select:mcp__conductor__solve,mcp__conductor__verify', max_results: 5 } }] };
    // The step of the run that `solve` begins, and titles.
    if (!hands.canWrite || solve === undefined || verify === undefined) return `Begin with nought.\n\n\`\`\`js src/sum.js\n${RIGHT}\`\`\``;
    turn += 1;
    switch (turn) {
      case 1: return { text: 'I look first.', calls: hands.look(file) };
      case 2: return { calls: hands.write(file, BROKEN) };
      case 3: return 'It is done.';
      case 4:
        told.kept = last?.content ?? '';
        return { text: 'Others may know.', calls: [{ name: solve, arguments: { question: 'sum([]) fails instead of giving 0: please mend it', files: ['src/sum.js'] } }] };
      case 5:
        told.solved = last?.content ?? '';
        return { calls: hands.write(file, RIGHT) };
      case 6: return { calls: [{ name: verify, arguments: {} }] };
      default:
        told.verified ||= last?.content ?? '';
        return DONE;
    }
  };
}

describe.each(LED)('$name', ({ name, file, trusts }) => {
  const program = path.join(INSTALLED, file);
  const missing = sandbox.available ? (existsSync(program) ? '' : '(not installed: npm ci --prefix test/real/agents/clients)') : sandbox.note;

  it.skipIf(missing !== '')(`does a change through the endpoint, the gate and the tools by MCP ${missing}`, { timeout: 240_000 }, async () => {
    const { home, project } = places;
    const client = CLIENTS.find((one) => one.program === name)!;
    const changed = path.join(project, 'src/sum.js');
    const told: Told = { kept: '', solved: '', verified: '' };
    script = careless(changed, told);
    const place = { url, key: conductor('serve', 'key', 'add', 'agent', '--max-usd', '5').trim(), home, project };
    await client.prepare?.(place);
    conductor('install', name, '--yes', '--workspace', project);
    const output = await outputOf(program, [...client.args('Mend the sum of an empty list in src/sum.js.'), ...trusts], { cwd: project, env: { ...environment(), ...client.env(place) } });
    expect(told.kept, output).toMatch(/it is not done yet[^]*sums: passed before, failed now/);
    // Whether it is shown as text or as fields.
    expect(told.solved, output).toMatch(/Begin with nought[^]*\+export const sum = \(list\) => list\.reduce\(\(a, b\) => a \+ b, 0\);/);
    expect(told.verified, output).toMatch(/verified[^]*1 test that failed before passed, and 1 test that passed still did/i);
    expect(await readFile(changed, 'utf8')).toBe(RIGHT);
    // The message of the gate is no reason to plan: one plan is the conversation's, and one is that of `solve`.
    expect(workers.of('planner'), output).toHaveLength(2);
  });
});
