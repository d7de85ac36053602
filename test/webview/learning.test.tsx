// @vitest-environment jsdom
import { act } from 'preact/test-utils';
import { beforeEach, expect, it } from 'vitest';
import { trainingSummaryOf } from '../../backend/protocol/training.ts';
import { stateWith } from './fixtures.ts';
import { renderPanel, stubLayout, type RenderedPanel } from './render-panel.tsx';
import { learnedTraining, learningTraining } from './training-fixtures.ts';

beforeEach(() => stubLayout());

const buttons = (panel: RenderedPanel): string[] => [...panel.root.querySelectorAll('.training-actions vscode-button')].map(({ textContent }) => textContent ?? '');

it('is offered with what there is to learn from, and begins or is left alone by a click', () => {
  expect(renderPanel(stateWith()).text()).not.toContain('can learn');
  const panel = renderPanel({ ...stateWith(), learning: { verified: 24, other: 30 } });
  expect(panel.text()).toContain('Your Conductor can learn from 54 earlier plans, 24 of them verified by your tests. Nobody is paid, and you decide about the result.');
  void act(() => panel.button('Learn from earlier plans')?.click());
  expect(panel.posted.at(-1)).toEqual({ type: 'learn' });
  void act(() => panel.button('Not now')?.click());
  expect(panel.posted.at(-1)).toEqual({ type: 'declineLearning' });
});

it('is not offered in Restricted Mode', () => {
  expect(renderPanel({ ...stateWith(), trusted: false, learning: { verified: 24, other: 30 } }).text()).not.toContain('can learn');
});

it('is a training without money, tasks and an early end', () => {
  const panel = renderPanel(stateWith({ training: learningTraining({ step: 12 }) }));
  expect(panel.text()).toContain('Learning from earlier plans');
  expect(panel.text()).toContain('24 verified plans to learn from, 12 held out');
  expect(panel.text()).toContain('Nobody is paid');
  expect(panel.text()).not.toContain('$');
  expect(panel.text()).not.toContain('Tasks');
  expect(buttons(panel)).toEqual(['Pause', 'Cancel']);
  expect(buttons(renderPanel(stateWith({ training: learningTraining({ step: 12, state: 'paused' }) })))).toEqual(['Resume', 'Cancel']);
  expect(renderPanel(stateWith({ training: learningTraining({ state: 'evaluating' }) })).text()).toContain('Judging by the newest plans');
  expect(renderPanel(stateWith({ training: learningTraining({ workspace: '/home/ada/intervals' }) })).text()).toContain('Learning from earlier plans in intervals');
  expect(renderPanel({ ...stateWith(), trainings: [trainingSummaryOf(learnedTraining())] }).text()).toContain('from earlier plans');
});

it('shows what the newest plans say, and offers only what is better', () => {
  const better = renderPanel(stateWith({ training: learnedTraining() }));
  expect(better.text()).toContain('Judged by the newest plans Better');
  expect(better.text()).toContain('Verified6+3.97');
  expect(better.text()).toContain('Not verified6-3.19');
  expect(better.text()).toContain('Difference +7.16 nats, 95 % confidence interval +4.20 to +10.10, p = 0.003.');
  expect(buttons(better)).toEqual(['Adopt', 'Remove…']);
  const unknown = renderPanel(stateWith({ training: learnedTraining('not-known') }));
  expect(unknown.text()).toContain('Not known');
  expect(unknown.text()).not.toContain('confidence interval');
  expect(buttons(unknown)).toEqual(['Remove…']);
});
