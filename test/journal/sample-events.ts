import type { RunEvent, RunEventOf } from '../../backend/protocol/run-events.ts';
import { runEventSchema } from '../../backend/protocol/run-events.ts';
import type { Usage } from '../../backend/protocol/usage.ts';

/* Events to fill journals with, in forms that the protocol's schemas accept. */

export const usage: Usage = { uncachedInput: 900, cacheRead: 40, cacheWrite: 10, output: 200, reasoning: 50, estimated: false };
const spent = { usage, cost: { usd: 0.0125, estimated: false }, durationMs: 1_500 };
const unpriced = { usage, cost: { estimated: false }, durationMs: 700 };

type Overrides = Record<string, unknown>;

export function accepted(overrides: Overrides = {}, request: Overrides = {}): RunEventOf<'run.accepted'> {
  return runEventSchema.parse({
    type: 'run.accepted',
    kind: 'solve',
    request: { question: 'Why does mergeIntervals lose the last interval?', workspace: '/projects/sample', ...request },
    pool: [
      { id: 'first', provider: 'openai', model: 'model-a', key: 'OPENAI_API_KEY' },
      { id: 'second', provider: 'openai-compatible', model: 'model-b', baseUrl: 'http://127.0.0.1:8080/v1' },
    ],
    policy: { kind: 'endpoint', model: 'model-a', promptVersion: 'full-1' },
    budget: {},
    ...overrides,
  }) as RunEventOf<'run.accepted'>;
}

export function stepCompleted(output: string, step = 0): RunEvent {
  return { type: 'step.completed', round: 0, step, attemptId: `a${step}`, output, finishReason: 'stop', ...spent };
}

export function resumed(): RunEvent {
  return { type: 'run.resumed', reason: 'restart' };
}

/** A run with two rounds that meets most of what can happen, but for its beginning. */
export function eventfulRun(longText: string): RunEvent[] {
  const failure = { kind: 'overloaded', message: 'The server is overloaded: try again later.', retryable: true };
  const subtasks = ['Find the bug.', 'Write a test.', 'Mend it.'];
  const plan = { modelIds: [0, 1, 0], subtasks, accessList: [[], [], 'all' as const] };
  const steps = [
    { worker: 0, subtask: 'Find the bug.', reads: [], readsPreviousRound: false },
    { worker: 1, subtask: 'Write a test.', reads: [], readsPreviousRound: false },
    { worker: 0, subtask: 'Mend it.', reads: [0, 1], readsPreviousRound: true },
  ];
  const range = { low: 0.01, high: 0.02 };
  const held: RunEvent = {
    type: 'plan.held', round: 0,
    estimate: { usd: range, tokens: range, steps: steps.map(() => ({ from: 'kind', steps: 3, usd: range, tokens: range })), unpriced: [], left: { usd: 1, tokens: 9_000 } },
  };
  const started = (round: number, purpose: RunEventOf<'attempt.started'>['purpose'], attemptId: string): RunEvent => ({
    type: 'attempt.started', round, purpose, attemptId, worker: 'first', number: 1, reserved: { usd: 0.05, tokens: 9_000 },
  });
  return [
    { type: 'run.waiting', for: 'secret', message: 'The key OPENAI_API_KEY is missing.' },
    {
      type: 'context.gathered',
      pieces: [{ path: 'src/intervals.ts', startLine: 1, endLine: 40, reason: 'named in the question', tokens: 300 }],
      leftOut: [{ path: '.env', reason: 'its name says that it holds secrets' }],
      tokens: 300,
      text: longText,
    },
    { type: 'try.omitted', because: 'no-tests' },
    started(0, { kind: 'plan' }, 'p0'),
    {
      type: 'plan.rejected', round: 0, attemptId: 'p0', text: 'no plan', reason: 'no-steps',
      message: 'There is no step.', ...spent,
    },
    started(0, { kind: 'plan' }, 'p1'),
    { type: 'plan.proposed', round: 0, attemptId: 'p1', text: 'a plan', plan, steps, ...spent },
    held,
    { type: 'base.started', command: 'npm test' },
    { type: 'plan.discarded', round: 0, wish: 'Test it.' },
    { type: 'plan.proposed', round: 0, attemptId: 'p1', text: 'a plan', plan, steps, ...spent },
    held,
    { type: 'plan.edited', round: 0, plan, steps, forTraining: true },
    { type: 'plan.approved', round: 0 },
    started(0, { kind: 'step', step: 0 }, 's0'),
    {
      type: 'attempt.failed', round: 0, purpose: { kind: 'step', step: 0 }, attemptId: 's0', failure, retryInMs: 500,
      usage: { ...usage, estimated: true }, cost: { usd: 0.001, estimated: true }, durationMs: 20,
    },
    started(0, { kind: 'step', step: 0 }, 's1'),
    { type: 'step.completed', round: 0, step: 0, attemptId: 's1', output: longText, finishReason: 'stop', ...spent },
    { type: 'step.turned', round: 0, step: 1, attemptId: 't1', text: 'Show me the tests.', ...spent },
    { type: 'step.observed', round: 0, step: 1, text: 'There are two.' },
    { type: 'step.reassigned', round: 0, step: 1, from: 1, to: 0, failure },
    { type: 'step.failed', round: 0, step: 1, failure },
    { type: 'step.skipped', round: 0, step: 2, reason: 'Step 2, whose output it reads, failed.' },
    { type: 'verdict.held', round: 0, tests: ['test/a.test.ts > a'] },
    { type: 'verdict.decided', round: 0, tests: ['test/a.test.ts > a'], failedBefore: 'leave-out' },
    { type: 'budget.warned', limit: 'runUsd', spent: 0.9, of: 1 },
    { type: 'run.stopped', reason: 'budget', message: 'The budget of the run is spent.' },
    { type: 'run.resumed', reason: 'user' },
    { type: 'step.completed', round: 0, step: 1, attemptId: 's2', output: 'a test', finishReason: 'length', ...unpriced },
    { type: 'answer.returned', round: 0, step: 1, text: 'It cannot be applied.' },
    { type: 'step.completed', round: 0, step: 2, attemptId: 's3', output: `${longText}\nmended`, finishReason: 'stop', ...spent },
    {
      type: 'answer.ready', round: 0, step: 2,
      edits: [{ path: 'src/intervals.ts', kind: 'modify', diff: '--- a\n+++ b\n' }],
      refused: [{ path: '../outside.ts', reason: 'It leaves the workspace.' }],
    },
    { type: 'verify.started', round: 0, command: 'node --test', sandboxed: true },
    {
      type: 'verify.completed', round: 0,
      verdict: {
        verified: false, score: 0.5, outcome: 'failed', reason: 'One test still fails.', command: 'node --test', sandboxed: true, notes: [],
        durationMs: 400,
        tests: [{
          id: 'intervals.test.ts > keeps the last', before: 'failed', after: 'failed', message: 'expected 2', durationMs: 3,
        }],
      },
    },
    started(1, { kind: 'plan' }, 'p2'),
    { type: 'plan.kept', round: 1, attemptId: 'p2', text: 'model_id = []', ...spent },
    { type: 'run.completed', outcome: 'not-verified', round: 0, message: 'The tests do not pass.' },
  ];
}
