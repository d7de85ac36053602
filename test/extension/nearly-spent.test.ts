import { describe, expect, it } from 'vitest';
import type { BudgetLimit } from '../../backend/protocol/worker-config.ts';
import type { StoredEvent } from '../../backend/protocol/run-events.ts';
import type { TrainingSummary } from '../../backend/protocol/training.ts';
import { isNews, nearlySpent, subjectOf, subjectOfTraining, type ToldMemory } from '../../extension/runs/nearly-spent.ts';

const NOON = new Date(2026, 10, 22, 12).getTime();
const DAY_MS = 24 * 3_600_000;
const warned = (limit: BudgetLimit, { runId = 'r1', at = NOON } = {}): StoredEvent =>
  ({ runId, seq: 7, at, event: { type: 'budget.warned', limit, spent: 8, of: 10 } });
const training = (more: Partial<TrainingSummary>): TrainingSummary =>
  ({ trainingId: 't1', state: 'training', spentUsd: 8, unpricedTokens: 0, maxUsd: 10, ...more }) as TrainingSummary;

/** What is shown of a row of subjects. */
function shown(subjects: readonly (string | undefined)[]): boolean[] {
  let told: readonly string[] = [];
  const memory: ToldMemory = { get: () => told, set: (now) => { told = now; } };
  return subjects.map((subject) => subject !== undefined && isNews(subject, memory));
}

describe('a limit that is nearly spent is told of', () => {
  it('once a run, in dollars or in tokens', () => {
    expect(shown([warned('runUsd'), warned('runTokens'), warned('runUsd', { runId: 'r2' })].map(subjectOf))).toEqual([true, false, true]);
  });

  it('once a day, whichever run it was', () => {
    const events = [warned('dayUsd'), warned('dayTokens', { runId: 'r2' }), warned('dayUsd', { runId: 'r3', at: NOON + DAY_MS })];
    expect(shown(events.map(subjectOf))).toEqual([true, false, true]);
  });

  it('once a training, and once more where its budget was raised', () => {
    expect(shown([training({}), training({ spentUsd: 9 }), training({ maxUsd: 20, spentUsd: 19 })].map(subjectOfTraining))).toEqual([true, false, true]);
  });

  it('and of nothing else', () => {
    expect(subjectOf({ runId: 'r1', seq: 1, at: NOON, event: { type: 'run.cancelled' } })).toBeUndefined();
  });
});

it.each<[string, Partial<TrainingSummary>, boolean]>([
  ['at the level', { spentUsd: 8 }, true],
  ['below it', { spentUsd: 7.99 }, false],
  ['at the level in tokens of workers without a price', { spentUsd: 0, unpricedTokens: 3_200_000 }, true],
  ['below that', { spentUsd: 0, unpricedTokens: 3_100_000 }, false],
  ['paused', { spentUsd: 9, state: 'paused' }, false],
  ['over', { spentUsd: 9, state: 'completed' }, false],
])('a training is near its limit or not: %s', (_what, more, near) => {
  expect(nearlySpent([training(more)], 80)).toHaveLength(near ? 1 : 0);
});
