import type { RoundView, RunSnapshot, StepView } from '../backend/protocol/run-snapshot.ts';
import { passesOf, stageOf, verdictStage, workerName } from './run-stage.ts';
import { plural } from '../backend/protocol/figures.ts';

/**
 * What a screen reader is told when a run went from `before` to `after`: changes of state, not the text that streams. Empty when
 * nothing is worth saying, and when another run was opened, since its page is read anyway.
 */
export function announcementOf(before: RunSnapshot | undefined, after: RunSnapshot | undefined): string {
  if (!before || !after || before.runId !== after.runId || before.seq >= after.seq) return '';
  const said: string[] = after.rounds.flatMap((round) => roundNews(after, before.rounds[round.index], round));
  if (before.state !== after.state) {
    said.push(`${stageOf(after).text}.`);
    if (after.message && after.state !== 'completed' && after.state !== 'cancelled') said.push(after.message);
  }
  return said.join(' ');
}

function roundNews(run: RunSnapshot, before: RoundView | undefined, after: RoundView): string[] {
  const name = `Round ${after.index + 1}`;
  const said: string[] = [];
  if (!before && after.planAttempt) said.push(`${name}: planning.`);
  const rejection = after.rejections[before?.rejections.length ?? 0];
  if (rejection) said.push(`${name}: the plan was rejected. ${rejection.message}`);
  if (!before?.plan && after.plan) said.push(`${name}: plan with ${plural(after.steps.length, 'step')}.`);
  if (!before?.kept && after.kept) said.push(`${name}: the Conductor kept the answer.`);
  for (const step of after.steps) said.push(...stepNews(run, before?.steps[step.index], step));
  if (!before?.verifying && after.verifying) said.push('Checking with the tests.');
  if (!before?.verdict && after.verdict) {
    const passes = passesOf(after.verdict);
    said.push(`${verdictStage(after.verdict).text}${passes ? `, ${passes} tests pass` : ''}.`);
  }
  return said;
}

function stepNews(run: RunSnapshot, before: StepView | undefined, after: StepView): string[] {
  const name = `Step ${after.index + 1}, ${workerName(run, after.worker)}`;
  const failure = after.attempt?.failure;
  if (failure && after.state === 'running' && before?.attempt?.failure !== failure) {
    return [`${name}: tries again. ${failure.message}`];
  }
  if (before?.state === after.state) return [];
  switch (after.state) {
    case 'running':
      return [`${name}: running.`];
    case 'completed':
      return [`${name}: done.`];
    case 'failed':
      return [`${name}: failed. ${after.failure?.message ?? ''}`.trim()];
    case 'skipped':
      return [`${name}: skipped.`];
    case 'pending':
      return [];
  }
}
