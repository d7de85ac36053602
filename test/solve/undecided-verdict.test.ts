import { expect, it } from 'vitest';
import type { FailedBefore } from '../../backend/protocol/run-request.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import type { Checker } from '../../backend/solve/checker.ts';
import { verdictDecision } from '../../backend/solve/failed-before.ts';
import { drivenRun, NO_TESTS, ONE_STEP, type DrivenRun } from './driven-run.ts';

/* Runs whose answers fail for tests that failed before, and a person who says what becomes of these. Verdicts are scripted: an answer names its red tests. */

const answer = (red: string): string => `[${red}]\n\`\`\`js src/a.js\nexport const a = 2;\n\`\`\``;
const request = { workspace: '/project', testCommand: 'node --test', failedBefore: 'ask' as const };

/** `t` fails as before, `!t` passed before. */
function verdictOf(text: string, leaveOut: readonly string[]): Verdict {
  const [, red = ''] = /\[(.*?)\]/.exec(text) ?? [];
  const tests = red.split(' ').filter((id) => id !== '').map((id) => ({
    id, before: id.startsWith('!') ? 'passed' as const : 'failed' as const, after: 'failed' as const, ...(leaveOut.includes(id) && { leftOut: true }),
  }));
  const fails = tests.some(({ leftOut }) => !leftOut);
  return { verified: false, score: 0, outcome: fails ? 'failed' : 'passes', reason: 'So it is.', tests, notes: [], command: 'node --test', sandboxed: true, durationMs: 1 };
}

const checker: Checker = {
  ...NO_TESTS,
  parsePatch: async (text) => ({ edits: !text.includes('```') ? [] : [{ path: 'src/a.js', kind: 'create', before: null, after: text }], refused: [] }),
  verify: async ({ patch, leaveOut }) => verdictOf(patch.edits[0]?.after ?? '', Array.isArray(leaveOut) ? leaveOut as string[] : []),
};

/** Drives the run with a person who decides one after another. */
function driveWith({ drive }: DrivenRun, ...decisions: FailedBefore[]): Promise<RunSnapshot> {
  return drive({
    checker,
    onEvent: ({ event }, recorder) => {
      const failedBefore = decisions[0];
      if (event.type !== 'verdict.held' || !failedBefore) return;
      decisions.shift();
      setImmediate(() => recorder.record(verdictDecision(recorder.snapshot, { round: event.round, failedBefore })));
    },
  });
}
const types = (run: DrivenRun): string[] => run.events().map(({ event: { type } }) => type).filter((type) => type.startsWith('verdict.') || type.startsWith('verify.c'));
const HELD = ['verify.completed', 'verdict.held', 'verdict.decided'];

it('judges the same answer again without the tests that a person leaves out, and pays for nothing', async () => {
  const run = await drivenRun([ONE_STEP, answer('t1 t2')], { ...request, rounds: 1 });
  const ended = await driveWith(run, 'leave-out');
  expect(ended).toMatchObject({ outcome: 'passes', rounds: [{ failedBefore: { state: 'leave-out', tests: ['t1', 't2'] }, verdict: { outcome: 'passes' } }] });
  expect(types(run)).toEqual([...HELD, 'verify.completed']);
  expect(run.asked).toHaveLength(2);
});

it('asks nobody where the next answer mends what the first did not', async () => {
  const run = await drivenRun([ONE_STEP, answer('t1'), ONE_STEP, answer('')], { ...request, rounds: 3 });
  expect(await driveWith(run)).toMatchObject({ outcome: 'passes' });
  expect(types(run)).toEqual(['verify.completed', 'verify.completed']);
});

it('asks before a third answer is paid where the second changes nothing about the tests', async () => {
  const run = await drivenRun([ONE_STEP, answer('t1 t2'), ONE_STEP, answer('t1')], { ...request, rounds: 5 });
  expect(await driveWith(run, 'leave-out')).toMatchObject({ outcome: 'passes', rounds: [{ verdict: { outcome: 'failed' } }, { verdict: { outcome: 'passes' } }] });
  expect(types(run)).toEqual(['verify.completed', ...HELD, 'verify.completed']);
  expect(run.asked).toHaveLength(4);
});

it('asks at the last answer, also behind one that changes nothing', async () => {
  const run = await drivenRun([ONE_STEP, 'I would change nothing.', ONE_STEP, answer('t1')], { ...request, rounds: 2 });
  expect(await driveWith(run, 'leave-out')).toMatchObject({ outcome: 'passes' });
  expect(types(run)).toEqual([...HELD, 'verify.completed']);
});

it('tries on where the tests must pass, and does not ask again', async () => {
  const run = await drivenRun([ONE_STEP, answer('t1'), ONE_STEP, answer('t1'), ONE_STEP, answer('t1')], { ...request, rounds: 3 });
  const ended = await driveWith(run, 'must-pass');
  expect(ended).toMatchObject({ outcome: 'not-verified', rounds: [{ verdict: { outcome: 'failed' } }, { failedBefore: { state: 'must-pass' } }, { verdict: { outcome: 'failed' } }] });
  expect(types(run)).toEqual(['verify.completed', ...HELD, 'verify.completed']);
});

it('asks of tests that nobody has spoken of, and of the others no more', async () => {
  const run = await drivenRun([ONE_STEP, answer('t1 !t3'), ONE_STEP, answer('t1'), ONE_STEP, answer('t1 t2')], { ...request, rounds: 3 });
  expect(await driveWith(run, 'leave-out')).toMatchObject({ outcome: 'passes', rounds: [{ verdict: { outcome: 'failed' } }, { verdict: { outcome: 'passes' } }] });
  // The first answer breaks a test: no person could change that.
  expect(types(run)).toEqual(['verify.completed', ...HELD, 'verify.completed']);
});

it.each([
  ['must pass', { failedBefore: 'must-pass' as const }],
  ['are asked of nobody, as in a run that nobody looks at', { failedBefore: undefined }],
  ['were named', { tests: ['t1'] }],
])('waits for nobody where the tests %s', async (_why, asked) => {
  const run = await drivenRun([ONE_STEP, answer('t1')], { ...request, ...asked });
  expect(await driveWith(run)).toMatchObject({ outcome: 'not-verified' });
  expect(types(run)).toEqual(['verify.completed']);
});

it('asks once for attempts that fail for the same tests at once', async () => {
  const run = await drivenRun([ONE_STEP, ONE_STEP, answer('t1 t2'), answer('t1')], { ...request, attempts: 2, atOnce: true });
  expect(await driveWith(run, 'leave-out')).toMatchObject({ outcome: 'passes' });
  expect(types(run)).toEqual(['verify.completed', ...HELD, 'verify.completed']);
});

it('takes a decision about the answer that waits alone', async () => {
  const run = await drivenRun([ONE_STEP, answer('t1')], request);
  const ends = new AbortController();
  await expect(run.drive({ checker, signal: ends.signal, onEvent: ({ event }) => event.type === 'verdict.held' && setImmediate(() => ends.abort(new Error('The process ends.'))) })).rejects.toThrow('ends');
  const held = snapshotOf(run.events());
  expect(held).toMatchObject({ state: 'waiting', rounds: [{ failedBefore: { state: 'waiting' } }] });
  expect(() => verdictDecision(held, { round: 1, failedBefore: 'leave-out' })).toThrow('waits for you');
  expect(verdictDecision(held, { round: 0, failedBefore: 'leave-out' })).toEqual([{ type: 'verdict.decided', round: 0, tests: ['t1'], failedBefore: 'leave-out' }]);
});
