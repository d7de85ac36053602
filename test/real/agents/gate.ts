import { execFileSync } from 'node:child_process';
import { access, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { HandsRule } from '../../../backend/simulator/worker-model.ts';
import { AGENTS, modelOf, type Agent } from './agents.ts';
import { handsOf } from './editing.ts';
import { outputOf } from './output-of.ts';

/*
 * Whether the gate keeps real agents at work: each is set up by `conductor install`, its simulated model breaks a test and says that it is done, is kept
 * from stopping, reads the test that fails, mends it, and may stop. Each has a home of its own: nobody's login is read.
 *
 *     npm install --prefix FOLDER @anthropic-ai/claude-code @openai/codex opencode-ai @google/gemini-cli
 *     node with-node.mjs node test/real/agents/gate.ts --agents FOLDER
 */

const { values } = parseArgs({ options: { agents: { type: 'string' } } });
if (values.agents === undefined) throw new Error('Name the folder in which the agents are installed: --agents FOLDER');
const programs = path.resolve(values.agents, 'node_modules/.bin');
const conductor = fileURLToPath(new URL('../../../run-cli.mjs', import.meta.url));

const RIGHT = 'export const sum = (a, b) => b + a;\n';
const WRONG = 'export const sum = (a, b) => b - a;\n';
const KEPT = /it is not done yet[\s\S]*sums: passed before, failed now/;
const QUESTION = 'Write the sum in src/sum.js with b first.';

/** What the model does, in order: it looks, writes what is wrong, says that it is done, and mends it once it is told. `seen` tells what it came to. */
function careless(file: string, seen: string[]): HandsRule {
  let [hasLooked, hasWritten, hasMended] = [false, false, false];
  return ({ name }, { messages, tools = [] }) => {
    const hands = handsOf(tools);
    if (!hands.canWrite) return { text: `Simulated by ${name}.`, calls: [] };
    if (!hasLooked) {
      hasLooked = true;
      return { text: 'I look first.', calls: hands.look(file) };
    }
    if (!hasWritten) {
      hasWritten = true;
      return { text: '', calls: hands.write(file, WRONG) };
    }
    const isKept = messages.some(({ role, content }) => role !== 'tool' && KEPT.test(content));
    if (isKept && !hasMended) {
      hasMended = true;
      seen.push('was kept from stopping');
      return { text: 'I mend it.', calls: hands.write(file, RIGHT) };
    }
    seen.push(hasMended ? 'stops with the right text' : 'stops with the wrong text');
    return { text: `Simulated by ${name}. Done.`, calls: [] };
  };
}

async function tryAgent(agent: Agent): Promise<boolean> {
  const program = path.join(programs, agent.program);
  if (!(await access(program).then(() => true, () => false))) {
    console.log(`– ${agent.name}: not installed`);
    return true;
  }
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-gate-')));
  const [home, project] = [path.join(root, 'home'), path.join(root, 'project')];
  const file = path.join(project, 'src/sum.js');
  const seen: string[] = [];
  const server = await modelOf(agent, careless(file, seen));
  try {
    await Promise.all([home, path.join(project, 'src'), path.join(project, 'test')].map((folder) => mkdir(folder, { recursive: true })));
    await writeFile(path.join(project, 'package.json'), JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }));
    await writeFile(file, 'export const sum = (a, b) => a + b;\n');
    await writeFile(path.join(project, 'test/sum.test.js'), 'import assert from "node:assert/strict";\nimport test from "node:test";\nimport { sum } from "../src/sum.js";\ntest("sums", () => assert.equal(sum(1, 2), 3));\n');
    const place = { url: server.url, home, project };
    await agent.prepare?.(place);
    const environment = { PATH: process.env['PATH'] ?? '', HOME: home, CONDUCTOR_HOME: path.join(home, '.conductor'), ...agent.env(place) };
    execFileSync(process.execPath, [conductor, 'install', agent.setup, '--yes', '--workspace', project], { env: environment, stdio: 'ignore' });
    for (const args of [['init', '--quiet'], ['add', '--all'], ['-c', 'user.name=n', '-c', 'user.email=n@example.org', 'commit', '--quiet', '--message=begin']]) execFileSync('git', args, { cwd: project });
    const output = await outputOf(program, [...agent.args(QUESTION), ...(agent.trustsHooks ?? [])], { cwd: project, env: environment });
    const isFine = (await readFile(file, 'utf8')) === RIGHT && seen.join(', ') === 'stops with the wrong text, was kept from stopping, stops with the right text';
    console.log(`${isFine ? '✓' : '✗'} ${agent.name} ${seen.join(', ') || 'did nothing'}`);
    if (!isFine) console.log(output.slice(-3_000));
    return isFine;
  } finally {
    await server.close();
    await rm(root, { recursive: true, force: true });
  }
}

let isFine = true;
for (const agent of AGENTS) isFine = (await tryAgent(agent)) && isFine;
process.exitCode = isFine ? 0 : 1;
