import path from 'node:path';
import type { BackendClient } from '../protocol/client/backend-client.ts';
import { formatMoney, formatWhen } from '../protocol/figures.ts';
import type { RunSummary } from '../protocol/methods.ts';
import { hasChange } from '../protocol/run-facts.ts';
import { applyAnswer } from './apply-answer.ts';
import { checkOptions, positive, readArguments, whole } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { Consent } from './consent.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { followRun } from './follow-run.ts';
import { LAST, lastAnswered, lastRunAround } from './last-run.ts';
import { heldPlan } from '../protocol/held-plan.ts';
import { atTerminal } from './plan-question.ts';
import { RunPrinter } from './run-printer.ts';
import { runResult } from './run-result.ts';
import { jsonText, oneLine, printable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  json: { type: 'boolean' },
  workspace: { type: 'string', short: 'w' },
  search: { type: 'string' },
  limit: { type: 'string' },
  'max-usd': { type: 'string' },
  'max-tokens': { type: 'string' },
  round: { type: 'string' },
  step: { type: 'string' },
  text: { type: 'string' },
  worker: { type: 'string', multiple: true },
  conductor: { type: 'string' },
  format: { type: 'string' },
  out: { type: 'string', short: 'o' },
  yes: { type: 'boolean', short: 'y' },
} as const;

type Values = Omit<ReturnType<typeof readArguments<typeof OPTIONS>>['values'], 'limit' | 'round' | 'step'> & {
  readonly limit: number | undefined;
  /** Counted from 1. */
  readonly round: number | undefined;
  readonly step: number | undefined;
  /** New limits for the run. */
  readonly budget: { readonly runUsd?: number; readonly runTokens?: number };
};
/** `connect` opens another connection with the same options. `consent` answers questions about the run that is followed. */
type ActionContext = Pick<CommandContext, 'terminal' | 'currentFolder' | 'interrupted' | 'writeWhole'> & {
  readonly connect: () => Promise<BackendClient>;
  readonly consent: Consent;
};
type Action = (client: BackendClient, runId: string, values: Values, context: ActionContext) => Promise<number>;

/** `conductor runs [list|show|apply|undo|resume|retry|again|cancel|stop-step|tell|remove|export]`: lists, shows and manages past runs. */
export const runsCommand: Command = async (args, context) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  const [name = 'list', runId, ...rest] = positionals;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (!action) throw new UsageError(`There is no "runs ${name}"; there are ${Object.keys(ACTIONS).join(', ')}.`);
  if (rest.length > 0 || (name === 'list') !== (runId === undefined)) {
    throw new UsageError(name === 'list' ? '"runs list" takes no run.' : `Name one run: conductor runs ${name} RUN`);
  }
  const number = (option: 'limit' | 'round' | 'step', to: number): number | undefined => {
    const { [option]: text } = values;
    return text === undefined ? undefined : whole(text, `--${option}`, { from: 1, to });
  };
  const numbers = { limit: number('limit', 500), round: number('round', 5), step: number('step', 100) };
  const budget = {
    ...(values['max-usd'] !== undefined && { runUsd: positive(values['max-usd'], '--max-usd') }),
    ...(values['max-tokens'] !== undefined && { runTokens: whole(values['max-tokens'], '--max-tokens', { from: 1, to: Number.MAX_SAFE_INTEGER }) }),
  };
  checkOptions('runs', name, values, OPTION_ACTIONS);
  const consent = new Consent(context.terminal, values);
  // Only a client that follows a run can answer its questions.
  const connect = () => context.connect(FOLLOWING.has(name) ? { confirm: consent.confirm } : {});
  const client = await connect();
  try {
    return await action(client, await meant(client, name, runId ?? '', { ...context, workspace: values.workspace }), { ...values, ...numbers, budget }, { ...context, connect, consent });
  } finally {
    client.close();
  }
};

/** Actions on a run's answer. */
const ON_ANSWERS: ReadonlySet<string> = new Set(['apply', 'undo']);

/** The run that is meant by its id or, but where it is deleted, as the last one of the project. */
async function meant(client: BackendClient, name: string, runId: string, { currentFolder, workspace = '.' }: Pick<CommandContext, 'currentFolder'> & { readonly workspace: string | undefined }): Promise<string> {
  if (runId !== LAST || name === 'remove') return runId;
  const project = path.resolve(currentFolder, workspace);
  const last = (ON_ANSWERS.has(name) ? await lastRunAround(client, project, lastAnswered) : undefined) ?? await lastRunAround(client, project);
  if (last === undefined) throw new UsageError(`There is no run of ${project} yet; "conductor runs list" shows those of all projects.`);
  return last;
}

const list: Action = async (client, _runId, { json, workspace, search, limit }, { terminal, currentFolder }) => {
  const { runs } = await client.request('run/list', {
    ...(workspace !== undefined && { workspace: path.resolve(currentFolder, workspace) }),
    ...(search !== undefined && { search }),
    ...(limit !== undefined && { limit }),
  });
  if (json) terminal.result(jsonText(runs, 2));
  else if (runs.length === 0) terminal.say((search ?? workspace) === undefined ? 'No run yet: conductor solve "question"' : 'No run matches; without options, the runs of all projects are listed.');
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

const resume: Action = async (client, runId, values, context) => {
  context.consent.runId = runId;
  await client.request('run/resume', { runId, budget: values.budget });
  return follow(client, runId, values, context);
};

/** Repeats one step in a new run that keeps the other steps. */
const retry: Action = async (client, runId, values, context) => {
  const retried = await client.request('run/retry', { runId, ...(await placeOf(client, runId, values, 'retry')), budget: values.budget });
  return follow(client, retried.runId, values, context);
};

/** Asks the question again in a new run, optionally with other workers. */
const again: Action = async (client, runId, values, context) => {
  const { worker: workers, conductor, budget } = values;
  const asked = await client.request('run/again', { runId, workers, conductor, budget });
  return follow(client, asked.runId, values, context);
};

async function follow(client: BackendClient, runId: string, { json }: Values, { terminal, interrupted, connect, consent }: ActionContext): Promise<number> {
  consent.runId = runId;
  const printer = json ? undefined : new RunPrinter(terminal);
  const run = await followRun({ runId, client, connect, terminal, ...(!json && { decide: atTerminal(terminal) }), printer, interrupted });
  if (heldPlan(run)) terminal.say(`${run.message} Nobody can be asked here: "conductor runs resume ${runId}" at a terminal asks, and so does the panel in VS Code.`);
  if (json) terminal.result(jsonText(runResult(run), 2));
  else printer?.end(run);
  return exitCodeOf(run);
}

/** The last round that has steps, counted from 1. */
async function lastRound(client: BackendClient, runId: string): Promise<number> {
  const { run } = await client.request('run/get', { runId });
  return run.rounds.findLastIndex(({ steps }) => steps.length > 0) + 1 || 1;
}

/** Writes the answer's change into the project. */
const apply: Action = async (client, runId, _values, { terminal }) => {
  const { run } = await client.request('run/get', { runId });
  if (!hasChange(run)) throw new Error(`Run "${runId}" has no change that could be written.`);
  const written = await applyAnswer(run, client, { terminal });
  if (written.length === 0) throw new Error('Nothing was written: the project has the change already, or none of it fits.');
  terminal.say(printable(`Written: ${written.join(', ')}. "conductor runs undo ${runId}" takes it back.`));
  return EXIT.ok;
};

/** Takes the answer's change back from the project, where it still has it. */
const undo: Action = async (client, runId, _values, { terminal }) => {
  const { run } = await client.request('run/get', { runId });
  const written = hasChange(run) ? await applyAnswer(run, client, { terminal, takeBack: true }) : [];
  if (written.length === 0) throw new Error(`Nothing was taken back: the project does not have the change of run "${runId}", or not as it was written.`);
  terminal.say(printable(`Taken back: ${written.join(', ')}.`));
  return EXIT.ok;
};

const cancel: Action = async (client, runId) => {
  await client.request('run/cancel', { runId });
  return EXIT.ok;
};

/** Stops a step that is at work; the run goes on with what the step has. */
const stopStep: Action = async (client, runId, values) => {
  await client.request('run/stopStep', { runId, ...(await placeOf(client, runId, values, 'stop-step')) });
  return EXIT.ok;
};

/** Says something to the worker of a step that is at work. */
const tell: Action = async (client, runId, values) => {
  const { text = '' } = values;
  if (text.trim() === '') throw new UsageError(`Say what to tell it: conductor runs tell ${runId} --step N --text "TEXT"`);
  await client.request('run/tellStep', { runId, ...(await placeOf(client, runId, values, 'tell')), text });
  return EXIT.ok;
};

/** The step that is meant, counted from 0. */
async function placeOf(client: BackendClient, runId: string, { round, step }: Values, action: string): Promise<{ round: number; step: number }> {
  if (step === undefined) throw new UsageError(`Name the step: conductor runs ${action} ${runId} --step N`);
  return { round: (round ?? (await lastRound(client, runId))) - 1, step: step - 1 };
}

const remove: Action = async (client, runId) => {
  await client.request('run/remove', { runId });
  return EXIT.ok;
};

/** Exports a run as a document, as JSON, or as its events, one per line, in a stable format. */
const exportRun: Action = async (client, runId, { format = 'events', out }, { terminal, currentFolder, writeWhole }) => {
  const text = await exported(client, runId, format);
  if (out === undefined) terminal.result(format === 'markdown' ? printable(text).trimEnd() : text.trimEnd());
  else {
    const file = path.resolve(currentFolder, out);
    await writeWhole(file, text).catch((error: unknown) => {
      throw new Error(`The run could not be written to "${file}": ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    });
  }
  return EXIT.ok;
};

async function exported(client: BackendClient, runId: string, format: string): Promise<string> {
  if (format === 'events') {
    const { events } = await client.request('run/events', { runId });
    return events.map((event) => `${jsonText(event)}\n`).join('');
  }
  if (format !== 'markdown' && format !== 'json') throw new UsageError(`--format takes markdown, json or events, not "${format}".`);
  const { text } = await client.request('run/export', { runId, format });
  return format === 'json' ? `${jsonText(JSON.parse(text), 2)}\n` : text;
}

const ACTIONS: Readonly<Record<string, Action>> = { list, show, apply, undo, resume, retry, again, cancel, 'stop-step': stopStep, tell, remove, export: exportRun };
/** Actions that follow a run to its end. */
const FOLLOWING: ReadonlySet<string> = new Set(['resume', 'retry', 'again']);

/** The actions that accept each option. */
const OPTION_ACTIONS = {
  'max-usd': ['resume', 'retry', 'again'], 'max-tokens': ['resume', 'retry', 'again'], 'round': ['retry', 'stop-step', 'tell'],
  'step': ['retry', 'stop-step', 'tell'], 'text': ['tell'],
  'worker': ['again'], 'conductor': ['again'], 'format': ['export'], 'out': ['export'],
} as const satisfies Partial<Record<keyof typeof OPTIONS, readonly string[]>>;

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
