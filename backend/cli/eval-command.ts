import { stat } from 'node:fs/promises';
import path from 'node:path';
import { counted } from '../common/counted.ts';
import { EvaluationBudgetError } from '../eval/evaluation/evaluation-file.ts';
import { evaluationFolder } from '../eval/evaluation/evaluation-folder.ts';
import type { EvaluationRequest } from '../eval/evaluation/request.ts';
import { EvaluationRequestError } from '../eval/evaluation/request-error.ts';
import { resultRows, resultsTable, type EvaluationResults } from '../eval/evaluation/results.ts';
import { CONTESTANTS, GYM_TASKS, PROJECT_TASKS, USUAL_CONTESTANTS, type ContestantName } from '../protocol/contestants.ts';
import { USUAL_EVALUATION, type AskedEvaluation } from '../protocol/evaluation-request.ts';
import { formatTokens, formatUsd } from '../protocol/figures.ts';
import { checkTaskFile, TaskFileError, type TaskFileCheck } from '../verify/graders/tasks/task-file.ts';
import { checkImage, positive, readArguments, whole } from './arguments.ts';
import type { Command, CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { folderAt } from './folder-at.ts';
import { KEPT_ACTIONS, keptEvaluationsCommand } from './kept-evaluations-command.ts';
import { ProgressPrinter } from './progress-printer.ts';
import { simulationFor } from '../eval/evaluation/simulation-for.ts';
import { isSweBenchFile, readSweBench } from '../eval/swe-bench/rows.ts';
import { jsonText, printable } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  'contestants': { type: 'string', short: 'c', multiple: true },
  'pool': { type: 'string', multiple: true },
  'best': { type: 'string' },
  'practice': { type: 'string', multiple: true },
  'workspace': { type: 'string', short: 'w' },
  'test-command': { type: 'string' },
  'runner': { type: 'string' },
  'reports': { type: 'string' },
  'image': { type: 'string' },
  'rounds': { type: 'string' },
  'attempts': { type: 'string' },
  'examples': { type: 'string' },
  'limit': { type: 'string' },
  'seeds': { type: 'string' },
  'seed': { type: 'string' },
  'max-usd': { type: 'string' },
  'max-tokens': { type: 'string' },
  'parallel': { type: 'string' },
  'out': { type: 'string', short: 'o' },
  'complete': { type: 'boolean' },
  'start-date': { type: 'string' },
  'end-date': { type: 'string' },
  'check': { type: 'boolean' },
  'json': { type: 'boolean' },
  'yes': { type: 'boolean', short: 'y' },
} as const;

type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];

const SIMULATED = 'simulated';
const CONDUCTOR = 'conductor:';

/** `conductor eval TASKS…`: compares ways to answer tasks with the workers, by accuracy and cost. */
export const evalCommand: Command = async (args, context) => {
  if (KEPT_ACTIONS.includes(args[0] ?? '')) return await keptEvaluationsCommand(args, context);
  const { values, positionals } = readArguments(args, OPTIONS);
  if (positionals.length === 0) throw new UsageError('Name the tasks: conductor eval FILE.jsonl, conductor eval project, or conductor eval gym.');
  if (values.check) return await check(positionals, values, context);
  return await run(positionals, values, context);
};

/** Says what each file was taken for, and what in it cannot be read and why. */
async function check(files: readonly string[], { json }: Values, { terminal, currentFolder }: CommandContext): Promise<number> {
  const checked = [];
  for (const name of files) {
    if (name === GYM_TASKS || name === PROJECT_TASKS) throw new UsageError(`--check reads files; the tasks "${name}" are made when they are needed.`);
    const file = await existing(path.resolve(currentFolder, name));
    const { forms, elsewhere, problems, unreadable } = await ((await isSweBenchFile(file)) ? checkSweBench(file) : checkTaskFile(file));
    checked.push({ file, forms: Object.fromEntries(forms), elsewhere: Object.fromEntries(elsewhere), unreadable, problems });
  }
  if (json) terminal.result(jsonText(checked, 2));
  for (const { file, forms, elsewhere, unreadable, problems } of json ? [] : checked) {
    const read = [
      ...Object.entries(forms).map(([form, count]) => `${counted(count, 'task')} of ${form === 'conductor' ? 'our own form' : form}`),
      ...Object.entries(elsewhere).map(([form, { rows }]) => `${counted(rows, 'task')} of ${form}, not for eval`),
    ].join(', ');
    terminal.result(printable(`${file}: ${read === '' ? 'no tasks' : read}${unreadable > 0 ? `, ${counted(unreadable, 'row')} that cannot be read:` : ''}`));
    for (const { message } of Object.values(elsewhere)) terminal.result(`  ${message}`);
    for (const problem of problems) terminal.result(printable(`  ${problem}`));
    if (unreadable > problems.length) terminal.result(`  … and ${unreadable - problems.length} more.`);
  }
  const isUnusable = checked.some(({ unreadable, forms, elsewhere }) => unreadable > 0 || Object.keys(elsewhere).length > 0 || Object.keys(forms).length === 0);
  return isUnusable ? EXIT.failed : EXIT.ok;
}

async function checkSweBench(file: string): Promise<TaskFileCheck> {
  try {
    const { rows, notRun } = await readSweBench(file);
    return { forms: new Map([...Map.groupBy(rows, ({ form }) => form)].map(([form, own]) => [form, own.length])), elsewhere: notRun, problems: [], unreadable: 0 };
  } catch (error) {
    if (error instanceof TaskFileError) return { forms: new Map(), elsewhere: new Map(), problems: [error.message], unreadable: 1 };
    throw error;
  }
}

async function run(tasks: readonly string[], values: Values, context: CommandContext): Promise<number> {
  const { terminal, interrupted, interruptMeans } = context;
  const asked = await requestOf(tasks, values, context);
  const running = await context.runningSimulation();
  const simulation = orUsageError(() => simulationFor(asked, running));
  const folder = values.out === undefined ? evaluationFolder(context.conductorFolder, asked, simulation) : path.resolve(context.currentFolder, values.out);
  const request: EvaluationRequest = { ...asked, ...(simulation && { simulated: true, simulation }), folder };
  const progress = new ProgressPrinter(terminal);
  const sayItGoesOn = (): void => terminal.say(`The same command goes on where this one stopped${values.out === undefined ? '' : ` (${printable(request.folder)})`}.`);
  const { evaluation, pool, tasks: sources, close } = await context.openEvaluation(request, {
    signal: interrupted,
    onPreparing: ({ tried, candidates, admitted }) => progress.tell({
      label: 'Making tasks', fraction: tried / candidates, detail: `${admitted} admitted, ${tried} of ${candidates} candidates tried`,
    }),
  }).finally(() => progress.end()).catch((error: unknown) => {
    // Candidates that were tried are kept.
    if (interrupted.aborted && request.project) sayItGoesOn();
    throw asUsageError(error);
  });
  try {
    const estimate = await evaluation.estimate(interrupted);
    const taken = sources.map(({ name, tasks: count, forms }) => `${name}: ${counted(count, 'task')} (${Object.keys(forms).join(', ')})`).join('; ');
    const unpriced = estimate.unpriced.length === 0 ? '' : `, without those of ${estimate.unpriced.join(', ')}, whose price is not known`;
    terminal.say(printable(`${taken}. Workers: ${pool.join(', ')}.${request.simulated ? ' They are simulated: the figures show nothing about real models.' : ''}`));
    terminal.say(printable(`About ${estimate.calls} calls for about ${formatUsd(estimate.usd)}${unpriced}; at most ${formatUsd(request.budget.usd)} and ${formatTokens(request.budget.tokens)} tokens.`));
    const { calls, usd, lost } = evaluation.spent;
    if (calls > 0) terminal.say(`${calls} calls for ${formatUsd(usd)} were paid before; their answers are not paid for again.`);
    if (lost > 0) terminal.say(`${counted(lost, 'call')} of these ended with a killed process: they may be billed, count with the most that they can cost, and are asked again.`);
    if (!values.yes && !request.simulated && (values.json || !(await terminal.ask?.('Start?', interrupted)))) {
      throw new UsageError('The evaluation was not started. To agree to the cost without a question, use --yes.');
    }
    interruptMeans('Stopping');
    let shown = 0;
    const { results } = await evaluation.run(interrupted, ({ done, all, spent, samples, isPractice }) => {
      progress.tell({ label: isPractice ? 'Practising' : 'Evaluating', fraction: done / all, detail: `${done} of ${all}, ${formatUsd(spent.usd)} spent` });
      // The table as it fills, at each quarter.
      const quarter = Math.floor((4 * done) / all);
      if (samples.length > 0 && quarter > shown && quarter < 4 && !values.json) {
        shown = quarter;
        terminal.say(`${resultsTable(resultRows(samples))}\n`);
      }
    });
    progress.end();
    if (values.json) terminal.result(jsonText(results, 2));
    else printResults(results, request.folder, context);
    return EXIT.ok;
  } catch (error) {
    progress.end();
    if (error instanceof EvaluationBudgetError) {
      terminal.say(printable(error.message));
      return EXIT.stopped;
    }
    if (!(error instanceof UsageError)) sayItGoesOn();
    throw error;
  } finally {
    progress.end();
    await close();
  }
}

function printResults(results: EvaluationResults, folder: string, { terminal }: CommandContext): void {
  const { tasks, seeds, simulated, best, spent, contestants } = results;
  if (simulated) terminal.result('Simulation: workers with made-up skills and prices. It shows nothing about real models.\n');
  terminal.result(`${counted(tasks, 'task')}, ${counted(seeds, 'seed')}; 95 % intervals by the bootstrap over tasks and seeds. The best worker (${best.why}): ${printable(best.worker)}.\n`);
  terminal.result(printable(resultsTable(contestants)));
  terminal.result(`\n${counted(spent.paid, 'call')} paid, ${spent.served} served from answers that were paid for before; ${formatUsd(spent.usd)} in all.`);
  terminal.say(printable(`Written: ${folder}`));
}

/** @throws UsageError */
async function requestOf(tasks: readonly string[], values: Values, { currentFolder }: CommandContext): Promise<AskedEvaluation> {
  const listed = (texts: readonly string[] | undefined): string[] => (texts ?? []).flatMap((text) => text.split(',')).map((text) => text.trim()).filter((text) => text !== '');
  const named = listed(values.contestants ?? USUAL_CONTESTANTS);
  const planners = [...new Set(named.filter((name) => name.startsWith(CONDUCTOR)).map((name) => name.slice(CONDUCTOR.length)))];
  const contestants = [...new Set(named.filter((name) => !name.startsWith(CONDUCTOR)))].map(contestantOf);
  if (named.length === 0) throw new UsageError('--contestants names at least one.');
  const practice = await Promise.all((values.practice ?? []).map(async (name) => (name === PROJECT_TASKS ? name : await existing(path.resolve(currentFolder, name)))));
  if ((contestants.includes('router') || contestants.includes('trained-router')) && practice.length === 0) throw new UsageError('A router learns from tasks that are not in the evaluation: --practice FILE, or --practice project.');
  const pool = listed(values.pool);
  const isSimulated = pool.includes(SIMULATED);
  if (isSimulated && pool.length > 1) throw new UsageError(`--pool takes "${SIMULATED}" alone, or your workers.`);
  if (values.out?.trim() === '') throw new UsageError('--out takes the path of a folder.');
  const count = (text: string | undefined, option: string, byDefault: number, to = 1_000_000_000): number =>
    (text === undefined ? byDefault : whole(text, option, { from: option === '--seed' ? 0 : 1, to }));
  const sources = await Promise.all(tasks.map(async (name) => (name === GYM_TASKS || name === PROJECT_TASKS ? name : await existing(path.resolve(currentFolder, name)))));
  const project = await projectOf(sources, values, currentFolder);
  if (practice.includes(PROJECT_TASKS) && !project) throw new UsageError('--practice project practises on other files than those of the tasks "project": name these tasks, too.');
  const seed = count(values.seed, '--seed', 1);
  const limit = values.limit === undefined ? undefined : count(values.limit, '--limit', 1);
  const [start, end] = [dateOf(values, 'start-date'), dateOf(values, 'end-date')];
  return {
    sources, practice, contestants, planners, seed, limit, project,
    pool: pool.length === 0 || isSimulated ? undefined : pool,
    simulated: isSimulated,
    rounds: count(values.rounds, '--rounds', 1, 6),
    attempts: count(values.attempts, '--attempts', 1, 5),
    ...(values.examples !== undefined && { examples: await existing(path.resolve(currentFolder, values.examples)) }),
    best: values.best,
    ...(values.complete && { bigCodeBench: 'complete' as const }),
    dates: { start, end },
    seeds: count(values.seeds, '--seeds', 1, 100),
    budget: {
      usd: values['max-usd'] === undefined ? USUAL_EVALUATION.budget.usd : positive(values['max-usd'], '--max-usd'),
      tokens: count(values['max-tokens'], '--max-tokens', USUAL_EVALUATION.budget.tokens, Number.MAX_SAFE_INTEGER),
    },
    concurrency: count(values.parallel, '--parallel', USUAL_EVALUATION.concurrency, 64),
  };
}

/** What the tasks `project` are made of. @throws UsageError */
async function projectOf(sources: readonly string[], { workspace, 'test-command': command, runner, reports, image }: Values, currentFolder: string): Promise<AskedEvaluation['project']> {
  const given = Object.entries({ workspace, 'test-command': command, runner, reports, image }).find(([, value]) => value !== undefined);
  if (!sources.includes(PROJECT_TASKS)) {
    if (given) throw new UsageError(`--${given[0]} is for tasks of a project: conductor eval project.`);
    return undefined;
  }
  checkImage(image);
  const test = { ...(command !== undefined && { command }), ...(runner !== undefined && { runner }), ...(reports !== undefined && { reports }) };
  const folder = path.resolve(currentFolder, workspace ?? '.');
  await folderAt(folder);
  return { workspace: folder, ...(Object.keys(test).length > 0 && { test }), ...(image !== undefined && { image }) };
}

/** @throws UsageError */
function dateOf(values: Values, name: 'start-date' | 'end-date'): string | undefined {
  const text = values[name];
  if (text !== undefined && !(/^\d{4}-\d\d-\d\d$/.test(text) && Number.isFinite(Date.parse(text)))) throw new UsageError(`--${name} is a day such as 2025-04-30, not "${text}".`);
  return text;
}

/** @throws UsageError where a request cannot be met as it stands */
function orUsageError<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw asUsageError(error);
  }
}

const asUsageError = (error: unknown): unknown => (error instanceof EvaluationRequestError ? new UsageError(error.message) : error);

function contestantOf(name: string): ContestantName {
  if (Object.hasOwn(CONTESTANTS, name)) return name as ContestantName;
  throw new UsageError(`There is no contestant "${name}"; there are ${Object.keys(CONTESTANTS).join(', ')}, and conductor:WORKER.`);
}

/** @throws UsageError */
async function existing(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError(`There is no file ${file}.`);
  return file;
}
