import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { SimulatorServer } from '../../../backend/simulator/server.ts';
import type { HandsRule } from '../../../backend/simulator/worker-model.ts';

/*
 * Whether the gate keeps a real Claude Code at work: it is set up by `conductor install claude`, its simulated model breaks a test and says that it is
 * done, is kept from stopping, reads the test that fails, mends it, and may stop. It has a home of its own: nobody's login is read.
 *
 *     npm install --prefix FOLDER @anthropic-ai/claude-code
 *     node with-node.mjs node test/real/agents/gate.ts --agents FOLDER
 */

const { values } = parseArgs({ options: { agents: { type: 'string' } } });
if (values.agents === undefined) throw new Error('Name the folder in which the agent is installed: --agents FOLDER');
const claude = path.resolve(values.agents, 'node_modules/.bin/claude');
const conductor = fileURLToPath(new URL('../../../run-cli.mjs', import.meta.url));

const RIGHT = 'export const sum = (a, b) => b + a;\n';
const WRONG = 'export const sum = (a, b) => b - a;\n';
const KEPT = /it is not done yet[\s\S]*sums: passed before, failed now/;

const root = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-gate-')));
const [home, project] = [path.join(root, 'home'), path.join(root, 'project')];
const file = path.join(project, 'src/sum.js');
/** What the model did, in order. */
const seen: string[] = [];

const rule: HandsRule = ({ name }, { messages, tools = [] }) => {
  const write = tools.find((tool) => tool.name === 'Write');
  const read = tools.find((tool) => tool.name === 'Read');
  if (!write || !read) return { text: `Simulated by ${name}.`, calls: [] };
  const call = (tool: { readonly name: string }, given: object): { name: string; arguments: string } => ({ name: tool.name, arguments: JSON.stringify({ file_path: file, ...given }) });
  const results = messages.filter(({ role }) => role === 'tool').length;
  const isKept = messages.some(({ role, content }) => role === 'user' && KEPT.test(content));
  if (results === 0) return { text: 'I look first.', calls: [call(read, {})] };
  if (results === 1) return { text: '', calls: [call(write, { content: WRONG })] };
  if (isKept && results === 2) {
    seen.push('was kept from stopping');
    return { text: 'I mend it.', calls: [call(write, { content: RIGHT })] };
  }
  seen.push(isKept ? 'stops with the right text' : 'stops with the wrong text');
  return { text: `Simulated by ${name}. Done.`, calls: [] };
};

const server = await SimulatorServer.start({ seed: 1, latency: 0, hands: rule });
let isFine = false;
try {
  await Promise.all([home, path.join(project, 'src'), path.join(project, 'test')].map((folder) => mkdir(folder, { recursive: true })));
  await writeFile(path.join(project, 'package.json'), JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }));
  await writeFile(file, 'export const sum = (a, b) => a + b;\n');
  await writeFile(path.join(project, 'test/sum.test.js'), 'import assert from "node:assert/strict";\nimport test from "node:test";\nimport { sum } from "../src/sum.js";\ntest("sums", () => assert.equal(sum(1, 2), 3));\n');
  const environment = { PATH: process.env['PATH'] ?? '', HOME: home, CONDUCTOR_HOME: path.join(home, '.conductor') };
  execFileSync(process.execPath, [conductor, 'install', 'claude', '--yes', '--workspace', project], { env: environment, stdio: 'ignore' });
  for (const args of [['init', '--quiet'], ['add', '--all'], ['-c', 'user.name=n', '-c', 'user.email=n@example.org', 'commit', '--quiet', '--message=begin']]) execFileSync('git', args, { cwd: project });
  const { stdout } = await promisify(execFile)(claude, ['--print', '--permission-mode', 'acceptEdits', 'Write the sum in src/sum.js with b first.'], {
    cwd: project, timeout: 300_000,
    env: { ...environment, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'none', ANTHROPIC_MODEL: 'sim-dune', ANTHROPIC_SMALL_FAST_MODEL: 'sim-birch', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  }).catch((error: { stdout?: string; stderr?: string; message: string }) => ({ stdout: `${error.message}\n${error.stdout ?? ''}\n${error.stderr ?? ''}` }));
  isFine = (await readFile(file, 'utf8')) === RIGHT && seen.join(', ') === 'stops with the wrong text, was kept from stopping, stops with the right text';
  console.log(`${isFine ? '✓' : '✗'} Claude Code ${seen.join(', ') || 'did nothing'}`);
  if (!isFine) console.log(stdout.slice(-3_000));
} finally {
  await server.close();
  await rm(root, { recursive: true, force: true });
}
process.exitCode = isFine ? 0 : 1;
