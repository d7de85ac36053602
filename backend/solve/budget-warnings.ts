import type { Budget as JournalBudget } from '../journal/budget.ts';
import { DEFAULT_WARN_AT_PERCENT } from '../protocol/budget-limits.ts';
import type { RunEventOf } from '../protocol/run-events.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';
import { dayScope, runScope } from './run-ledger.ts';

/**
 * The warnings that are due: one for each limit of the run or the day that is nearly spent and was not yet reported for this run. The
 * day's limits count even if other runs spent them.
 * @param now milliseconds since 1970
 */
export function budgetWarnings(
  { runId, budget: limits, warnings = [] }: Pick<RunSnapshot, 'runId' | 'budget' | 'warnings'>, budget: Pick<JournalBudget, 'spent'>, now: number,
): RunEventOf<'budget.warned'>[] {
  const { runUsd, runTokens, dayUsd, dayTokens, warnAtPercent = DEFAULT_WARN_AT_PERCENT } = limits;
  const [run, day] = [runScope(runId, limits), dayScope(limits, now)].map(({ name }) => budget.spent(name));
  const all = [
    { limit: 'runUsd', spent: run?.usd ?? 0, of: runUsd },
    { limit: 'runTokens', spent: run?.tokens ?? 0, of: runTokens },
    { limit: 'dayUsd', spent: day?.usd ?? 0, of: dayUsd },
    { limit: 'dayTokens', spent: day?.tokens ?? 0, of: dayTokens },
  ] as const;
  return all
    .filter(({ limit, spent, of }) => spent >= (of * warnAtPercent) / 100 && !warnings.some((warned) => warned.limit === limit))
    .map((warning) => ({ type: 'budget.warned', ...warning }));
}
