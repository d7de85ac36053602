import * as l10n from '@vscode/l10n';
import { gaveUpIn, heldRound } from '../backend/protocol/run-facts.ts';
import type { RoundView, RunSnapshot, StepView } from '../backend/protocol/run-snapshot.ts';
import { costWords } from '../backend/protocol/work-estimate-words.ts';
import { passesOf, roundName, stageOf, verdictStage, workerName } from './run-stage.ts';

/**
 * The screen reader announcement for a run's change from `before` to `after`: state changes, not the streamed text. Empty if nothing
 * important changed, or if another run was opened: its page is read anyway.
 */
export function announcementOf(before: RunSnapshot | undefined, after: RunSnapshot | undefined): string {
  if (!before || !after || before.runId !== after.runId || before.seq >= after.seq) return '';
  const said: string[] = after.rounds.flatMap((round) => roundNews(after, before.rounds[round.index], round));
  if (before.state !== after.state) {
    said.push(`${stageOf(after).text}.`);
    const held = heldRound(after)?.review;
    if (held) said.push(l10n.t('Expected cost: {0}', costWords(held.estimate)));
    else if (after.message && after.state !== 'completed' && after.state !== 'cancelled') said.push(after.message);
  }
  return said.join(' ');
}

function roundNews(run: RunSnapshot, before: RoundView | undefined, after: RoundView): string[] {
  const name = roundName(run, after.index);
  const said: string[] = [];
  if (!before && after.planAttempt) said.push(l10n.t('{0}: planning.', name));
  const rejection = after.rejections[before?.rejections.length ?? 0];
  if (rejection) said.push(l10n.t('{0}: the plan was rejected. {1}', name, rejection.message));
  if (!before?.plan && after.plan) {
    const count = after.steps.length;
    said.push(count === 1 ? l10n.t('{0}: plan with 1 step.', name) : l10n.t('{0}: plan with {1} steps.', name, count));
  }
  if (!before?.kept && after.kept) {
    said.push(gaveUpIn(run, after) ? l10n.t('{0}: the Conductor gave up.', name) : l10n.t('{0}: the Conductor kept the answer.', name));
  }
  for (const step of after.steps) said.push(...stepNews(run, before?.steps[step.index], step));
  if (!before?.verifying && after.verifying) said.push(l10n.t('Checking with the tests.'));
  if (!before?.failure && after.failure) said.push(after.failure.kind === 'cancelled' ? `${name}: ${after.failure.message}` : l10n.t('{0}: failed. {1}', name, after.failure.message));
  if (!before?.verdict && after.verdict) {
    const passes = passesOf(after.verdict);
    const { text } = verdictStage(after.verdict);
    said.push(passes ? l10n.t('{0}, {1} tests pass.', text, passes) : `${text}.`);
  }
  return said;
}

function stepNews(run: RunSnapshot, before: StepView | undefined, after: StepView): string[] {
  const name = l10n.t('Step {0}, {1}', after.index + 1, workerName(run, after.worker));
  const lost = after.handedOn?.[before?.handedOn?.length ?? 0];
  if (lost) {
    return [l10n.t('Step {0}: {1} Given to {2} instead.', after.index + 1, lost.failure.message, workerName(run, after.worker))];
  }
  const failure = after.attempt?.failure;
  if (failure && after.state === 'running' && before?.attempt?.failure !== failure) {
    return [l10n.t('{0}: tries again. {1}', name, failure.message)];
  }
  if (before?.state === after.state) return [];
  switch (after.state) {
    case 'running':
      return [l10n.t('{0}: running.', name)];
    case 'completed':
      return [after.finishReason === 'stopped' ? l10n.t('{0}: stopped by you.', name) : l10n.t('{0}: done.', name)];
    case 'failed':
      return [l10n.t('{0}: failed. {1}', name, after.failure?.message ?? '').trim()];
    case 'skipped':
      return [l10n.t('{0}: skipped.', name)];
    case 'pending':
      return [];
  }
}
