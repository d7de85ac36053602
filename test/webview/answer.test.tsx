// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  cancelledCheckRun, demonstrationRun, infrastructureRun, notVerifiedRun, POOL_SUMMARY, retriedRun, secondRoundRun, stateWith, uncheckedRun,
  untestedRun, verifiedRun, worseRun, type StateChange,
} from './fixtures.ts';
import { renderPanel, stubLayout, type RenderedPanel } from './render-panel.tsx';

beforeEach(() => stubLayout());

const show = (change: StateChange): RenderedPanel => renderPanel(stateWith(change));
const appearanceOf = (panel: RenderedPanel, name: string): string | null => panel.button(name).getAttribute('appearance');
const answer = (panel: RenderedPanel): string => panel.root.querySelector('.answer')?.textContent ?? '';
const heading = (panel: RenderedPanel): string => panel.root.querySelector('.answer .section-title')?.textContent ?? '';

describe('the button to the review', () => {
  it('is the primary one where the tests have verified the answer', () => {
    expect(appearanceOf(show({ run: verifiedRun() }), 'Review and apply')).toBe('primary');
  });

  it.each([
    ['breaks a test', notVerifiedRun(), 'Apply although 1 test breaks…'],
    ['breaks several', worseRun(), 'Apply although 1 test breaks…'],
    ['could not be checked', infrastructureRun(), 'Review, though unchecked…'],
    ['has no test', untestedRun(), 'Review, though unchecked…'],
    ['was cancelled before its tests ended', cancelledCheckRun(), 'Review, though unchecked…'],
  ])('says so where the answer %s, and presses nobody', (_what, run, words) => {
    const panel = show({ run });
    expect(appearanceOf(panel, words)).toBe('secondary');
    expect(() => panel.button('Review and apply')).toThrow();
    panel.click(words);
    expect(panel.posted).toEqual([{ type: 'apply', runId: run.runId }]);
  });

  it('cannot be pressed in Restricted Mode, which is said beside it', () => {
    const panel = show({ run: verifiedRun(), trusted: false });
    panel.click('Review and apply');
    expect(panel.posted).toEqual([]);
    expect(answer(panel)).toContain('Nothing is applied in Restricted Mode');
  });
});

describe('the place of the answer', () => {
  const inOrder = (panel: RenderedPanel, ...selectors: string[]): string[] => {
    const found = [...panel.root.querySelectorAll(selectors.join())];
    return selectors.filter((selector) => panel.root.querySelector(selector)).sort((a, b) =>
      found.findIndex((element) => element.matches(a)) - found.findIndex((element) => element.matches(b)));
  };

  it('is above the plan and the tests once the run is over: its verdict, then its buttons, then the change', () => {
    const wanted = ['.status', '.answer .standing', '.answer .actions', '.answer .diff', '.plan', '.verdict'];
    expect(inOrder(show({ run: verifiedRun() }), ...[...wanted].reverse())).toEqual(wanted);
  });

  it('is where the page begins when a run ends that was watched', () => {
    const scrolled = vi.spyOn(window, 'scrollTo').mockImplementation(() => undefined);
    const running = { ...verifiedRun(), state: 'running' as const, outcome: undefined };
    const panel = show({ run: running });
    scrolled.mockClear();
    panel.show(stateWith({ run: verifiedRun() }));
    expect(scrolled).toHaveBeenCalledExactlyOnceWith(0, 0);
    panel.show(stateWith({ run: { ...verifiedRun(), updatedAt: verifiedRun().updatedAt + 1 } }));
    expect(scrolled).toHaveBeenCalledTimes(1);
  });
});

describe('what stands beside the answer', () => {
  it('tells the figures of its own round, and why it is that round', () => {
    const panel = show({ run: worseRun() });
    expect(heading(panel)).toContain('of round 1, the best of 2 by the tests');
    expect(answer(panel)).toContain('Not verified · 12 of 14 tests pass with it, 12 without it · 1 test breaks');
  });

  it('tells only the round where that one is verified', () => {
    expect(heading(show({ run: secondRoundRun() }))).toMatch(/^Answerof round 2(?!,)/);
  });

  it('tells that nobody has checked it', () => {
    expect(answer(show({ run: cancelledCheckRun() }))).toContain('Unchecked · the run ended before the tests had checked it');
    expect(answer(show({ run: untestedRun() }))).toContain('Unchecked · no test has checked it');
  });

  it('tells nothing where there was nothing to check', () => {
    expect(show({ run: uncheckedRun() }).root.querySelector('.standing')).toBeNull();
  });
});

describe('an answer that was applied', () => {
  const undoable = { runId: 'run-1', files: ['src/merge.ts'] };

  it('can be taken back and looked at, also when the run is opened again, and presses no more', () => {
    const panel = show({ run: verifiedRun(), undoable });
    expect(answer(panel)).toContain('Applied to src/merge.ts.');
    panel.click('Undo the answer');
    panel.click('Open file src/merge.ts');
    expect(panel.posted).toEqual([{ type: 'undo', runId: 'run-1' }, { type: 'openFile', path: 'src/merge.ts' }]);
    expect(appearanceOf(panel, 'Review again…')).toBe('secondary');
  });

  it('keeps what was not applied of it in sight', () => {
    const applied = { runId: 'run-1', state: 'partly', message: 'Applied to a. Not applied: b.' } as const;
    expect(answer(show({ run: verifiedRun(), undoable, applied }))).toContain('Not applied: b.');
  });

  it('is not offered to be taken back on the page of another run', () => {
    const panel = show({ run: verifiedRun(), undoable: { ...undoable, runId: 'other' } });
    expect(() => panel.button('Undo the answer')).toThrow();
    expect(appearanceOf(panel, 'Review and apply')).toBe('primary');
  });
});

describe('an answer of a folder that is not open', () => {
  it('leads to the folder, and offers nothing that cannot work here', () => {
    const panel = show({ run: verifiedRun(), elsewhere: true });
    expect(answer(panel)).toContain('/home/ada/intervals, which is not open in this window');
    expect(() => panel.button('Review and apply')).toThrow();
    expect(() => panel.button('Insert the code at the cursor')).toThrow();
    panel.click('Open that folder');
    expect(panel.posted).toEqual([{ type: 'openFolder', runId: 'run-1' }]);
  });
});

describe('a demonstration', () => {
  it('is shown again while there is no worker, and asks nobody else', () => {
    const panel = show({ run: demonstrationRun(), elsewhere: true, pool: { conductor: 'conductor-mini', workers: [] } });
    expect(panel.text()).not.toContain('Ask again');
    expect(panel.text()).not.toContain('Run with other workers');
    panel.click('Show it again');
    expect(panel.posted).toEqual([{ type: 'demonstrate' }]);
  });

  it('is over once there is a worker', () => {
    const panel = show({ run: demonstrationRun(), elsewhere: true, pool: POOL_SUMMARY });
    expect(() => panel.button('Show it again')).toThrow();
  });
});

describe('a Conductor that keeps the answer', () => {
  it('has given up where the tests are against it', () => {
    const panel = show({ run: notVerifiedRun() });
    const kept = panel.root.querySelector('.kept');
    expect(kept?.textContent).toContain('The Conductor had no better plan and gave up after round 1.');
    expect(kept?.querySelector('.codicon-check')).toBeNull();
  });

  it('is content where no test has spoken', () => {
    const run = notVerifiedRun();
    const rounds = run.rounds.map(({ verdict: _verdict, ...round }) => round);
    expect(show({ run: { ...run, rounds } }).text()).toContain('The Conductor kept the answer of round 1.');
  });
});

describe('what a run only keeps', () => {
  it('claims neither time nor tokens', () => {
    const panel = show({ run: retriedRun() });
    const round = panel.root.querySelector('.round');
    expect(round?.querySelector('.round-title')?.textContent).toContain('plan kept');
    expect(round?.querySelector('[data-step="0"] .step-figures')?.textContent).toBe('kept');
    panel.click('Show the details of step 1');
    panel.click('Show the details of step 3');
    expect(panel.text()).toContain('Kept from an earlier run, which paid for it.');
    const [first] = [...panel.root.querySelectorAll('[data-step="2"] .saw li')].filter((item) => item.textContent?.startsWith('The output of step 1'));
    expect(first?.textContent).not.toContain('tokens');
  });
});
