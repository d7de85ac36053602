// @vitest-environment jsdom
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Training } from '../../backend/protocol/training.ts';
import { bandOf, curvesOf, describe as describeCurve, extentOf, pathOf } from '../../webview/training/curves.ts';
import { stateWith } from './fixtures.ts';
import { renderPanel, stubLayout, type RenderedPanel } from './render-panel.tsx';
import {
  adoptedTraining, BEGIN, COMPARISON, completedTraining, failedTraining, flatCompletedTraining, flatTraining, overBudgetTraining, pausedTraining, preparingTraining, ROLLOUTS, runningTraining,
  TASK_NOTES, teamTraining, training, TRAININGS, unknownTraining, waitingTraining, WHOLE_ROLLOUT,
} from './training-fixtures.ts';

beforeEach(() => {
  stubLayout();
  vi.useFakeTimers({ now: BEGIN + 3_600_000, toFake: ['Date', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const show = (shown: Training): RenderedPanel => renderPanel(stateWith({ training: shown }));
const buttons = (panel: RenderedPanel): string[] => [...panel.root.querySelectorAll('.training-actions vscode-button')].map(({ textContent }) => textContent ?? '');

describe('a training', () => {
  it('says where it stands, how far it is, how long it takes and what it has spent', () => {
    const panel = show(runningTraining());
    expect(panel.text()).toContain('Training, step 24 of 50');
    expect(panel.text()).toContain('$0.782 of $10.00 · 1.4M of 20.0M tok');
    expect(panel.text()).toContain('23 of 50 steps done, 2 of 4 tasks of the next, about 31 min 32 s left');
    expect(panel.root.querySelector('progress')?.value).toBe(470);
    expect(panel.text()).toContain('27 tasks to learn from, 12 held out, begun 1 h ago');
    expect(panel.text()).toContain('Conductor qwen3-1.7b');
  });

  it('says what is being made ready, and why it waits', () => {
    expect(show(preparingTraining()).text()).toContain('Making tasks of the project: 9 admitted.14 of 63 tried, about 6 min 32 s until the tasks are made');
    expect(show(waitingTraining()).text()).toContain('claude is overloaded at the moment');
  });

  it('that is paused while its tasks are made says how many were tried, and not that no step is done', () => {
    const { progress: _none, ...rest } = preparingTraining();
    const panel = show({ ...rest, state: 'paused', message: 'Paused.' });
    expect(panel.text()).toContain('14 of 63 candidates tried, 9 admitted');
    expect(panel.text()).not.toContain('steps done');
    expect(panel.root.querySelector('progress')?.value).toBe(222);
  });

  it('that coordinates a team says who is there and what each gave', () => {
    const panel = show(teamTraining());
    expect([...panel.root.querySelectorAll('.members li')].map(({ textContent }) => textContent)).toEqual(['ann 32 plans for $0.25 of its own', 'ben 8 plans for $0 of its own, not here now']);
    expect(show(runningTraining()).root.querySelector('.members')).toBeNull();
  });

  it('of workers without a known price says how many tokens they may use', () => {
    expect(show(training({ ...runningTraining(), unpricedTokens: 12_000 })).text()).toContain('$0.782 of $10.00 · 12k of 4.0M tok unpriced · 1.4M of 20.0M tok');
  });

  it.each<[string, Training, string[]]>([
    ['preparing', preparingTraining(), ['Pause', 'Cancel']],
    ['under way', runningTraining(), ['Pause', 'Compare now…', 'Cancel']],
    ['in its first step', training({ state: 'training', step: 0 }), ['Pause', 'Cancel']],
    ['to end early', training({ ...pausedTraining(), finishing: true }), ['Resume', 'Raise budget…', 'Cancel']],
    ['waiting', waitingTraining(), ['Pause', 'Compare now…', 'Cancel']],
    ['comparing', training({ state: 'evaluating', step: 50 }), ['Pause', 'Cancel']],
    ['paused', pausedTraining(), ['Resume', 'Raise budget…', 'Compare now…', 'Cancel']],
    ['stopped by its budget', overBudgetTraining(), ['Resume…', 'Compare now…', 'Cancel']],
    ['failed', failedTraining(), ['Resume', 'Raise budget…', 'Compare now…', 'Train again', 'Remove…']],
    ['cancelled', training({ state: 'cancelled', step: 2 }), ['Train again', 'Remove…']],
    ['compared', completedTraining(), ['Adopt', 'Train again', 'Remove…']],
    ['not known to be better', unknownTraining(), ['Try more', 'Train again', 'Remove…']],
    ['without a comparison', training({ state: 'completed', step: 50 }), ['Train again', 'Remove…']],
    ['over without having learned anything', flatCompletedTraining(), ['Train again', 'Remove…']],
    ['adopted', adoptedTraining(), ['Go back', 'Train again']],
  ])('that is %s offers what it can do now', (_state, shown, offered) => {
    expect(buttons(show(shown))).toEqual(offered);
  });

  it('says while it goes on that steps taught nothing, and at its end that nothing was learned', () => {
    expect(show(flatTraining()).text()).toContain('2 of 5 steps taught nothing: all plans of a task had the same reward. Every plan was verified.');
    const ended = show(flatCompletedTraining()).text();
    expect(ended).toContain('Nothing learned');
    expect(ended).toContain('Nothing was learned, so there is nothing to adopt. 50 of 50 steps taught nothing');
    expect(ended).not.toContain('Trained');
  });

  it.each<[string, Training, string]>([
    ['Pause this training', runningTraining(), 'pause'],
    ['Cancel this training', runningTraining(), 'cancel'],
    ['Resume this training', pausedTraining(), 'resume'],
    ['Raise budget…', pausedTraining(), 'raiseBudget'],
    ['Resume…', overBudgetTraining(), 'resume'],
    ['Compare now…', runningTraining(), 'finish'],
    ['Adopt what was trained', completedTraining(), 'adopt'],
    ['Try the held-out tasks as often again', unknownTraining(), 'resume'],
    ['Go back to the previous Conductor', adoptedTraining(), 'goBack'],
  ])('"%s" is asked of the extension', (button, shown, action) => {
    const panel = show(shown);
    panel.click(button);
    expect(panel.posted).toEqual([{ type: 'training', action, trainingId: 'training-1' }]);
  });

  it('says why it paused by itself, and why it failed', () => {
    expect(show(overBudgetTraining()).text()).toContain('The budget of this training ($1.00) does not hold the next call');
    expect(show(failedTraining()).text()).toContain('tasks are made of are gone');
  });

  it('is labelled where its workers are simulated, and only there', () => {
    expect(show(completedTraining()).text()).toContain('Simulated: the workers of this training are a simulator');
    expect(show(adoptedTraining()).text()).not.toContain('imulated');
  });

  it('leads back to all runs and trainings', () => {
    const panel = show(runningTraining());
    panel.click('Runs');
    expect(panel.posted).toEqual([{ type: 'newQuestion' }]);
  });

  it('tells screen readers when its state changes, and not at each step', () => {
    const panel = show(runningTraining());
    const said = (): string | null | undefined => panel.root.querySelector('[role="status"]')?.textContent;
    panel.show(stateWith({ training: training({ step: 24 }) }));
    expect(said()).toBe('');
    panel.show(stateWith({ training: completedTraining() }));
    expect(said()).toBe('Trained. Better on held-out tasks, after 48 pairs of tries for $0.97. Adopt it if you like.');
    panel.show(stateWith({ training: { ...completedTraining(), adopted: true } }));
    expect(said()).toBe('Adopted.');
  });

  it('draws text of projects as text', () => {
    const panel = show(training({ state: 'failed', message: '<img src=x onerror=alert(1)>', workspace: '/home/<b>x</b>', model: '<script>' }));
    expect(panel.root.querySelector('img, script, b')).toBeNull();
  });
});

describe('the comparison', () => {
  it('has both scores with their intervals, the cost beside them, the difference and how sure it is', () => {
    const panel = show(completedTraining());
    const rows = [...panel.root.querySelectorAll('.comparison tr')].map(({ textContent }) => textContent);
    expect(rows).toEqual([
      'ConductorVerifiedParseCost a run',
      'Before41.7 % 29.2 to 56.3 %71.0 %$0.0113',
      'Trained60.4 % 45.8 to 72.9 %98.0 %$0.0089',
    ]);
    expect(panel.text()).toContain('Tasks never trained on: 12. Tries by each: 48, for $0.97 in all. The same simulated workers.');
    expect(panel.text()).toContain('Difference +18.7 points, 95 % confidence interval +6.3 to +31.3, however often one looks.');
    expect(panel.text()).not.toContain('more tries by each');
  });

  it.each([['Better', 'better'], ['Not better', 'not-better'], ['Not known', 'not-known']] as const)('is called "%s" where the test says so, whatever the shares', (words, says) => {
    const panel = show({ ...completedTraining(), comparison: { ...COMPARISON, says } });
    expect(panel.root.querySelector('.comparison-verdict')?.textContent.trim()).toBe(words);
    expect(buttons(panel).includes('Adopt')).toBe(says === 'better');
  });

  it('says what more would cost where it is not known', () => {
    expect(show(unknownTraining()).text()).toContain('At this rate, about 60 more tries by each, for $1.21, would tell.');
    const { more: _more, ...comparison } = unknownTraining().comparison!;
    expect(show({ ...unknownTraining(), comparison }).text()).toContain('At this rate, more tries would not tell soon.');
  });
});

describe('the curves', () => {
  it('are all there, each with a name and with its first and last value in words', () => {
    const panel = show(runningTraining());
    const pictures = [...panel.root.querySelectorAll('.curves .curve svg')];
    expect(pictures.map((picture) => picture.querySelector('title')?.textContent)).toEqual([
      'Reward', 'Verified', 'Plans that parse', 'Length', 'Cut off', 'Entropy', 'Gradient', 'Cost of plans',
    ]);
    expect(pictures[0]?.querySelector('desc')?.textContent).toMatch(/^mean over the plans of a step, over 23 steps: from 0\.\d{3} to 0\.\d{3}, between/);
    expect(pictures.every((picture) => picture.querySelector('.curve-line')?.getAttribute('d')?.startsWith('M'))).toBe(true);
  });

  it('have ids of their own, also those that come later', () => {
    const training = runningTraining();
    const panel = show({ ...training, metrics: [] });
    for (const steps of [1, 2, training.metrics.length]) {
      const metrics = training.metrics.slice(0, steps).map(({ entropy, ...rest }): Record<string, number> => (steps > 2 && entropy !== undefined ? { ...rest, entropy } : rest));
      panel.show(stateWith({ training: { ...training, metrics } }));
    }
    const ids = [...panel.root.querySelectorAll('.curve [id]')].map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(16);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('look at the same step where one of them is pointed at', () => {
    const panel = show(runningTraining());
    const first = panel.root.querySelector('.curves .curve svg') as SVGSVGElement;
    first.getBoundingClientRect = () => ({ left: 0, width: 220 }) as DOMRect;
    void act(() => void first.dispatchEvent(new MouseEvent('pointermove', { clientX: 30 })));
    const figures = [...panel.root.querySelectorAll('.curves .curve figcaption .figures')].map(({ textContent }) => textContent);
    expect(figures.every((figure) => figure?.startsWith('step 4: '))).toBe(true);
  });

  it('can be read as a table', () => {
    const panel = show(runningTraining());
    panel.click('All figures');
    const rows = panel.root.querySelectorAll('.curves .figure-table tbody tr');
    expect(rows).toHaveLength(23);
    // The step that taught nothing has no entropy.
    expect(rows[11]?.querySelectorAll('td')[5]?.textContent).toBe('–');
  });

  it('are not there before a step is done', () => {
    expect(show(preparingTraining()).root.querySelector('.curves, .plan-curves')).toBeNull();
  });

  it('of the plans tell how long they are, who works, what is asked for, who reads whom, and how different they are', () => {
    const { root } = show(runningTraining());
    const groups = [...root.querySelectorAll('.plan-curves [role="group"]')].map((group) =>
      [group.querySelector('h3')?.textContent, [...group.querySelectorAll('svg title')].map(({ textContent }) => textContent)]);
    expect(groups).toEqual([
      ['How long they are', ['Steps of a plan', '1 step', '2 steps', '3 steps']],
      ['Who works', ['claude', 'gpt', 'qwen-coder']],
      ['What is asked for', ['To plan', 'To write', 'To check']],
      ['Who reads whom', ['Nobody', 'Chain', 'Tree', 'All']],
      ['How different they are', ['Diversity']],
    ]);
    const kinds = [...root.querySelectorAll('.plan-curves tbody tr')].map((row) => [...row.children].map(({ textContent }) => textContent));
    expect(kinds).toEqual([['repair', '39 % → 67 %', '0 % → 0 %', '61 % → 33 %'], ['write', '53 % → 30 %', '47 % → 70 %', '0 % → 0 %']]);
  });

  it('of the plans are not there in a training of an earlier version', () => {
    const { metrics, ...rest } = runningTraining();
    const without = metrics.map((step) => Object.fromEntries(Object.entries(step).filter(([name]) => !name.startsWith('plans/'))));
    const { root } = show({ ...rest, metrics: without });
    expect([root.querySelector('.plan-curves'), root.querySelectorAll('.curves .curve').length]).toEqual([null, 8]);
  });

  const size = { width: 100, height: 10 };
  const reward = (...rewards: number[]) => curvesOf({ metrics: rewards.map((value) => ({ reward: value })) })[0]!;

  it('span their values and what their measure can be', () => {
    expect(extentOf(reward(0.5, 0.7))).toEqual([0, 1]);
    expect(extentOf(reward(0.5, -0.5))).toEqual([-0.5, 1]);
    expect(pathOf(reward(0, 1, 0.5), size)).toBe('M0 10L50 0L100 5');
  });

  it('show a single step, and leave out what was not measured or is no number', () => {
    expect(pathOf(reward(0.5), size)).toBe('M47 5h6');
    expect(pathOf(reward(0.5, Number.NaN, 0.5, 0.5), size)).toBe('M0 5h6M66.7 5L100 5');
    expect(pathOf(reward(0.5, Number.NaN, 0.5), size)).toBe('M0 5h6M94 5h6');
    expect(describeCurve(reward(0.25, Number.NaN, 0.75))).toContain('from 0.250 to 0.750');
    expect(curvesOf({ metrics: [{ reward: Number.NaN }] })).toEqual([]);
  });

  it('draw the shortest and the longest around a mean', () => {
    const metrics = [1, 3].map((value) => ({ 'completions/mean_length': value, 'completions/min_length': 0, 'completions/max_length': 4 }));
    expect(bandOf(curvesOf({ metrics })[0]!, size)).toBe('M0 0L100 0L100 10L0 10Z');
  });

  it('draw no more points than there is room for', () => {
    const long = reward(...Array.from({ length: 20_000 }, (_, index) => (index % 7) / 7));
    expect(pathOf(long, size).match(/[ML]/g)?.length).toBeLessThan(700);
  });
});

describe('the tasks', () => {
  const training = runningTraining();

  it('are counted, and asked for when somebody opens them', () => {
    const panel = renderPanel(stateWith({ training }));
    expect(panel.text()).toContain('Tasks27 to learn from · 12 held out');
    expect(renderPanel(stateWith({ training: preparingTraining() })).text()).toContain('Tasks6 to learn from · 3 held out · 5 left out');
    expect(panel.posted).toEqual([]);
    panel.click(/^Tasks/);
    expect(panel.posted).toEqual([{ type: 'trainingTasks', trainingId: 'training-1', count: 100 }]);
    expect(panel.text()).toContain('Reading the tasks…');
  });

  it('stand with the reason why each was admitted or left out, and more are asked for', () => {
    const panel = renderPanel(stateWith({ training, tasks: TASK_NOTES }));
    panel.click(/^Tasks/);
    expect(panel.text()).toContain('Left out6src/intervals.ts:61No test notices it: no test failed before the change.');
    expect(panel.text()).toContain('2 of 6 are here.');
    expect(panel.text()).toContain('Found and not tried: 114.');
    panel.click('Show more: 5 of 45 are here');
    expect(panel.posted.at(-1)).toEqual({ type: 'trainingTasks', trainingId: 'training-1', count: 105 });
  });

  it('that are still to be tried are counted while they are made', () => {
    const panel = renderPanel(stateWith({ training: preparingTraining(), tasks: TASK_NOTES }));
    panel.click(/^Tasks/);
    expect(panel.text()).toContain('Still to be tried, at most: 114.');
  });

  it('draw names of projects as text, with what would hide made seen', () => {
    const hostile = [{ about: '<b>x</b>\u202E.ts', source: 'project', state: 'train', reason: '<img src=x>' }] as const;
    const panel = renderPanel(stateWith({ training, tasks: { ...TASK_NOTES, tasks: [...hostile], total: 1, train: 1, heldOut: 0, leftOut: 0 } }));
    panel.click(/^Tasks/);
    expect(panel.root.querySelector('.task-list b, img')).toBeNull();
    expect(panel.text()).toContain('<b>x</b>⟨U+202E⟩.ts');
  });
});

describe('the plans of a step', () => {
  const shown = runningTraining();
  const rows = (panel: RenderedPanel): string[] => [...panel.root.querySelectorAll('.rollout-title')].map(({ textContent }) => textContent);

  it('come with steps, outcome and reward, by task', () => {
    const panel = show(shown);
    expect(panel.text()).toContain('Plans of step 244 of 8 done');
    expect(rows(panel)).toEqual([
      'Plan 1 of task 1 verified reward 1.00 · $0.0041', 'Plan 2 of task 1 not verified reward 0.50 · $0.0023',
      'Plan 3 of task 1 could not be read reward 0.00', 'Plan 4 of task 1 could not be judged ',
      'Plan 1 of task 2 is carried out ', 'Plan 2 of task 2 is carried out ',
    ]);
    expect([...panel.root.querySelectorAll('.rollout')][1]?.querySelector('.rollout-steps')?.textContent).toBe('qwen-coder Write mergeIntervals.');
    expect(panel.text()).toContain('Let me think about which of the models');
  });

  it('stay where they are when there is news of one', () => {
    const panel = show(shown);
    const before = [...panel.root.querySelectorAll('.rollout')];
    const list = [...ROLLOUTS.list.slice(1), { ...ROLLOUTS.list[0]!, reward: 0.9 }];
    panel.show(stateWith({ training: { ...shown, rollouts: { step: 24, list } } }));
    expect([...panel.root.querySelectorAll('.rollout')]).toEqual(before);
    expect(rows(panel)[0]).toContain('reward 0.90');
  });

  it('are not said to be under way where the training is not', () => {
    expect(rows(show({ ...overBudgetTraining(), rollouts: ROLLOUTS })).at(-1)).toBe('Plan 2 of task 2 not finished ');
  });

  it('can be looked at as a whole, one at a time, and their step stays meanwhile', () => {
    const panel = show(shown);
    panel.click(/^Plan 1 of task 1/);
    expect(panel.posted).toEqual([{ type: 'rollout', trainingId: 'training-1', runId: 'training-1.23.0.0' }]);
    expect(panel.text()).toContain('Reading the plan…');
    const next = { step: 25, list: [{ ...ROLLOUTS.list[0]!, runId: 'training-1.24.0.0' }] };
    panel.show(stateWith({ training: { ...shown, rollouts: next }, rollout: WHOLE_ROLLOUT }));
    expect(panel.text()).toContain('Plans of step 24');
    expect(panel.text()).toContain('Step 25 has begun: its plans come when this one is closed.');
    expect(panel.text()).toContain('2 gpt answered, reads step 1');
    panel.click('Answer of step 2');
    expect(panel.root.querySelector('.rollout-whole pre')?.textContent).toContain('export function mergeIntervals');
    panel.click(/^Plan 1 of task 1/);
    expect(panel.posted.at(-1)).toEqual({ type: 'rollout', trainingId: 'training-1' });
    expect(panel.text()).toContain('Plans of step 25');
  });

  it('draw what models wrote as text', () => {
    const evil = { ...ROLLOUTS.list[0]!, question: '<img src=x>', steps: [{ worker: '<b>w</b>', subtask: '<script>alert(1)</script>\u202E' }] };
    const panel = show({ ...shown, rollouts: { step: 24, list: [evil] } });
    expect(panel.root.querySelector('.rollouts :is(img, b, script)')).toBeNull();
    expect(panel.text()).toContain('<script>alert(1)</script>⟨U+202E⟩');
  });
});

describe('past trainings', () => {
  it('are listed, and one is opened', () => {
    const panel = renderPanel(stateWith({ trainings: TRAININGS }));
    expect(panel.text()).toContain('Adopted50 of 50 steps · $1.70 · 3 h ago');
    panel.click(/^Cancelled/);
    expect(panel.posted).toEqual([{ type: 'training', action: 'open', trainingId: 'training-1' }]);
  });
});
