import { counted } from '../common/counted.ts';
import { deviceName } from '../protocol/devices.ts';
import { formatBytes, formatDuration, formatMoney, formatStepSpent, formatTokens, formatUsd } from '../protocol/figures.ts';
import type { LocalModelStatus } from '../protocol/local-models.ts';
import { changeWords } from '../protocol/earlier-words.ts';
import type { Earlier } from '../protocol/earlier.ts';
import type { BudgetWarning, RunEventOf, StoredEvent, Tried } from '../protocol/run-events.ts';
import { localRecordWords, noTryWords } from '../protocol/local-first-words.ts';
import { mendOf } from '../protocol/plan-mend-words.ts';
import { estimateWords, plannerReason } from '../protocol/planner-words.ts';
import { answerOf, gaveUpIn, hasAttempts, hasChange, spentIn } from '../protocol/run-facts.ts';
import type { RoundView, RunSnapshot, StepView } from '../protocol/run-snapshot.ts';
import { servedIn } from '../protocol/served.ts';
import { costWords, estimateReasons, tokenWords } from '../protocol/work-estimate-words.ts';
import { tellingLine } from '../protocol/telling-line.ts';
import { brokenCount, passCount } from '../protocol/test-changes.ts';
import { readingOf } from '../protocol/test-runners.ts';
import { toolText } from '../protocol/tool-text.ts';
import type { Verdict } from '../protocol/verdict.ts';
import { pieceLines, shortPath } from './piece-lines.ts';
import { allPrintable, oneLine, printable, type Terminal } from './terminal.ts';
import { testLines } from './test-lines.ts';

const WIDTH = 100;
const LABEL_WIDTH = 10;
/** Names of failing tests; the panel and the export have them all. */
const MAX_FAILING = 5;

/** Prints the events of a run, one line each, to a terminal or a log. All texts are untrusted. */
export class RunPrinter {
  readonly #terminal: Terminal;
  /** Models that are loading, according to the status messages. */
  readonly #loading = new Set<string>();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Prints the question, the Conductor and the pool. */
  begin(begun: RunSnapshot): void {
    const { style } = this.#terminal;
    const run = allPrintable(begun);
    this.#line('Question', style('bold', oneLine(run.request.question, 400)));
    if (run.pool.some(({ simulated }) => simulated)) {
      this.#line('', style('yellow', 'SIMULATED: the workers of this run are a simulation on this machine; nothing they say comes from a real model.'));
    }
    if (run.parentId !== undefined && run.kind === 'solve') {
      const { retried } = run;
      this.#line('Again', retried ? `step ${retried.step + 1} of round ${retried.round + 1} of run ${run.parentId}; the rest is kept` : `after run ${run.parentId}`);
    }
    if (run.earlier) this.#earlier(run.earlier);
    if (run.leftOut) this.#line('Left out', `${counted(run.leftOut.length, 'test')} while they fail, as you said before; "conductor left-out take-back" has them count again`);
    if (run.pool.length === 0) return;
    this.#line('Conductor', `${nameOf(run.policy.worker?.id ?? run.policy.model, run.policy.worker?.simulated)}${this.#servedAs(run)}${this.#whyPlans(run)}`);
    run.pool.forEach((worker, ordinal) => {
      const price = worker.price ? '' : style('yellow', ' unpriced: held by the token budget alone');
      this.#line(ordinal === 0 ? 'Pool' : '', `${ordinal} ${nameOf(worker.id, worker.simulated)}${price}`);
    });
    if (run.request.budget?.runUsd !== undefined) this.#dollarsHoldNot(run);
  }

  onEvent(stored: StoredEvent, run: RunSnapshot): void {
    const { style } = this.#terminal;
    const event = allPrintable(stored.event);
    switch (event.type) {
      case 'run.resumed':
        this.#line('Resumed', event.reason === 'restart' ? 'after the backend ended' : '');
        if (event.budget) this.#dollarsHoldNot(run);
        return;
      case 'run.waiting':
        return this.#line('Waiting', style('yellow', event.message));
      case 'context.gathered':
        return this.#context(event);
      case 'base.started':
        return this.#line('Tests', `running on the code as it is: ${oneLine(event.command, 80)}`);
      case 'base.completed':
        return this.#base(event);
      case 'attempt.failed':
        return this.#attemptFailed(event);
      case 'try.begun':
        return this.#line('Local try', `before anybody is paid  ${this.#dim(localRecordWords(event.record).join(' · '))}`);
      case 'try.omitted':
        return this.#line('Local try', style('yellow', noTryWords(event.because)));
      case 'plan.proposed':
        return this.#plan(event, run);
      case 'plan.rejected':
        return this.#line('Rejected', style('yellow', `${event.message} (${event.reason})`));
      case 'plan.kept':
        return this.#planKept(event, run);
      case 'plan.held':
        return this.#planHeld(event);
      case 'plan.edited':
        this.#line('Changed', `the plan, by you, to ${counted(event.steps.length, 'step')}`);
        return this.#steps(event.steps, run);
      case 'plan.discarded':
        return this.#line('Replan', event.wish === undefined ? 'another plan is asked for' : `another plan is asked for: ${oneLine(event.wish, WIDTH)}`);
      case 'step.completed':
        return this.#stepCompleted(event, run);
      case 'step.told':
        return this.#line('', `→ step ${event.step + 1} is told: ${oneLine(event.text, 200)}`);
      case 'step.stopped':
        return this.#line('', style('yellow', `■ step ${event.step + 1} is stopped`));
      case 'step.failed':
        return this.#line('', style('red', `✗ step ${event.step + 1}: ${event.failure.message}`));
      case 'step.reassigned':
        return this.#line('', style('yellow', `↷ step ${event.step + 1}: ${event.failure.message} ${idOf(run, event.to)} does it instead.`));
      case 'step.tried':
        return this.#line('', this.#dim(`  step ${event.step + 1}, tests with its change: ${triedWords(event)}`));
      case 'round.failed':
        return this.#line('', style(event.failure.kind === 'cancelled' ? 'dim' : 'red', `✗ ${run.rounds[event.round]?.localTry ? 'the local try' : `attempt ${event.round + 1}`} ends: ${event.failure.message}`));
      case 'step.skipped':
        return this.#line('', style('dim', `– step ${event.step + 1} skipped: ${event.reason}`));
      case 'answer.returned':
        return this.#line('Returned', style('yellow', `step ${event.step + 1}: ${oneLine(event.text, 200)}`));
      case 'answer.ready':
        for (const { path, reason } of event.leftOut ?? []) this.#line('Left out', `${oneLine(path, 80)}: ${reason}`);
        for (const { path, reason, isUnreadable } of event.refused) this.#line(isUnreadable ? 'Not read' : 'Refused', style('yellow', `${oneLine(path, 80)}: ${reason}`));
        return;
      case 'verify.started':
        return this.#line('Tests', `${oneLine(event.command, 80)}${event.runner ? this.#dim(`  ${readingOf(event.runner)}`) : ''}`
          + (event.sandboxed ? '' : style('yellow', ' (without a sandbox)')));
      case 'verify.completed':
        return this.#verdict(event.verdict);
      case 'verdict.held':
        return this.#line('Waiting', style('yellow', run.message ?? ''));
      case 'verdict.decided':
        return this.#line('Decided', decidedWords(event));
      case 'budget.warned':
        return this.#line('Budget', style('yellow', warningText(event)));
      case 'step.turned':
        return this.#line('', style('dim', `· step ${event.step + 1}: ${oneLine(event.text, 80)}`));
      case 'step.acted':
        return this.#line('', style('dim', `· step ${event.step + 1}: ${oneLine([event.call.name, event.call.arguments].join(' '), 80)}`));
      case 'run.accepted':
      case 'plan.approved':
      case 'attempt.started':
      case 'step.trying':
      case 'step.begun':
      case 'step.observed':
      case 'run.stopped':
      case 'run.completed':
      case 'run.failed':
      case 'run.cancelled':
        return;
    }
  }

  /** Prints that a local model is loading, which can take longer than the rest of the run, and then its device. */
  onModel(status: LocalModelStatus, run: RunSnapshot): void {
    const { model, state, loaded } = allPrintable(status);
    const takesPart = [...(run.policy.worker ? [run.policy.worker] : []), ...run.pool]
      .some((worker) => worker.provider === 'local' && worker.model === status.model);
    if (!takesPart) return;
    if (state === 'loading' && !this.#loading.has(model)) {
      this.#loading.add(model);
      this.#line('Model', `loading ${model}`);
    }
    if (state !== 'loading' && this.#loading.delete(model) && state === 'ready' && loaded) {
      const where = deviceName(loaded.device);
      this.#line('', `✓ on the ${where}  ${this.#dim(`${formatBytes(loaded.weightBytes)} · ${loaded.precision === 'full' ? 'full precision' : loaded.precision}`)}`);
      for (const reason of loaded.reasons) this.#line('', this.#dim(reason));
    }
  }

  /** Prints the answer to standard output, then the outcome and the cost. @param canApply whether a later command could write its change */
  end(ended: RunSnapshot, { canApply = true } = {}): void {
    const { style } = this.#terminal;
    const run = allPrintable(ended);
    const answer = answerOf(run);
    if (answer) {
      this.#terminal.say('');
      for (const { diff } of answer.round.answer?.edits ?? []) this.#terminal.say(colouredDiff(diff, style));
      this.#terminal.result(answer.text);
      this.#terminal.say('');
    }
    this.#line(...outcomeLine(run, style));
    if (answer?.round.localTry && run.outcome === 'verified') this.#line('', 'the local try is verified: nobody was paid');
    if (run.rounds.length > 1 && hasAttempts(run)) this.#attempts(run);
    if (run.verifiedCost && run.verifiedCost.answers > 1) {
      this.#line('', this.#dim(`a verified answer costs ${formatUsd(run.verifiedCost.usd)} on average in this project (${run.verifiedCost.answers} so far, with what was not verified)`));
    }
    if (hasChange(run) && canApply && (run.outcome !== 'not-verified' || mendsOnly(answer?.round.verdict))) this.#line('Apply', this.#dim(`conductor runs apply ${run.runId}`));
    this.#line('Cost', `${formatMoney(run.spent, run.budget.runUsd)} · ${formatDuration(run.updatedAt - run.acceptedAt)} · run ${run.runId}`);
  }

  #earlier({ exchanges, change }: Earlier): void {
    const last = exchanges.at(-1);
    const before = exchanges.length === 1 ? '' : `, with ${counted(exchanges.length - 1, 'exchange')} before it`;
    this.#line('Continues', `from run ${last?.runId ?? ''}${before}: ${oneLine(last?.question ?? '', WIDTH)}`);
    const text = change && changeWords(change);
    if (text !== undefined) this.#line('', change?.state === 'lost' ? this.#terminal.style('yellow', text) : this.#dim(text));
  }

  /** A line for each attempt: how it ended and what it cost. */
  #attempts(run: RunSnapshot): void {
    const offered = answerOf(run)?.round.index;
    for (const round of run.rounds) {
      const how = round.verdict ? `${round.verdict.outcome}, ${passCount(round.verdict.tests).passed} of ${counted(passCount(round.verdict.tests).total, 'test')} pass` : round.failure ? (round.failure.kind === 'cancelled' ? 'ended by another attempt' : 'failed') : round.answer ? 'not tested' : 'not tried';
      this.#line(round.index === 0 ? 'Attempts' : '', `${round.index + 1} ${round.localTry ? 'local try, ' : ''}${how} · ${formatMoney(spentIn(round))}${round.index === offered ? ' · offered' : ''}`);
    }
  }

  /** Warns that a limit in dollars does not apply to unpriced workers. */
  #dollarsHoldNot({ pool, policy, budget }: RunSnapshot): void {
    const unpriced = [...pool, ...(policy.worker ? [policy.worker] : [])].filter(({ price }) => !price).map(({ id }) => id);
    if (unpriced.length === 0) return;
    const names = [...new Set(unpriced)].join(', ');
    this.#line('Budget', this.#terminal.style(
      'yellow', `${formatUsd(budget.runUsd)} does not hold the unpriced ${names}; only the ${formatTokens(budget.runTokens)} tokens do`,
    ));
  }

  #servedAs({ policy }: RunSnapshot): string {
    const name = servedIn(policy);
    return name === undefined ? '' : ` as ${printable(name)}`;
  }

  /** Says nothing in a demonstration, where nobody was chosen. */
  #whyPlans({ policy: { choice } }: RunSnapshot): string {
    if (!choice || choice.why === 'simulated') return '';
    return this.#dim(`  ${[plannerReason(choice.why), ...estimateWords(choice.estimate)].join(' · ')}`);
  }

  /** Such as `✗ 3 of 120 tests fail on the code as it is`, and their names. */
  #base({ total, failed, leftOut = 0, failing, problem, durationMs }: RunEventOf<'base.completed'>): void {
    const { style } = this.#terminal;
    const took = this.#dim(` ${formatDuration(durationMs)}`);
    if (problem !== undefined) return this.#line('', style('yellow', `the tests gave no result on the code as it is: ${oneLine(problem, 200)}`));
    if (leftOut > 0) this.#line('', `${counted(leftOut, 'test')} that ${leftOut === 1 ? 'fails' : 'fail'} on the code as it is ${leftOut === 1 ? 'is' : 'are'} left out`);
    if (failed === 0) return this.#line('', `${style('green', '✓')} ${total === 1 ? 'the test passes' : `all ${total} tests pass`} on the code as it is${took}`);
    this.#line('', `${style('red', '✗')} ${failed} of ${counted(total, 'test')} ${failed === 1 ? 'fails' : 'fail'} on the code as it is${took}`);
    for (const { id, message = '' } of failing.slice(0, MAX_FAILING)) {
      this.#line('', this.#dim(`  ${oneLine(id, WIDTH)}`));
      if (message !== '') this.#line('', this.#dim(`    ${oneLine(tellingLine(message), WIDTH)}`));
    }
    if (failed > MAX_FAILING) this.#line('', this.#dim(`  and ${failed - MAX_FAILING} more`));
  }

  #context({ pieces, leftOut, tokens, round = 0 }: RunEventOf<'context.gathered'>): void {
    const when = round > 0 ? `for round ${round + 1}: ` : '';
    this.#line('Context', `${when}${counted(pieces.length, 'piece')}, ${formatTokens(tokens)} tokens are sent to the models`);
    for (const line of pieceLines(pieces, this.#terminal.style)) this.#line('', line);
    for (const { path, reason } of leftOut) this.#line('', this.#dim(`not sent: ${shortPath(path)} (${reason})`));
  }

  #plan({ round, steps, durationMs, keptFrom }: RunEventOf<'plan.proposed'>, run: RunSnapshot): void {
    if (run.rounds[round]?.localTry) return this.#steps(steps, run);
    this.#line(`${hasAttempts(run) ? 'Attempt' : 'Round'} ${round + 1}`, `${keptFrom === undefined ? this.#planned(run.rounds[round], durationMs, run) : 'plan kept'}, ${counted(steps.length, 'step')}`);
    const mend = run.rounds[round] && mendOf(run.rounds[round]);
    if (mend !== undefined && keptFrom === undefined) this.#line(run.rounds[round]?.planMended?.byRecords ? 'Records' : 'Mended', this.#terminal.style('yellow', mend));
    this.#steps(steps, run);
  }

  /** Such as `about $0.012 to $0.04`, and where that comes from. */
  #planHeld({ estimate }: RunEventOf<'plan.held'>): void {
    this.#line('Expected', this.#terminal.style('bold', estimate.usd ? costWords(estimate) : `cost ${costWords(estimate)}, ${tokenWords(estimate)}`));
    for (const reason of estimateReasons(estimate)) this.#line('', this.#dim(reason));
  }

  #steps(steps: RunEventOf<'plan.proposed'>['steps'], run: RunSnapshot): void {
    steps.forEach(({ worker, subtask, reads }, index) => {
      const { id, simulated } = run.pool[worker] ?? { id: `worker ${worker}`, simulated: false };
      const reading = reads.length > 0 ? this.#dim(` reads ${reads.map((read) => read + 1).join(', ')}`) : '';
      this.#line('', `${index + 1} ${this.#terminal.style('cyan', nameOf(id, simulated))}${reading}  ${oneLine(subtask, WIDTH)}`);
    });
  }

  /** Such as `planned by sonnet for $0.0102 in 4.1 s`, with rejected plans in the cost. */
  #planned(view: RoundView | undefined, durationMs: number, { policy }: RunSnapshot): string {
    const took = `in ${formatDuration(durationMs)}`;
    if (!view?.planSpent || policy.kind === 'local') return `planned ${took}`;
    return `planned by ${printable(policy.worker?.id ?? policy.model)} for ${formatMoney(view.planSpent)} ${took}`;
  }

  #planKept({ round }: RunEventOf<'plan.kept'>, run: RunSnapshot): void {
    const kept = run.rounds[round];
    const gaveUp = kept !== undefined && gaveUpIn(run, kept);
    this.#line(`Round ${round + 1}`, gaveUp ? 'the Conductor gives up: it has no better plan' : 'the Conductor keeps the answer as it is');
  }

  #attemptFailed({ failure, retryInMs, purpose }: RunEventOf<'attempt.failed'>): void {
    if (retryInMs === undefined) return;
    const who = purpose.kind === 'plan' ? 'the Conductor' : `step ${purpose.step + 1}`;
    this.#line('', this.#terminal.style('yellow', `↻ ${who}: ${failure.message} Trying again in ${formatDuration(retryInMs)}.`));
  }

  #stepCompleted({ round, step, keptFrom, finishReason }: RunEventOf<'step.completed'>, run: RunSnapshot): void {
    const view = run.rounds[round]?.steps[step] as StepView;
    const figures = keptFrom === undefined ? [...formatStepSpent(view.spent), formatDuration(view.durationMs ?? 0)].join(' · ') : 'kept, not paid for again';
    const tick = finishReason === 'stopped' ? this.#terminal.style('yellow', '■') : this.#terminal.style('green', '✓');
    this.#line('', `${tick} ${run.request.atOnce ? `attempt ${round + 1}, ` : ''}step ${step + 1} ${run.pool[view.worker]?.id ?? ''}  ${this.#dim(figures)}`);
  }

  #verdict({ tests, notes, tools = [], sandboxed, durationMs }: Verdict): void {
    const { style } = this.#terminal;
    for (const line of testLines(tests, style)) this.#line('', line);
    for (const note of notes) this.#line('', this.#dim(`note: ${note}`));
    const { passed, total } = passCount(tests);
    const where = sandboxed ? 'in the sandbox' : 'without a sandbox';
    const facts = [`${passed} of ${total} pass`, where, ...tools.map(toolText), formatDuration(durationMs)];
    if (total > 0) this.#line('', this.#dim(facts.join(' · ')));
  }

  #dim(text: string): string {
    return this.#terminal.style('dim', text);
  }

  #line(label: string, text: string): void {
    this.#terminal.say(`${this.#terminal.style('dim', label.padEnd(LABEL_WIDTH))}${text}`);
  }
}

/** Such as `80 % of the budget of this run is spent: $0.80 of $1.00`. */
function warningText({ limit, spent, of }: BudgetWarning): string {
  const [whose, amount] = [limit.startsWith('day') ? 'the day' : 'this run', limit.endsWith('Usd') ? formatUsd : formatTokens];
  const unit = limit.endsWith('Usd') ? '' : ' tokens';
  return `${Math.floor((spent / of) * 100)} % of the budget of ${whose} is spent: ${amount(spent)} of ${amount(of)}${unit}`;
}

function decidedWords({ tests, failedBefore }: RunEventOf<'verdict.decided'>): string {
  const which = `${counted(tests.length, 'test')} that failed before`;
  return failedBefore === 'leave-out' ? `${which}: left out, and the same answer is judged again` : `${which}: must pass`;
}

/** Such as `12 pass, 2 fail`. */
function triedWords({ passed, failed, problem }: Tried): string {
  return problem === undefined ? `${passed} pass, ${failed} ${failed === 1 ? 'fails' : 'fail'}` : `not run: ${oneLine(problem, 200)}`;
}

const idOf = ({ pool }: RunSnapshot, worker: number): string => printable(pool[worker]?.id ?? `worker ${worker}`);

const nameOf = (id: string, simulated = false): string => (simulated ? `${id} (simulated)` : id);

/** Whether a change that is not verified mends something and breaks nothing: what still fails may have nothing to do with it. */
const mendsOnly = (verdict: Verdict | undefined): boolean =>
  verdict !== undefined && verdict.score > 0 && brokenCount(verdict.tests) === 0;

function outcomeLine(run: RunSnapshot, style: Terminal['style']): [label: string, text: string] {
  const message = run.message ?? '';
  switch (run.state) {
    case 'completed':
      if (run.outcome === 'verified') return ['Verified', style('green', `✓ ${message}`)];
      if (run.outcome === 'passes') return ['Passes', style('yellow', message)];
      if (run.outcome === 'answered') return ['Answered', message];
      if (run.outcome === 'unchecked') return ['Unchecked', style('yellow', message)];
      return ['Red', style('red', `✗ Not verified: ${message}`)];
    case 'stopped':
      return ['Stopped', style('yellow', `${message}${goesOnWith(run)}`)];
    case 'cancelled':
      return ['Cancelled', `nothing more is paid for; "conductor runs resume ${run.runId}" goes on`];
    case 'failed':
      return ['Failed', style('red', message)];
    case 'waiting':
      return ['Waiting', style('yellow', message)];
    case 'running':
      return ['Going on', message];
  }
}

/** How to resume a run that a limit has stopped. */
function goesOnWith({ runId, stoppedBy }: Pick<RunSnapshot, 'runId' | 'stoppedBy'>): string {
  switch (stoppedBy) {
    case undefined: return '';
    case 'usd':
    case 'tokens': return ' It goes on with its training.';
    case 'runUsd': return ` It goes on with: conductor runs resume ${runId} --max-usd N`;
    case 'runTokens': return ` It goes on with: conductor runs resume ${runId} --max-tokens N`;
    case 'dayUsd':
    case 'dayTokens': return ` Raise "${stoppedBy}" in workers.json; then it goes on with: conductor runs resume ${runId}`;
  }
}

function colouredDiff(diff: string, style: Terminal['style']): string {
  return diff
    .split('\n')
    .map((line) => (/^\+(?!\+\+)/.test(line) ? style('green', line) : /^-(?!--)/.test(line) ? style('red', line) : style('dim', line)))
    .join('\n');
}
