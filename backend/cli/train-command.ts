import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { BackendClient } from '../protocol/client/backend-client.ts';
import { unpricedTokensFor } from '../protocol/budget-limits.ts';
import { formatTokens, formatUsd, formatWhen } from '../protocol/figures.ts';
import { loggedLines } from '../protocol/learning-words.ts';
import { applyTrainingEvent, isTrainingOver, mostComparedPlans, mostPlans } from '../protocol/training-facts.ts';
import { DEFAULT_ROUNDS } from '../protocol/run-request.ts';
import { trainingConfigSchema, type Training, type TrainingConfig, type TrainingEvent, type TrainingLimits } from '../protocol/training.ts';
import { teamKeys } from '../protocol/client/team-keys.ts';
import { checkOptions, positive, readArguments, whole } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { keyCommand } from './key-command.ts';
import { jsonText, oneLine, printable, type Terminal } from './terminal.ts';
import { TrainingPrinter, comparisonLines, taskCounts } from './training-printer.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  workspace: { type: 'string', short: 'w' },
  config: { type: 'string', short: 'c' },
  'max-usd': { type: 'string' },
  'max-tokens': { type: 'string' },
  key: { type: 'string' },
  json: { type: 'boolean' },
  tasks: { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
} as const;

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'] & {
  /** Limits for all rollouts together. */
  readonly budget: Pick<TrainingLimits, 'usd' | 'tokens'>;
};
type Action = (client: BackendClient, trainingId: string, values: Values, context: CommandContext) => Promise<number>;

/** `conductor train [start|join|key|list|show|follow|pause|resume|finish|cancel|remove|adopt|back|curves]`: trains the Conductor on the project's tests. */
export const trainCommand: Command = async (args, context) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  const [name = 'start', trainingId, ...rest] = positionals;
  if (name === 'key') {
    checkOptions('train', name, values, OPTION_ACTIONS);
    return await keyCommand(positionals.slice(1), values, { keys: teamKeys(context.conductorFolder), name: 'train key', what: 'member' }, context);
  }
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (!action) throw new UsageError(`There is no "train ${name}"; there are ${Object.keys(ACTIONS).join(', ')}, key.`);
  const isGeneral = name === 'start' || name === 'list';
  if (rest.length > 0 || isGeneral !== (trainingId === undefined)) {
    throw new UsageError(isGeneral ? `"train ${name}" takes no training.` : name === 'join' ? JOIN_USAGE : `Name one training: conductor train ${name} TRAINING`);
  }
  checkOptions('train', name, values, OPTION_ACTIONS);
  const budget = {
    ...(values['max-usd'] !== undefined && { usd: positive(values['max-usd'], '--max-usd') }),
    ...(values['max-tokens'] !== undefined && { tokens: whole(values['max-tokens'], '--max-tokens', { from: 1, to: Number.MAX_SAFE_INTEGER }) }),
  };
  const client = await context.connect();
  try {
    return await action(client, trainingId ?? '', { ...values, budget }, context);
  } finally {
    client.close();
  }
};

const JOIN_USAGE = 'Name the coordinator and the key for it: conductor train join URL --key NAME';

const start: Action = async (client, _trainingId, values, context) => await begin(client, await readConfig(values, context.currentFolder), values, context);

/** Joins a team: the training of this project goes into the batches of a coordinator. */
const join: Action = async (client, url, values, context) => {
  if (values.key === undefined) throw new UsageError(JOIN_USAGE);
  const { team: _coordinates, ...config } = await readConfig(values, context.currentFolder);
  const joining = trainingConfigSchema.safeParse({ ...config, team: { join: url, key: values.key } });
  if (!joining.success) throw new UsageError(`${joining.error.issues[0]?.message ?? 'The address is not valid'}. ${JOIN_USAGE}`);
  return await begin(client, joining.data, values, context);
};

async function begin(client: BackendClient, asked: TrainingConfig, values: Values, context: CommandContext): Promise<number> {
  const { terminal, currentFolder, interrupted } = context;
  const workspace = path.resolve(currentFolder, values.workspace ?? '.');
  // Checks whether the training can start before asking the user to agree to its cost.
  const { missing, workers, conductor, terms = [], config = asked } = await client.request('training/check', { workspace, config: asked });
  if (missing) {
    terminal.say(printable(missing.message));
    return EXIT.failed;
  }
  const { usd, tokens } = config.budget;
  const unpriced = workers.filter(({ priced }) => !priced).map(({ id }) => id);
  const simulated = workers.filter((worker) => worker.simulated).length;
  const whose = simulated === 0 ? 'your' : simulated === workers.length ? 'simulated' : 'your own and simulated';
  const cost =
    `Training "${conductor}" runs up to ${mostPlans(config)} plans with ${whose} workers (${workers.map(({ id }) => id).join(', ')}), plus ` +
    `up to ${mostComparedPlans(config)} for each held-out task, and spends at most ${formatUsd(usd)} and ${formatTokens(tokens)} tokens.` +
    (unpriced.length === 0 ? '' : ` Unpriced workers (${unpriced.join(', ')}) may use up to ${formatTokens(Math.min(unpricedTokensFor(usd), tokens))} tokens.`);
  terminal.say(printable(cost));
  for (const term of terms) terminal.say(printable(term));
  interrupted.throwIfAborted();
  const { planner } = await client.request('pool/get', {});
  if (planner && planner.worker.id !== conductor) {
    terminal.say(printable(`"${planner.worker.id}" plans your questions now; "${conductor}" does so once you adopt what it learned.`));
  }
  if (!values.yes && (values.json || !(await terminal.ask?.('Start?', interrupted)))) {
    throw new UsageError('The training was not started. To agree to the cost without a question, use --yes.');
  }
  interrupted.throwIfAborted();
  const { trainingId } = await client.request('training/start', { workspace, config });
  return await followTraining(client, trainingId, values, context);
}

async function readConfig({ config: file, budget }: Values, currentFolder: string): Promise<TrainingConfig> {
  const given: unknown = file === undefined ? {} : await readJson(path.resolve(currentFolder, file));
  const parsed = trainingConfigSchema.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`${file}: ${issue?.path.join('.') || 'the configuration'}: ${issue?.message ?? 'is not valid'}`);
  }
  const { evaluation } = parsed.data;
  // As "solve" does, unless it is told otherwise.
  return { ...parsed.data, evaluation: { ...evaluation, rounds: evaluation.rounds ?? DEFAULT_ROUNDS }, budget: { ...parsed.data.budget, ...budget } };
}

async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`The configuration ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const list: Action = async (client, _trainingId, { json, workspace }, { terminal, currentFolder }) => {
  const { trainings } = await client.request('training/list', workspace === undefined ? {} : { workspace: path.resolve(currentFolder, workspace) });
  if (json) terminal.result(jsonText(trainings, 2));
  else if (trainings.length === 0) terminal.say('No training yet: conductor train');
  for (const training of json ? [] : trainings) {
    const { trainingId, state, step, steps, startedAt, adopted, simulated } = training;
    const when = formatWhen(startedAt, Date.now());
    const figures = `step ${step} of ${steps}  ${formatUsd(training.spentUsd)}  ${when}`;
    terminal.result(`${trainingId}  ${state}${adopted ? ', adopted' : ''}${simulated ? ', simulated' : ''}  ${figures}  ${oneLine(training.workspace || 'all projects', 100)}`);
  }
  return EXIT.ok;
};

const show: Action = async (client, trainingId, { json, tasks }, { terminal }) => {
  if (tasks) return await showTasks(client, trainingId, { json }, terminal);
  const training = await client.request('training/get', { trainingId });
  if (json) terminal.result(jsonText(training, 2));
  else new TrainingPrinter(terminal).whole(training, await client.request('training/tasks', { trainingId, limit: 1 }));
  return EXIT.ok;
};

const TASKS_AT_ONCE = 500;

/** Prints all tasks, also those left out, with the reason. */
async function showTasks(client: BackendClient, trainingId: string, { json }: Pick<Values, 'json'>, terminal: Terminal): Promise<number> {
  const notes = await client.request('training/tasks', { trainingId, limit: TASKS_AT_ONCE });
  const tasks = [...notes.tasks];
  while (tasks.length < notes.total) {
    const more = await client.request('training/tasks', { trainingId, offset: tasks.length, limit: TASKS_AT_ONCE });
    if (more.tasks.length === 0) break;
    tasks.push(...more.tasks);
  }
  if (json) terminal.result(jsonText(tasks, 2));
  else {
    terminal.say(taskCounts(notes));
    for (const { about, state, reason } of tasks) terminal.result(`${state.padEnd(8)}  ${oneLine(about, 100)}  ${oneLine(reason, 400)}`);
  }
  return EXIT.ok;
}

const resume: Action = async (client, trainingId, values, context) => {
  // When this call returns, the training is no longer paused. If it is paused later, it was paused again.
  await client.request('training/resume', { trainingId, budget: values.budget });
  return await followTraining(client, trainingId, values, context);
};

const finish: Action = async (client, trainingId, values, context) => {
  await client.request('training/finish', { trainingId });
  return await followTraining(client, trainingId, values, context);
};

const simple = (method: 'training/pause' | 'training/cancel' | 'training/remove'): Action => async (client, trainingId) => {
  await client.request(method, { trainingId });
  return EXIT.ok;
};

const change = (method: 'training/adopt' | 'training/goBack', sentence: string): Action => async (client, trainingId, { json }, { terminal }) => {
  const training = await client.request(method, { trainingId });
  if (json) terminal.result(jsonText(training, 2));
  else {
    for (const line of training.logged ? loggedLines(training.logged) : comparisonLines(training)) terminal.say(line);
    terminal.say(printable(`"${training.conductor}" ${sentence}`));
    const { workers } = await client.request('pool/get', {});
    const serves = workers.find(({ worker }) => worker.id === training.conductor)?.serves;
    if (serves !== undefined) terminal.say(printable(`Its server has these weights as "${serves}".`));
  }
  return EXIT.ok;
};

/** Prints the metrics of each step with TRL's names, one JSON object per line. */
const curves: Action = async (client, trainingId, _values, { terminal }) => {
  const { metrics } = await client.request('training/get', { trainingId });
  for (const [index, values] of metrics.entries()) terminal.result(jsonText({ step: index + 1, ...values }));
  return EXIT.ok;
};

/** Follows the training until it is paused or over. The first Ctrl+C pauses it. */
export const followTraining: Action = async (client, trainingId, { json }, { terminal, interrupted, interruptMeans }) => {
  const printer = json ? undefined : new TrainingPrinter(terminal);
  const ended = Promise.withResolvers<Training>();
  let followed: Training | undefined;
  const take = (training: Training): void => {
    followed = training;
    printer?.take(training);
    if (isTrainingOver(training.state) || training.state === 'paused') ended.resolve(training);
  };
  // The reply with the snapshot arrives before the events.
  const unsubscribe = client.on('training/event', (event: TrainingEvent) => {
    if (followed && event.trainingId === trainingId) take(applyTrainingEvent(followed, event));
  });
  const pause = (): void => void client.request('training/pause', { trainingId }).catch(ended.reject);
  try {
    take(await client.request('training/subscribe', { trainingId }));
    interruptMeans('Pausing');
    interrupted.addEventListener('abort', pause, { once: true });
    if (interrupted.aborted) pause();
    const gone = client.closed.then(() => {
      throw new Error(`The connection to the backend closed. The training resumes when the backend starts again: conductor train follow ${trainingId}`);
    });
    const training = await Promise.race([ended.promise, gone]);
    if (json) terminal.result(jsonText(training, 2));
    else printer?.end(training);
    return training.state === 'completed' ? EXIT.ok : training.state === 'paused' ? EXIT.stopped : training.state === 'cancelled' ? EXIT.cancelled : EXIT.failed;
  } finally {
    interrupted.removeEventListener('abort', pause);
    unsubscribe();
  }
};

const ACTIONS: Readonly<Record<string, Action>> = {
  start, join, list, show, follow: followTraining, resume, finish, curves,
  pause: simple('training/pause'),
  cancel: simple('training/cancel'),
  remove: simple('training/remove'),
  adopt: change('training/adopt', 'now plans with the trained weights.'),
  back: change('training/goBack', 'plans with its previous weights again.'),
};

/** The actions that accept each option. */
const OPTION_ACTIONS = {
  'workspace': ['start', 'join', 'list'], 'config': ['start', 'join'], 'max-usd': ['start', 'join', 'resume'], 'max-tokens': ['start', 'join', 'resume'], 'key': ['join'], 'tasks': ['show'],
} as const satisfies Partial<Record<keyof typeof OPTIONS, readonly string[]>>;
