import { KeyedRandom } from '../common/keyed-random.ts';
import { normalDraws } from '../common/normal-draws.ts';
import { wordedPlan } from '../conductor/plan/form-plan.ts';
import { mostSteps } from '../conductor/plan/read-plan.ts';
import { shapeOf } from '../conductor/plan/shape.ts';
import { profileOf } from '../conductor/prompt-profile.ts';
import { readQuestion } from '../conductor/question/read-question.ts';
import { roundsBefore } from '../protocol/run-facts.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import { roleOfStep } from '../protocol/step-role.ts';
import { isTrained } from '../protocol/worker-config.ts';
import type { PlanValue } from '../records/plan-value.ts';
import { workerKey } from '../records/worker-records.ts';
import type { Plan } from '../workflow/plan.ts';
import { askedQuestion, isInProject } from './asked-question.ts';
import { planByRecords } from './plan-by-records.ts';
import { wantedOf } from './round.ts';

/**
 * The plan that records choose in the place of a Conductor's own, with the words of its question; undefined where its own stays. That is so for
 * a Conductor that was told of records or trained with them, for a revision, and where no change is wanted.
 */
export function chosenPlan(run: RunSnapshot, round: number, plan: Plan, valueOf: () => PlanValue): Plan | undefined {
  const { pool, policy: { worker: planner }, recordsOff, request, asks } = run;
  if (recordsOff || run.kind !== 'solve' || !planner || isTrained(planner) || profileOf(planner).isInstructed) return undefined;
  const revisions = roundsBefore(run, round).length;
  // Tests say nothing of simulated workers.
  if (revisions > 0 || wantedOf(run) !== 'change' || pool.some(({ simulated }) => simulated)) return undefined;
  const value = valueOf();
  if (!pool.some((worker) => value.workers.has(workerKey(worker)))) return undefined;
  const question = readQuestion(askedQuestion(request), { inProject: isInProject(run) });
  const random = new KeyedRandom('plan by records', run.runId, round, run.seq);
  let draws = 0;
  const normal = normalDraws(() => random.unit(String((draws += 1))));
  const sampled = shapeOf(plan, plan.subtasks.map(roleOfStep));
  const chosen = planByRecords(sampled, {
    belief: value.belief({ project: request.workspace, kind: asks?.kind ?? question.kind }, normal), pool, mostSteps: mostSteps(question, revisions),
  });
  return chosen === sampled ? undefined : wordedPlan(chosen, question, revisions);
}
