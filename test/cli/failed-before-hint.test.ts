import { expect, it } from 'vitest';
import { failedBeforeHint } from '../../backend/cli/failed-before-hint.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import type { TestChange, TestStatus, Verdict } from '../../backend/protocol/verdict.ts';
import { notVerifiedRun } from '../webview/fixtures.ts';

const change = (id: string, before: TestStatus, after: TestStatus): TestChange => ({ id, before, after });
const [mended, stillRed, kept] = [change('a > adds', 'failed', 'passed'), change('zone', 'failed', 'failed'), change('kept', 'passed', 'passed')];

/** A run that ended with this verdict. */
function ended(tests: readonly TestChange[], { request = {}, outcome = 'failed' }: { readonly request?: Partial<RunSnapshot['request']>; readonly outcome?: Verdict['outcome'] } = {}): RunSnapshot {
  const run = notVerifiedRun();
  const rounds = run.rounds.map((round) => (round.verdict ? { ...round, verdict: { ...round.verdict, outcome, tests } } : round));
  return { ...run, rounds, request: { ...run.request, ...request } };
}

it('names the switch where an answer fails only for tests that failed before', () => {
  expect(failedBeforeHint(ended([stillRed, kept])))
    .toBe('The answer breaks nothing and fails only for 1 test that failed before. If it has nothing to do with the question, ask with: --failed-before leave-out');
  expect(failedBeforeHint(ended([stillRed, change('env', 'failed', 'failed'), mended])))
    .toBe('The answer breaks nothing and fails only for 2 tests that failed before. If they have nothing to do with the question, ask with: --failed-before leave-out, or name what must pass: --test \'a > adds\'');
});

it.each<[string, RunSnapshot]>([
  ['the answer breaks a test', ended([stillRed, change('kept', 'passed', 'failed')])],
  ['it loses a test', ended([stillRed, change('kept', 'passed', 'missing')])],
  ['a test that failed is gone', ended([change('zone', 'failed', 'missing')])],
  ['a new test fails', ended([stillRed, change('new', 'missing', 'failed')])],
  ['nothing is red', ended([kept])],
  ['it is no failure', ended([stillRed], { outcome: 'infrastructure' })],
  ['tests were named', ended([stillRed], { request: { tests: ['zone'] } })],
  ['the person has said that they must pass', ended([stillRed], { request: { failedBefore: 'must-pass' } })],
])('says nothing where %s', (_what, run) => expect(failedBeforeHint(run)).toBeUndefined());
