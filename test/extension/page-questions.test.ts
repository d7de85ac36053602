import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../backend/protocol/methods.ts';
import { replyTo } from '../../extension/panel/page-questions.ts';
import { RunList } from '../../extension/runs/run-list.ts';
import { connectionOver, FakeBackend } from './fake-backend.ts';

const summary = (runId: string, acceptedAt: number): RunSummary => ({
  runId, kind: 'solve', question: 'Why?', state: 'completed', acceptedAt, updatedAt: acceptedAt, usd: 0, unpricedTokens: 0, simulated: false,
});

function asking(backend: FakeBackend, folders: readonly string[]) {
  const { connection } = connectionOver([backend]);
  const decided: object[] = [];
  return {
    connection,
    list: new RunList({ connection, folders: () => folders }),
    runCommands: {
      remove: (runId?: string) => Promise.resolve(runId === 'r1'),
      approvePlan: async (decision: object) => void decided.push(decision),
      replan: () => Promise.reject(new Error('Another plan waits by now.')),
      takeBackLeftOut: async (runId: string) => void decided.push({ runId }),
      decideFailedBefore: async (decision: object) => void decided.push(decision),
    },
    decided,
  };
}

describe('what the page asks', () => {
  it('is, for a prompt, asked of the backend', async () => {
    const messages = [{ role: 'user', content: 'Do this.' }];
    const backend = new FakeBackend().answer('run/prompt', () => ({ messages }));
    const reply = await replyTo({ type: 'stepPrompt', ask: 1, runId: 'r1', round: 1, step: 2 }, asking(backend, []));
    expect(reply).toEqual(messages);
    expect(backend.callsOf('run/prompt')).toEqual([{ runId: 'r1', round: 1, step: 2 }]);
  });

  it('is, for a plan that is being changed, what it is expected to cost', async () => {
    const range = { low: 1, high: 2 };
    const estimate = { usd: range, tokens: range, steps: [{ from: 'limits', steps: 0, tokens: range }], unpriced: [], left: { usd: 1, tokens: 1 } };
    const backend = new FakeBackend().answer('run/estimatePlan', () => ({ estimate }));
    const plan = { modelIds: [0], subtasks: ['Do it.'], accessList: [[]] };
    expect(await replyTo({ type: 'planEstimate', ask: 1, runId: 'r1', round: 0, plan }, asking(backend, []))).toEqual(estimate);
    expect(backend.callsOf('run/estimatePlan')).toEqual([{ runId: 'r1', round: 0, plan }]);
  });

  it('is, for a decision about a plan, left to the command, whose refusal is the reply', async () => {
    const asked = asking(new FakeBackend(), []);
    const decision = { runId: 'r1', round: 0, attemptId: 'a', forTraining: true };
    expect(await replyTo({ type: 'approvePlan', ask: 1, ...decision }, asked)).toBe(true);
    expect(asked.decided).toEqual([decision]);
    await expect(replyTo({ type: 'replan', ask: 2, runId: 'r1', round: 0, attemptId: 'a' }, asked)).rejects.toThrow('Another plan waits');
  });

  it('is, for what becomes of tests that failed before, left to the command', async () => {
    const asked = asking(new FakeBackend(), []);
    const decision = { runId: 'r1', round: 0, failedBefore: 'leave-out' as const };
    expect(await replyTo({ type: 'decideFailedBefore', ask: 1, ...decision }, asked)).toBe(true);
    expect(await replyTo({ type: 'takeBackLeftOut', ask: 2, runId: 'r1' }, asked)).toBe(true);
    expect(asked.decided).toEqual([decision, { runId: 'r1' }]);
  });

  it('is, for a run to be removed, left to the command, which asks the person', async () => {
    const asked = asking(new FakeBackend(), []);
    expect(await replyTo({ type: 'removeRun', ask: 1, runId: 'r1' }, asked)).toBe(true);
    expect(await replyTo({ type: 'removeRun', ask: 2, runId: 'r2' }, asked)).toBe(false);
  });

  it('is, for past runs, looked for in the window\'s folders alone, newest first', async () => {
    const backend = new FakeBackend().answer('run/list', (params) =>
      ({ runs: (params as { workspace: string }).workspace === '/a' ? [summary('a2', 4), summary('a1', 1)] : [summary('b1', 3)] }));
    const asked = asking(backend, ['/a', '/b']);
    expect(await replyTo({ type: 'findRuns', ask: 1, search: 'why' }, asked)).toMatchObject([{ runId: 'a2' }, { runId: 'b1' }, { runId: 'a1' }]);
    await replyTo({ type: 'findRuns', ask: 2, search: '' }, asked);
    // Whatever the list itself asks for once it is connected has the limit of the list.
    expect(backend.callsOf('run/list')).toEqual(expect.arrayContaining([
      { limit: 500, search: 'why', workspace: '/a' }, { limit: 500, search: 'why', workspace: '/b' },
      { limit: 500, workspace: '/a' }, { limit: 500, workspace: '/b' },
    ]));
  });
});
