import { expect, it } from 'vitest';
import type { EvaluationPageState } from '../../backend/protocol/evaluation-page.ts';
import type { EvaluationSummary } from '../../backend/protocol/evaluations.ts';
import { EvaluationState, type EvaluationStateOptions } from '../../extension/evaluations/evaluation-state.ts';
import { Signal } from '../../extension/common/signal.ts';
import { sample, view } from '../webview/evaluation-fixtures.ts';

const FOLDER = '/home/evaluations/1';

/** A backend that answers at once, and keeps what it was asked. */
function open(answers: Record<string, (params: never) => unknown> = {}, askBudget: EvaluationStateOptions['askBudget'] = () => Promise.resolve(undefined), isRemovalMeant = (_usd: number) => Promise.resolve(true)) {
  const asked: [string, unknown][] = [];
  const posted: EvaluationPageState[] = [];
  const shown: string[] = [];
  const changed = new Signal<EvaluationSummary>();
  const removed = new Signal<{ folder: string }>();
  let gone = 0;
  const known: typeof answers = {
    'evaluation/get': () => view(), 'evaluation/samples': () => ({ samples: [], all: 0 }), 'evaluation/sample': () => sample, 'evaluation/stop': () => ({}), 'evaluation/resume': () => ({}), ...answers,
  };
  const connection = {
    request: async (method: string, params: unknown) => {
      asked.push([method, params]);
      return known[method]?.(params as never);
    },
    on: (method: string, listener: (params: never) => void) => (method === 'evaluation/removed' ? removed.on(listener as (params: { folder: string }) => void) : changed.on(listener as (summary: EvaluationSummary) => void)),
    connected: new Signal<never>(),
  };
  const state = new EvaluationState({
    connection: connection as unknown as EvaluationStateOptions['connection'], folder: FOLDER, askBudget, isRemovalMeant, gone: () => void (gone += 1),
    post: (message) => posted.push(message.state), showResults: (file) => shown.push(file), report: (error) => { throw error; },
  });
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
  };
  return { state, asked, posted, shown, changed, removed, gone: () => gone, settled };
}

it('reads the evaluation and the samples that the filter lets through, once for changes that come meanwhile', async () => {
  const { state, asked, changed, settled } = open({ 'evaluation/samples': () => ({ samples: [sample], all: 7 }) });
  state.refresh();
  await settled();
  expect(asked.map(([method]) => method)).toEqual(['evaluation/get', 'evaluation/samples']);
  expect(state.state).toMatchObject({ evaluation: { folder: FOLDER }, allSamples: 7 });
  for (let time = 0; time < 5; time += 1) changed.emit({ ...view(), folder: FOLDER });
  changed.emit({ ...view(), folder: '/another' });
  await settled();
  expect(asked.length).toBeLessThanOrEqual(6);
  // One after the other, as the page sends them.
  await Promise.all([state.act({ type: 'filter', contestant: 'fern alone' }), state.act({ type: 'filter', outcome: 'wrong' })]);
  await settled();
  expect(asked.at(-1)).toEqual(['evaluation/samples', { folder: FOLDER, offset: 0, limit: 50, contestant: 'fern alone', verified: false }]);
  await state.act({ type: 'more' });
  await settled();
  expect(asked.at(-1)).toMatchObject(['evaluation/samples', { limit: 100 }]);
});

it('opens one sample, and shows none that came too late', async () => {
  const waiting = Promise.withResolvers<typeof sample>();
  const { state, settled } = open({ 'evaluation/sample': ({ task }: { task: string }) => (task === 'slow' ? waiting.promise : sample) });
  const slow = state.act({ type: 'open', contestant: 'a', task: 'slow', seed: 0 });
  await state.act({ type: 'open', contestant: 'a', task: 'quick', seed: 0 });
  waiting.resolve({ ...sample, reason: 'late' });
  await slow;
  await settled();
  expect(state.state.opened).toMatchObject({ task: 'quick', sample: { reason: sample.reason } });
  await state.act({ type: 'close' });
  expect(state.state).not.toHaveProperty('opened');
});

it('goes on with the budget that was agreed, and not without one', async () => {
  const { state, asked, settled } = open({}, (budget) => Promise.resolve({ ...budget, usd: 9 }));
  state.refresh();
  await settled();
  await state.act({ type: 'resume' });
  expect(asked.find(([method]) => method === 'evaluation/resume')).toEqual(['evaluation/resume', { folder: FOLDER, budget: { usd: 9, tokens: 1e7 } }]);
  const refused = open();
  refused.state.refresh();
  await refused.settled();
  await refused.state.act({ type: 'resume' });
  expect(refused.asked.map(([method]) => method)).not.toContain('evaluation/resume');
});

it('says why a command was refused, posts nothing once it is gone, and shows results of its own evaluation only', async () => {
  const { state, posted, shown, settled } = open({ 'evaluation/stop': () => { throw new Error('No.'); } });
  state.refresh();
  await settled();
  await state.act({ type: 'stop' });
  expect(posted.at(-1)).toMatchObject({ problem: 'No.' });
  await state.act({ type: 'openResults' });
  expect(shown).toEqual(['/home/evaluations/1/results.html']);
  const before = posted.length;
  state.dispose();
  await state.act({ type: 'ready' });
  expect(posted).toHaveLength(before);
});

it('removes an evaluation once that is meant, with what it has cost in the question, and is gone when any client removes it', async () => {
  const asked: number[] = [];
  const kept = open({}, undefined, (usd) => Promise.resolve(asked.push(usd) === 0));
  kept.state.refresh();
  await kept.settled();
  await kept.state.act({ type: 'remove' });
  expect(asked).toEqual([view().spentUsd]);
  expect(kept.asked.map(([method]) => method)).not.toContain('evaluation/remove');
  const { state, asked: requests, removed, gone } = open();
  await state.act({ type: 'remove' });
  expect(requests).toContainEqual(['evaluation/remove', { folder: FOLDER }]);
  removed.emit({ folder: '/another' });
  expect(gone()).toBe(0);
  removed.emit({ folder: FOLDER });
  expect(gone()).toBe(1);
});
