import path from 'node:path';
import type { BackendClient } from '../protocol/client/backend-client.ts';
import { formatMoney, formatWhen } from '../protocol/figures.ts';
import type { RunSummary } from '../protocol/methods.ts';
import { positive, readArguments, whole } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { Consent } from './consent.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { followRun } from './follow-run.ts';
import { RunPrinter } from './run-printer.ts';
import { runResult } from './run-result.ts';
import { jsonText, oneLine, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  json: { type: 'boolean' },
  workspace: { type: 'string', short: 'w' },
  search: { type: 'string' },
  limit: { type: 'string' },
  'max-usd': { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
} as const;

type Values = Omit<ReturnType<typeof readArguments<typeof OPTIONS>>['values'], 'limit'> & {
  readonly limit: number | undefined;
  readonly maxUsd: number | undefined;
};
/** `connect` opens another connection like the action's own. */
type ActionContext = Pick<CommandContext, 'terminal' | 'currentFolder' | 'interrupted'> & { readonly connect: () => Promise<BackendClient> };
type Action = (client: BackendClient, runId: string, values: Values, context: ActionContext) => Promise<number>;

/** `conductor runs [list|show|resume|cancel|export]`: what was asked before. */
export const runsCommand: Command = async (args, context) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  const [name = 'list', runId, ...rest] = positionals;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (!action) throw new UsageError(`There is no "runs ${name}"; there are ${Object.keys(ACTIONS).join(', ')}.`);
  if (rest.length > 0 || (name === 'list') !== (runId === undefined)) {
    throw new UsageError(name === 'list' ? '"runs list" takes no run.' : `Name one run: conductor runs ${name} RUN`);
  }
  const limit = values.limit === undefined ? undefined : whole(values.limit, '--limit', { from: 1, to: 500 });
  const maxUsd = values['max-usd'] === undefined ? undefined : positive(values['max-usd'], '--max-usd');
  const consent = new Consent(context.terminal, values);
  // Only who follows a run can be asked about it.
  if (name === 'resume') consent.runId = runId;
  const connect = () => context.connect(name === 'resume' ? { confirm: consent.confirm } : {});
  const client = await connect();
  try {
    return await action(client, runId ?? '', { ...values, limit, maxUsd }, { ...context, connect });
  } finally {
    client.close();
  }
};

const list: Action = async (client, _runId, { json, workspace, search, limit }, { terminal, currentFolder }) => {
  const { runs } = await client.request('run/list', {
    ...(workspace !== undefined && { workspace: path.resolve(currentFolder, workspace) }),
    ...(search !== undefined && { search }),
    ...(limit !== undefined && { limit }),
  });
  if (json) terminal.result(jsonText(runs, 2));
  else if (runs.length === 0) terminal.say('No run yet: conductor solve "question"');
  else for (const run of runs) terminal.result(listLine(run, terminal));
  return EXIT.ok;
};

const show: Action = async (client, runId, { json }, { terminal }) => {
  const { run } = await client.request('run/get', { runId });
  if (json) terminal.result(jsonText(runResult(run), 2));
  else {
    const { events } = await client.request('run/events', { runId });
    const printer = new RunPrinter(terminal);
    printer.begin(run);
    for (const event of events) printer.onEvent(event, run);
    printer.end(run);
  }
  return EXIT.ok;
};

const resume: Action = async (client, runId, { json, maxUsd }, { terminal, interrupted, connect }) => {
  await client.request('run/resume', { runId, ...(maxUsd !== undefined && { budget: { runUsd: maxUsd } }) });
  const printer = json ? undefined : new RunPrinter(terminal);
  const run = await followRun({ runId, client, connect, terminal, printer, interrupted });
  if (json) terminal.result(jsonText(runResult(run), 2));
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
  for (const event of events) terminal.result(jsonText(event));
  return EXIT.ok;
};

const ACTIONS: Readonly<Record<string, Action>> = { list, show, resume, cancel, export: exportRun };

function listLine({ runId, question, state, outcome, acceptedAt, usd, unpricedTokens, simulated }: RunSummary, { resultStyle }: Terminal): string {
  const ending = outcome ?? state;
  const colour = ending === 'verified' ? 'green' : ending === 'failed' || ending === 'not-verified' ? 'red' : 'yellow';
  return [
    runId.padEnd(18),
    resultStyle(colour, ending.padEnd(12)),
    formatWhen(acceptedAt, Date.now()).padEnd(12),
    (simulated ? 'simulated' : formatMoney({ usd, unpricedTokens })).padEnd(10),
    oneLine(question, 80),
  ].join('  ');
}
