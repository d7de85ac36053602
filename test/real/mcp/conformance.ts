import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { bridge } from './bridge.ts';

/*
 * MCP's conformance suite and its inspector against the built `conductor mcp`. The suite speaks HTTP alone, so a bridge stands between. Most of its scenarios call
 * tools, resources and prompts of a server that is written for it; those here ask what every server has.
 *
 * npm install --prefix DIR @modelcontextprotocol/conformance@0.1.16 @modelcontextprotocol/inspector@2.12.0
 * npm run build && node with-node.mjs node test/real/mcp/conformance.ts DIR
 */

const SCENARIOS = ['server-initialize', 'ping', 'tools-list'];
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('Name the folder in which the suite and the inspector are installed.');

const program = (name: string, file: string): string => path.resolve(folder, 'node_modules/@modelcontextprotocol', name, file);
const home = await mkdtemp(path.join(tmpdir(), 'conductor-conformance-'));
const env = { PATH: process.env['PATH'] ?? '', HOME: home, CONDUCTOR_HOME: path.join(home, 'conductor') };
const cli = fileURLToPath(new URL('../../../dist/cli.mjs', import.meta.url));
const command = [process.execPath, cli, 'mcp', '--workspace', home];

async function run(args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, args, { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, said: `${out}${error}` };
}

let failed = 0;
function report(name: string, isFine: boolean, said: string): void {
  if (!isFine) failed += 1;
  console.log(`${isFine ? 'passed' : 'FAILED'}  ${name}${isFine ? '' : `\n${said}`}`);
}

const server = await bridge(command, env);
try {
  for (const scenario of SCENARIOS) {
    const { code, said } = await run([program('conformance', 'dist/index.js'), 'server', '--url', server.url, '--scenario', scenario]);
    report(`suite: ${scenario}`, code === 0, said);
  }
  const inspector = [program('inspector', 'clients/launcher/build/index.js'), '--cli', ...command];
  const listed = await run([...inspector, '--method', 'tools/list']);
  report('inspector: tools/list', listed.code === 0 && ['verify', 'solve', 'plan', 'runs', 'run'].every((name) => listed.said.includes(`"name": "${name}"`)), listed.said);
  const called = await run([...inspector, '--method', 'tools/call', '--tool-name', 'runs', '--tool-arg', 'limit=1']);
  report('inspector: tools/call runs', called.code === 0 && called.said.includes('"structuredContent"'), called.said);
} finally {
  await server.close();
  await run([cli, 'backend', 'stop']);
  await rm(home, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
