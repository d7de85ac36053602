import type { ReviewPlan } from '../protocol/run-request.ts';
import type { RunEventOf } from '../protocol/run-events.ts';
import { roundsBefore } from '../protocol/run-facts.ts';
import type { RoundView, RunSnapshot } from '../protocol/run-snapshot.ts';
import type { WorkEstimate } from '../protocol/work-estimate.ts';
import { MAX_STEPS, stepsOf, type Plan } from '../workflow/plan.ts';
import { MAX_SUBTASK_LENGTH, validatePlan, type PlanRejection, type RawPlan } from '../workflow/validate-plan.ts';
import { RunRefusedError } from './errors.ts';

/*
 * A plan that a person looks at before its workers are paid (docs/decisions/0022-a-plan-may-wait-for-a-person.md). The run waits in the
 * journal alone: it holds no slot of a worker, and its backend may end meanwhile.
 */

/** What a person decided about the plan that waits. */
export type PlanDecision = RunEventOf<'plan.edited' | 'plan.approved' | 'plan.discarded'>;

/** Whether a person is to see a plan that is expected to take this. A cost that is not known may be above any amount. */
export function isReviewDue(when: ReviewPlan, { usd }: Pick<WorkEstimate, 'usd'>): boolean {
  return when === 'always' || usd === undefined || usd.high > when.aboveUsd;
}

/** A plan and its steps, as the journal keeps them. */
export function plannedSteps(plan: Plan, round: number): Pick<RunEventOf<'plan.proposed'>, 'plan' | 'steps'> {
  const { modelIds, subtasks, accessList } = plan;
  return {
    plan: { modelIds: [...modelIds], subtasks: [...subtasks], accessList: accessList.map((access) => (access === 'all' ? access : [...access])) },
    steps: stepsOf(plan).map(({ worker, subtask, reads, readsPreviousRound }) => ({
      worker, subtask, reads: [...reads], readsPreviousRound: readsPreviousRound && round > 0,
    })),
  };
}

/** The plan that a person wrote, checked by the rules for every plan. @throws RunRefusedError */
export function checkedPlan({ pool }: Pick<RunSnapshot, 'pool'>, raw: RawPlan): Plan {
  const checked = validatePlan(raw, { workerCount: pool.length });
  if (checked.ok) return checked.plan;
  throw new RunRefusedError(`This plan cannot run: ${forPeople(checked.rejection)}`);
}

/** People count steps from 1 and know workers by name; the sentences of a rejection are for a Conductor. */
function forPeople({ reason, message }: PlanRejection): string {
  switch (reason) {
    case 'no-steps': return 'it has no step.';
    case 'too-many-steps': return `it has more than ${MAX_STEPS} steps.`;
    case 'unknown-worker': return 'one of its steps has a worker that does not take part in this run.';
    case 'malformed-subtask': return `each step needs an instruction of 1 to ${MAX_SUBTASK_LENGTH.toLocaleString('en')} characters.`;
    case 'malformed-access':
    case 'forward-reference': return 'a step may only read earlier steps.';
    case 'unequal-lengths': return 'each step needs a worker, an instruction and what it may read.';
    default: return message;
  }
}

/** The plan of the round that waits for a person. @param attemptId of the plan that the person was shown @throws RunRefusedError */
export function waitingPlan(run: RunSnapshot, round: number, attemptId: string): RoundView & { readonly plan: Plan } {
  const view = run.rounds[round];
  if (run.state !== 'waiting' || !view?.plan || view.review?.state !== 'waiting') {
    throw new RunRefusedError(`No plan of run "${run.runId}" waits for you: it was decided about, or the run is over.`);
  }
  if (view.planAttempt?.attemptId !== attemptId) throw new RunRefusedError('Another plan waits by now: look at it first.');
  return { ...view, plan: view.plan };
}

/** What a person decided to let run: the plan that waits, or the changed one in its place. @throws RunRefusedError */
export function approval(
  run: RunSnapshot, { round, attemptId, plan: raw, forTraining }: { readonly round: number; readonly attemptId: string; readonly plan?: RawPlan | undefined; readonly forTraining: boolean },
): PlanDecision[] {
  const { plan: planned } = waitingPlan(run, round, attemptId);
  const plan = raw && checkedPlan(run, raw);
  const revisions = roundsBefore(run, round).length;
  const isChanged = plan !== undefined && JSON.stringify(plannedSteps(plan, revisions)) !== JSON.stringify(plannedSteps(planned, revisions));
  return [...(isChanged ? [{ type: 'plan.edited' as const, round, ...plannedSteps(plan, revisions), forTraining }] : []), { type: 'plan.approved', round }];
}
