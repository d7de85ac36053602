import { answerOf, type RoundView, type RunSnapshot, type StepView } from '../backend/protocol/run-snapshot.ts';
import { passCount } from '../backend/protocol/test-changes.ts';
import type { Verdict } from '../backend/protocol/verdict.ts';
import { isVerified } from '../backend/protocol/verdict-facts.ts';
import type { IconName, Tone } from './controls.tsx';
import { plural } from '../backend/protocol/figures.ts';

/*
 * Where a run, a step or a verdict stands, in words. Every view and the announcements for screen readers read these.
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
      return { text: 'Waiting', icon: 'watch', tone: 'caution' };
    case 'stopped':
      return { text: 'Stopped by the budget', icon: 'debug-pause', tone: 'caution' };
    case 'failed':
      return { text: 'Failed', icon: 'error', tone: 'bad' };
    case 'cancelled':
      return { text: 'Cancelled', icon: 'circle-slash', tone: 'quiet' };
    case 'completed':
      return outcomeOf(run);
    case 'running':
      return busy(activityOf(run));
  }
}

/** "Verified" only where a verdict says so: a run that claims it without one is unchecked. */
function outcomeOf(run: RunSnapshot): Stage {
  const verdict = answerOf(run)?.round.verdict;
  if (verdict) return verdictStage(verdict);
  if (run.outcome === 'not-verified') return { text: 'Not verified', icon: 'error', tone: 'bad' };
  return { text: 'Unchecked', icon: 'info', tone: 'caution' };
}

function activityOf(run: RunSnapshot): string {
  const round = run.rounds.at(-1);
  if (!round) return run.context ? 'Planning' : 'Gathering context';
  if (round.verifying) return 'Checking with the tests';
  if (round.steps.length === 0) return round.kept ? 'Finishing' : 'Planning';
  const running = round.steps.filter((step) => step.state === 'running').map((step) => step.index + 1);
  if (running.length > 0) return `Running ${running.length > 1 ? 'steps' : 'step'} ${list(running)} of ${round.steps.length}`;
  return round.steps.some((step) => step.state === 'pending') ? 'Starting the next step' : 'Finishing';
}

/** How a finished or running step stands. `runGoesOn` tells a step that will run from one that will not. */
export type StepPhase = 'pending' | 'not-run' | 'running' | 'retrying' | 'completed' | 'failed' | 'skipped';

export function phaseOf(step: StepView, runGoesOn: boolean): StepPhase {
  if (step.state === 'pending') return runGoesOn ? 'pending' : 'not-run';
  if (step.state === 'running' && step.attempt?.ended && step.attempt.retryInMs !== undefined) return 'retrying';
  return step.state;
}

export const PHASE_STAGE: Readonly<Record<StepPhase, Stage>> = {
  'pending': { text: 'waiting', icon: 'circle-outline', tone: 'quiet' },
  'not-run': { text: 'not run', icon: 'circle-outline', tone: 'quiet' },
  'running': { text: 'running', icon: 'loading', tone: 'busy' },
  'retrying': { text: 'waiting to try again', icon: 'watch', tone: 'caution' },
  'completed': { text: 'done', icon: 'check', tone: 'good' },
  'failed': { text: 'failed', icon: 'error', tone: 'bad' },
  'skipped': { text: 'skipped', icon: 'circle-slash', tone: 'quiet' },
};

export function verdictStage(verdict: Verdict): Stage {
  if (isVerified(verdict)) return { text: 'Verified', icon: 'pass-filled', tone: 'good' };
  switch (verdict.outcome) {
    case 'failed':
      return { text: 'Not verified', icon: 'error', tone: 'bad' };
    case 'refused':
      return { text: 'Not accepted for checking', icon: 'circle-slash', tone: 'caution' };
    case 'infrastructure':
      return { text: 'Could not be checked', icon: 'warning', tone: 'caution' };
    case 'verified':
      // The verdict contradicts itself; the weaker word counts.
      return { text: 'Not verified', icon: 'error', tone: 'bad' };
  }
}

/** `14 of 14`, or nothing where no test ran. */
export function passesOf(verdict: Verdict): string | undefined {
  const { passed, total } = passCount(verdict.tests);
  return total === 0 ? undefined : `${passed} of ${total}`;
}

export function workerName(run: Pick<RunSnapshot, 'pool'>, ordinal: number): string {
  return run.pool[ordinal]?.id ?? `worker ${ordinal}`;
}

export function roundSummary(round: RoundView): string {
  if (round.kept) return 'kept the answer before';
  const verdict = round.verdict;
  if (!verdict) return plural(round.steps.length, 'step');
  const passes = passesOf(verdict);
  return passes ? `${verdictStage(verdict).text}, ${passes}` : verdictStage(verdict).text;
}

/** `1`, `1 and 2`, `1, 2 and 3`. */
export function list(items: readonly (string | number)[]): string {
  if (items.length < 2) return items.join('');
  return `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}
