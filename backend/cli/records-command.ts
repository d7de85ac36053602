import path from 'node:path';
import type { BackendClient } from '../protocol/client/backend-client.ts';
import { kindWord, percent, roleWord, tallyCells, whoEarnsTheirPrice } from '../protocol/records-words.ts';
import type { Records, Tally } from '../protocol/records.ts';
import { counted } from '../common/counted.ts';
import { checkOptions, readArguments } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { jsonText, oneLine, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  workspace: { type: 'string', short: 'w' },
  details: { type: 'boolean' },
  json: { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
} as const;

/** The actions that accept each option. */
const OPTION_ACTIONS = {
  workspace: ['list', 'forget'], details: ['list'], json: ['list'], yes: ['forget'],
} as const satisfies Record<keyof typeof OPTIONS, readonly string[]>;

type Scope = { readonly workspace?: string };
type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];
type Action = (client: BackendClient, scope: Scope, values: Values, context: Pick<CommandContext, 'terminal' | 'interrupted'>) => Promise<number>;

/** `conductor records [list|forget|on|off]`: what tests said of each worker, in a project or in all. */
export const recordsCommand: Command = async (args, context) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  const [name = 'list', ...rest] = positionals;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (!action) throw new UsageError(`There is no "records ${name}"; there are ${Object.keys(ACTIONS).join(', ')}.`);
  if (rest.length > 0) throw new UsageError(`"records ${name}" takes no more words. Name a project with --workspace.`);
  checkOptions('records', name, values, OPTION_ACTIONS);
  const scope = { ...(values.workspace !== undefined && { workspace: path.resolve(context.currentFolder, values.workspace) }) };
  const client = await context.connect();
  try {
    return await action(client, scope, values, context);
  } finally {
    client.close();
  }
};

const list: Action = async (client, scope, { json, details = false }, { terminal }) => {
  const records = await client.request('records/get', scope);
  if (json) terminal.result(jsonText(records, 2));
  else printTable(records, terminal, details);
  return EXIT.ok;
};

const forget: Action = async (client, scope, { yes = false }, { terminal, interrupted }) => {
  if (!yes) {
    if (!terminal.ask) throw new UsageError('Nobody can be asked here: nothing was forgotten. --yes forgets it.');
    const where = scope.workspace === undefined ? 'in all projects' : `in ${scope.workspace}`;
    if (!(await terminal.ask(`Forget what tests said of workers ${where}? The runs stay.`, interrupted))) {
      terminal.say('Nothing was forgotten.');
      return EXIT.failed;
    }
  }
  const { steps } = await client.request('records/forget', scope);
  terminal.say(`Forgot what tests said of ${counted(steps, 'step')}.`);
  return EXIT.ok;
};

const use = (used: boolean): Action => async (client, _scope, _values, { terminal }) => {
  await client.request('records/use', { used });
  terminal.say(used
    ? 'Workers are chosen by their records, and a prompted Conductor is told of them.'
    : 'Nobody is chosen by records, and no Conductor is told of them. They are still kept and shown.');
  return EXIT.ok;
};

const ACTIONS: Readonly<Record<string, Action>> = { list, forget, on: use(true), off: use(false) };

function printTable(records: Records, terminal: Terminal, details: boolean): void {
  const { workers, used, answers, workspace } = records;
  if (workers.length === 0) {
    terminal.say(`Tests have judged no answer of a worker ${workspace === undefined ? 'yet' : `in ${workspace} yet`}. Simulated workers do not count.`);
    return;
  }
  const rows = workers.flatMap(({ worker, model, isInPool, expected, total, parts }) => [
    row(`${worker} (${model})${isInPool ? '' : ', not in the pool'}`, percent(expected), total),
    ...(details ? parts.map((part) => row(`  ${roleWord(part.role)}, ${kindWord(part.kind)}`, '', part)) : []),
  ]);
  const table = [HEAD, ...rows];
  const widths = HEAD.map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0)));
  for (const [index, cells] of table.entries()) {
    const line = cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ');
    terminal.result(index === 0 ? terminal.resultStyle('dim', line) : line.trimEnd());
  }
  for (const sentence of whoEarnsTheirPrice(records)) terminal.say(sentence);
  terminal.say(`From ${counted(answers, 'answer')} that tests judged. "Expected" is drawn towards the others where there are few.`);
  if (!used) terminal.say('Nobody is chosen by records: "conductor records on" changes that.');
}

const HEAD: readonly string[] = ['worker', 'expected', 'verified', '95 %', '$ a verified one', '$ an answer', 'time'];
const NAME_WIDTH = 60;

function row(name: string, expected: string, tally: Tally): string[] {
  const { verified, interval, usdPerVerified, usdPerAnswer, time } = tallyCells(tally);
  // Leading spaces say what belongs to whom.
  const indent = /^ */.exec(name)?.[0] ?? '';
  return [indent + oneLine(name, NAME_WIDTH), expected, verified, interval, usdPerVerified, usdPerAnswer, time];
}
