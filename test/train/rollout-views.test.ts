import { describe, expect, it } from 'vitest';
import { runEventSchema, type RunEvent, type StoredEvent } from '../../backend/protocol/run-events.ts';
import { runRequestSchema } from '../../backend/protocol/run-request.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { NO_USAGE } from '../../backend/protocol/token-counts.ts';
import { budgetSchema, workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { REWARD_DEFAULTS } from '../../backend/train/grpo/reward.ts';
import { rolloutLine, wholeRollout } from '../../backend/train/rollouts/rollout-views.ts';

const SPENT = { usage: NO_USAGE, cost: { usd: 0.001, estimated: false }, durationMs: 1 };
const POOL = ['claude', 'gpt'].map((id) => workerConfigSchema.parse({ id, model: id, provider: 'openai' }));
const LONG = 'Read. '.repeat(100);

function runOf(events: readonly object[], { rounds = 1 }: { rounds?: 1 | 2 } = {}): RunSnapshot {
  const accepted: RunEvent = {
    type: 'run.accepted', kind: 'rollout', request: runRequestSchema.parse({ question: LONG, rounds }), pool: POOL,
    policy: { kind: 'local', model: 'tiny', promptVersion: '1' }, budget: budgetSchema.parse({}),
  };
  return snapshotOf([accepted, ...events.map((event) => runEventSchema.parse(event))].map((event, index): StoredEvent =>
    ({ runId: 't.0.1.2', seq: index + 1, at: index, event })));
}

const proposed = (round: number, text: string, subtasks: readonly string[]): object => ({
  type: 'plan.proposed', round, attemptId: `p${round}`, text, plan: { modelIds: subtasks.map((_, index) => index), subtasks, accessList: subtasks.map(() => []) },
  steps: subtasks.map((subtask, worker) => ({ worker, subtask, reads: worker === 0 ? [] : [0], readsPreviousRound: false })), ...SPENT,
});
const completed = { type: 'step.completed', round: 0, step: 0, attemptId: 'a', output: 'x'.repeat(30_000), finishReason: 'stop', ...SPENT };
const rejected = { type: 'plan.rejected', round: 0, attemptId: 'p', reason: 'truncated', message: 'It was cut off.', text: `${LONG}the end`, ...SPENT };

const line = (run: RunSnapshot, more: Partial<Parameters<typeof rolloutLine>[0]> = {}) => {
  const completion = { text: `${LONG}the end`, tokens: [], logprobs: [], promptTokens: [], finishReason: 'length' as const };
  return rolloutLine({ at: { step: 0, place: 1 }, plan: { sample: 2, completion }, run, ...more }, REWARD_DEFAULTS);
};

describe('a rollout in a list', () => {
  it('names each step with its worker, cut short, and what came of it', () => {
    const run = runOf([proposed(0, 'Plan', [LONG, 'Write.'])]);
    const running = line(run);
    expect(running).toMatchObject({ runId: 't.0.1.2', place: 1, sample: 2, revises: false, outcome: 'running', steps: [{ worker: 'claude' }, { worker: 'gpt', subtask: 'Write.' }] });
    expect([running.question.length, running.steps[0]?.subtask.length, running.reward]).toEqual([120, 160, undefined]);
    expect(line(run, { outcome: { kind: 'judged', verified: true, score: 1, costUsd: 0.25 } })).toMatchObject({ outcome: 'verified', reward: 1, costUsd: 0.25 });
    expect(line(run, { outcome: { kind: 'judged', verified: false, score: 0, costUsd: 0 } })).toMatchObject({ outcome: 'not-verified', reward: 0.5 });
    expect(line(run, { outcome: { kind: 'infrastructure' } })).toMatchObject({ outcome: 'unknown' });
  });

  it('that is no plan shows how its text ends', () => {
    const told = line(runOf([rejected]), { outcome: { kind: 'unparseable' } });
    expect(told).toMatchObject({ outcome: 'unparseable', reward: 0, steps: [] });
    expect(told.text).toMatch(/^….{92}the end$/);
  });

  it('that revises a plan shows its own plan and not the one before', () => {
    const revises = { text: 'First', tokens: [], logprobs: [], promptTokens: [], finishReason: 'stop' as const };
    const run = runOf([proposed(0, 'First', ['Read.']), proposed(1, 'Second', ['Read.', 'Write.'])], { rounds: 2 });
    expect(line(run, { plan: { sample: 0, completion: revises, revises: [revises] } })).toMatchObject({ revises: true, steps: [{}, {}] });
    expect(wholeRollout(run).text).toBe('Second');
  });
});

describe('a whole rollout', () => {
  it('has the plan as it was written, every step in full, who reads whom, and answers up to a bound', () => {
    const whole = wholeRollout(runOf([proposed(0, 'Plan', [LONG, 'Write.']), completed]));
    expect(whole).toMatchObject({ text: 'Plan', steps: [{ worker: 'claude', subtask: LONG, reads: [], state: 'completed' }, { worker: 'gpt', reads: [0], state: 'pending' }] });
    expect(whole.steps[0]?.output?.length).toBe(20_000);
  });

  it('that is no plan says why', () => {
    expect(wholeRollout(runOf([rejected]))).toMatchObject({ steps: [], message: 'It was cut off.', text: `${LONG}the end` });
  });
});
