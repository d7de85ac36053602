import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { backendCommand } from './cli/backend-command.ts';
import type { Command, CommandContext } from './cli/command.ts';
import { demoCommand } from './cli/demo-command.ts';
import { EXIT } from './cli/exit-codes.ts';
import { runsCommand } from './cli/runs-command.ts';
import { solveCommand } from './cli/solve-command.ts';
import { printable, styleFor, type Terminal } from './cli/terminal.ts';
import { UsageError } from './cli/usage-error.ts';
import { workerCommand } from './cli/worker-command.ts';
import { conductorHome } from './protocol/client/discovery.ts';
import { connectBackend, stopBackend } from './protocol/client/start-backend.ts';
import { VERSION } from './protocol/product-version.ts';

/* Composition root of the command line: a client of the backend like VS Code, with the terminal for its face. */

const COMMANDS: ReadonlyMap<string | undefined, Command> = new Map(Object.entries({
  solve: solveCommand, runs: runsCommand, worker: workerCommand, backend: backendCommand, demo: demoCommand,
}));

const USAGE = `conductor solve "question" [--workspace DIR] [--file PATH[:FROM-TO]]... [--worker ID]... [--conductor ID] [--rounds N]
                [--test-command CMD | --no-tests] [--max-usd N] [--require-verified] [--yes] [--json]
conductor runs [list|show RUN|resume RUN [--max-usd N] [--yes]|cancel RUN|export RUN] [--json]
conductor worker [list|add ID --provider P --model M [--base-url URL] [--key NAME]|try ID|remove ID]
conductor backend [status|stop]
conductor demo [--seed N] [--keep]

Keys are read from the environment, under the names that the workers give them; they are never stored.
Exit codes: 0 answered (verified, or nothing to check), 1 failed or red, 2 wrong usage, 3 stopped at the budget, 130 cancelled.`;

const terminal: Terminal = {
  result: (text) => void process.stdout.write(`${text}\n`),
  say: (text) => void process.stderr.write(`${text}\n`),
  style: styleFor(process.stderr),
  resultStyle: styleFor(process.stdout),
  ask: process.stdin.isTTY && process.stderr.isTTY ? askOnTerminal : undefined,
};

/** A reader that has seen enough, such as `head`, ends the program and is no error. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? (process.exitCode ?? EXIT.ok) : EXIT.failed));
}

async function askOnTerminal(question: string, signal: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // While a line is read, Ctrl+C comes from here and not as a signal.
  lines.on('SIGINT', () => process.emit('SIGINT'));
  try {
    return /^y(es)?$/i.test((await lines.question(`${printable(question)} [y/N] `, { signal })).trim());
  } finally {
    lines.close();
  }
}

/** The first Ctrl+C asks the run to end; a second one ends the program, and the run goes on in the backend. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  process.on('SIGINT', () => {
    if (controller.signal.aborted) process.exit(EXIT.cancelled);
    terminal.say('Cancelling; press Ctrl+C again to leave at once.');
    controller.abort();
  });
  return controller.signal;
}

const context: CommandContext = {
  terminal,
  environment: process.env,
  currentFolder: process.cwd(),
  interrupted: interruption(),
  stopBackend: (home) => stopBackend(home ?? conductorHome()),
  connect: ({ home, confirm } = {}) => connectBackend({
    home: home ?? conductorHome(),
    backendScript: fileURLToPath(new URL('./backend.mjs', import.meta.url)),
    client: { kind: 'cli', version: VERSION },
    capabilities: confirm ? ['secret', 'confirm'] : ['secret'],
    workspaces: [],
    handlers: {
      'client/secret': async ({ name }) => ({ value: process.env[name] || null }),
      ...(confirm && { 'client/confirm': async (question, signal) => ({ accepted: await confirm(question, signal) }) }),
    },
  }),
};

const [name, ...args] = process.argv.slice(2);
try {
  const command = COMMANDS.get(name);
  if (name === '--version') terminal.result(VERSION);
  else if (name === '--help' || name === 'help') terminal.result(USAGE);
  else if (command) process.exitCode = await command(args, context);
  else throw new UsageError(name === undefined ? `Say what to do:\n${USAGE}` : `There is no command "${name}".\n${USAGE}`);
} catch (error) {
  terminal.say(printable(error instanceof Error ? error.message : String(error)));
  process.exitCode = error instanceof UsageError ? EXIT.usage : EXIT.failed;
}
