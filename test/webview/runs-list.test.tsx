// @vitest-environment jsdom
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LISTED_RUNS } from '../../backend/protocol/listed-runs.ts';
import type { RunSummary } from '../../backend/protocol/methods.ts';
import { matchingRuns, readSearch } from '../../webview/run-search.ts';
import { BEGIN, stateWith } from './fixtures.ts';
import { renderPanel, stubLayout, type RenderedPanel } from './render-panel.tsx';

beforeEach(() => stubLayout());
afterEach(() => void vi.useRealTimers());

const run = (number: number, change: Partial<RunSummary> = {}): RunSummary => ({
  runId: `r${number}`, kind: 'solve', question: `Question ${number}?`, state: 'completed', outcome: 'verified',
  acceptedAt: BEGIN - number * 60_000, updatedAt: BEGIN, usd: 0, unpricedTokens: 0, simulated: false, ...change,
});
const many = Array.from({ length: LISTED_RUNS }, (_, index) => run(index));
const few = [run(1, { question: 'Why does merge() fail?' }), run(2, { question: 'Where is MERGE used?', outcome: 'not-verified' }), run(3, { state: 'failed' })];

const questions = ({ root }: RenderedPanel): (string | null)[] => [...root.querySelectorAll('.run-question')].map((element) => element.textContent);
const said = ({ root }: RenderedPanel): string | null | undefined => root.querySelector('.search-result')?.textContent;
const box = ({ root }: RenderedPanel): HTMLInputElement => root.querySelector('input[type="search"]') as HTMLInputElement;

function type(panel: RenderedPanel, text: string): void {
  void act(() => {
    box(panel).value = text;
    box(panel).dispatchEvent(new Event('input', { bubbles: true }));
  });
}

function choose(panel: RenderedPanel, kind: string): void {
  const select = panel.root.querySelector('.run-search select') as HTMLSelectElement;
  void act(() => {
    select.value = kind;
    select.dispatchEvent(new Event('change', { bubbles: true }));
  });
}

describe('the search over past runs', () => {
  it('finds parts of questions whatever their case, and says how many', () => {
    const panel = renderPanel(stateWith({ runs: few }));
    type(panel, 'merge');
    expect(questions(panel)).toEqual(['Why does merge() fail?', 'Where is MERGE used?']);
    expect(said(panel)).toBe('2 runs match.');
    choose(panel, 'not-verified');
    expect(questions(panel)).toEqual(['Where is MERGE used?']);
    expect(said(panel)).toBe('1 run matches.');
  });

  it('says that nothing matches, and leads back to all', () => {
    const panel = renderPanel(stateWith({ runs: few }));
    type(panel, 'nowhere {0}');
    expect(said(panel)).toBe('No run matches “nowhere {0}”.');
    panel.click('Show all runs');
    expect(questions(panel)).toHaveLength(3);
    expect(box(panel).value).toBe('');
  });

  it('is gone through by arrow keys, from the box into the list and back', () => {
    const panel = renderPanel(stateWith({ runs: few }));
    const press = (key: string): void => void act(() => {
      document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    });
    box(panel).focus();
    press('ArrowDown');
    press('ArrowDown');
    expect(document.activeElement?.textContent).toContain('Where is MERGE used?');
    press('ArrowUp');
    press('ArrowUp');
    expect(document.activeElement).toBe(box(panel));
  });

  it('finds runs older than those of the list', async () => {
    const panel = renderPanel(stateWith({ runs: many }));
    type(panel, 'long ago');
    expect(said(panel)).toBe('Looking further back…');
    await expect.poll(() => panel.posted.at(-1)).toMatchObject({ type: 'findRuns', search: 'long ago' });
    await panel.reply([run(900, { question: 'Asked long ago' })]);
    expect(questions(panel)).toEqual(['Asked long ago']);
    expect(said(panel)).toBe('1 run matches.');
    panel.click(/^Asked long ago/);
    expect(panel.posted.at(-1)).toEqual({ type: 'open', runId: 'r900' });
  });

  it('shows older runs without a search, too', async () => {
    const panel = renderPanel(stateWith({ runs: many }));
    panel.click('Show older runs');
    await expect.poll(() => panel.posted.at(-1)).toMatchObject({ type: 'findRuns', search: '' });
    await panel.reply([run(3), run(900)]);
    expect(questions(panel)).toHaveLength(LISTED_RUNS + 1);
  });

  it('asks nobody where the list has all', async () => {
    const panel = renderPanel(stateWith({ runs: few }));
    vi.useFakeTimers();
    type(panel, 'merge');
    await act(async () => void await vi.advanceTimersByTimeAsync(5_000));
    expect(panel.posted).toEqual([]);
  });

  it('says why older runs cannot be looked for', async () => {
    const panel = renderPanel(stateWith({ runs: many }));
    panel.click('Show older runs');
    await expect.poll(() => panel.posted).toHaveLength(1);
    await panel.reply(new Error('The backend is gone.'));
    expect(panel.text()).toContain('The search for older runs failed: The backend is gone.');
  });

  it('is as it was left, over a reload', () => {
    const panel = renderPanel(stateWith({ runs: few }));
    type(panel, 'merge');
    expect(questions(renderPanel(stateWith({ runs: few }), panel.stored()))).toHaveLength(2);
  });
});

describe('matchingRuns', () => {
  it('takes the listed one of two of the same run, newest first', () => {
    const listed = [run(1, { state: 'running' })];
    const found = [run(0), run(1, { state: 'waiting' })];
    expect(matchingRuns({ text: '', kind: 'all' }, listed, found).map(({ runId, state }) => [runId, state])).toEqual([['r0', 'completed'], ['r1', 'running']]);
  });

  it.each([
    ['under-way', [{ state: 'running' }, { state: 'waiting' }]],
    ['ended-early', [{ state: 'stopped' }, { state: 'failed' }, { state: 'cancelled' }]],
    ['unchecked', [{ state: 'completed', outcome: 'unchecked' }, { state: 'completed', outcome: undefined }]],
  ] as const)('counts as %s what is', (kind, fitting) => {
    const runs = fitting.map((change, index) => run(index, change as Partial<RunSummary>));
    expect(matchingRuns({ text: '', kind }, [...runs, run(99)], [])).toEqual(runs);
  });

  it('takes of a stored search what fits', () => {
    expect(readSearch({ text: 'x', kind: 'deleted' })).toEqual({ text: 'x', kind: 'all' });
    expect(readSearch(7)).toEqual({ text: '', kind: 'all' });
  });
});

describe('a past run', () => {
  it('is gone once it is removed, also from what was found further back', async () => {
    const panel = renderPanel(stateWith({ runs: many }));
    type(panel, 'long ago');
    await expect.poll(() => panel.posted.at(-1)).toMatchObject({ type: 'findRuns' });
    await panel.reply([run(900, { question: 'Asked long ago' }), run(901, { question: 'Asked long ago, too' })]);
    panel.click('Remove the run “Asked long ago”');
    expect(panel.posted.at(-1)).toMatchObject({ type: 'removeRun', runId: 'r900' });
    expect(questions(panel)).toHaveLength(2);
    await panel.reply(true);
    expect(questions(panel)).toEqual(['Asked long ago, too']);
  });

  it('stays where the person thinks better of it, and where it cannot be removed, which is said', async () => {
    const panel = renderPanel(stateWith({ runs: few }));
    panel.click('Remove the run “Where is MERGE used?”');
    await panel.reply(false);
    expect(questions(panel)).toHaveLength(3);
    panel.click('Remove the run “Where is MERGE used?”');
    await panel.reply(new Error('Run "r2" is under way.'));
    expect(questions(panel)).toHaveLength(3);
    expect(panel.root.querySelector('[role="alert"]')?.textContent).toBe('The run could not be removed: Run "r2" is under way.');
  });

  it('is removed by the Delete key, too, unless it is under way', () => {
    const panel = renderPanel(stateWith({ runs: [run(1), run(2, { state: 'running' })] }));
    const press = (index: number): void => void act(() => {
      panel.root.querySelectorAll('.run')[index]?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Delete', bubbles: true }));
    });
    press(1);
    expect(panel.posted).toEqual([]);
    press(0);
    expect(panel.posted).toMatchObject([{ type: 'removeRun', runId: 'r1' }]);
    expect(() => panel.button('Remove the run “Question 2?”')).toThrow();
  });
});
