import { expect, it } from 'vitest';
import { elapsedOf } from '../../backend/protocol/run-snapshot.ts';
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
