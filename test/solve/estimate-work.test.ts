import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { costWords, estimateReasons, tokenWords } from '../../backend/protocol/work-estimate-words.ts';
import type { WorkEstimate } from '../../backend/protocol/work-estimate.ts';
import { estimateWork } from '../../backend/solve/estimate-work.ts';
import type { PaidStep } from '../../backend/journal/paid-steps.ts';
import { accepted, usage } from '../journal/sample-events.ts';
import { openJournal } from '../journal/temporary.ts';

const LEFT = { usd: 1, tokens: 100_000 };
const PRICE = { inputPerMillion: 1, outputPerMillion: 10 };
const POOL = [
  { id: 'first', provider: 'openai', model: 'model-a', price: PRICE, maxOutputTokens: 1_000 },
  { id: 'second', provider: 'openai', model: 'model-b', maxOutputTokens: 500 },
  { id: 'free', provider: 'openai', model: 'model-c', price: { inputPerMillion: 0, outputPerMillion: 0 } },
  { id: 'hands', provider: 'openai', model: 'model-a', price: PRICE, maxOutputTokens: 1_000, hands: 'tools' },
  { id: 'agent', provider: 'acp', model: 'model-a', agent: { command: ['some-agent'] } },
  { id: 'agent-with-amount', provider: 'acp', model: 'model-a', agent: { command: ['some-agent'], stepUsd: 0.4 } },
];
const run = (): RunSnapshot => snapshotOf([{ runId: 'r', seq: 1, at: 0, event: accepted({ pool: POOL }) }]);
const plan = (modelIds: number[], subtasks = modelIds.map(() => 'Write the code.'), accessList: number[][] = modelIds.map(() => [])) => ({ modelIds, subtasks, accessList });
const paid = (usd: number, subtask = 'Write the code.', id = 'first'): PaidStep => ({ worker: { id, model: 'model-a' }, subtask, tokens: usd * 100_000, usd });
const estimate = (modelIds: number[], record: PaidStep[] = [], ...more: [string[]?, number[][]?]) => estimateWork(run(), 0, plan(modelIds, ...more), record, LEFT);

describe('what a plan is expected to cost', () => {
  it('is what half of the worker\'s steps of the same kind cost in this project', () => {
    const record = [...[0.01, 0.02, 0.03, 0.04, 0.09].map((usd) => paid(usd)), paid(5, 'Check the code.'), paid(7, 'Write the code.', 'second')];
    expect(estimate([0], record)).toMatchObject({ usd: { low: 0.02, high: 0.04 }, tokens: { low: 2_000, high: 4_000 }, steps: [{ from: 'kind', steps: 5 }], unpriced: [] });
  });

  it('is what half of all its steps cost, where there are fewer than three of the kind', () => {
    const record = [paid(0.01, 'Check it.'), paid(0.02, 'Check it.'), paid(0.03, 'Check it.')];
    expect(estimate([0], record)).toMatchObject({ usd: { low: 0.015, high: 0.025 }, steps: [{ from: 'worker', steps: 3 }] });
    expect(estimate([0], record, ['Check it.'])).toMatchObject({ steps: [{ from: 'kind', steps: 3 }] });
  });

  it('is between what it is sent and the most that it may write, where there is too little of a record', () => {
    const { usd, tokens, steps } = estimate([0], [paid(0.01), paid(0.02)]);
    expect(steps).toMatchObject([{ from: 'limits', steps: 0 }]);
    expect(tokens.high - tokens.low).toBe(1_000);
    expect(tokens.low).toBeGreaterThan(100);
    expect(usd?.low).toBeCloseTo((tokens.low * 1) / 1e6, 12);
    expect(usd?.high).toBeCloseTo((tokens.low * 1 + 1_000 * 10) / 1e6, 12);
    // The record of another model under the same name is not its own, and neither is that of a worker with hands.
    expect(estimate([0], [0, 1, 2].map((usd) => ({ ...paid(usd), worker: { id: 'first', model: 'model-z' } }))).steps).toMatchObject([{ from: 'limits' }]);
    expect(estimate([3], [0, 1, 2].map((usd) => paid(usd, 'Write the code.', 'hands'))).steps).toMatchObject([{ from: 'limits' }]);
  });

  it('holds what a step reads of others, and of a step with hands all its turns', () => {
    const alone = estimate([0, 0]);
    const reading = estimate([0, 0], [], undefined, [[], [0]]);
    expect(reading.tokens.high - alone.tokens.high).toBe(1_000);
    expect(estimate([3]).tokens.high).toBe(300_000 + 30 * 1_000);
  });

  it('is unknown as a whole where one price is', () => {
    const mixed = estimate([0, 1]);
    expect(mixed.usd).toBeUndefined();
    expect(mixed.unpriced).toEqual(['second']);
    expect(mixed.steps.map(({ usd }) => usd !== undefined)).toEqual([true, false]);
  });

  it('is unknown for an agent without a record, which asks its model as often as it likes', () => {
    expect(estimate([4])).toMatchObject({ unpriced: ['agent'], tokens: { high: 100_000 } });
    expect(estimate([5])).toMatchObject({ usd: { low: 0, high: 0.4 }, unpriced: [] });
    expect(estimate([4], [0.1, 0.2, 0.3].map((usd) => paid(usd, 'Write the code.', 'agent')))).toMatchObject({ usd: { low: expect.closeTo(0.15), high: expect.closeTo(0.25) }, unpriced: [] });
  });

  it('is nothing for workers that cost nothing', () => {
    expect(estimate([2, 2]).usd).toEqual({ low: 0, high: 0 });
  });
});

describe('the record of paid steps', () => {
  const step = (worker: number, subtask: string) => ({ worker, subtask, reads: [], readsPreviousRound: false });
  const bill = (usd?: number) => ({ usage, cost: { usd, estimated: false }, durationMs: 1 });
  const completed = (at: number, usd?: number, more: object = {}): RunEvent => ({ type: 'step.completed', round: 0, step: at, attemptId: 'a', output: 'o', finishReason: 'stop', ...bill(usd), ...more });
  const proposed: RunEvent = {
    type: 'plan.proposed', round: 0, attemptId: 'p', text: 't', ...bill(9), plan: { modelIds: [0, 1], subtasks: ['Look.', 'Write.'], accessList: [[], []] }, steps: [step(0, 'Look.'), step(1, 'Write.')],
  };

  it('has each finished step with all its turns, also of runs that failed, under who did it and by the plan that ran', () => {
    const journal = openJournal();
    journal.accept('r1', accepted());
    journal.append('r1', [
      proposed,
      { type: 'plan.edited', round: 0, forTraining: false, plan: { modelIds: [1, 1], subtasks: ['Think.', 'Write.'], accessList: [[], []] }, steps: [step(1, 'Think.'), step(1, 'Write.')] },
      { type: 'step.turned', round: 0, step: 0, attemptId: 'a', text: 't', ...bill(0.01) },
      completed(0, 0.02),
      { type: 'step.turned', round: 0, step: 1, attemptId: 'a', text: 't', ...bill(7) },
      { type: 'step.reassigned', round: 0, step: 1, from: 1, to: 0, failure: { kind: 'network', message: 'm', retryable: true } },
      completed(1, undefined),
      { type: 'run.failed', failure: { kind: 'k', message: 'm', retryable: false } },
    ]);
    journal.accept('r2', accepted());
    journal.append('r2', [proposed, completed(0, 0.5, { keptFrom: 'r1' }), completed(1, 0.5, { finishReason: 'stopped' })]);
    journal.accept('elsewhere', accepted({}, { workspace: '/projects/other' }));
    journal.append('elsewhere', [proposed, completed(0, 3)]);
    expect(journal.paidSteps('/projects/sample', 50)).toMatchObject([
      { worker: { id: 'second' }, subtask: 'Think.', tokens: 2 * 1_200, usd: expect.closeTo(0.03) },
      { worker: { id: 'first' }, subtask: 'Write.', tokens: 1_200 },
    ]);
    expect(journal.paidSteps('/projects/sample', 50)[1]?.usd).toBeUndefined();
    expect(journal.paidSteps(undefined, 50)).toEqual([]);
  });
});

describe('the estimate in words', () => {
  const range = (low: number, high: number) => ({ low, high });
  const whole = (more: Partial<WorkEstimate>): WorkEstimate => ({
    usd: range(0.01234, 0.0456), tokens: range(1_200, 9_400), steps: [{ from: 'kind', steps: 4, tokens: range(1, 2) }], unpriced: [], left: LEFT, ...more,
  });
  const noPrice: WorkEstimate = { ...whole({ unpriced: ['second'] }), usd: undefined };

  it('says from what to what, or that it is unknown', () => {
    expect(costWords(whole({}))).toBe('about $0.012 to $0.046');
    expect(costWords(whole({ usd: range(0.02, 0.0201) }))).toBe('about $0.02');
    expect(costWords(whole({ usd: range(0, 0) }))).toBe('costs nothing');
    expect(costWords(noPrice)).toBe('unknown');
    expect(tokenWords(whole({}))).toBe('about 1.2k to 9.4k tokens');
  });

  it('says where it comes from, what it does not know, and that the budget may not hold it', () => {
    expect(estimateReasons(whole({}))).toEqual(['From what such steps cost in this project.']);
    expect(estimateReasons(noPrice)).toEqual(['What second will cost is not known.']);
    expect(estimateReasons(whole({ steps: [{ from: 'limits', steps: 0, tokens: range(1, 2) }] }))[0]).toContain('no record of such steps yet');
    expect(estimateReasons(whole({ steps: [{ from: 'limits', steps: 0, tokens: range(1, 2) }, { from: 'kind', steps: 3, tokens: range(1, 2) }] }))[0]).toContain('1 of 2 steps');
    expect(estimateReasons(whole({ left: { usd: 0.03, tokens: 9 } }))[1]).toContain('$0.03 more');
    expect(estimateReasons({ ...noPrice, left: { usd: 1, tokens: 9_000 } })[1]).toContain('9.0k more tokens');
  });
});
