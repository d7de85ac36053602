import * as vscode from 'vscode';
import { withFencedChanges } from '../../backend/protocol/fenced-changes.ts';
import { formatDuration, formatMoney, formatStepSpent } from '../../backend/protocol/figures.ts';
import { heldPlan } from '../../backend/protocol/held-plan.ts';
import { answerOf, firstPlanned, hasAttempts } from '../../backend/protocol/run-facts.ts';
import type { RoundView, RunSnapshot, StepView } from '../../backend/protocol/run-snapshot.ts';
import { isRed } from '../../backend/protocol/test-changes.ts';
import { isVerified, passesOnly } from '../../backend/protocol/verdict-facts.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import { costWords, estimateReasons } from '../../backend/protocol/work-estimate-words.ts';
import { oneLine } from '../common/one-line.ts';
import { placeOf } from './places.ts';

const MAX_REFERENCES = 20;
const MAX_DIFF = 20_000;
const MAX_TESTS = 10;

/** Tells a run in a chat as it goes on: the plan, who does what, the tests. Says each thing once. */
export class RunNarrator {
  readonly #stream: vscode.ChatResponseStream;
  readonly #said = new Set<string>();

  constructor(stream: vscode.ChatResponseStream) {
    this.#stream = stream;
  }

  tell(run: RunSnapshot): void {
    const { context, base, rounds, state, message } = run;
    if (rounds.length === 0) this.#once('context', () => this.#stream.progress(vscode.l10n.t('Gathering context')));
    if (context) this.#once('pieces', () => this.#references(run));
    if (base && !base.result) this.#once('base', () => this.#stream.progress(vscode.l10n.t('Running the tests on the code as it is')));
    for (const round of rounds) this.#round(round, run);
    if (state === 'waiting' && message !== undefined) this.#once(`waiting ${message}`, () => this.#wait(run, message));
  }

  #round(round: RoundView, run: RunSnapshot): void {
    const { index, plan, kept, steps, verifying, verdict, planAttempt, failure } = round;
    const planner = run.policy.worker?.id ?? run.policy.model;
    if (planAttempt && !plan && !kept) this.#once(`planning ${index} ${planAttempt.attemptId}`, () => this.#stream.progress(vscode.l10n.t('{0} plans', planner)));
    if (plan) this.#once(`plan ${index} ${planAttempt?.attemptId ?? ''}`, () => this.#stream.markdown(planText(run, round)));
    for (const step of steps) this.#step(step, index, run);
    if (verifying && !verdict) {
      this.#once(`verifying ${index}`, () => this.#stream.progress(vscode.l10n.t('Checking with the tests: {0}', oneLine(verifying.command))));
    }
    if (verdict && !isVerified(verdict)) this.#once(`verdict ${index}`, () => this.#line(`$(beaker) ${plain(oneLine(verdict.reason))}`));
    if (failure) this.#once(`failure ${index}`, () => this.#line(`$(error) ${plain(oneLine(failure.message))}`));
  }

  #step(step: StepView, round: number, run: RunSnapshot): void {
    const key = `${round} ${step.index}`;
    const worker = run.pool[step.worker]?.id ?? '?';
    if (step.state === 'running') {
      this.#once(`running ${key} ${step.worker}`, () => this.#stream.progress(vscode.l10n.t('Step {0}: {1} is at work', step.index + 1, worker)));
    }
    if (step.state === 'completed') {
      const facts = [...(step.durationMs === undefined ? [] : [formatDuration(step.durationMs)]), ...formatStepSpent(step.spent)];
      this.#once(`done ${key}`, () => this.#line(`$(check) ${plain([vscode.l10n.t('Step {0}: {1} is done', step.index + 1, worker), ...facts].join(' · '))}`));
    }
    for (const { worker: before, failure } of step.handedOn ?? []) {
      const who = run.pool[before]?.id ?? '?';
      this.#once(`handed ${key} ${before}`, () => this.#line(`$(warning) ${plain(vscode.l10n.t('Step {0}: {1} failed, and {2} does it instead. {3}', step.index + 1, who, worker, oneLine(failure.message)))}`));
    }
    if (step.state === 'failed') {
      this.#once(`failed ${key}`, () => this.#line(`$(error) ${plain(vscode.l10n.t('Step {0}: {1} failed. {2}', step.index + 1, worker, oneLine(step.failure?.message ?? '')))}`));
    }
    if (step.state === 'skipped') {
      this.#once(`skipped ${key}`, () => this.#line(`$(circle-slash) ${plain(vscode.l10n.t('Step {0} is skipped. {1}', step.index + 1, oneLine(step.skippedBecause ?? '')))}`));
    }
  }

  #references(run: RunSnapshot): void {
    for (const { path, startLine, endLine } of (run.context?.pieces ?? []).slice(0, MAX_REFERENCES)) {
      const place = placeOf(run.request.workspace, path, startLine, endLine);
      if (place) this.#stream.reference(place);
    }
  }

  /** The panel lets a plan run; what else a run waits for, its message says. */
  #wait(run: RunSnapshot, message: string): void {
    this.#line(`$(bell) ${plain(message)}`);
    const title = heldPlan(run) ? vscode.l10n.t('Show Plan') : vscode.l10n.t('Show in Panel');
    this.#stream.button({ command: 'conductor.showPanel', title, arguments: [{ runId: run.runId }] });
    this.#stream.progress(vscode.l10n.t('waiting for you'));
  }

  #line(text: string): void {
    this.#stream.markdown(withIcons(`${text}\n\n`));
  }

  #once(key: string, say: () => void): void {
    if (this.#said.has(key)) return;
    this.#said.add(key);
    say();
  }
}

/** The plan of a round as a list: who does what, and what each step reads. */
export function planText(run: RunSnapshot, round: RoundView): vscode.MarkdownString {
  const title = round.localTry ? vscode.l10n.t('A worker that costs nothing tries first') : round.index === firstPlanned(run) ? vscode.l10n.t('Plan') : hasAttempts(run) ? vscode.l10n.t('Plan of attempt {0}', round.index + 1) : vscode.l10n.t('Plan of round {0}', round.index + 1);
  const steps = round.steps.map(({ index, worker, subtask, reads }) => {
    const reading = reads.length === 0 ? '' : ` (${vscode.l10n.t('reads {0}', reads.map((read) => read + 1).join(', '))})`;
    return `${index + 1}. **${plain(run.pool[worker]?.id ?? '?')}**${reading}: ${plain(oneLine(subtask))}`;
  });
  return withIcons([`\n\n**${title}**\n`, ...steps, '\n'].join('\n'));
}

/** What a plan that waits is expected to cost. */
export function estimateText({ review }: RoundView): string {
  return review ? plain([vscode.l10n.t('Expected cost: {0}.', costWords(review.estimate)), ...estimateReasons(review.estimate)].join(' ')) : '';
}

/** How a run ended: the answer, its change, what the tests say of it, and what it cost. */
export function tellEnd(run: RunSnapshot, stream: vscode.ChatResponseStream): void {
  const answer = answerOf(run);
  const edits = answer?.round.answer?.edits ?? [];
  stream.markdown('\n\n');
  // With a change, the words of the worker are mostly that change in its own form: the panel has them.
  if (answer && edits.length === 0) stream.markdown(`${withFencedChanges(answer.text)}\n\n`);
  let left = MAX_DIFF;
  for (const { path, diff } of edits) {
    const place = placeOf(run.request.workspace, path);
    if (place) stream.anchor(place, path);
    else stream.markdown(plain(path));
    stream.markdown(diff.length <= left ? `\n${fenced(diff, 'diff')}\n` : `\n\n${plain(vscode.l10n.t('The change is too long to be shown here.'))}\n\n`);
    left -= diff.length;
  }
  if (run.pool.some(({ simulated }) => simulated)) stream.markdown(withIcons(`$(beaker) ${plain(vscode.l10n.t('The workers are a simulation on this machine: nothing of this comes from a real model.'))}\n\n`));
  stream.markdown(withIcons(`${outcomeText(run)}\n\n`));
  stream.markdown(plain([formatMoney(run.spent), formatDuration(run.updatedAt - run.acceptedAt - (run.pausedMs ?? 0))].join(' · ')));
  stream.markdown('\n\n');
}

function outcomeText(run: RunSnapshot): string {
  const verdict = answerOf(run)?.round.verdict;
  if (run.state === 'completed') {
    if (verdict) return verdictMarkdown(verdict);
    if (run.outcome === 'answered') return `$(check) **${vscode.l10n.t('Answered')}**`;
    return `$(info) **${run.outcome === 'not-verified' ? vscode.l10n.t('Not verified') : vscode.l10n.t('Unchecked')}** ${plain(run.message ?? '')}`;
  }
  const how = run.state === 'cancelled' ? vscode.l10n.t('Cancelled') : run.state === 'stopped' ? vscode.l10n.t('Stopped') : vscode.l10n.t('Failed');
  return `$(circle-slash) **${how}** ${plain(run.message ?? '')}`;
}

/** The verdict, why, and the tests that fail. */
export function verdictMarkdown(verdict: Verdict): string {
  const failing = verdict.tests.filter(isRed);
  const [icon, title] = isVerified(verdict) ? ['pass-filled', vscode.l10n.t('Verified')]
    : passesOnly(verdict) ? ['pass', vscode.l10n.t('Tests pass, not verified')]
      : verdict.outcome === 'refused' ? ['circle-slash', vscode.l10n.t('Not accepted for checking')]
        : verdict.outcome === 'infrastructure' ? ['warning', vscode.l10n.t('Could not be checked')]
          : ['error', vscode.l10n.t('Not verified')];
  return [
    `$(${icon}) **${title}** ${plain(oneLine(verdict.reason))}`,
    ...failing.slice(0, MAX_TESTS).map(({ id, message }) => `- ${plain(oneLine(id))}${message === undefined ? '' : `: ${plain(oneLine(message))}`}`),
    ...(failing.length > MAX_TESTS ? [`- ${plain(vscode.l10n.t('and {0} more', failing.length - MAX_TESTS))}`] : []),
  ].join('\n');
}

/**
 * Text that is shown as it is, whatever it is: models and tests wrote it. `MarkdownString.appendText` would make each space one that does not
 * break.
 */
export function plain(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-!~<>|&$]/g, '\\$&');
}

/** Not trusted: nothing in it runs a command. */
export function withIcons(text: string): vscode.MarkdownString {
  return new vscode.MarkdownString(text, true);
}

/** A fence that the text itself cannot close. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}\n`;
}
