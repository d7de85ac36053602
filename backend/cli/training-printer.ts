import { raisedLimit } from '../protocol/budget-limits.ts';
import { counted } from '../common/counted.ts';
import { moreWords } from '../protocol/comparison-words.ts';
import { flatMessage, flatStepsOf, isFlat } from '../protocol/flat-steps.ts';
import { formatElapsed, formatMoney, formatTokens, formatUsd } from '../protocol/figures.ts';
import { loggedLines, outcomeLines } from '../protocol/learning-words.ts';
import { planMetric, workerShares } from '../protocol/plan-metrics.ts';
import { canGoOnComparing, isTrainingOver } from '../protocol/training-facts.ts';
import type { Estimate, TaskNotes, Training } from '../protocol/training.ts';
import { ProgressPrinter } from './progress-printer.ts';
import { printable, type Terminal } from './terminal.ts';

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
const interval = ({ mean, low, high }: Estimate): string => `${percent(mean)} (${percent(low)} to ${percent(high)})`;

/** The comparison of the Conductor before and after training, one line each. */
export function comparisonLines({ comparison, simulated }: Training): string[] {
  if (!comparison) return [];
  const { tasks, pairs, before, after, difference, says } = comparison;
  const line = (name: string, { verified, formatRate, costUsd, tokens }: typeof before): string =>
    `  ${name}  verified ${interval(verified)}, plans that parse ${percent(formatRate)}, ${formatUsd(costUsd)}${tokens === undefined ? '' : ` and ${formatTokens(tokens)} tokens`} a run`;
  return [
    `${counted(pairs, 'pair')} of tries of ${counted(tasks, 'held-out task')}, the same workers${simulated ? ' (simulated)' : ''}; intervals are of 95 %, whenever one looks:`,
    line('before', before),
    line('after ', after),
    `  difference ${interval(difference)}`,
    ...(says === 'not-known' ? [`  ${moreWords(comparison)}`] : []),
  ];
}

/** One sentence, such as `27 tasks to learn from, 12 held out, 40 left out, 100 not tried.` */
export function taskCounts({ train, heldOut, leftOut, untried }: TaskNotes): string {
  const rest = [...(leftOut > 0 ? [`${leftOut} left out`] : []), ...(untried > 0 ? [`${untried} not tried`] : [])];
  return `${[`${counted(train, 'task')} to learn from`, `${heldOut} held out`, ...rest].join(', ')}.`;
}

/** What members of a team gave, one line each. */
export function memberLines({ members = [] }: Training): string[] {
  return members.map(({ name, isHere, groups, plans, costUsd }) =>
    `  ${name}${isHere ? '' : ' (not here)'}  ${counted(groups, 'group')}, ${counted(plans, 'plan')} for ${formatUsd(costUsd)} of its own`);
}

/** Prints the progress of a training: one line per step, and the current activity in the status line. */
export class TrainingPrinter {
  readonly #terminal: Terminal;
  readonly #progress: ProgressPrinter;
  #step = 0;
  #message = '';
  #isLabelled = false;
  #looks = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#progress = new ProgressPrinter(terminal);
  }

  take(training: Training): void {
    const { metrics, message, state, step, config, progress, making, secondsPerStep, spentUsd } = training;
    this.#label(training);
    for (; this.#step < metrics.length; this.#step += 1) this.#sayStep(training, this.#step);
    this.#sayLooks(training);
    if (message !== this.#message && (state === 'preparing' || state === 'waiting' || state === 'evaluating')) {
      if (state !== 'preparing' || !progress) this.#terminal.say(printable(message));
      this.#message = message;
    }
    if (isTrainingOver(state) || state === 'paused') return this.#progress.end();
    const secondsLeft = state === 'preparing' ? making?.secondsLeft
      : state === 'training' && secondsPerStep !== undefined ? secondsPerStep * (config.steps - step) : undefined;
    const left = secondsLeft === undefined ? undefined : `about ${formatElapsed(secondsLeft * 1_000)} left`;
    const spent = training.learnsFrom ? undefined : `${formatUsd(spentUsd)} of ${formatUsd(config.budget.usd)} spent`;
    const detail = [state === 'training' ? `step ${Math.min(step + 1, config.steps)} of ${config.steps}` : undefined, left, spent].filter(Boolean).join(', ');
    // What is said of a training under way, such as flat steps, is said once, above.
    const label = state === 'training' ? 'Training' : message.replace(/\.$/, '');
    this.#progress.tell({ label, ...(progress && { fraction: progress.done / Math.max(1, progress.of) }), detail });
  }

  #label({ simulated }: Training): void {
    if (simulated && !this.#isLabelled) {
      this.#terminal.say(this.#terminal.style('yellow', 'SIMULATED: the workers of this training are a simulation on this machine; its figures show nothing about real models.'));
    }
    this.#isLabelled = true;
  }

  /** What held-out tasks tell on the way is in the message. */
  #sayLooks({ looks = [], state, message }: Training): void {
    if (looks.length === this.#looks || state !== 'training') return;
    const told = /On held-out tasks .*/.exec(message)?.[0];
    if (told === undefined) return;
    this.#looks = looks.length;
    this.#terminal.say(`  ${printable(told)}`);
  }

  /** Of flat steps in a row, the first one is explained. */
  #sayStep(training: Training, index: number): void {
    // There are many, and a figure of each says little.
    if (training.learnsFrom) return;
    this.#terminal.say(stepLine(training, index));
    const { metrics, pool } = training;
    if (!isFlat(metrics[index]) || isFlat(metrics[index - 1])) return;
    const flat = flatStepsOf({ metrics: metrics.slice(0, index + 1), pool });
    if (flat) this.#terminal.say(`  ${printable(flatMessage(flat))}`);
  }

  /** Prints how the training ended and what to do next. */
  end(training: Training): void {
    const { trainingId, state, message, stopped, making, spentUsd, unpricedTokens, comparison, learnsFrom, logged } = training;
    if (learnsFrom) {
      for (const line of logged ? loggedLines(logged) : []) this.#terminal.say(line);
      this.#terminal.say(printable(`${message} Nobody was paid.`));
      if (state === 'paused' || state === 'failed') this.#terminal.say(goesOnWith({ trainingId, stopped }));
      if (state === 'completed' && logged?.says === 'better') this.#terminal.say(`To plan with what it learned: conductor train adopt ${trainingId}; to go back: conductor train back ${trainingId}`);
      return;
    }
    if (training.members && training.members.length > 0) this.#terminal.say('Given by members of the team:');
    for (const line of memberLines(training)) this.#terminal.say(printable(line));
    for (const line of comparisonLines(training)) this.#terminal.say(line);
    this.#terminal.say(printable(`${message} ${making ? `${making.tried} of ${making.of} candidates for tasks tried. ` : ''}${formatMoney({ usd: spentUsd, unpricedTokens })} spent.`));
    if (state === 'paused' || state === 'failed') this.#terminal.say(goesOnWith({ trainingId, stopped }));
    if (state === 'completed' && comparison?.says === 'better') this.#terminal.say(`To plan with the trained weights: conductor train adopt ${trainingId}`);
    if (canGoOnComparing(training)) this.#terminal.say(`To try the held-out tasks as often again, within the budget: conductor train resume ${trainingId}`);
  }

  whole(training: Training, notes: TaskNotes): void {
    const { trainingId, workspace, conductor, model, learnsFrom, outcomes } = training;
    this.#label(training);
    if (learnsFrom) {
      this.#terminal.say(printable(`Training ${trainingId} of "${conductor}" (${model}) from what happened in ${workspace || 'all projects'}.`));
      for (const line of outcomes ? outcomeLines(outcomes) : []) this.#terminal.say(printable(line));
      this.end(training);
      return;
    }
    this.#terminal.say(printable(`Training ${trainingId} of "${conductor}" (${model}) on ${workspace}.`));
    this.#terminal.say(`${taskCounts(notes)} Which, and why: conductor train show ${trainingId} --tasks`);
    for (let index = 0; index < training.metrics.length; index += 1) this.#sayStep(training, index);
    this.end(training);
  }
}

function goesOnWith({ trainingId, stopped }: Pick<Training, 'trainingId' | 'stopped'>): string {
  const resume = `conductor train resume ${trainingId}`;
  if (!stopped) return `It goes on with: ${resume}`;
  switch (stopped.by) {
    case 'usd': return `It goes on with: ${resume} --max-usd ${raisedLimit(stopped)}`;
    case 'tokens': return `It goes on with: ${resume} --max-tokens ${raisedLimit(stopped)}`;
    default: return `Raise "${stopped.by}" in workers.json; then it goes on with: ${resume}`;
  }
}

function stepLine({ metrics, config }: Training, index: number): string {
  const values = metrics[index] ?? {};
  if (Object.keys(values).length === 0) return `step ${index + 1}/${config.steps}  made by others of the team`;
  const figure = (name: string): number => values[name] ?? 0;
  // Training servers do not tell it, and a step without an update has none.
  const entropy = values['entropy'] === undefined ? '' : `entropy ${values['entropy'].toFixed(2)}  `;
  return (
    `step ${index + 1}/${config.steps}  reward ${figure('reward').toFixed(3)}  verified ${percent(figure('verified_rate'))}  ` +
    `plans that parse ${percent(figure('format_rate'))}  ${entropy}gradient ${figure('grad_norm').toFixed(2)}${plansIn(values)}${isFlat(values) ? '  taught nothing' : ''}`
  );
}

/** What the plans of a step do, in few words; empty in trainings of an earlier version. */
function plansIn(values: Training['metrics'][number]): string {
  const length = values[planMetric('mean_steps')];
  const [most] = workerShares(values);
  return length === undefined || !most ? '' : `  ${length.toFixed(1)} steps a plan, ${(100 * most[1]).toFixed(0)} % by ${printable(most[0])}`;
}
