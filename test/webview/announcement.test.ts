import { describe, expect, it } from 'vitest';
import { applyText } from '../../backend/protocol/fold-run.ts';
import { announcementOf } from '../../webview/announcement.ts';
import { PLAN, Script, streamingRun, verifiedRun } from './fixtures.ts';
import { VERIFIED } from './verdict-fixtures.ts';

describe('announcementOf', () => {
  it('calls attempts so, and says why one ended', () => {
    const script = new Script({ attempts: 2 }).context();
    const before = script.run();
    const planned = script.plan(0, { ...PLAN, modelIds: [1], subtasks: ['Mend it.'], accessList: [[]] }).run();
    expect(announcementOf(before, planned)).toBe('Attempt 1: planning. Attempt 1: plan with 1 step.');
    const failed = script.say({ type: 'round.failed', round: 0, failure: { kind: 'authentication', message: 'claude refused the key.', retryable: false } }).run();
    expect(announcementOf(planned, failed)).toBe('Attempt 1: failed. claude refused the key.');
  });

  it('tells the story of a run, one change at a time', () => {
    const script = new Script();
    let last = script.run();
    const heard: string[] = [];
    const hear = (): void => {
      const next = script.run();
      heard.push(announcementOf(last, next));
      last = next;
    };
    script.context();
    hear();
    script.plan(0, { ...PLAN, modelIds: [1], subtasks: ['Mend it.'], accessList: [[]] });
    hear();
    script.start(0, { kind: 'step', step: 0 }, 'claude');
    hear();
    script.fail(0, { kind: 'step', step: 0 }, 'claude is overloaded.', 3_000);
    hear();
    script.start(0, { kind: 'step', step: 0 }, 'claude', 2);
    script.complete(0, 0, 'Done.', { ms: 900 });
    hear();
    script.say({ type: 'answer.ready', round: 0, step: 0, edits: [], refused: [] }).verdict(0, VERIFIED);
    hear();
    script.say({ type: 'run.completed', outcome: 'verified', round: 0, message: 'The answer is verified.' });
    hear();
    expect(heard).toEqual([
      '',
      'Round 1: planning. Round 1: plan with 1 step.',
      'Step 1, claude: running.',
      'Step 1, claude: tries again. claude is overloaded.',
      'Step 1, claude: done.',
      'Verified, 14 of 14 tests pass.',
      'Verified.',
    ]);
  });

  it('says whose step another one does, and why', () => {
    const script = new Script().context().plan(0, PLAN).start(0, { kind: 'step', step: 0 }, 'gemini-pro');
    const before = script.run();
    const failure = { kind: 'payment', message: 'Worker "gemini-pro" has no credit left.', retryable: false };
    script.say({ type: 'step.reassigned', round: 0, step: 0, from: 0, to: 2, failure });
    expect(announcementOf(before, script.run())).toBe('Step 1: Worker "gemini-pro" has no credit left. Given to gpt-5 instead.');
  });

  it('says why a run stops', () => {
    const script = new Script();
    const before = script.run();
    script.say({ type: 'run.stopped', reason: 'budget', message: 'Raise the budget and resume.' });
    expect(announcementOf(before, script.run())).toBe('Stopped by the budget. Raise the budget and resume.');
  });

  it('is silent while text streams', () => {
    const run = streamingRun();
    const more = applyText(run, {
      runId: run.runId, round: 0, purpose: { kind: 'step', step: 0 }, attemptId: 'attempt-2', offset: 0, text: 'x',
    });
    expect(announcementOf(run, more)).toBe('');
  });

  it('is silent when another run is opened', () => {
    expect(announcementOf(new Script({ runId: 'other' }).run(), verifiedRun())).toBe('');
    expect(announcementOf(undefined, verifiedRun())).toBe('');
  });
});
