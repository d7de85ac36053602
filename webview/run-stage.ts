import * as l10n from '@vscode/l10n';
import type { RunSummary } from '../backend/protocol/methods.ts';
import { answerOf, hasAttempts, heldRound, undecidedRound } from '../backend/protocol/run-facts.ts';
import type { RoundView, RunSnapshot, StepView } from '../backend/protocol/run-snapshot.ts';
import { passCount } from '../backend/protocol/test-changes.ts';
import type { Verdict } from '../backend/protocol/verdict.ts';
import { isVerified } from '../backend/protocol/verdict-facts.ts';
import type { StopLimit } from '../backend/protocol/worker-config.ts';
import type { IconName, Tone } from './controls.tsx';
import { list } from './language.ts';

/*
 * The state of a run, a step or a verdict, as text. All views and the screen reader announcements use these texts.
 */

export interface Stage {
  readonly text: string;
  readonly icon: IconName;
  readonly tone: Tone;
}

const busy = (text: string): Stage => ({ text, icon: 'loading', tone: 'busy' });

export function stageOf(run: RunSnapshot): Stage {
  switch (run.state) {
    case 'waiting':
      return { text: waitingWords(run), icon: 'watch', tone: 'caution' };
    case 'stopped':
      return { text: stoppedWords(run.stoppedBy), icon: 'debug-pause', tone: 'caution' };
    case 'failed':
      return { text: l10n.t('Failed'), icon: 'error', tone: 'bad' };
    case 'cancelled':
      return { text: l10n.t('Cancelled'), icon: 'circle-slash', tone: 'quiet' };
    case 'completed':
      return outcomeOf(run);
    case 'running':
      return busy(activityOf(run));
  }
}

function waitingWords(run: RunSnapshot): string {
  if (heldRound(run)) return l10n.t('The plan waits for you');
  return undecidedRound(run) ? l10n.t('The verdict waits for you') : l10n.t('Waiting');
}

/** What people call a round of the run. */
export function roundName(run: RunSnapshot, index: number): string {
  return hasAttempts(run) ? l10n.t('Attempt {0}', index + 1) : l10n.t('Round {0}', index + 1);
}

/** The state of a run in a list, of which nothing but its end is known. */
export function endedStage({ state, outcome }: Pick<RunSummary, 'state' | 'outcome'>): Stage {
  switch (state) {
    case 'running':
      return { text: l10n.t('running'), icon: 'loading', tone: 'busy' };
    case 'waiting':
      return { text: l10n.t('waiting'), icon: 'watch', tone: 'caution' };
    case 'stopped':
      return { text: l10n.t('stopped at its limit'), icon: 'debug-pause', tone: 'caution' };
    case 'failed':
      return { text: l10n.t('failed'), icon: 'error', tone: 'bad' };
    case 'cancelled':
      return { text: l10n.t('cancelled'), icon: 'circle-slash', tone: 'quiet' };
    case 'completed':
      if (outcome === 'verified') return { text: l10n.t('verified'), icon: 'pass-filled', tone: 'good' };
      if (outcome === 'passes') return { text: l10n.t('tests pass, not verified'), icon: 'pass', tone: 'caution' };
      if (outcome === 'not-verified') return { text: l10n.t('not verified'), icon: 'error', tone: 'bad' };
      if (outcome === 'answered') return { text: l10n.t('answered'), icon: 'check', tone: 'quiet' };
      return { text: l10n.t('unchecked'), icon: 'info', tone: 'quiet' };
  }
}

function stoppedWords(limit: StopLimit | undefined): string {
  switch (limit) {
    case 'runTokens': return l10n.t('Stopped by its token limit');
    case 'dayTokens': return l10n.t('Stopped by the day’s token limit');
    case 'dayUsd': return l10n.t('Stopped by the day’s budget');
    case 'runUsd':
    case 'usd':
    case 'tokens':
    case undefined: return l10n.t('Stopped by the budget');
  }
}

/**
 * "Verified" requires a verdict: a run that claims it without one is unchecked. An answer in words is not green: nothing has proved it.
 */
function outcomeOf(run: RunSnapshot): Stage {
  const verdict = answerOf(run)?.round.verdict;
  if (verdict) return verdictStage(verdict);
  if (run.outcome === 'not-verified') return { text: l10n.t('Not verified'), icon: 'error', tone: 'bad' };
  if (run.outcome === 'answered') return { text: l10n.t('Answered'), icon: 'check', tone: 'quiet' };
  return { text: l10n.t('Unchecked'), icon: 'info', tone: 'caution' };
}

function activityOf(run: RunSnapshot): string {
  // Attempts are planned first, and tried in another order or at once.
  const tried = hasAttempts(run) ? run.rounds.filter(({ steps, verdict, failure }) => !verdict && !failure && steps.some(({ state }) => state !== 'pending')) : [];
  if (tried.length > 1) return l10n.t('Trying {0} attempts at once', tried.length);
  const round = tried[0] ?? run.rounds.at(-1);
  if (!round) return run.context ? l10n.t('Planning') : run.base && !run.base.result ? l10n.t('Running the tests on the code as it is') : l10n.t('Gathering context');
  if (round.verifying) return l10n.t('Checking with the tests');
  if (round.steps.length === 0) return round.kept ? l10n.t('Finishing') : l10n.t('Planning');
  const running = round.steps.filter((step) => step.state === 'running').map((step) => step.index + 1);
  if (running.length === 1) return l10n.t('Running step {0} of {1}', list(running), round.steps.length);
  if (running.length > 1) return l10n.t('Running steps {0} of {1}', list(running), round.steps.length);
  if (round.steps.some(({ trial }) => trial && !trial.result)) return l10n.t('Running the tests with what the next step reads');
  return round.steps.some((step) => step.state === 'pending') ? l10n.t('Starting the next step') : l10n.t('Finishing');
}

/** The state of a step. `runGoesOn` distinguishes a step that will run from one that will not. */
export type StepPhase = 'pending' | 'not-run' | 'running' | 'stopping' | 'retrying' | 'completed' | 'stopped' | 'failed' | 'skipped';

export function phaseOf(step: StepView, runGoesOn: boolean): StepPhase {
  if (step.state === 'pending') return runGoesOn ? 'pending' : 'not-run';
  if (step.state === 'running' && step.stopped) return 'stopping';
  if (step.state === 'completed' && step.finishReason === 'stopped') return 'stopped';
  if (step.state === 'running' && step.attempt?.ended && step.attempt.retryInMs !== undefined) return 'retrying';
  return step.state;
}

export function phaseStage(phase: StepPhase): Stage {
  switch (phase) {
    case 'pending':
      return { text: l10n.t('waiting'), icon: 'circle-outline', tone: 'quiet' };
    case 'not-run':
      return { text: l10n.t('not run'), icon: 'circle-outline', tone: 'quiet' };
    case 'running':
      return { text: l10n.t('running'), icon: 'loading', tone: 'busy' };
    case 'stopping':
      return { text: l10n.t('stopping'), icon: 'loading', tone: 'busy' };
    case 'retrying':
      return { text: l10n.t('waiting to try again'), icon: 'watch', tone: 'caution' };
    case 'completed':
      return { text: l10n.t('done'), icon: 'check', tone: 'good' };
    case 'stopped':
      return { text: l10n.t('stopped by you'), icon: 'debug-stop', tone: 'caution' };
    case 'failed':
      return { text: l10n.t('failed'), icon: 'error', tone: 'bad' };
    case 'skipped':
      return { text: l10n.t('skipped'), icon: 'circle-slash', tone: 'quiet' };
  }
}

export function verdictStage(verdict: Verdict): Stage {
  if (isVerified(verdict)) return { text: l10n.t('Verified'), icon: 'pass-filled', tone: 'good' };
  switch (verdict.outcome) {
    case 'passes':
      return { text: l10n.t('Tests pass, not verified'), icon: 'pass', tone: 'caution' };
    case 'failed':
      return { text: l10n.t('Not verified'), icon: 'error', tone: 'bad' };
    case 'refused':
      return { text: l10n.t('Not accepted for checking'), icon: 'circle-slash', tone: 'caution' };
    case 'infrastructure':
      return { text: l10n.t('Could not be checked'), icon: 'warning', tone: 'caution' };
    case 'verified':
      // The verdict contradicts itself; the weaker result is shown.
      return { text: l10n.t('Not verified'), icon: 'error', tone: 'bad' };
  }
}

/** `14 of 14`; undefined if no test ran. */
export function passesOf(verdict: Verdict): string | undefined {
  const { passed, total } = passCount(verdict.tests);
  return total === 0 ? undefined : l10n.t('{0} of {1}', passed, total);
}

export function workerName(run: Pick<RunSnapshot, 'pool'>, ordinal: number): string {
  return run.pool[ordinal]?.id ?? l10n.t('worker {0}', ordinal);
}

export function roundSummary(round: RoundView, gaveUp: boolean): string {
  if (round.kept) return gaveUp ? l10n.t('gave up') : l10n.t('kept the answer before');
  const verdict = round.verdict;
  if (!verdict) return round.steps.length === 1 ? l10n.t('1 step') : l10n.t('{0} steps', round.steps.length);
  const passes = passesOf(verdict);
  return passes ? l10n.t('{0}, {1}', verdictStage(verdict).text, passes) : verdictStage(verdict).text;
}

/** How an attempt ended, in a few words. */
export function attemptSummary(round: RoundView, runGoesOn: boolean): string {
  if (round.failure) return round.failure.kind === 'cancelled' ? l10n.t('ended by another attempt') : l10n.t('failed');
  if (round.verdict) return roundSummary(round, false);
  if (round.answer) return runGoesOn ? l10n.t('Checking') : l10n.t('Unchecked');
  if (round.steps.some(({ state }) => state !== 'pending')) return runGoesOn ? l10n.t('running') : l10n.t('not run to its end');
  return runGoesOn ? l10n.t('waiting') : l10n.t('not tried');
}
