// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from 'vitest';
import { mendedRun, planningRun, POOL_SUMMARY, secondRoundRun, simulatedRun, stateWith, verifiedRun } from './fixtures.ts';
import { renderPanel, stubLayout } from './render-panel.tsx';

beforeEach(() => stubLayout());

const lines = (root: Element): string[] => [...root.querySelectorAll('.planned-by')].map(({ textContent }) => textContent ?? '');

describe('who plans', () => {
  it('is said before a question is asked, with why, what a plan costs and how long it takes, and can be changed there', () => {
    const panel = renderPanel(stateWith({ pool: POOL_SUMMARY }));
    expect(panel.text()).toContain('conductor-7b plans: the best planner for its price among your workers · about $0.0009 a plan · about 1.1 s. Change…');
    panel.click('Change who plans');
    expect(panel.posted.at(-1)).toEqual({ type: 'chooseConductor' });
  });

  it('is said while the plan is written', () => {
    expect(lines(renderPanel(stateWith({ run: planningRun() })).root)).toEqual(
      ['conductor-7b, the best planner for its price among your workers · about $0.0009 a plan · about 1.1 s'],
    );
  });

  it('is said afterwards, with the real cost and time, and can be changed there', () => {
    const panel = renderPanel(stateWith({ run: verifiedRun() }));
    expect(lines(panel.root)).toEqual([expect.stringMatching(/^Planned by conductor-7b, the best planner for its price among your workers · \$0\.\d+ · \d\.\d s · Change…$/)]);
    panel.click('Change who plans');
    expect(panel.posted.at(-1)).toEqual({ type: 'chooseConductor' });
  });

  it('is said for each round, with the reason once', () => {
    const said = lines(renderPanel(stateWith({ run: secondRoundRun() })).root);
    expect(said.filter((line) => line.includes('best planner'))).toHaveLength(said.length > 1 ? 1 : 0);
    expect(said.at(-1)).toMatch(/^Planned by conductor-7b/);
  });

  it('is left out of the reason in runs of an earlier version', () => {
    const run = verifiedRun();
    const { choice: _unknown, ...policy } = run.policy;
    expect(lines(renderPanel(stateWith({ run: { ...run, policy } })).root)).toEqual([expect.stringMatching(/^Planned by conductor-7b · /)]);
  });

  it('cannot be changed in a demonstration', () => {
    const run = simulatedRun();
    const shown = { ...run, policy: { ...run.policy, choice: { why: 'simulated' as const, estimate: { usd: 0, plans: 0 } } } };
    expect(renderPanel(stateWith({ run: shown })).text()).not.toContain('Change…');
  });
});

describe('a plan that made no sense', () => {
  const mends = (root: Element): string[] => [...root.querySelectorAll('.plan-mended')].map(({ textContent }) => textContent?.trim() ?? '');

  it('is said to have been mended, with what was wrong and what was changed', () => {
    expect(mends(renderPanel(stateWith({ run: mendedRun() })).root)).toEqual([
      'The plan made no sense twice (step 1 looks for a fault that nobody reported; step 2 speaks of work that it is not shown), '
      + 'so the nearest one that does was taken; changed: the instruction of step 1, what step 2 reads.',
    ]);
  });

  it('is not spoken of where the plan was taken as it was written', () => {
    expect(mends(renderPanel(stateWith({ run: verifiedRun() })).root)).toEqual([]);
  });
});
