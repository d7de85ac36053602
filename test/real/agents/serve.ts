import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { release, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { SimulatorServer } from '../../../backend/simulator/server.ts';
import { edits, type Seen } from './editing.ts';
import { outputOf } from './output-of.ts';
import { Recorder } from './recorder.ts';
import { CLIENTS, type Client } from './serve-clients.ts';

/*
 * Whether real agents do a small change through `conductor serve`, set up as docs/serve.md says, with simulated workers behind. Each gets a project and
 * a home of its own: nobody's login is read. Needs `npm run build`.
 *
 *     npm install --prefix FOLDER @anthropic-ai/claude-code @openai/codex opencode-ai @qwen-code/qwen-code @continuedev/cli @github/copilot @mariozechner/pi-coding-agent
 *     node with-node.mjs node test/real/agents/serve.ts --agents FOLDER
 *
 * FOLDER may also be an environment of Python, for Mistral's Vibe and fast-agent. --only NAME: one of them. --record FOLDER: keeps what each client sent, as fixtures for test/serve/real-clients.test.ts.
 */

const WANTED = 'hello, quiet fox';
const QUESTION = 'Change greeting.txt so that it says hello to the quiet fox.';
const { values } = parseArgs({ options: { agents: { type: 'string' }, only: { type: 'string' }, record: { type: 'string' } } });
if (values.agents === undefined) throw new Error('Name the folder in which the agents are installed: --agents FOLDER');
/** Where npm and where Python's environments put programs. */
const programs = ['node_modules/.bin', 'bin'].map((folder) => path.resolve(values.agents ?? '', folder));
const conductor = fileURLToPath(new URL('../../../run-cli.mjs', import.meta.url));

async function tryClient(client: Client): Promise<boolean> {
  const { name, program: file, wire } = client;
  const found = await Promise.all(programs.map(async (folder) => (await access(path.join(folder, file)).then(() => true, () => false) ? path.join(folder, file) : undefined)));
  const program = found.find((one) => one !== undefined);
  if (program === undefined) {
    console.log(`– ${name}: not installed`);
    return true;
  }
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-serve-')));
  const [home, project, folder] = [path.join(root, 'home'), path.join(root, 'project'), path.join(root, 'conductor')];
  await Promise.all([home, project, folder].map((one) => mkdir(one, { mode: 0o700 })));
  const greeting = path.join(project, 'greeting.txt');
  await writeFile(greeting, 'hello, loud fox\n');
  const seen: Seen = { turns: 0, results: 0 };
  const simulator = await SimulatorServer.start({ seed: 1, latency: 0, hands: edits({ file: greeting, wanted: WANTED }, seen) });
  const environment = { PATH: process.env['PATH'] ?? '', HOME: home, CONDUCTOR_HOME: folder };
  const command = (...args: string[]): string => execFileSync(process.execPath, [conductor, ...args], { env: environment, encoding: 'utf8' });
  const worker = { maxOutputTokens: 8_000, price: { inputPerMillion: 1, outputPerMillion: 1 } };
  let served: ChildProcess | undefined;
  let recorder: Recorder | undefined;
  try {
    await writeFile(path.join(folder, 'workers.json'), JSON.stringify({
      version: 1, conductor: 'planner', workers: [
        // The worker that speaks is behind the wire that differs most from the client's.
        { ...worker, id: 'planner', provider: 'openai-compatible', baseUrl: `${simulator.url}/v1`, model: 'sim-conductor', enabled: false },
        { ...worker, id: 'sim-atlas', provider: 'openai', baseUrl: `${simulator.url}/v1`, model: 'sim-atlas' },
        { ...worker, id: 'sim-birch', provider: 'anthropic', baseUrl: simulator.url, model: 'sim-birch' },
      ],
    }));
    const key = command('serve', 'key', 'add', 'agent', '--max-usd', '5').trim();
    served = spawn(process.execPath, [conductor, 'serve', '--port', '0'], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(served.stdout!, 'data')) as [Buffer];
    recorder = await Recorder.start(new URL(String(line).trim()).origin);
    const place = { url: recorder.url, key, home, project };
    await client.prepare?.(place);
    const began = performance.now();
    const output = await outputOf(program, client.args(QUESTION), { cwd: project, env: { PATH: environment.PATH, HOME: home, ...client.env(place) } });
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    const isChanged = (await readFile(greeting, 'utf8')).trim() === WANTED;
    const isTold = output.includes('Done: the file is changed.');
    const runs = JSON.parse(command('runs', 'list', '--json')) as unknown[];
    console.log(`${isChanged && isTold ? '✓' : '✗'} ${name}: ${wire}, ${recorder.exchanges.length} requests, ${seen.turns} turns, ${runs.length} runs, ${seconds} s, file ${isChanged ? 'changed' : 'as it was'}`);
    for (const { method, url, status } of recorder.exchanges) if (status >= 400) console.log(`  ${method} ${url}: ${status}`);
    if (!isTold) console.log(output.slice(-2_000));
    if (values.record !== undefined) await recorder.keep(path.join(values.record, `${file}.json`), { [root]: '/home/person', [key]: 'KEY', [release()]: 'RELEASE' });
    return isChanged && isTold;
  } finally {
    served?.kill('SIGINT');
    if (served) await once(served, 'close');
    command('backend', 'stop');
    await recorder?.close();
    await simulator.close();
    await rm(root, { recursive: true, force: true });
  }
}

let isFine = true;
for (const client of CLIENTS) if (values.only === undefined || values.only === client.program) isFine = (await tryClient(client)) && isFine;
process.exitCode = isFine ? 0 : 1;
