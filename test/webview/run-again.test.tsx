// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BEGIN, budgetRun, cancelledRun, failedStepRun, retriedRun, stateWith, streamingRun, verifiedRun } from './fixtures.ts';
import { renderPanel, stubLayout } from './render-panel.tsx';

beforeEach(() => {
  stubLayout();
  vi.useFakeTimers({ now: BEGIN + 60_000, toFake: ['Date', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a run that is over', () => {
  it.each([
    ['verified', verifiedRun()], ['stopped', budgetRun()], ['failed', failedStepRun()], ['cancelled', cancelledRun()],
  ])('can be run with other workers and exported: %s', (_state, run) => {
    const panel = renderPanel(stateWith({ run }));
    panel.click('Run with other workers…');
    panel.click('Export this run');
    expect(panel.posted).toEqual([{ type: 'again', runId: run.runId }, { type: 'exportRun', runId: run.runId }]);
  });

  it('goes on only where there is something to go on with', () => {
    const { rounds: _rounds, ...run } = failedStepRun();
    const panel = renderPanel(stateWith({ run: { ...run, pool: [], rounds: [] } }));
    expect(panel.text()).not.toContain('Retry');
    expect(panel.text()).toContain('Run with other workers…');
  });
});

it('a run that goes on has neither', () => {
  const text = renderPanel(stateWith({ run: streamingRun() })).text();
  expect(text).not.toContain('Run with other workers');
  expect(text).not.toContain('Export');
});

it('a run that comes from another says so, and leads to it', () => {
  const panel = renderPanel(stateWith({ run: retriedRun() }));
  expect(panel.text()).toContain('Step 2 of round 1 and the steps that read it ran again. The rest is kept from an earlier run.');
  panel.click('an earlier run');
  expect(panel.posted).toEqual([{ type: 'open', runId: 'run-0' }]);
});

describe('a limit that is nearly spent', () => {
  it('stands in the status line, the nearest to its end where there are several', () => {
    const [own, day] = [{ limit: 'runUsd', spent: 0.0085, of: 0.01 }, { limit: 'dayUsd', spent: 8.1, of: 10 }] as const;
    const status = (warnings: readonly (typeof own | typeof day)[]): string | null | undefined =>
      renderPanel(stateWith({ run: { ...budgetRun(), warnings } })).root.querySelector('.status')?.textContent;
    // The run has gone on since it told of its own limit.
    expect(status([own, day])).toContain('99 % of its budget');
    expect(status([day])).toContain('81 % of the day\'s budget');
    expect(status([])).not.toContain('%');
  });
});
