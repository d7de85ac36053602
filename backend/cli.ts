#!/usr/bin/env node
import './cli/require-node.ts';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import type { Command, CommandContext, ConnectChoices, Verification } from './cli/command.ts';
import { editorOf, editText } from './cli/edit-text.ts';
import { EXIT } from './cli/exit-codes.ts';
import { StatusLine } from './cli/status-line.ts';
import { printable, styleFor, type Terminal } from './cli/terminal.ts';
import { asksForUsage, usageOf } from './cli/usage.ts';
import { UsageError } from './cli/usage-error.ts';
import { machineProbe } from './lm/device/device-probe.ts';
import { conductorHome } from './protocol/client/conductor-home.ts';
import type { ConnectOptions } from './protocol/client/start-backend.ts';
import type { PersonPython } from './protocol/person-python.ts';
import { VERSION } from './protocol/product-version.ts';
import type { RunFolder } from './verify/files/run-folder.ts';
import { searchNoCurrentFolder } from './common/program-search.ts';
import { replaceFile } from './common/replace-file.ts';

/* Composition root of the command line. Like VS Code, it is a client of the backend; its user interface is the terminal. */

/** Each is loaded when it is called: a person, an agent and a test wait for the start, and no command needs the parts of all. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  solve: async () => (await import('./cli/solve-command.ts')).solveCommand,
  runs: async () => (await import('./cli/runs-command.ts')).runsCommand,
  worker: async () => (await import('./cli/worker-command.ts')).workerCommand,
  records: async () => (await import('./cli/records-command.ts')).recordsCommand,
  'left-out': async () => (await import('./cli/left-out-command.ts')).leftOutCommand,
  backend: async () => (await import('./cli/backend-command.ts')).backendCommand,
  demo: async () => (await import('./cli/demo-command.ts')).demoCommand,
  simulate: async () => (await import('./cli/simulate-command.ts')).simulateCommand,
  train: async () => (await import('./cli/train-command.ts')).trainCommand,
  learn: async () => (await import('./cli/learn-command.ts')).learnCommand,
  eval: async () => (await import('./cli/eval-command.ts')).evalCommand,
  verify: async () => (await import('./cli/verify-command.ts')).verifyCommand,
  mcp: async () => (await import('./cli/mcp-command.ts')).mcpCommand,
  acp: async () => (await import('./cli/acp-command.ts')).acpCommand,
  hook: async () => (await import('./cli/hook-command.ts')).hookCommand,
  serve: async () => (await import('./cli/serve-command.ts')).serveCommand,
  install: async () => (await import('./cli/install-command.ts')).installCommand,
  uninstall: async () => (await import('./cli/install-command.ts')).uninstallCommand,
  model: async () => (await import('./cli/model-command.ts')).modelCommand,
  generate: async () => (await import('./cli/generate-command.ts')).generateCommand,
  logprobs: async () => (await import('./cli/logprobs-command.ts')).logprobsCommand,
  grad: async () => (await import('./cli/grad-command.ts')).gradCommand,
};

searchNoCurrentFolder();

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

/** Lines that were typed or pasted with the answer to an earlier question. */
const typedAhead: string[] = [];

async function readLine(question: string, signal: AbortSignal): Promise<string> {
  statusLine?.clear();
  const ahead = typedAhead.shift();
  if (ahead !== undefined) {
    terminal.say(printable(question) + printable(ahead));
    return ahead;
  }
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on('line', (line) => typedAhead.push(line));
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

/** The user's folder, with access for its owner only. */
async function ownHome(): Promise<string> {
  const { prepareHome } = await import('./protocol/client/discovery.ts');
  const home = conductorHome();
  await prepareHome(home);
  return home;
}

async function openVerification(): Promise<Verification> {
  const { openVerificationParts } = await import('./wiring/verification.ts');
  const home = await ownHome();
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
    const [{ openEvaluation }, { environmentKeys }] = await Promise.all([import('./wiring/evaluation.ts'), import('./wiring/evaluation-keys.ts')]);
    return await openEvaluation(request, { home: await ownHome(), keys: environmentKeys(process.env), host: 'terminal', ...preparing });
  },
  conductorFolder: conductorHome(),
  deviceProbe: machineProbe(process.env),
  localSettings: async () => {
    const { loadWorkersFile } = await import('./workers/workers-file.ts');
    return (await loadWorkersFile(path.join(conductorHome(), 'workers.json'))).local;
  },
  openModel: async (options) => {
    const { ModelClient } = await import('./lm/process/model-client.ts');
    return new ModelClient({ ...options, script: modelScript, idleMs: MODEL_IDLE_MS });
  },
  findTrial: async (request) => (await import('./lm/process/device-trials.ts')).findTrial({ ...request, script: modelScript }),
  stopBackend: async (home) => (await startBackend()).stopBackend(home ?? conductorHome()),
  connect: async (choices) => (await startBackend()).connectBackend(asClient(choices)),
  runningSimulation: async () => {
    const client = await (await startBackend()).joinBackend(asClient());
    try {
      return (await client?.request('simulation/get', {}))?.simulation ?? undefined;
    } finally {
      client?.close();
    }
  },
};

/** What is active in this shell. */
function activePython(): PersonPython | null {
  const folder = process.env['VIRTUAL_ENV'] || process.env['CONDA_PREFIX'];
  return folder ? { folder, isChosen: false } : null;
}

const startBackend = () => import('./protocol/client/start-backend.ts');

function asClient({ home, confirm, key }: ConnectChoices = {}): ConnectOptions {
  return {
    home: home ?? conductorHome(),
    backendScript: fileURLToPath(new URL('./backend.mjs', import.meta.url)),
    client: { kind: 'cli', version: VERSION },
    capabilities: confirm ? ['secret', 'python', 'confirm'] : ['secret', 'python'],
    workspaces: [],
    listsRuns: false,
    handlers: {
      'client/secret': async ({ name }) => ({ value: process.env[name] || key?.(name) || null }),
      'client/python': () => Promise.resolve({ python: activePython() }),
      ...(confirm && { 'client/confirm': async (question, signal) => ({ accepted: await confirm(question, signal) }) }),
    },
  };
}

const [name, ...args] = process.argv.slice(2);
try {
  const load = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (name === '--version') terminal.result(VERSION);
  else if (name === '--help' || name === '-h' || name === 'help') terminal.result(usageOf());
  else if (load && asksForUsage(args)) terminal.result(usageOf(name));
  else if (load) process.exitCode = await (await load())(args, context);
  else throw new UsageError(name === undefined ? usageOf() : `There is no command "${name}": conductor --help lists those there are.`);
} catch (error) {
  const wasCancelled = context.interrupted.aborted && error === context.interrupted.reason;
  if (!wasCancelled) terminal.say(printable(error instanceof Error ? error.message : String(error)));
  process.exitCode = wasCancelled ? EXIT.cancelled : error instanceof UsageError ? EXIT.usage : EXIT.failed;
}
