import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import { done, endedBy, judged, planned, ran, turned } from './judged.ts';
import { accepted, usage } from './sample-events.ts';
import { openJournal, temporaryFile } from './temporary.ts';

const HERE = '/projects/sample';
const TOKENS = usage.uncachedInput + usage.cacheRead + usage.cacheWrite + usage.output + usage.reasoning;

describe('the steps that tests judged', () => {
  it('are those of each plan with a verdict: who did what, in which role, for how much, and what the tests said of the plan', () => {
    let clock = 0;
    const journal = openJournal(temporaryFile(), { now: () => (clock += 1_000) });
    ran(journal, 'r1', [
      planned([0, 1], { subtasks: ['Diagnose it.', 'Write the fix.'] }), turned(0, 0.01, 500), done(0, 0.02, 1_500), done(1, 0.04, 8_000), judged('failed'),
      planned([1], { round: 1 }), done(0, 0.05, 4_000, { round: 1 }), judged('verified', { round: 1 }), { type: 'run.completed', outcome: 'verified', round: 1, message: 'm' },
    ], { asks: { kind: 'bug', wants: 'change' } });
    const shared = { runId: 'r1', source: 'question', project: HERE, kind: 'bug', at: 10_000 };
    expect(journal.judgedSteps(10)).toEqual([
      { ...shared, round: 0, step: 0, steps: 2, judgement: 'failed', worker: 'first', model: 'model-a', role: 'plan', usd: expect.closeTo(0.03) as number, tokens: 2 * TOKENS, durationMs: 2_000 },
      { ...shared, round: 0, step: 1, steps: 2, judgement: 'failed', worker: 'second', model: 'model-b', role: 'write', usd: 0.04, tokens: TOKENS, durationMs: 8_000 },
      { ...shared, round: 1, step: 0, steps: 1, judgement: 'verified', worker: 'second', model: 'model-b', role: 'write', usd: 0.05, tokens: TOKENS, durationMs: 4_000 },
    ]);
  });

  it('say whether a question, an attempt, a local try or a training asked for them, and of which project a rollout is', () => {
    const journal = openJournal();
    const plain = [planned([0]), done(0, 1), ...endedBy('verified')];
    ran(journal, 'question', plain);
    ran(journal, 'attempt', plain, {}, { attempts: 2 });
    ran(journal, 'try', [{ type: 'try.begun', round: 0, record: { tried: 0, verified: 0 } }, ...plain]);
    ran(journal, 'rollout', plain, { kind: 'rollout', countsAs: { project: HERE, kind: 'bug' } }, { workspace: '/trainings/copy' });
    ran(journal, 'old', plain, { kind: 'evaluation' }, { workspace: '/trainings/copy' });
    const bySource = Object.fromEntries(journal.judgedSteps(10).map(({ runId, source, project, kind }) => [runId, [source, project, kind]]));
    expect(bySource).toEqual({
      'question': ['question', HERE, 'unclear'], 'attempt': ['attempt', HERE, 'unclear'], 'try': ['try', HERE, 'unclear'],
      'rollout': ['rollout', HERE, 'bug'], 'old': ['evaluation', '/trainings/copy', 'unclear'],
    });
  });

  it('have no cost where the price of a call was unknown, and no time where the answer was known before', () => {
    const journal = openJournal();
    ran(journal, 'r1', [planned([0, 1]), done(0, undefined), done(1, 0, 0), ...endedBy('verified')]);
    const [first, second] = journal.judgedSteps(10);
    expect(first).not.toHaveProperty('usd');
    expect(second).toMatchObject({ usd: 0 });
    expect(second).not.toHaveProperty('durationMs');
  });

  it('are not those that no test judged, that another run paid for, that a person stopped, that are simulated, or whose run is not over', () => {
    const journal = openJournal();
    const begun = [planned([0]), done(0, 1)];
    ran(journal, 'words', [...begun, { type: 'run.completed', outcome: 'answered', round: 0, message: 'm' }]);
    ran(journal, 'no result', [...begun, ...endedBy('infrastructure')]);
    ran(journal, 'nothing to prove', [...begun, ...endedBy('refused')]);
    ran(journal, 'under way', [...begun, judged('verified')]);
    ran(journal, 'stopped', [planned([0]), done(0, 1, 1, { finishReason: 'stopped' }), ...endedBy('verified')]);
    ran(journal, 'simulated', [...begun, ...endedBy('verified')], { pool: [{ id: 'first', provider: 'openai', model: 'model-a', simulated: true }] });
    ran(journal, 'edited', [planned([0]), { ...planned([1]), type: 'plan.edited', forTraining: false } as RunEvent, done(0, 1), ...endedBy('verified')]);
    expect(journal.judgedSteps(10)).toEqual([]);
    ran(journal, 'again', [planned([0, 1]), done(0, 0, 9_000, { keptFrom: 'words' }), done(1, 0.5), ...endedBy('verified')]);
    expect(journal.judgedSteps(10)).toMatchObject([{ runId: 'again', step: 1, steps: 2, worker: 'second' }]);
  });

  it('are those of a stand-in, and of a change that was refused because its files may not be written', () => {
    const journal = openJournal();
    const failure = { kind: 'payment', message: 'Nothing is left.', retryable: false };
    ran(journal, 'handed on', [planned([0]), { type: 'step.reassigned', round: 0, step: 0, from: 0, to: 1, failure }, done(0, 1), ...endedBy('failed')]);
    ran(journal, 'refused', [
      planned([0]), done(0, 1), { type: 'answer.ready', round: 0, step: 0, edits: [], refused: [{ path: 'test/a.test.ts', reason: 'it is a test' }] }, ...endedBy('refused'),
    ]);
    const whom = journal.judgedSteps(10).map(({ runId, worker, judgement }) => [runId, worker, judgement]);
    expect(new Set(whom)).toEqual(new Set([['handed on', 'second', 'failed'], ['refused', 'first', 'failed']]));
  });

  it('are refuted where tests that the answer passes failed with their own change', () => {
    const journal = openJournal();
    const tried = (failed: number, problem?: string): RunEvent => ({ type: 'step.tried', round: 0, step: 0, text: 't', passed: 1, failed, durationMs: 9, ...(problem !== undefined && { problem }) });
    const test = (more: object = {}) => ({ id: 'a', before: 'failed' as const, after: 'passed' as const, ...more });
    const first = (runId: string, trial: RunEvent, verdict: RunEvent): unknown => {
      ran(journal, runId, [planned([0, 1]), done(0, 1), { type: 'step.trying', round: 0, step: 0 }, trial, done(1, 1), verdict, { type: 'run.completed', outcome: 'verified', round: 0, message: 'm' }]);
      const [step, next] = journal.judgedSteps(100).filter((one) => one.runId === runId);
      expect(next?.isRefuted).toBeUndefined();
      return [step?.judgement, step?.isRefuted];
    };
    const verified = judged('verified', { tests: [test()] });
    expect(first('wrong', tried(2), verified)).toEqual(['verified', true]);
    expect(first('right', tried(0), verified)).toEqual(['verified', undefined]);
    expect(first('not tried', tried(0, 'No test command is known.'), verified)).toEqual(['verified', undefined]);
    // Those that fail may be the ones that do not count.
    expect(first('left out', tried(1), judged('verified', { tests: [test(), test({ id: 'b', after: 'failed', leftOut: true })] }))).toEqual(['verified', undefined]);
    expect(first('flaky', tried(1), judged('verified', { tests: [test(), test({ id: 'b', flaky: true })] }))).toEqual(['verified', undefined]);
    expect(first('all wrong', tried(1), judged('failed', { tests: [test({ after: 'failed' })] }))).toEqual(['failed', undefined]);
  });

  it('are written anew when a run is gone on with, and are gone with their run', () => {
    const journal = openJournal();
    ran(journal, 'r1', [planned([0]), done(0, 1), judged('failed'), { type: 'run.cancelled' }]);
    expect(journal.judgedSteps(10)).toMatchObject([{ judgement: 'failed' }]);
    journal.append('r1', [
      { type: 'run.resumed', reason: 'user' }, planned([1], { round: 1 }), done(0, 1, 1, { round: 1 }), judged('verified', { round: 1 }),
      { type: 'run.completed', outcome: 'verified', round: 1, message: 'm' },
    ]);
    expect(journal.judgedSteps(10)).toMatchObject([{ round: 0, judgement: 'failed' }, { round: 1, judgement: 'verified' }]);
    journal.remove(['r1']);
    expect(journal.judgedSteps(10)).toEqual([]);
  });

  it('are forgotten for a project or for all, once, and the runs stay', () => {
    const journal = openJournal();
    const plain = [planned([0]), done(0, 1), ...endedBy('verified')];
    ran(journal, 'here', plain);
    ran(journal, 'elsewhere', plain, {}, { workspace: '/projects/other' });
    expect(journal.forgetJudgedSteps(HERE)).toBe(1);
    expect(journal.judgedSteps(10).map(({ runId }) => runId)).toEqual(['elsewhere']);
    expect(journal.snapshot('here')).toMatchObject({ outcome: 'verified' });
    expect(journal.forgetJudgedSteps(undefined)).toBe(1);
    expect(journal.judgedSteps(10)).toEqual([]);
    expect(journal.list({ limit: 10 })).toHaveLength(2);
  });

  it('need no long text, and an event that cannot be read costs its own run only', () => {
    const file = temporaryFile();
    const journal = openJournal(file);
    const begun = [planned([0]), done(0, 0.01, 1_000, { output: 'x'.repeat(100_000) })];
    for (const runId of ['whole', 'damaged']) ran(journal, runId, begun);
    const database = new DatabaseSync(file);
    database.exec('DELETE FROM blobs');
    database.prepare('UPDATE events SET body = ? WHERE run_id = ? AND type = ?').run('{', 'damaged', 'step.completed');
    database.close();
    for (const runId of ['whole', 'damaged']) journal.append(runId, endedBy('verified'));
    expect(journal.judgedSteps(10)).toMatchObject([{ runId: 'whole' }]);
  });

  it('of a journal of an earlier version are found when it is opened', () => {
    const file = temporaryFile();
    const before = openJournal(file);
    ran(before, 'r1', [planned([0]), done(0, 1), ...endedBy('verified')]);
    before.accept('under way', accepted());
    before.append('under way', [planned([0]), done(0, 1), judged('verified')]);
    const steps = before.judgedSteps(10);
    expect(steps).toHaveLength(1);
    before.close();
    const database = new DatabaseSync(file);
    database.exec('DROP TABLE judged_steps; DROP TABLE left_out_tests; PRAGMA user_version = 3');
    database.close();
    expect(openJournal(file).judgedSteps(10)).toEqual(steps);
  });
});
