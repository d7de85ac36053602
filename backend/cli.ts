import './cli/require-node.ts';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { backendCommand } from './cli/backend-command.ts';
import type { Command, CommandContext, ConnectChoices, Verification } from './cli/command.ts';
import { demoCommand } from './cli/demo-command.ts';
import { editorOf, editText } from './cli/edit-text.ts';
import { EXIT } from './cli/exit-codes.ts';
import { generateCommand } from './cli/generate-command.ts';
import { gradCommand } from './cli/grad-command.ts';
import { installCommand, uninstallCommand } from './cli/install-command.ts';
import { learnCommand } from './cli/learn-command.ts';
import { logprobsCommand } from './cli/logprobs-command.ts';
import { modelCommand } from './cli/model-command.ts';
import { recordsCommand } from './cli/records-command.ts';
import { runsCommand } from './cli/runs-command.ts';
import { serveCommand } from './cli/serve-command.ts';
import { simulateCommand } from './cli/simulate-command.ts';
import { solveCommand } from './cli/solve-command.ts';
import { trainCommand } from './cli/train-command.ts';
import { StatusLine } from './cli/status-line.ts';
import { printable, styleFor, type Terminal } from './cli/terminal.ts';
import { asksForUsage, usageOf } from './cli/usage.ts';
import { UsageError } from './cli/usage-error.ts';
import { workerCommand } from './cli/worker-command.ts';
import { machineProbe } from './lm/device/device-probe.ts';
import { ModelClient } from './lm/process/model-client.ts';
import { conductorHome, prepareHome } from './protocol/client/discovery.ts';
import { connectBackend, joinBackend, stopBackend, type ConnectOptions } from './protocol/client/start-backend.ts';
import { VERSION } from './protocol/product-version.ts';
import type { RunFolder } from './verify/files/run-folder.ts';
import { replaceFile } from './common/replace-file.ts';
import { loadWorkersFile } from './workers/workers-file.ts';

/* Composition root of the command line. Like VS Code, it is a client of the backend; its user interface is the terminal. */

/** Loaded on demand: verification takes longer to load than everything else together. */
const verifyCommand: Command = async (args, given) => (await import('./cli/verify-command.ts')).verifyCommand(args, given);

/** Also loaded on demand: it reads tasks of all kinds and judges them. */
const evalCommand: Command = async (args, given) => (await import('./cli/eval-command.ts')).evalCommand(args, given);

/** Also loaded on demand: most people never start it. */
const mcpCommand: Command = async (args, given) => (await import('./cli/mcp-command.ts')).mcpCommand(args, given);

/** Also loaded on demand: most people never start it. */
const acpCommand: Command = async (args, given) => (await import('./cli/acp-command.ts')).acpCommand(args, given);

/** The gate of agents, which has to judge as well. */
const hookCommand: Command = async (args, given) => (await import('./cli/hook-command.ts')).hookCommand(args, given);

const COMMANDS: ReadonlyMap<string | undefined, Command> = new Map(Object.entries({
  solve: solveCommand, runs: runsCommand, worker: workerCommand, records: recordsCommand, backend: backendCommand, demo: demoCommand, simulate: simulateCommand, train: trainCommand, learn: learnCommand,
  eval: evalCommand, verify: verifyCommand, mcp: mcpCommand, acp: acpCommand, hook: hookCommand, serve: serveCommand, install: installCommand, uninstall: uninstallCommand, model: modelCommand, generate: generateCommand, logprobs: logprobsCommand, grad: gradCommand,
}));

const statusLine = process.stderr.isTTY ? new StatusLine(process.stderr) : undefined;

function writeTo(stream: NodeJS.WriteStream, text: string): void {
  statusLine?.clear();
  stream.write(text);
}

const editor = editorOf(process.env);

const terminal: Terminal = {
  result: (text) => writeTo(process.stdout, `${text}\n`),
  write: (text) => writeTo(process.stdout, text),
  say: (text) => writeTo(process.stderr, `${text}\n`),
  status: statusLine && ((text) => statusLine.show(text)),
  style: styleFor(process.stderr),
  resultStyle: styleFor(process.stdout),
  ...(process.stdin.isTTY && process.stderr.isTTY && {
    ask: async (question, signal) => /^y(es)?$/i.test((await readLine(`${question} [y/N] `, signal)).trim()),
    readLine,
    ...(editor !== undefined && {
      edit: (text, options) => {
        statusLine?.clear();
        return editText(text, { editor, ...options });
      },
    }),
  }),
};

/** A reader that closes the pipe early, such as `head`, ends the program. This is not an error. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? (process.exitCode ?? EXIT.ok) : EXIT.failed));
}

async function readLine(question: string, signal: AbortSignal): Promise<string> {
  statusLine?.clear();
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // While readline reads a line, it reports Ctrl+C itself instead of the signal.
  lines.on('SIGINT', () => process.emit('SIGINT'));
  try {
    return await lines.question(printable(question), { signal });
  } catch (error) {
    // Throw the signal's reason instead of readline's AbortError.
    signal.throwIfAborted();
    throw error;
  } finally {
    lines.close();
  }
}

/** One Ctrl+C can arrive as two signals a few milliseconds apart: one from npm and one to the process group. Users press it more slowly. */
const SAME_CTRL_C_MS = 1_000;

/**
 * The first Ctrl+C aborts the current work. A second one exits without waiting for it. SIGTERM, which build servers send to cancel a job,
 * does the same. Closing the terminal does not: a run continues in the backend.
 */
function interruption(): Pick<CommandContext, 'interrupted' | 'interruptMeans'> {
  const controller = new AbortController();
  let answer = 'Cancelling';
  let firstAtMs = 0;
  const interrupt = (): void => {
    const nowMs = performance.now();
    if (controller.signal.aborted) {
      if (nowMs - firstAtMs >= SAME_CTRL_C_MS) process.exit(EXIT.cancelled);
      return;
    }
    firstAtMs = nowMs;
    terminal.say(`${answer}; press Ctrl+C again to leave without waiting.`);
    controller.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return { interrupted: controller.signal, interruptMeans: (word) => (answer = word) };
}

/** In the same folder and with the same extension as this file, both in the sources and in the bundles. */
const modelScript = fileURLToPath(new URL(`./model-process${path.extname(import.meta.url)}`, import.meta.url));
/** Never reached: a command sends its requests one after another and then closes its model. */
const MODEL_IDLE_MS = 3_600_000;

/** Imports verification dynamically: only one command needs it. */
async function openVerification(): Promise<Verification> {
  const { openVerificationParts } = await import('./wiring/verification.ts');
  const home = conductorHome();
  await prepareHome(home);
  const { verifier, folders, close } = await openVerificationParts(home);
  const made: RunFolder[] = [];
  return {
    verifier,
    newFolder: async () => {
      const folder = await folders.create();
      made.push(folder);
      return folder.workspace;
    },
    close: async () => void await Promise.all([close(), ...made.map((folder) => folder.remove())]),
  };
}

const context: CommandContext = {
  terminal,
  environment: process.env,
  currentFolder: process.cwd(),
  ...interruption(),
  standardInput: () => process.stdin,
  writeWhole: replaceFile,
  openVerification,
  openEvaluation: async (request, preparing) => {
    const home = conductorHome();
    await prepareHome(home);
    const { environmentKeys, openEvaluation } = await import('./wiring/evaluation.ts');
    return await openEvaluation(request, { home, keys: environmentKeys(process.env), host: 'terminal', ...preparing });
  },
  conductorFolder: conductorHome(),
  deviceProbe: machineProbe(process.env),
  localSettings: async () => (await loadWorkersFile(path.join(conductorHome(), 'workers.json'))).local,
  openModel: (options) => new ModelClient({ ...options, script: modelScript, idleMs: MODEL_IDLE_MS }),
  stopBackend: (home) => stopBackend(home ?? conductorHome()),
  connect: (choices) => connectBackend(asClient(choices)),
  runningSimulation: async () => {
    const client = await joinBackend(asClient());
    try {
      return (await client?.request('simulation/get', {}))?.simulation ?? undefined;
    } finally {
      client?.close();
    }
  },
};

function asClient({ home, confirm, key }: ConnectChoices = {}): ConnectOptions {
  return {
    home: home ?? conductorHome(),
    backendScript: fileURLToPath(new URL('./backend.mjs', import.meta.url)),
    client: { kind: 'cli', version: VERSION },
    capabilities: confirm ? ['secret', 'confirm'] : ['secret'],
    workspaces: [],
    handlers: {
      'client/secret': async ({ name }) => ({ value: process.env[name] || key?.(name) || null }),
      ...(confirm && { 'client/confirm': async (question, signal) => ({ accepted: await confirm(question, signal) }) }),
    },
  };
}

const [name, ...args] = process.argv.slice(2);
try {
  const command = COMMANDS.get(name);
  if (name === '--version') terminal.result(VERSION);
  else if (name === '--help' || name === '-h' || name === 'help') terminal.result(usageOf());
  else if (command && asksForUsage(args)) terminal.result(usageOf(name));
  else if (command) process.exitCode = await command(args, context);
  else throw new UsageError(name === undefined ? `No command given.\n${usageOf()}` : `There is no command "${name}".\n${usageOf()}`);
} catch (error) {
  const wasCancelled = context.interrupted.aborted && error === context.interrupted.reason;
  if (!wasCancelled) terminal.say(printable(error instanceof Error ? error.message : String(error)));
  process.exitCode = wasCancelled ? EXIT.cancelled : error instanceof UsageError ? EXIT.usage : EXIT.failed;
}
