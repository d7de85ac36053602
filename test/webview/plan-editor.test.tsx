// @vitest-environment jsdom
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pageMessageSchema } from '../../backend/protocol/panel-messages.ts';
import { announcementOf } from '../../webview/announcement.ts';
import { BEGIN, ESTIMATE, heldAgainRun, heldRun, PLAN, stateWith, verifiedRun } from './fixtures.ts';
import { renderPanel, stubLayout, type RenderedPanel } from './render-panel.tsx';

beforeEach(() => {
  stubLayout();
  vi.useFakeTimers({ now: BEGIN + 60_000, toFake: ['Date', 'setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const labelled = <E extends HTMLElement>(panel: RenderedPanel, label: string): E => {
  const found = [...panel.root.querySelectorAll<E>('select, textarea, input')].find((element) => element.getAttribute('aria-label') === label || element.closest('label')?.textContent?.trim() === label);
  if (!found) throw new Error(`There is no field "${label}".`);
  return found;
};
const type = (panel: RenderedPanel, label: string, text: string): void => void act(() => {
  const field = labelled<HTMLTextAreaElement>(panel, label);
  field.value = text;
  field.dispatchEvent(new Event('input', { bubbles: true }));
});
const choose = (panel: RenderedPanel, label: string, value: string): void => void act(() => {
  const field = labelled<HTMLSelectElement>(panel, label);
  field.value = value;
  field.dispatchEvent(new Event('change', { bubbles: true }));
});
const tick = (panel: RenderedPanel, step: number, label: string): void => void act(() => {
  const card = panel.root.querySelectorAll<HTMLElement>('.edited-step')[step - 1];
  [...(card?.querySelectorAll('label') ?? [])].find((one) => one.textContent?.trim() === label)?.querySelector('input')?.click();
});
/** After the pause in which a person may go on typing. */
const pause = (): void => void act(() => void vi.advanceTimersByTime(500));
const attemptId = heldRun().rounds[0]?.planAttempt?.attemptId;

describe('a plan that waits', () => {
  it('says what it is expected to cost, and runs as it is', () => {
    const panel = renderPanel(stateWith({ run: heldRun() }));
    expect(panel.text()).toContain('The plan waits for you');
    expect(panel.text()).toContain('Expected cost: about $0.0088 to $0.031');
    expect(panel.text()).toContain('This project has a record of 2 of 3 steps');
    expect(labelled<HTMLSelectElement>(panel, 'Worker of step 2').value).toBe('1');
    expect(labelled<HTMLTextAreaElement>(panel, 'Instruction of step 3').value).toBe(PLAN.subtasks[2]);
    panel.click('Run this plan');
    expect(panel.posted.at(-1)).toEqual({ type: 'approvePlan', ask: 1, runId: 'run-1', round: 0, attemptId, forTraining: false });
    // A second click sends nothing while the first is on its way.
    panel.click('Run this plan');
    expect(panel.posted).toHaveLength(1);
  });

  it('runs as it was changed: who does a step, its words, what it reads, a step more, a step less', async () => {
    const panel = renderPanel(stateWith({ run: heldRun() }));
    choose(panel, 'Worker of step 1', '2');
    type(panel, 'Instruction of step 1', ' Find the case. ');
    tick(panel, 3, 'step 1, gpt-5');
    panel.click('Remove step 2');
    panel.click('Insert a step before step 2');
    expect(document.activeElement?.getAttribute('aria-label')).toBe('Instruction of step 2');
    expect(panel.text()).toContain('Each step needs an instruction.');
    expect(panel.button('Run the changed plan').hasAttribute('disabled')).toBe(true);
    type(panel, 'Instruction of step 2', 'Write it.');
    tick(panel, 2, 'step 1, gpt-5');
    const plan = { modelIds: [2, 2, 2], subtasks: ['Find the case.', 'Write it.', PLAN.subtasks[2]], accessList: [[], [0], [1]] };
    pause();
    expect(panel.posted.at(-1)).toMatchObject({ type: 'planEstimate', round: 0, plan });
    await panel.reply({ ...ESTIMATE, usd: { low: 0.5, high: 0.7 } });
    expect(panel.text()).toContain('about $0.50 to $0.70');
    void act(() => [...panel.root.querySelectorAll('label')].find((label) => label.textContent?.includes('Let Conductor learn'))?.querySelector('input')?.click());
    panel.click('Run the changed plan');
    expect(panel.posted.at(-1)).toMatchObject({ type: 'approvePlan', plan, forTraining: true });
    for (const message of panel.posted) expect(pageMessageSchema.safeParse(message).success, JSON.stringify(message)).toBe(true);
  });

  it('says in place why a decision was refused, and takes another one', async () => {
    const panel = renderPanel(stateWith({ run: heldRun() }));
    panel.click('Run this plan');
    await panel.reply(new Error('Another plan waits by now: look at it first.'));
    expect(panel.root.querySelector('[role="alert"].note')?.textContent).toBe('Another plan waits by now: look at it first.');
    panel.click('Run this plan');
    expect(panel.posted).toHaveLength(2);
  });

  it('is replaced by another one on request, with what should be different', () => {
    const panel = renderPanel(stateWith({ run: heldRun() }));
    type(panel, 'What another plan should do differently', ' Fewer steps. ');
    panel.click('Ask for another plan');
    expect(panel.posted).toEqual([{ type: 'replan', ask: 1, runId: 'run-1', round: 0, attemptId, wish: 'Fewer steps.' }]);
  });

  it('is not run where the person cancels', () => {
    const panel = renderPanel(stateWith({ run: heldRun() }));
    panel.click('Cancel: pay for nothing more');
    expect(panel.posted).toEqual([{ type: 'cancel', runId: 'run-1' }]);
  });

  it('keeps its changes over a reload, and forgets them on request', () => {
    const before = renderPanel(stateWith({ run: heldRun() }));
    type(before, 'Instruction of step 1', 'Only this.');
    const panel = renderPanel(stateWith({ run: heldRun() }), before.stored());
    expect(labelled<HTMLTextAreaElement>(panel, 'Instruction of step 1').value).toBe('Only this.');
    panel.click('Undo changes');
    expect(labelled<HTMLTextAreaElement>(panel, 'Instruction of step 1').value).toBe(PLAN.subtasks[0]);
    expect(panel.text()).toContain('Run this plan');
  });

  it('says why a changed plan cannot be estimated', async () => {
    const panel = renderPanel(stateWith({ run: heldRun() }));
    choose(panel, 'Worker of step 1', '1');
    pause();
    await panel.reply(new Error('This plan cannot run: it has no step.'));
    expect(panel.root.querySelector('.expected')?.textContent).toBe('This plan cannot run: it has no step.');
  });

  it('has five steps at most and one at least', () => {
    const panel = renderPanel(stateWith({ run: heldRun() }));
    panel.click('Add a step at the end');
    panel.click('Add a step at the end');
    expect(panel.text()).toContain('A plan has at most 5 steps.');
    expect(panel.button('Add a step at the end').hasAttribute('disabled')).toBe(true);
    expect(() => panel.button('Insert a step before step 1')).toThrow();
    for (let left = 5; left > 1; left -= 1) panel.click('Remove step 1');
    expect(() => panel.button('Remove step 1')).toThrow();
    expect(panel.text()).toContain('The last step gives the answer.');
  });

  it('may be one of a later round, which reads the round before, after one that was not wanted', () => {
    const panel = renderPanel(stateWith({ run: heldAgainRun() }));
    expect(panel.text()).toContain('You asked for another plan');
    expect(panel.text()).toContain('Let gpt-5 look at the failing test first.');
    expect(panel.text()).toContain('unknown, about 4.0k to 52k tokens');
    expect(panel.text()).toContain('The budget holds 31k more tokens');
    tick(panel, 1, 'round 1');
    panel.click('Run the changed plan');
    expect(panel.posted.at(-1)).toMatchObject({ round: 1, plan: { accessList: [[]] } });
  });

  it('is told to whoever does not see it', () => {
    const { rounds, ...before } = heldRun();
    const said = announcementOf({ ...before, rounds: rounds.map(({ review: _review, ...round }) => round), state: 'running', seq: 1 }, heldRun());
    expect(said).toBe('The plan waits for you. Expected cost: about $0.0088 to $0.031');
  });
});

it('a plan that was changed says so once it runs', () => {
  const run = verifiedRun();
  const rounds = run.rounds.map((round) => ({ ...round, ...(round.plan && { planEdited: { planned: round.plan, forTraining: false } }) }));
  expect(renderPanel(stateWith({ run: { ...run, rounds } })).text()).toContain('You changed this plan before it ran.');
});
