import { meanOf } from '../common/mean-of.ts';
import type { FirstPlan, Journal } from '../journal/journal.ts';
import type { PlanningRecord, RecordOf } from './choose-planner.ts';

/** Older runs say little about a model that its provider may have changed. */
const RUNS = 100;

/** How the latest plans of each worker turned out, according to the journal. Read at the first use, and then kept. */
export function planningRecords(journal: Pick<Journal, 'firstPlans'>): RecordOf {
  let plans: readonly FirstPlan[] | undefined;
  return ({ id, model }) => {
    plans ??= journal.firstPlans(RUNS);
    const own = plans.filter((plan) => plan.planner === id && plan.model === model);
    return own.length === 0 ? undefined : recordOf(own);
  };
}

function recordOf(plans: readonly FirstPlan[]): PlanningRecord {
  const valid = plans.filter(({ isValid }) => isValid);
  const costs = valid.flatMap(({ usd }) => usd ?? []);
  return {
    runs: plans.length,
    valid: valid.length,
    ...(valid.length > 0 && { durationMs: meanOf(valid.map(({ durationMs }) => durationMs)) }),
    ...(valid.length > 0 && costs.length === valid.length && { usd: meanOf(costs) }),
  };
}
