import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../backend/protocol/methods.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { Signal } from '../../extension/common/signal.ts';
import { VerdictFeed, type JudgedRun } from '../../extension/runs/verdict-feed.ts';
import { notVerifiedRun, refusedRun, verifiedRun } from '../webview/fixtures.ts';
import { REGRESSED, VERIFIED } from '../webview/verdict-fixtures.ts';

const FOLDER = '/app';

function summary(runId: string, change: Partial<RunSummary> = {}): RunSummary {
  return {
    runId, kind: 'solve', question: `Question of ${runId}?`, workspace: FOLDER, state: 'completed', outcome: 'verified',
    acceptedAt: 0, updatedAt: 0, usd: 0, unpricedTokens: 0, simulated: false, ...change,
  };
}

/** A window with folders open, a list of runs, and a memory that a second window can be given. */
function windowOn(snapshots: Record<string, RunSnapshot>, { told = {}, folders = [FOLDER] }: {
  told?: Record<string, string>; folders?: string[];
} = {}) {
  const list = { changed: new Signal<void>(), runs: [] as readonly RunSummary[] };
  const judged: JudgedRun[] = [];
  const problems: string[] = [];
  let memory: Readonly<Record<string, string>> = told;
  let asked = Promise.resolve();
  const requests: string[] = [];
  const feed = new VerdictFeed({
    connection: {
      request: (async (_method: string, { runId }: { runId: string }) => {
        requests.push(runId);
        const run = snapshots[runId];
        if (!run) throw new Error('The connection is gone.');
        return { run };
      }) as never,
    },
    list,
    folders: () => folders,
    memory: { get: () => memory, set: (next) => { memory = next; } },
    log: (line) => problems.push(line),
  });
  feed.judged.on((run) => judged.push(run));
  return {
    judged, problems, requests,
    memory: () => memory,
    async listed(...runs: RunSummary[]): Promise<void> {
      list.runs = runs;
      list.changed.emit();
      // What a change of the list begins is over when the event loop comes round.
      asked = new Promise((resolve) => setImmediate(resolve));
      await asked;
    },
  };
}

describe('the verdicts of a window\'s folders', () => {
  it('are told when a run ends, whoever asked', async () => {
    const window = windowOn({ a: verifiedRun() });
    await window.listed(summary('a', { state: 'running', outcome: undefined }));
    expect(window.judged).toEqual([]);
    await window.listed(summary('a'));
    expect(window.judged).toMatchObject([{ folder: FOLDER, runId: 'a', question: 'Question of a?', verdict: VERIFIED, isNew: true }]);
  });

  it('are fetched once, however often the list changes', async () => {
    const window = windowOn({ a: verifiedRun() });
    await window.listed(summary('a'));
    await window.listed(summary('a'));
    expect(window.requests).toEqual(['a']);
    expect(window.judged).toHaveLength(1);
  });

  it('are those of the run that ended last', async () => {
    const window = windowOn({ a: verifiedRun(), b: notVerifiedRun() });
    await window.listed(summary('a', { updatedAt: 5 }), summary('b', { updatedAt: 9, outcome: 'not-verified' }));
    expect(window.judged).toMatchObject([{ runId: 'b', verdict: REGRESSED }]);
  });

  it('are known, and not new, after a reload of the window', async () => {
    const before = windowOn({ a: verifiedRun() });
    await before.listed(summary('a'));
    const after = windowOn({ a: verifiedRun() }, { told: { ...before.memory() } });
    await after.listed(summary('a'));
    expect(after.judged).toMatchObject([{ runId: 'a', isNew: false }]);
  });

  it('leave out other folders, unchecked answers, and answers that no test judged', async () => {
    const window = windowOn({ a: verifiedRun(), b: verifiedRun(), c: refusedRun() });
    await window.listed(
      summary('a', { workspace: '/elsewhere' }), summary('b', { outcome: 'unchecked' }), summary('c', { outcome: 'not-verified' }),
    );
    expect(window.judged).toEqual([]);
    expect(window.requests).toEqual(['c']);
  });

  it('are asked for again when they could not be had', async () => {
    const snapshots: Record<string, RunSnapshot> = {};
    const window = windowOn(snapshots);
    await window.listed(summary('a'));
    expect(window.problems).toHaveLength(1);
    snapshots.a = verifiedRun();
    await window.listed(summary('a'));
    expect(window.judged).toHaveLength(1);
  });
});
