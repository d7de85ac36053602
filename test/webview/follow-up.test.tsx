// @vitest-environment jsdom
import { act } from 'preact/test-utils';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../backend/protocol/methods.ts';
import { conversationsIn } from '../../webview/conversations.ts';
import { answeredRun, BEGIN, demonstrationRun, followUpRun, stateWith, streamingRun, verifiedRun, type StateChange } from './fixtures.ts';
import { renderPanel, stubLayout, type RenderedPanel } from './render-panel.tsx';

beforeEach(() => stubLayout());

const show = (change: StateChange): RenderedPanel => renderPanel(stateWith(change));
const box = ({ root }: RenderedPanel): HTMLTextAreaElement => root.querySelector('.follow-up vscode-text-area') as HTMLTextAreaElement;

function type(panel: RenderedPanel, text: string): void {
  void act(() => {
    box(panel).value = text;
    box(panel).dispatchEvent(new Event('input', { bubbles: true }));
  });
}

describe('the box to go on', () => {
  it('stands between the answer and its plan, and asks what continues from the run', () => {
    const panel = show({ run: verifiedRun() });
    const order = [...panel.root.querySelectorAll('.answer, .follow-up, .plan')].map(({ classList }) => classList.item(classList.length - 1));
    expect(order.slice(0, 3)).toEqual(['answer', 'follow-up', 'plan']);
    panel.click('Continue');
    expect(panel.posted).toEqual([]);
    type(panel, 'And for an empty list?');
    panel.click('Continue');
    expect(panel.posted).toEqual([{ type: 'solve', question: 'And for an empty list?', continues: 'run-1' }]);
    void act(() => void box(panel).dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true })));
    expect(panel.posted).toHaveLength(2);
  });

  it('says what it goes on from: a change, or a question with its answer', () => {
    expect(show({ run: verifiedRun() }).root.querySelector('.follow-up')?.textContent).toContain('Builds on this change, applied or not.');
    expect(show({ run: answeredRun() }).root.querySelector('.follow-up')?.textContent).toContain('told of this question and its answer');
  });

  it('keeps its text over a reload, for its own run alone, and is empty once the text was asked', () => {
    const panel = show({ run: verifiedRun() });
    type(panel, 'And for an empty list?');
    const stored = panel.stored();
    expect(box(renderPanel(stateWith({ run: verifiedRun() }), stored)).getAttribute('value') ?? box(renderPanel(stateWith({ run: verifiedRun() }), stored)).value).toBe('And for an empty list?');
    const other = renderPanel(stateWith({ run: { ...verifiedRun(), runId: 'run-2' } }), stored);
    expect(other.root.querySelector('.follow-up')?.innerHTML).not.toContain('empty list?"');
    const next = renderPanel(stateWith({ run: { ...verifiedRun(), runId: 'run-3', request: { ...verifiedRun().request, continues: 'run-1' } } }), stored);
    expect(next.stored()).toMatchObject({ followUp: { runId: '', question: '' } });
  });

  it('is not there while the run goes on, for a run of another folder, nor for a demonstration', () => {
    for (const change of [{ run: streamingRun() }, { run: verifiedRun(), elsewhere: true as const }, { run: demonstrationRun(), pool: { conductor: 'conductor-mini', workers: [] } }]) {
      expect(show(change).root.querySelector('.follow-up')).toBeNull();
    }
  });

  it('asks nothing in Restricted Mode or without the backend', () => {
    for (const change of [{ trusted: false }, { backend: { state: 'starting' as const } }]) {
      const panel = show({ run: verifiedRun(), ...change });
      type(panel, 'And now?');
      panel.click('Continue');
      expect(panel.posted).toEqual([]);
    }
  });
});

describe('a run that continues from others', () => {
  it('shows them above its question, folded: each with its question, verdict, answer and the way to it', () => {
    const panel = show({ run: followUpRun() });
    const earlier = panel.root.querySelector('.earlier') as HTMLElement;
    expect(earlier.compareDocumentPosition(panel.root.querySelector('.question') as HTMLElement) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
    const titles = [...earlier.querySelectorAll('.disclosure-title')].map(({ textContent }) => textContent);
    expect(titles).toEqual([expect.stringMatching(/nested intervals\?.*answered$/), expect.stringMatching(/verified$/)]);
    expect(earlier.querySelector('.disclosure-body')).toBeNull();
    panel.openAll();
    expect(earlier.textContent).toContain('The models were not told of it');
    expect(earlier.textContent).toContain('Both cases come from one line.');
    panel.click('Open this run');
    expect(panel.posted.at(-1)).toEqual({ type: 'open', runId: 'run-0a' });
  });

  it.each([
    ['pending', 'The change before is not applied, so this answer has both.'],
    ['lost', 'src/merge.ts: The file was changed since. The workers were shown it as text.'],
  ] as const)('says of a change that is %s what becomes of it', (state, words) => {
    expect(show({ run: followUpRun(state) }).text()).toContain(words);
  });

  it('says nothing of a change that is in the project', () => {
    expect(show({ run: followUpRun('there') }).text()).not.toMatch(/has both|shown it as text/);
  });
});

describe('a conversation in the list of runs', () => {
  const run = (number: number, thread?: string): RunSummary => ({
    runId: `r${number}`, kind: 'solve', question: `Question ${number}?`, state: 'completed', outcome: 'verified',
    acceptedAt: BEGIN - number * 60_000, updatedAt: BEGIN, usd: 0, unpricedTokens: 0, simulated: false, ...(thread !== undefined && { thread }),
  });
  const runs = [run(1, 'r5'), run(2), run(3, 'r5'), run(4, 'gone'), run(5)];

  it('is where its newest run is, also if its first one was removed', () => {
    expect(conversationsIn(runs).map(({ newest, earlier }) => [newest, ...earlier].map(({ runId }) => runId))).toEqual([['r1', 'r3', 'r5'], ['r2'], ['r4']]);
  });

  it('is one entry, whose earlier questions are folded; a search shows each by itself', () => {
    const panel = show({ runs });
    const questions = (): (string | null)[] => [...panel.root.querySelectorAll('.run-question')].map(({ textContent }) => textContent);
    expect(questions()).toEqual(['Question 1?', 'Question 2?', 'Question 4?']);
    panel.click('2 earlier questions');
    expect(questions()).toEqual(['Question 1?', 'Question 3?', 'Question 5?', 'Question 2?', 'Question 4?']);
    const search = panel.root.querySelector('input[type="search"]') as HTMLInputElement;
    void act(() => {
      search.value = 'question 5';
      search.dispatchEvent(new Event('input', { bubbles: true }));
    });
    expect(questions()).toEqual(['Question 5?']);
  });
});
