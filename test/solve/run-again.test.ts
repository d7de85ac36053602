import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from '../../backend/journal/journal.ts';
import { holderName } from '../../backend/journal/leases.ts';
import { runRequestSchema, type RunRequestInput } from '../../backend/protocol/run-request.ts';
import { isOver, type RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import { workersFileSchema, type WorkersFile } from '../../backend/protocol/worker-config.ts';
import { RunManager } from '../../backend/solve/run-manager.ts';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { NO_ADAPTER } from '../support/no-adapter.ts';
import { ScriptedServer, type ScriptedAnswer, type ScriptedRequest } from '../support/scripted-server.ts';

/*
 * A run that is over is asked again, in part or of others: a real journal, real patches and a model server that counts who was asked. Only
 * the verdicts are scripted.
 */

/** `look` and `think` read nothing; `draft` reads `look`, the last step reads `draft`. */
const PLAN = 'model_id = [0, 1, 2, 3]\nsubtasks = ["Look.", "Think.", "Draft.", "Mend it."]\naccess_list = [[], [], [0], [1, 2]]';
const NAMES = ['look', 'think', 'draft', 'mend'];
const answer = (value: number): string => `Here:\n\`\`\`js src/a.js\nexport const a = ${value};\n\`\`\``;
const RED: Partial<Verdict> = { tests: [{ id: 'a.test.js > is two', before: 'failed', after: 'failed' }], reason: 'red' };
const GREEN: Partial<Verdict> = { verified: true, outcome: 'verified', score: 1, reason: 'All tests pass.' };

let folder: string;
let server: ScriptedServer;
let script: (request: ScriptedRequest) => ScriptedAnswer;
let verdicts: Partial<Verdict>[];
let workers: WorkersFile;
let gathered: number;
const opened: { manager: RunManager; journal: Journal }[] = [];
const prices = await loadPrices();

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-again-'));
  let said = 0;
  // No two answers are alike: what was kept can be told from what was asked anew.
  script = ({ model }) => (model === 'planner' ? PLAN : model === 'mend' ? answer((said += 1)) : `${model} says ${(said += 1)}`);
  server = await ScriptedServer.start((request) => script(request));
  verdicts = [];
  gathered = 0;
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, price: { inputPerMillion: 1, outputPerMillion: 1 }, maxOutputTokens: 1_000 };
  workers = workersFileSchema.parse({
    version: 1,
    conductor: 'planner',
    workers: [
      ...NAMES.map((id) => ({ ...worker, id, model: id })),
      { ...worker, id: 'planner', model: 'planner', enabled: false },
      { ...worker, id: 'other', model: 'other', enabled: false },
    ],
  });
});

afterEach(async () => {
  for (const { manager, journal } of opened.splice(0)) {
    await manager.close();
    journal.close();
  }
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

function backend(): RunManager {
  const journal = Journal.open(path.join(folder, 'journal.sqlite'));
  const manager = new RunManager({
    journal,
    clients: { secret: async () => 'key', confirm: async () => true, model: async () => Promise.reject(new Error('none')), changed: () => new Promise(() => {}) },
    caller: new WorkerCaller({ limits: new ProviderLimits(), prices, delay: async () => {} }),
    checker: {
      findTestCommands: async () => [{ command: 'node --test', runner: 'node-test', folder: '' }],
      runnerOf: async () => 'node-test',
      sandboxAvailability: async () => ({ available: true }),
      parsePatch: (text, workspace, candidates) => parsePatch(text, workspace, { candidates }),
      verify: async ({ command, sandboxed }) => ({
        verified: false, score: 0, outcome: 'failed', reason: '', tests: [], notes: [], command, sandboxed, durationMs: 1, ...verdicts.shift(),
      }),
    },
    supply: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
    gatherContext: async () => {
      gathered += 1;
      return { pieces: [], leftOut: [], tokens: 3, text: 'src/a.js: a = 1' };
    },
    loadWorkers: async () => workers,
    priced: (worker) => worker,
    adapterVersion: NO_ADAPTER,
    holder: holderName(),
    log: () => {},
  });
  opened.push({ manager, journal });
  return manager;
}

const request = (input: Partial<RunRequestInput> = {}) => runRequestSchema.parse({ question: 'The constant a is wrong, please mend it.', workspace: folder, ...input });

/** The run's snapshot once it satisfies the condition; told by the run's own events. */
function when(runs: RunManager, runId: string, condition: (run: RunSnapshot) => boolean): Promise<RunSnapshot> {
  const { promise, resolve } = Promise.withResolvers<RunSnapshot>();
  // After the event has reached the snapshot.
  const look = (): void => queueMicrotask(() => {
    const run = runs.snapshot(runId);
    if (condition(run)) resolve(run);
  });
  const stop = runs.listen({ onEvent: look, onText: look, onChanged: () => {}, onRemoved: () => {} });
  look();
  return promise.finally(stop);
}
const over = (runs: RunManager, runId: string) => when(runs, runId, ({ state }) => isOver(state));

/** Whom the server was asked for since, with how often. */
function asked(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { model } of server.requests.splice(0)) counts[model] = (counts[model] ?? 0) + 1;
  return counts;
}

/** Each attempt asks `mend` alone. */
const ATTEMPT = 'model_id = [3]\nsubtasks = ["Mend it."]\naccess_list = [[]]';

const outputs = ({ rounds }: RunSnapshot, round = 0): (string | undefined)[] => (rounds[round]?.steps ?? []).map(({ output }) => output);

describe('a step that is asked again', () => {
  it('of one attempt leaves the other attempts as they are', async () => {
    const whole = script;
    script = (call) => (call.model === 'planner' ? ATTEMPT : whole(call));
    verdicts = [RED, RED, RED, RED];
    const runs = backend();
    const first = await over(runs, await runs.start(request({ attempts: 3 })));
    expect(first).toMatchObject({ state: 'completed', outcome: 'not-verified' });
    expect(asked()).toEqual({ planner: 3, mend: 3 });

    const second = await over(runs, await runs.retry(first.runId, { round: 1, step: 0 }));
    // Nothing is planned again, and of all steps one is paid for.
    expect(asked()).toEqual({ mend: 1 });
    expect(outputs(second, 0)).toEqual(outputs(first, 0));
    expect(outputs(second, 1)).not.toEqual(outputs(first, 1));
    expect(outputs(second, 2)).toEqual(outputs(first, 2));
    expect(second.rounds.map(({ verdict }) => verdict?.outcome)).toEqual(['failed', 'failed', 'failed']);
  });

  it('of an attempt is asked again though another one is verified, and what was not tried stays untried', async () => {
    const whole = script;
    script = (call) => (call.model === 'planner' ? ATTEMPT : whole(call));
    verdicts = [RED, GREEN, RED];
    const runs = backend();
    const first = await over(runs, await runs.start(request({ attempts: 3 })));
    expect(first).toMatchObject({ outcome: 'verified', answerRound: 1 });
    asked();
    const second = await over(runs, await runs.retry(first.runId, { round: 0, step: 0 }));
    expect(asked()).toEqual({ mend: 1 });
    expect(outputs(second, 0)).not.toEqual(outputs(first, 0));
    expect(second).toMatchObject({ state: 'completed', outcome: 'verified', answerRound: 1 });
    expect(second.rounds[2]?.steps.map(({ state }) => state)).toEqual(['pending']);
  });

  it('is a new run that asks it and whoever reads it, and pays for nothing else', async () => {
    verdicts = [RED, GREEN];
    const runs = backend();
    const first = await over(runs, await runs.start(request({ rounds: 1 })));
    expect(asked()).toEqual({ planner: 1, look: 1, think: 1, draft: 1, mend: 1 });

    const retried = await over(runs, await runs.retry(first.runId, { round: 0, step: 2 }));
    expect(asked()).toEqual({ draft: 1, mend: 1 });
    expect(gathered).toBe(1);
    expect(outputs(retried).slice(0, 2)).toEqual(outputs(first).slice(0, 2));
    expect(outputs(retried)[2]).not.toBe(outputs(first)[2]);
    expect(retried).toMatchObject({ state: 'completed', outcome: 'verified', parentId: first.runId, retried: { round: 0, step: 2 } });
    expect(retried.rounds[0]?.steps.map(({ keptFrom }) => keptFrom)).toEqual([first.runId, first.runId, undefined, undefined]);
    const paid = (retried.rounds[0]?.steps ?? []).map(({ spent }) => spent.usd);
    expect(paid.slice(0, 2)).toEqual([0, 0]);
    expect(retried.spent.usd).toBeCloseTo((paid[2] ?? 0) + (paid[3] ?? 0), 12);
    // What the first one was stays as it was.
    expect(runs.snapshot(first.runId)).toEqual(first);
  });

  it('of the second round keeps the first as it is, and of the first round plans the second anew', async () => {
    verdicts = [RED, RED];
    const runs = backend();
    const first = await over(runs, await runs.start(request()));
    asked();

    verdicts = [GREEN];
    const second = await over(runs, await runs.retry(first.runId, { round: 1, step: 3 }));
    expect(asked()).toEqual({ mend: 1 });
    expect(second.rounds[0]).toMatchObject({ answer: first.rounds[0]?.answer, verdict: first.rounds[0]?.verdict });
    expect(second).toMatchObject({ outcome: 'verified', answerRound: 1 });

    verdicts = [RED, GREEN];
    const anew = await over(runs, await runs.retry(first.runId, { round: 0, step: 3 }));
    expect(asked()).toEqual({ mend: 2, planner: 1, look: 1, think: 1, draft: 1 });
    expect(anew.rounds).toHaveLength(2);
  });

  it('that nobody could do goes on from there, with what had finished', async () => {
    let refuses = true;
    const usual = script;
    script = (asking) => (asking.model !== 'planner' && asking.text.includes('Draft.') && refuses ? { status: 403 } : usual(asking));
    verdicts = [GREEN];
    const runs = backend();
    const first = await over(runs, await runs.start(request()));
    expect(first.state).toBe('failed');
    refuses = false;
    asked();
    const retried = await over(runs, await runs.retry(first.runId, { round: 0, step: 2 }));
    expect(asked()).toEqual({ draft: 1, mend: 1 });
    expect(retried.outcome).toBe('verified');
  });

  it('names the run that paid, also where that was asked again itself', async () => {
    const runs = backend();
    const first = await over(runs, await runs.start(request({ rounds: 1 })));
    const second = await over(runs, await runs.retry(first.runId, { round: 0, step: 2 }));
    const third = await over(runs, await runs.retry(second.runId, { round: 0, step: 3 }));
    expect(third.parentId).toBe(second.runId);
    expect(third.rounds[0]).toMatchObject({ planKeptFrom: first.runId });
    expect(third.rounds[0]?.steps.map(({ keptFrom }) => keptFrom)).toEqual([first.runId, first.runId, second.runId, undefined]);
  });

  it('has a budget of its own', async () => {
    const runs = backend();
    const first = await over(runs, await runs.start(request({ rounds: 1, budget: { runUsd: 0.5 } })));
    const retried = await over(runs, await runs.retry(first.runId, { round: 0, step: 3 }, { runTokens: 1_000 }));
    expect(retried).toMatchObject({ state: 'stopped', stoppedBy: 'runTokens', budget: { runUsd: 0.5, runTokens: 1_000 } });
    expect(retried.message).toContain('Resume the run with a higher limit.');
    expect(asked()).not.toHaveProperty('mend', 2);
  });

  it('goes on after its backend was ended, and still pays for nothing that it keeps', async () => {
    verdicts = [RED, GREEN];
    const before = backend();
    const first = await over(before, await before.start(request({ rounds: 1 })));
    asked();
    const usual = script;
    script = (asking) => (asking.model === 'draft' ? { begin: 'Half', rest: new Promise(() => {}) } : usual(asking));
    const runId = await before.retry(first.runId, { round: 0, step: 2 });
    await when(before, runId, (run) => run.rounds[0]?.steps[2]?.attempt?.text === 'Half');
    await before.close();
    script = usual;

    const after = backend();
    after.resumeUnfinished();
    const retried = await over(after, runId);
    expect(asked()).toEqual({ draft: 2, mend: 1 });
    expect(outputs(retried).slice(0, 2)).toEqual(outputs(first).slice(0, 2));
    expect(retried.outcome).toBe('verified');
  });

  it.each([
    ['a step that there is not', { round: 0, step: 4 }, /no step 5 in round 1/],
    ['a round that there is not', { round: 1, step: 0 }, /no step 1 in round 2/],
  ])('is not %s', async (_what, place, says) => {
    const runs = backend();
    const { runId } = await over(runs, await runs.start(request({ rounds: 1 })));
    await expect(runs.retry(runId, place)).rejects.toThrow(says);
  });

  it('says in the journal that its project is gone, and keeps nothing for who could resume it', async () => {
    const runs = backend();
    const first = await over(runs, await runs.start(request({ rounds: 1 })));
    asked();
    const gone = path.join(folder, 'journal.sqlite');
    const { journal } = opened[0] as (typeof opened)[0];
    journal.transaction(() => {
      const [accepted] = journal.read(first.runId);
      if (accepted?.event.type !== 'run.accepted') throw new Error('not a run');
      journal.accept('moved', { ...accepted.event, request: { ...accepted.event.request, workspace: gone } });
      journal.append('moved', journal.read(first.runId, 1).map(({ event }) => event));
    });
    const retried = await over(runs, await runs.retry('moved', { round: 0, step: 0 }));
    expect(retried).toMatchObject({ state: 'failed', failure: { kind: 'workspace' }, parentId: 'moved' });
    expect(asked()).toEqual({});
  });

  it('waits for the end of its run', async () => {
    const usual = script;
    script = (asking) => (asking.model === 'mend' ? { begin: 'Half', rest: new Promise(() => {}) } : usual(asking));
    const runs = backend();
    const runId = await runs.start(request());
    await when(runs, runId, (run) => run.rounds[0]?.steps[3]?.attempt?.text === 'Half');
    await expect(runs.retry(runId, { round: 0, step: 0 })).rejects.toThrow(/under way/);
    await expect(runs.again(runId, { trusted: true })).rejects.toThrow(/under way/);
  });
});

describe('a run with another pool', () => {
  it('has the question and the context of the one before, and other workers', async () => {
    const usual = script;
    script = (asking) => (asking.model === 'other' ? 'model_id = [0]\nsubtasks = ["Mend it."]\naccess_list = [[]]' : usual(asking));
    const runs = backend();
    const first = await over(runs, await runs.start(request({ rounds: 1 })));
    asked();
    const again = await over(runs, await runs.again(first.runId, { workers: ['mend'], conductor: 'other', trusted: true }));
    expect(asked()).toEqual({ other: 1, mend: 1 });
    expect(gathered).toBe(1);
    expect(again).toMatchObject({ parentId: first.runId, context: first.context, request: { question: 'The constant a is wrong, please mend it.', rounds: 1 } });
    expect(again.pool.map(({ id }) => id)).toEqual(['mend']);
  });

  it('is possible where the one before had nobody, and then gathers its context', async () => {
    const runs = backend();
    const usual = workers;
    workers = { ...workers, conductor: undefined, workers: [] };
    const first = await over(runs, await runs.start(request({ rounds: 1 })));
    expect(first.failure?.kind).toBe('no-worker');
    workers = usual;
    const again = await over(runs, await runs.again(first.runId, { trusted: true }));
    expect(again.state).toBe('completed');
    expect(gathered).toBe(1);
  });

  it('says in the journal where a worker that was named is not there', async () => {
    const runs = backend();
    const first = await over(runs, await runs.start(request({ rounds: 1 })));
    const again = await over(runs, await runs.again(first.runId, { workers: ['nobody'], trusted: true }));
    expect(again).toMatchObject({ state: 'failed', failure: { kind: 'unknown-worker' }, parentId: first.runId });
  });
});
