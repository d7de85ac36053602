import { describe, expect, it, vi } from 'vitest';
import type { ContextRequest, GatheredContext } from '../../backend/context/context.ts';
import type { BaseResult } from '../../backend/protocol/run-events.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import type { Checker } from '../../backend/solve/checker.ts';
import { ANSWER, drivenRun, type DrivenRun, NO_TESTS, ONE_STEP } from './driven-run.ts';

/*
 * When the tests run on the code as it is, and what follows from their results. The results are scripted here; how they are made is tested
 * in test/verify/base-result.test.ts.
 */

const RED: BaseResult = {
  total: 12, failed: 2, flaky: 0, durationMs: 5,
  failing: [
    { id: 'test/a.test.js > adds', message: 'Expected values to be strictly equal:\n1 !== 2', places: [{ path: 'test/a.test.js', startLine: 3, endLine: 6 }] },
    { id: 'test/a.test.js > adds twice', places: [] },
  ],
};
const GREEN: BaseResult = { total: 12, failed: 0, flaky: 0, failing: [], durationMs: 5 };
const PATCH = { edits: [{ path: 'src/a.js', kind: 'modify' as const, before: 'export const a = 1;\n', after: 'export const a = 2;\n' }], refused: [] };
const VERIFIED: Verdict = {
  verified: true, score: 1, outcome: 'verified', reason: 'All pass.', tests: [], notes: [], command: 'node --test', sandboxed: true, durationMs: 1,
};
const WITH_TESTS = { question: 'Fix the sum in src/a.js.', workspace: '/project', testCommand: 'node --test' };
const TWO_STEPS = 'model_id = [0, 0]\nsubtasks = ["Look.", "Answer."]\naccess_list = [[], [0]]';

/** Gathers nothing, and keeps what was asked of it. */
function gatherer(): { requests: ContextRequest[]; gatherContext: (request: ContextRequest) => Promise<GatheredContext> } {
  const requests: ContextRequest[] = [];
  return {
    requests,
    gatherContext: async (request) => {
      requests.push(request);
      return { pieces: [], leftOut: [], tokens: 1, text: `context ${requests.length}` };
    },
  };
}

const checkerWith = (testBase: Checker['testBase'], more: Partial<Checker> = {}): Checker => ({
  ...NO_TESTS, parsePatch: async () => PATCH, verify: async () => VERIFIED, ...(testBase && { testBase }), ...more,
});

describe('the tests on the code as it is', () => {
  it('lead the search, and reach the Conductor and every step before anything is paid', async () => {
    const run = await drivenRun([ONE_STEP, ANSWER], WITH_TESTS);
    const { requests, gatherContext } = gatherer();
    const ended = await run.drive({ checker: checkerWith(async () => RED), gatherContext });
    expect(ended).toMatchObject({ state: 'completed', outcome: 'verified', base: { command: 'node --test', result: RED } });
    expect(run.events().map(({ event }) => event.type).slice(0, 4)).toEqual(['run.accepted', 'base.started', 'base.completed', 'context.gathered']);
    expect(requests.at(-1)).toMatchObject({
      learned: [{ path: 'test/a.test.js', startLine: 3, endLine: 6, reason: 'a test that fails' }],
      clues: expect.stringContaining('1 !== 2'),
    });
    const [plan = [], step = []] = run.asked;
    for (const prompt of [plan, step].map((texts) => texts.join('\n'))) {
      expect(prompt).toContain('Of 12 tests on the code as it is, 2 fail:\n- test/a.test.js > adds (test/a.test.js:3)');
      expect(prompt).toContain('1 !== 2');
    }
    expect(plan.join('\n')).toContain('TESTS THAT FAIL NOW:');
  });

  it('are not waited for when they are slow, and reach the steps that begin after them with a context of their own', async () => {
    const slow = Promise.withResolvers<BaseResult>();
    const run: DrivenRun = await drivenRun([TWO_STEPS, async () => {
      slow.resolve(RED);
      await vi.waitFor(() => expect(run.events().at(-1)?.event.type).toBe('base.completed'));
      return 'I looked.';
    }, ANSWER], WITH_TESTS);
    const { requests, gatherContext } = gatherer();
    const ended = await run.drive({ checker: checkerWith(() => slow.promise), gatherContext, baseWaitMs: 0 });
    const [plan, first, last] = run.asked.map((texts) => texts.join('\n')) as [string, string, string];
    expect(plan).not.toContain('FAIL NOW');
    expect(first).not.toContain('tests_that_fail_now');
    expect(last).toContain('<tests_that_fail_now>');
    expect(requests).toHaveLength(2);
    expect(ended.contexts).toMatchObject([{ round: 0, knowsBase: false, text: 'context 1' }, { round: 0, knowsBase: true, text: 'context 2' }]);
    expect(ended.rounds[0]?.steps.map(({ attempt }) => attempt?.context)).toEqual([0, 1]);
    expect(snapshotOf(run.events())).toEqual(ended);
  });

  it('change no context where all of them pass', async () => {
    const run = await drivenRun([ONE_STEP, ANSWER], WITH_TESTS);
    const { requests, gatherContext } = gatherer();
    const ended = await run.drive({ checker: checkerWith(async () => GREEN), gatherContext });
    expect(requests).toHaveLength(1);
    expect(ended.contexts).toMatchObject([{ knowsBase: true, failing: '' }]);
    expect(run.asked.flat().join('\n')).not.toMatch(/fail_now|FAIL NOW/);
  });

  it('say why they gave no result, and the run goes on', async () => {
    const run = await drivenRun([ONE_STEP, ANSWER], WITH_TESTS);
    const ended = await run.drive({ checker: checkerWith(() => Promise.reject(new Error('the disk is gone'))) });
    expect(ended).toMatchObject({ state: 'completed', base: { result: { total: 0, problem: expect.stringContaining('the disk is gone') } } });
  });

  it.each([
    ['without a test command', { ...WITH_TESTS, testCommand: null }, {}],
    ['without a workspace', {}, {}],
    ['where a person would have to agree to run them without a sandbox', WITH_TESTS, { sandboxAvailability: async () => ({ available: false }) }],
    ['for a question that no test can help to answer', { ...WITH_TESTS, question: 'Explain what src/a.js does.' }, {}],
    ['for small talk', { ...WITH_TESTS, question: 'thanks, that works' }, {}],
    ['in a training, which knows what fails', { ...WITH_TESTS, kind: 'rollout' as const }, {}],
  ])('do not begin %s', async (_name, request, more) => {
    const run = await drivenRun([ONE_STEP, ANSWER], request);
    let begun = 0;
    await run.drive({ checker: checkerWith(async () => { begun += 1; return RED; }, more) });
    expect(begun).toBe(0);
    expect(run.events().some(({ event }) => event.type === 'base.started')).toBe(false);
  });

  it('end with the run, and nothing is recorded after its end', async () => {
    let ended = false;
    const forEver: Checker['testBase'] = ({ signal }) => new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        ended = true;
        reject(signal.reason as Error);
      });
    });
    const run = await drivenRun([ONE_STEP, 'It is the constant.'], WITH_TESTS);
    const completed = await run.drive({ checker: checkerWith(forEver, { parsePatch: NO_TESTS.parsePatch }), baseWaitMs: 0 });
    expect(ended).toBe(true);
    expect(completed.state).toBe('completed');
    expect(completed.base).toBeUndefined();
    expect(run.events().at(-1)?.event.type).toBe('run.completed');
  });

  it('end when the run is cancelled, also while the plan waits for them', async () => {
    const cancel = new AbortController();
    let ended = false;
    const run = await drivenRun([ONE_STEP, ANSWER], WITH_TESTS);
    const driven = run.drive({
      signal: cancel.signal,
      baseWaitMs: 600_000,
      checker: checkerWith(({ signal }) => new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          ended = true;
          reject(signal.reason as Error);
        });
        cancel.abort(new Error('cancelled'));
      })),
    });
    await expect(driven).rejects.toThrow('cancelled');
    expect(ended).toBe(true);
    expect(run.asked).toEqual([]);
    expect(run.events().map(({ event }) => event.type)).toEqual(['run.accepted', 'base.started']);
  });

  it('are not run again when the run goes on after them, and are when it was killed before their end', async () => {
    const run = await drivenRun([ONE_STEP, ANSWER], WITH_TESTS);
    let begun = 0;
    const crash = new AbortController();
    const testBase: Checker['testBase'] = async () => {
      begun += 1;
      if (begun === 1) {
        crash.abort(new Error('killed'));
        throw crash.signal.reason;
      }
      return RED;
    };
    await expect(run.drive({ signal: crash.signal, checker: checkerWith(testBase) })).rejects.toThrow('killed');
    const again = new AbortController();
    await expect(run.drive({
      signal: again.signal, checker: checkerWith(testBase),
      gatherContext: async ({ learned = [] }) => {
        if (learned.length > 0) again.abort(new Error('killed again'));
        return { pieces: [], leftOut: [], tokens: 0, text: '' };
      },
    })).rejects.toThrow('killed again');
    expect(begun).toBe(2);
    const ended = await run.drive({ checker: checkerWith(testBase) });
    expect(ended.state).toBe('completed');
    expect(begun).toBe(2);
    expect(run.asked.flat().join('\n')).toContain('test/a.test.js > adds');
  });
});

it('tells models of failing tests without secrets, and not more than a page', async () => {
  const key = `sk-${'Ab3dE5fG7hJ9kL2mN4pQ6rS8tU1vW3xY5z'}`;
  const failing = Array.from({ length: 20 }, (_, index) => ({
    id: `t ${index} ${'x'.repeat(500)}`, message: `${'x'.repeat(180)} the key is ${key}\n${'line\n'.repeat(100)}`, places: [],
  }));
  const run = await drivenRun([ONE_STEP, ANSWER], WITH_TESTS);
  const ended = await run.drive({ checker: checkerWith(async () => ({ ...RED, total: 90, failed: 40, failing })) });
  expect(ended.contexts[0]?.failing.length).toBeLessThan(6_000);
  expect(ended.contexts[0]?.failing).toContain('and 30 more');
  expect(run.asked.flat().join('\n')).not.toContain(key.slice(0, 10));
});
