import path from 'node:path';
import type { BackendClient } from '../protocol/client/backend-client.ts';
import { formatMoney, formatWhen } from '../protocol/figures.ts';
import type { RunSummary } from '../protocol/methods.ts';
import { readArguments } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { followRun } from './follow-run.ts';
import { RunPrinter } from './run-printer.ts';
import { runResult } from './run-result.ts';
import { oneLine, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  json: { type: 'boolean' },
  workspace: { type: 'string', short: 'w' },
  search: { type: 'string' },
  limit: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
} as const;

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];
type Action = (client: BackendClient, runId: string, values: Values, context: CommandContext) => Promise<number>;

/** `conductor runs [list|show|resume|cancel|export]`: what was asked before. */
export const runsCommand: Command = async (args, context) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  const [name = 'list', runId, ...rest] = positionals;
  const action = ACTIONS[name];
  if (!action) throw new UsageError(`There is no "runs ${name}"; there are ${Object.keys(ACTIONS).join(', ')}.`);
  if (rest.length > 0 || (name === 'list') !== (runId === undefined)) {
    throw new UsageError(name === 'list' ? '"runs list" takes no run.' : `Name one run: conductor runs ${name} RUN`);
  }
  const client = await context.connect({ confirm: values.yes ? true : values.json ? false : undefined });
  try {
    return await action(client, runId ?? '', values, context);
  } finally {
    client.close();
  }
};

const list: Action = async (client, _runId, { json, workspace, search, limit }, { terminal, currentFolder }) => {
  const { runs } = await client.request('run/list', {
    ...(workspace !== undefined && { workspace: path.resolve(currentFolder, workspace) }),
    ...(search !== undefined && { search }),
    ...(limit !== undefined && { limit: Number(limit) }),
  });
  if (json) terminal.result(JSON.stringify(runs, undefined, 2));
  else if (runs.length === 0) terminal.say('No run yet: conductor solve "question"');
  else for (const run of runs) terminal.result(listLine(run, terminal));
  return EXIT.ok;
};

const show: Action = async (client, runId, { json }, { terminal }) => {
  const { run } = await client.request('run/get', { runId });
  if (json) terminal.result(JSON.stringify(runResult(run), undefined, 2));
  else {
    const { events } = await client.request('run/events', { runId });
    const printer = new RunPrinter(terminal);
    printer.begin(run);
    for (const event of events) printer.onEvent(event, run);
    printer.end(run);
  }
  return EXIT.ok;
};

const resume: Action = async (client, runId, { json }, { terminal, interrupted }) => {
  await client.request('run/resume', { runId });
  const printer = json ? undefined : new RunPrinter(terminal);
  const run = await followRun({ runId, client, printer, interrupted });
  if (json) terminal.result(JSON.stringify(runResult(run), undefined, 2));
  else printer?.end(run);
  return exitCodeOf(run);
};

const cancel: Action = async (client, runId) => {
  await client.request('run/cancel', { runId });
  return EXIT.ok;
};

/** One stored event a line, in the form that later versions read, too. */
const exportRun: Action = async (client, runId, _values, { terminal }) => {
  const { events } = await client.request('run/events', { runId });
  for (const event of events) terminal.result(JSON.stringify(event));
  return EXIT.ok;
};

const ACTIONS: Readonly<Record<string, Action>> = { list, show, resume, cancel, export: exportRun };

function listLine({ runId, question, state, outcome, acceptedAt, usd, unpricedTokens, simulated }: RunSummary, { style }: Terminal): string {
  const ending = outcome ?? state;
  const colour = ending === 'verified' ? 'green' : ending === 'failed' || ending === 'not-verified' ? 'red' : 'yellow';
  return [
    runId.padEnd(18),
    style(colour, ending.padEnd(12)),
    formatWhen(acceptedAt, Date.now()).padEnd(12),
    (simulated ? 'simulated' : formatMoney({ usd, unpricedTokens })).padEnd(10),
    oneLine(question, 80),
  ].join('  ');
}
