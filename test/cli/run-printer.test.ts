import { expect, it } from 'vitest';
import { RunPrinter } from '../../backend/cli/run-printer.ts';
import { runResult } from '../../backend/cli/run-result.ts';
import type { Terminal } from '../../backend/cli/terminal.ts';
import type { LocalModelStatus } from '../../backend/protocol/local-models.ts';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { NO_USAGE } from '../../backend/protocol/token-counts.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { handedOnRun, localFirstRun, mendedRun, undecidedRun, verifiedRun } from '../webview/fixtures.ts';

const MODEL = 'Qwen/Qwen3-0.6B';
const worker = workerConfigSchema.parse({ id: 'local', provider: 'local', model: MODEL });
const run = { pool: [], policy: { kind: 'local', worker, model: MODEL, promptVersion: 'compact-2' } } as unknown as RunSnapshot;
const reasons = ['No NVIDIA driver was found.'];
const READY: LocalModelStatus = {
  model: MODEL, state: 'ready', loaded: { device: 'cpu', precision: '8-bit', weightBytes: 9e8, contextLength: 40_960, reasons },
};

/** What a printer says, a line each. */
function lines(print: (printer: RunPrinter) => void): string[] {
  const said: string[] = [];
  const terminal: Terminal = {
    result: () => undefined, write: () => undefined, say: (text) => void said.push(text.trim()),
    style: (_format, text) => text, resultStyle: (_format, text) => text,
  };
  print(new RunPrinter(terminal));
  return said;
}

const told = (...statuses: LocalModelStatus[]): string[] =>
  lines((printer) => statuses.forEach((status) => printer.onModel(status, run)));

function toldOf(event: RunEvent, of = run): string[] {
  return lines((printer) => printer.onEvent({ runId: 'r', seq: 1, at: 0, event }, of)).map((line) => line.replace(/ {2,}/g, ' '));
}

const verdictOf = (change: Partial<Verdict>): RunEvent => ({
  type: 'verify.completed', round: 0,
  verdict: {
    verified: false, score: 0, outcome: 'failed', reason: 'red', tests: [], notes: [], command: 'npm test', sandboxed: true, durationMs: 812,
    ...change,
  },
});

it('tells once that a model is loaded, then on which device and why not on a better one', () => {
  const loading: LocalModelStatus = { model: MODEL, state: 'loading', phase: 'reading', fraction: 0.5 };
  expect(told(loading, { ...loading, fraction: 0.9 }, READY, READY))
    .toEqual([`Model     loading ${MODEL}`, '✓ on the CPU  900 MB · 8-bit', reasons[0]]);
});

it('tells nothing of a model that was there already, nor of one that takes no part', () => {
  expect(told(READY, { model: 'other', state: 'loading' })).toEqual([]);
});

it('tells of a local try with its record, of one that nobody makes, and that it was enough', () => {
  const record = { tried: 12, verified: 5, durationMs: 41_000, saved: { usd: 0.404, runs: 9 } };
  expect(toldOf({ type: 'try.begun', round: 0, record })).toEqual(['Local try before anybody is paid 12 questions tried in this project, 5 verified · about $0.40 saved · about 41.0 s a try']);
  expect(toldOf({ type: 'try.begun', round: 0, record: { tried: 1, verified: 1 } }))
    .toEqual(['Local try before anybody is paid 1 question tried in this project, 1 verified · what that saved is not known yet: too few paid runs to compare with']);
  expect(toldOf({ type: 'try.omitted', because: 'nobody-free' })).toEqual(['Local try Nobody tried first at no cost: none of the workers costs nothing.']);
  const verified = localFirstRun({ verified: true });
  expect(lines((printer) => printer.end(verified))).toContain('the local try is verified: nobody was paid');
  expect(runResult(verified)).toMatchObject({ localFirst: { worker: 'llama', verified: true, omitted: null, record: { tried: 12 } }, rounds: [{ localTry: true }] });
  expect(runResult(localFirstRun({ omitted: true })).localFirst).toEqual({ worker: null, verified: false, omitted: 'nothing-red', record: null });
  expect(runResult(verifiedRun()).localFirst).toBeNull();
});

it('names the command that judges, how its results are read, and a missing sandbox', () => {
  expect(toldOf({ type: 'verify.started', round: 0, command: 'make check', runner: 'custom', sandboxed: false }))
    .toEqual(['Tests make check JUnit files (without a sandbox)']);
});

it('tells that the tests run on the code as it is, and what they say', () => {
  const failing = [{ id: 'a.test.js > adds', message: 'Expected 1 to be 2\n  at a.test.js:3', places: [] }];
  expect(toldOf({ type: 'base.started', command: 'npm test' })).toEqual(['Tests running on the code as it is: npm test']);
  expect(toldOf({ type: 'base.completed', total: 120, failed: 3, flaky: 0, failing, durationMs: 2_000 }).join('\n'))
    .toMatch(/^✗ 3 of 120 tests fail on the code as it is .*\n.*a\.test\.js > adds\n *Expected 1 to be 2$/);
  expect(toldOf({ type: 'base.completed', total: 120, failed: 0, flaky: 0, failing: [], durationMs: 2_000 }).join('\n')).toMatch(/^✓ all 120 tests pass/);
  expect(toldOf({ type: 'base.completed', total: 118, failed: 0, flaky: 0, leftOut: 2, failing: [], durationMs: 2_000 }).join('\n')).toMatch(/^2 tests that fail on the code as it is are left out\n *✓ all 118 tests pass/);
  expect(toldOf({ type: 'base.completed', total: 0, failed: 0, flaky: 0, failing: [], problem: 'No report.', durationMs: 0 }).join('\n')).toContain('No report.');
});

it('tells of each test that changed, first of what speaks against the answer, and counts the others', () => {
  const tests = [
    { id: 'a > mended', before: 'failed', after: 'passed' },
    { id: 'a > kept', before: 'passed', after: 'passed' },
    { id: 'a > broken', before: 'passed', after: 'failed', message: 'expected 1' },
    { id: 'a > clock', before: 'passed', after: 'failed', flaky: true },
    { id: 'a > zone', before: 'failed', after: 'failed', leftOut: true },
    { id: 'a > windows', before: 'skipped', after: 'skipped' },
  ] as const;
  expect(toldOf(verdictOf({ tests, notes: ['A flaky test was left out.'] }))).toEqual([
    'a > broken passed → failed',
    'a > mended failed → passed',
    'a > clock passed → failed (flaky, left out)',
    'a > zone failed → failed (left out)',
    '1 other passed → passed',
    '1 did not run',
    'a > broken: expected 1',
    'note: A flaky test was left out.',
    '2 of 3 pass · in the sandbox · 0.8 s',
  ]);
});

it('tells that a person is to say what becomes of tests that failed before, and what was said', () => {
  const tests = ['a > zone', 'a > clock'];
  expect(toldOf({ type: 'verdict.held', round: 0, tests }, undecidedRun())).toEqual(['Waiting The answer fails only for tests that failed before: somebody has to say whether they must pass.']);
  const decided = { type: 'verdict.decided', round: 0, tests } as const;
  expect(toldOf({ ...decided, failedBefore: 'leave-out' })).toEqual(['Decided 2 tests that failed before: left out, and the same answer is judged again']);
  expect(toldOf({ ...decided, failedBefore: 'must-pass' })).toEqual(['Decided 2 tests that failed before: must pass']);
});

it('tells of tests that a person left out before, and how that is taken back', () => {
  expect(lines((printer) => printer.begin({ ...verifiedRun(), leftOut: ['a', 'b'] })).join('\n')).toMatch(/Left out +2 tests while they fail, as you said before; "conductor left-out take-back" has them count again/);
  expect(lines((printer) => printer.begin(verifiedRun())).join('\n')).not.toContain('Left out');
});

it('keeps the red ones in sight among hundreds', () => {
  const tests = [
    ...Array.from({ length: 500 }, (_, index) => ({ id: `a > ${index}`, before: 'failed', after: 'passed' } as const)),
    { id: 'a > broken', before: 'passed', after: 'missing' } as const,
  ];
  const said = toldOf(verdictOf({ tests }));
  expect(said[0]).toBe('a > broken passed → missing');
  expect(said).toContain('and 461 more');
  expect(said.length).toBeLessThan(50);
});

it('says that the Conductor gave up where it keeps an answer that the tests are against, and that it keeps one that nobody tested', () => {
  const keptAfter = (verdict?: Partial<Verdict>): RunSnapshot =>
    ({ ...run, rounds: [{ index: 0, kept: false, verdict }, { index: 1, kept: true }] }) as unknown as RunSnapshot;
  const kept: RunEvent = { type: 'plan.kept', round: 1, attemptId: 'a', text: '', usage: NO_USAGE, cost: { estimated: false }, durationMs: 1 };
  expect(toldOf(kept, keptAfter({ verified: false, outcome: 'failed' }))).toEqual(['Round 2 the Conductor gives up: it has no better plan']);
  expect(toldOf(kept, keptAfter())).toEqual(['Round 2 the Conductor keeps the answer as it is']);
});

it('tells what was wrong with a plan that was mended, and what was changed, and gives it to scripts', () => {
  const mended = mendedRun();
  const plan = { round: 0, attemptId: '1', text: '', plan: { modelIds: [], subtasks: [], accessList: [] }, steps: [], usage: NO_USAGE, cost: { estimated: false }, durationMs: 900 };
  const sentence = 'The plan made no sense twice (step 1 looks for a fault that nobody reported; step 2 speaks of work that it is not shown), '
    + 'so the nearest one that does was taken; changed: the instruction of step 1, what step 2 reads.';
  expect(toldOf({ type: 'plan.proposed', ...plan }, mended)).toContain(`Mended ${sentence}`);
  expect(runResult(mended).rounds[0]?.mended).toMatchObject({ message: sentence, wrong: [{ rule: 'fault', step: 0 }, { rule: 'unseen', step: 1 }] });
  expect(toldOf({ type: 'plan.proposed', ...plan }, verifiedRun()).join('\n')).not.toContain('Mended');
  expect(runResult(verifiedRun()).rounds[0]?.mended).toBeNull();
});

it('tells whose step is given to whom and why, and gives it to scripts', () => {
  const handedOn = handedOnRun();
  const failure = { kind: 'overloaded', message: 'Worker "claude": it is overloaded.', retryable: true };
  expect(toldOf({ type: 'step.reassigned', round: 0, step: 1, from: 1, to: 2, failure }, handedOn))
    .toEqual(['↷ step 2: Worker "claude": it is overloaded. gpt-5 does it instead.']);
  expect(runResult(handedOn).rounds[0]?.steps).toMatchObject([
    { worker: 'gpt-5', handedOn: [{ worker: 'gemini-pro', failure: expect.stringContaining('no credit left') }] },
    { worker: 'gpt-5', handedOn: [{ worker: 'claude' }] }, { handedOn: [] },
  ]);
});
