// @vitest-environment jsdom
import axe from 'axe-core';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BEGIN, denseRun, failedStepRun, retriedRun, stateWith, streamingRun, twoRoundsRun, verifiedRun } from './fixtures.ts';
import { renderPanel, stubLayout, type RenderedPanel } from './render-panel.tsx';

beforeEach(() => {
  stubLayout(1_200);
  vi.useFakeTimers({ now: BEGIN + 60_000, toFake: ['Date', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const tabs = ({ root }: RenderedPanel): HTMLElement[] => [...root.querySelectorAll<HTMLElement>('[role="tab"]')];
const details = ({ root }: RenderedPanel): string => (root.querySelector('[role="tabpanel"]')?.textContent ?? '').replace(/\s+/g, ' ');
const press = (element: Element | null, key: string): void =>
  void act(() => { element?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })); });

describe('a wide page', () => {
  it('draws a plan as a graph, with a line for each read', () => {
    const panel = renderPanel(stateWith({ run: denseRun() }));
    expect(tabs(panel)).toHaveLength(5);
    expect(panel.root.querySelectorAll('.graph-edges .edge-line')).toHaveLength(10);
    expect(tabs(panel)[1]?.textContent).toBe('done: claudestep 2reads 1Find a counterexample.660 tok · $0.002 · 2.0 s');
    expect(panel.root.querySelector('svg.gutter')).toBeNull();
  });

  it('keeps to the list where the graph could not be read', () => {
    stubLayout(720);
    const panel = renderPanel(stateWith({ run: denseRun() }));
    expect(tabs(panel)).toEqual([]);
    expect(panel.root.querySelectorAll('.step')).toHaveLength(5);
  });

  it('shows all rounds, also those that were revised', () => {
    const panel = renderPanel(stateWith({ run: twoRoundsRun() }));
    expect(panel.root.querySelectorAll('.rounds > .round')).toHaveLength(2);
    expect(tabs(panel)).toHaveLength(10);
  });

  it('shows the step that runs until somebody selects one', () => {
    const panel = renderPanel(stateWith({ run: streamingRun() }));
    expect(details(panel)).toContain('one pointer that');
    void act(() => tabs(panel)[2]?.click());
    expect(details(panel)).toMatch(/^waiting: gpt-5step 3 · reads 1 and 2.*Starts when steps 1 and 2 are done/);
    panel.show(stateWith({ run: verifiedRun() }));
  });

  it('leads with arrow keys from step to step, and selects with a click as Enter makes one', () => {
    const panel = renderPanel(stateWith({ run: denseRun() }));
    expect(tabs(panel).map(({ tabIndex }) => tabIndex)).toEqual([-1, -1, 0, -1, -1]);
    void act(() => tabs(panel)[2]?.focus());
    press(document.activeElement, 'ArrowLeft');
    expect(document.activeElement).toBe(tabs(panel)[1]);
    expect(tabs(panel).map(({ tabIndex }) => tabIndex)).toEqual([-1, 0, -1, -1, -1]);
    press(document.activeElement, 'End');
    expect(document.activeElement).toBe(tabs(panel)[4]);
    void act(() => tabs(panel)[1]?.click());
    expect(tabs(panel).map((tab) => tab.getAttribute('aria-selected'))).toEqual(['false', 'true', 'false', 'false', 'false']);
    expect(details(panel)).toContain('Take [[1, 9], [2, 3]].');
  });

  it('says of the selected step what it saw and what it cost', () => {
    const panel = renderPanel(stateWith({ run: twoRoundsRun() }));
    expect(details(panel)).toContain(
      'What it sawThe question5 pieces of the project1.9k tokensRound 1: every output, and what the tests saidThe output of step 1 gemini-pro210 tokens',
    );
    expect(details(panel)).toContain('BillTokens in420Tokens out850Cost$0.01Time5.6 sAttempts1');
  });

  it('asks for a prompt once somebody opens it, and shows it to the letter', async () => {
    const panel = renderPanel(stateWith({ run: verifiedRun() }));
    expect(panel.posted).toEqual([]);
    panel.click('The exact prompt');
    await expect.poll(() => panel.posted).toEqual([{ type: 'stepPrompt', ask: 1, runId: 'run-1', round: 0, step: 2 }]);
    await panel.reply([{ role: 'user', content: 'Do <b>this</b>\n  and nothing else.' }]);
    expect(panel.root.querySelector('[role="tabpanel"] pre')?.textContent).toBe('Do <b>this</b>\n  and nothing else.');
  });

  it('says why a prompt cannot be had', async () => {
    const panel = renderPanel(stateWith({ run: verifiedRun() }));
    panel.click('The exact prompt');
    await expect.poll(() => panel.posted).toHaveLength(1);
    await panel.reply(new Error('The backend is gone.'));
    expect(details(panel)).toContain('The backend is gone.');
  });

  it('asks a step again once the run is over, and not before', () => {
    const panel = renderPanel(stateWith({ run: twoRoundsRun() }));
    panel.click('Retry this step in a new run, with the steps that read it');
    expect(panel.posted).toEqual([{ type: 'retryStep', runId: 'run-1', round: 1, step: 4 }]);
    const running = renderPanel(stateWith({ run: denseRun() }));
    void act(() => tabs(running)[0]?.click());
    expect(() => running.button(/^Retry this step/)).toThrow();
  });

  it('asks a step again that failed, and none that was never asked', () => {
    const panel = renderPanel(stateWith({ run: failedStepRun() }));
    void act(() => tabs(panel)[1]?.click());
    panel.click('Retry this step in a new run, with the steps that read it');
    expect(panel.posted).toEqual([{ type: 'retryStep', runId: 'run-1', round: 0, step: 1 }]);
    void act(() => tabs(panel)[2]?.click());
    expect(() => panel.button(/^Retry this step/)).toThrow();
  });

  it('says of a step that is kept from an earlier run that it is', () => {
    const panel = renderPanel(stateWith({ run: retriedRun() }));
    expect(tabs(panel).map(({ textContent }) => textContent?.includes('kept'))).toEqual([true, false, false]);
  });

  it('keeps the selection, or that none is wanted, over a reload', () => {
    const panel = renderPanel(stateWith({ run: verifiedRun() }));
    void act(() => tabs(panel)[0]?.click());
    const again = renderPanel(stateWith({ run: verifiedRun() }), panel.stored());
    expect(tabs(again)[0]?.getAttribute('aria-selected')).toBe('true');
    again.click('Close the details');
    expect(document.activeElement).toBe(tabs(again)[0]);
    expect(renderPanel(stateWith({ run: verifiedRun() }), again.stored()).root.querySelector('[role="tabpanel"]')).toBeNull();
  });

  it('offers the editor only from the side bar', () => {
    const side = renderPanel(stateWith({ run: verifiedRun() }));
    side.click('Open in an editor, with room for the graph');
    expect(side.posted).toEqual([{ type: 'openInEditor' }]);
    const editor = renderPanel(stateWith({ run: verifiedRun() }), undefined, 'editor');
    expect(() => editor.button(/^Open in an editor/)).toThrow();
  });

  it('axe-core finds nothing, opened up or not', async () => {
    vi.useRealTimers();
    for (const run of [twoRoundsRun(), streamingRun(), denseRun()]) {
      const panel = renderPanel(stateWith({ run }));
      for (const open of [false, true]) {
        if (open) panel.openAll();
        const { violations } = await axe.run(panel.root, { rules: { 'color-contrast': { enabled: false } } });
        expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
      }
    }
  });
});
