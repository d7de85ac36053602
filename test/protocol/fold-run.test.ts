import { expect, it } from 'vitest';
import { runEventSchema } from '../../backend/protocol/run-events.ts';
import { answerOf, elapsedOf } from '../../backend/protocol/run-facts.ts';
import { NO_USAGE } from '../../backend/protocol/token-counts.ts';
import { PLAN, Script } from '../webview/fixtures.ts';
import { REGRESSED, VERIFIED } from '../webview/verdict-fixtures.ts';

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

it('a step took as long as all its turns and what was done between them, without the time for which the run stood still', () => {
  const step = { kind: 'step', step: 0 } as const;
  const bill = { usage: NO_USAGE, cost: { usd: 0, estimated: false } };
  const turn = (script: Script, durationMs: number): Script => script.start(0, step, 'claude').say({ type: 'step.turned', round: 0, step: 0, attemptId: 'a', text: 'Look.', ...bill, durationMs });
  const script = turn(new Script().plan(0, PLAN), 1_000).say({ type: 'step.observed', round: 0, step: 0, text: 'Seen.' }, 400);
  turn(script, 2_000).say({ type: 'run.resumed', reason: 'restart' }, 60_000).say({ type: 'step.observed', round: 0, step: 0, text: 'Seen again.' }, 50);
  script.start(0, step, 'claude').say({ type: 'step.completed', round: 0, step: 0, attemptId: 'b', output: 'Done.', finishReason: 'stop', ...bill, durationMs: 500 });
  expect(script.run().rounds[0]?.steps[0]?.durationMs).toBe(1_000 + 400 + 2_000 + 500);
});

it('a run with attempts that stopped offers the best of them by the tests', () => {
  const script = new Script({ attempts: 3 });
  for (const [round, verdict] of [[0, REGRESSED], [1, VERIFIED], [2, REGRESSED]] as const) {
    script.plan(round, { ...PLAN, modelIds: [1], subtasks: ['Mend it.'], accessList: [[]] }).step(round, 0, 'claude', `Answer ${round}.`, { ms: 900 })
      .say({ type: 'answer.ready', round, step: 0, edits: [], refused: [] }).verdict(round, verdict);
  }
  const stopped = script.say({ type: 'run.stopped', reason: 'budget', message: 'The budget is spent.' }).run();
  expect(answerOf(stopped)).toMatchObject({ text: 'Answer 1.', round: { index: 1 } });
  // Rounds revise each other: the last one counts.
  expect(answerOf({ ...stopped, request: { ...stopped.request, attempts: 1 } })?.text).toBe('Answer 2.');
});
