// @vitest-environment jsdom
import { act } from 'preact/test-utils';
import { beforeEach, expect, it } from 'vitest';
import { attemptsRun, ESTIMATE, PLAN, Script, stateWith } from './fixtures.ts';
import { heldPlan } from '../../backend/protocol/held-plan.ts';
import { renderPanel, stubLayout } from './render-panel.tsx';

beforeEach(() => stubLayout());

const titles = (root: HTMLElement): (string | undefined)[] => [...root.querySelectorAll('.round-title')].map((title) => title.textContent?.trim());

it('shows each attempt in a row with its verdict and cost, the offered one open, and what a verified answer costs', () => {
  const panel = renderPanel(stateWith({ run: attemptsRun() }));
  expect(titles(panel.root)).toEqual(['Attempt 1 · offeredVerified, 14 of 14 · $0.0149', 'Attempt 2not tried · $0.0007', expect.stringMatching(/^Attempt 3Not verified, \d+ of \d+ · \$0\.0149$/)]);
  expect([...panel.root.querySelectorAll('.round-title button')].map((button) => button.getAttribute('aria-expanded'))).toEqual(['true', 'false', 'false']);
  expect(panel.text()).toContain('of attempt 1, which cost $0.0149; a verified answer costs $0.021 on average here');
});

it('opens the attempt that is being tried, and says what it does', () => {
  const panel = renderPanel(stateWith({ run: attemptsRun({ goesOn: true }) }));
  expect(titles(panel.root)).toEqual(['Attempt 1running · $0.0136', 'Attempt 2waiting · $0.0007', expect.stringContaining('Not verified')]);
  expect([...panel.root.querySelectorAll('.round-title button')].map((button) => button.getAttribute('aria-expanded'))).toEqual(['true', 'false', 'false']);
  expect(panel.text()).toContain('Running step 3 of 3');
});

it('asks with as many attempts as were chosen beside the question', () => {
  const panel = renderPanel(stateWith());
  const area = panel.root.querySelector('vscode-text-area') as HTMLElement & { value: string };
  const select = panel.root.querySelector('.attempts select') as HTMLSelectElement;
  void act(() => {
    area.value = 'Why?';
    area.dispatchEvent(new Event('input', { bubbles: true }));
    select.value = '3';
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
  panel.click('Solve');
  expect(panel.posted.at(-1)).toEqual({ type: 'solve', question: 'Why?', attempts: 3 });
});

it('shows the plan that waits for a person, though a later attempt has one, too', () => {
  const run = new Script({ attempts: 3 }).context().plan(0, PLAN).plan(1, PLAN).plan(2, PLAN).say({ type: 'plan.held', round: 1, estimate: ESTIMATE }).run();
  const panel = renderPanel(stateWith({ run }));
  expect([...panel.root.querySelectorAll('.round-title button')].map((button) => button.getAttribute('aria-expanded'))).toEqual(['false', 'true', 'false']);
  expect(panel.text()).toContain('The plan waits for you');
  expect([...panel.root.querySelectorAll('.round')].map((round) => round.querySelector('.plan-editor') !== null)).toEqual([false, true, false]);
  expect(heldPlan(run)).toEqual({ round: 1, attemptId: run.rounds[1]?.planAttempt?.attemptId });
});

it('asks for all attempts at once where that was chosen, which one attempt cannot be', () => {
  const panel = renderPanel(stateWith());
  const area = panel.root.querySelector('vscode-text-area') as HTMLElement & { value: string };
  const select = panel.root.querySelector('.attempts select') as HTMLSelectElement;
  expect(panel.root.querySelector('.attempts input')).toBeNull();
  void act(() => {
    area.value = 'Why?';
    area.dispatchEvent(new Event('input', { bubbles: true }));
    select.value = '2';
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
  void act(() => (panel.root.querySelector('.attempts input') as HTMLInputElement).click());
  panel.click('Solve');
  expect(panel.posted.at(-1)).toEqual({ type: 'solve', question: 'Why?', attempts: 2, atOnce: true });
});

it('shows attempts that are tried at once as such, and who ended whom', () => {
  const script = new Script({ attempts: 2 }).context().plan(0, PLAN).plan(1, PLAN)
    .start(0, { kind: 'step', step: 0 }, 'gemini-pro').start(1, { kind: 'step', step: 0 }, 'gemini-pro');
  const going = renderPanel(stateWith({ run: script.run() }));
  expect(going.text()).toContain('Trying 2 attempts at once');
  expect([...going.root.querySelectorAll('.round-title button')].map((button) => button.getAttribute('aria-expanded'))).toEqual(['true', 'true']);
  const failure = { kind: 'cancelled', message: 'Another attempt ended the run first: nothing more is paid for this one.', retryable: false };
  const ended = renderPanel(stateWith({ run: script.say({ type: 'round.failed', round: 0, failure }).run() }));
  expect(titles(ended.root)[0]).toMatch(/^Attempt 1ended by another attempt/);
});
