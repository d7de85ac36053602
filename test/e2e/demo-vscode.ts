// Conductor in a VS Code that a browser shows, with simulated models and a sample project that has a bug.
//   npm run demo:vscode [-- --seed N]
// Installs what it needs first (about a minute, 450 MB under test/e2e/vscode); Ctrl+C ends it and removes what it wrote.
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { stopBackend } from '../../backend/protocol/client/start-backend.ts';
import { writeSampleProject } from '../../backend/simulator/sample-project.ts';
import { SimulatorServer } from '../../backend/simulator/server.ts';
import { writeSimulatedHome } from './harness/simulated-home.ts';
import { VsCodeServer } from './harness/vscode-server.ts';
import { packedVsix } from './harness/workbench.ts';

/** The same bug as `npm run demo` shows. */
const DEFAULT_SEED = 9;

const repository = path.join(import.meta.dirname, '..', '..');
const { values } = parseArgs({ options: { seed: { type: 'string' } } });
const seed = Number(values.seed ?? DEFAULT_SEED);
if (!Number.isSafeInteger(seed) || seed < 0) {
  console.error('The demo takes a whole number: npm run demo:vscode -- --seed 7');
  process.exit(2);
}

function need(command: string, ...args: string[]): void {
  if (spawnSync(command, args, { cwd: repository, stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0) process.exit(1);
}
console.log('Installing VS Code and packing the extension …');
need('bash', path.join(import.meta.dirname, 'vscode', 'install.sh'));
need(process.execPath, path.join(repository, 'package-vsix.mjs'), `${process.platform}-${process.arch}`);

const folder = await mkdtemp(path.join(tmpdir(), 'conductor-demo-'));
const home = path.join(folder, 'home');
await mkdir(home, { mode: 0o700 });
const simulator = await SimulatorServer.start({ seed });
await writeSimulatedHome(home, simulator);
const project = await writeSampleProject(path.join(folder, 'project'), { seed });
const server = await VsCodeServer.start({
  vsix: [packedVsix()], environment: { CONDUCTOR_HOME: home }, settings: { 'window.autoDetectColorScheme': true },
});

console.log(`
SIMULATED: the models of this demo are a simulation on this machine; everything else is real.

Open      ${server.urlOf(path.join(folder, 'project'))}
Then run  Conductor: Solve   (F1)
and ask   ${project.question}

Ctrl+C ends it.`);
// Listening goes on during the clean-up: npm and the terminal may both deliver the same Ctrl+C.
await new Promise((resolve) => process.on('SIGINT', resolve).on('SIGTERM', resolve));
await server.stop();
await stopBackend(home).catch(() => false);
await simulator.close();
await rm(folder, { recursive: true, force: true });
process.exit(0);
