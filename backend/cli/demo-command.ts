import { mkdtemp, mkdir, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runRequestSchema } from '../protocol/run-request.ts';
import { workersFileSchema } from '../protocol/worker-config.ts';
import { writeSampleProject } from '../simulator/sample-project.ts';
import { SimulatorServer } from '../simulator/server.ts';
import { removeTree } from '../verify/files/remove-tree.ts';
import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { Consent } from './consent.ts';
import { exitCodeOf } from './exit-codes.ts';
import { followRun } from './follow-run.ts';
import { RunPrinter } from './run-printer.ts';
import { UsageError } from './usage-error.ts';

/** With this seed the tests fail after the first round and pass after a second round with several workers. */
const DEFAULT_SEED = 9;

/**
 * `conductor demo`: solves a bug without a key or network. Only the workers are simulated, behind a real server. Everything else is real:
 * the backend in its own process, the protocol, the plan, the journal, the sandbox and the tests of a sample project.
 */
export const demoCommand: Command = async (args, { terminal, connect, stopBackend, interrupted }) => {
  const { values, positionals } = readArguments(args, { seed: { type: 'string' }, keep: { type: 'boolean' } });
  const seed = Number(values.seed ?? DEFAULT_SEED);
  if (positionals.length > 0 || !Number.isSafeInteger(seed) || seed < 0) {
    throw new UsageError('--seed takes a whole number from 0: npm run demo -- --seed 7');
  }

  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-demo-')));
  const home = path.join(folder, 'home');
  const workspace = path.join(folder, 'project');
  const simulator = await SimulatorServer.start({ seed });
  try {
    await mkdir(home, { mode: 0o700 });
    const project = await writeSampleProject(workspace, { seed });
    const conductor = simulator.conductor();
    const workers = workersFileSchema.parse({
      version: 1, conductor: conductor.id, workers: [...simulator.workers(), { ...conductor, enabled: false }],
    });
    await writeFile(path.join(home, 'workers.json'), JSON.stringify(workers, undefined, 2));

    terminal.say(terminal.style('bold', `Conductor demo, seed ${seed}: a bug in ${project.path} of a sample project`));
    terminal.say(`Project   ${workspace}`);
    // The demo runs only code that the simulator wrote, so it may run without a sandbox. The output says so if it does.
    const consent = new Consent(terminal, { yes: true });
    const open = () => connect({ home, confirm: consent.confirm });
    const client = await open();
    const { sandbox } = await client.request('backend/health', {});
    if (!sandbox.available) terminal.say(terminal.style('yellow', `Sandbox   not used: ${sandbox.reason ?? 'none is available'}`));
    const request = runRequestSchema.parse({ question: project.question, workspace });
    const { runId } = await client.request('run/start', { request });
    consent.runId = runId;
    const printer = new RunPrinter(terminal);
    const run = await followRun({ runId, client, connect: open, terminal, printer, interrupted });
    // Its home goes with the demo, so no later command finds the run.
    printer.end(run, { canApply: false });
    client.close();
    return exitCodeOf(run);
  } finally {
    await stopBackend(home).catch(() => false);
    await simulator.close();
    if (values.keep) terminal.say(`Kept      ${folder}`);
    else await removeTree(folder);
  }
};
