import { expect, it } from 'vitest';
import { runEventSchema } from '../../backend/protocol/run-events.ts';
import { elapsedOf } from '../../backend/protocol/run-snapshot.ts';
import { NO_USAGE } from '../../backend/protocol/token-counts.ts';
import { PLAN, Script } from '../webview/fixtures.ts';

it('the time for which a run was cancelled, stopped or interrupted is not counted as its own', () => {
  const script = new Script().context().plan(0, PLAN);
  const before = elapsedOf(script.run(), script.now);
  script.say({ type: 'run.cancelled' }, 10).say({ type: 'run.resumed', reason: 'user' }, 60_000);
  expect(elapsedOf(script.run(), script.now)).toBe(before + 10);
  script.say({ type: 'run.resumed', reason: 'restart' }, 5_000);
  expect(elapsedOf(script.run(), script.now + 7)).toBe(before + 17);
  expect(script.run().rounds[0]?.pausedMs).toBe(65_000);
  const over = script.say({ type: 'run.cancelled' }, 3).run();
  expect(elapsedOf(over, script.now + 99_999)).toBe(before + 13);
});

it('a journal that says in sentences for models what was mended is read as one that does not say it', () => {
  const event = {
    type: 'plan.proposed', round: 0, attemptId: '1', text: '', plan: { modelIds: [0], subtasks: ['Answer.'], accessList: [[]] }, steps: [],
    usage: NO_USAGE, cost: { estimated: false }, durationMs: 1,
  };
  const mended = { wrong: [{ rule: 'last', step: 0 }], written: 1, reworded: [0], rewired: [] };
  expect(runEventSchema.parse({ ...event, mended })).toMatchObject({ mended });
  expect(runEventSchema.parse({ ...event, mended: ['The last step returns words.'] })).toMatchObject({ type: 'plan.proposed', mended: undefined });
});
