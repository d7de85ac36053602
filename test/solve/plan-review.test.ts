import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from '../../backend/journal/journal.ts';
import { holderName } from '../../backend/journal/leases.ts';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import { runRequestSchema, type RunRequestInput } from '../../backend/protocol/run-request.ts';
import { isOver, type RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { workersFileSchema, type WorkersFile } from '../../backend/protocol/worker-config.ts';
import { RunManager } from '../../backend/solve/run-manager.ts';
import { recordBook, workerRecords } from '../../backend/records/worker-records.ts';
import type { RawPlan } from '../../backend/workflow/validate-plan.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { NO_ADAPTER } from '../support/no-adapter.ts';
import { ScriptedServer, type ScriptedAnswer, type ScriptedRequest } from '../support/scripted-server.ts';
import { NO_TESTS } from './driven-run.ts';

/* Runs whose plans wait for a person, on a real journal and real wires. */

const PLAN = 'model_id = [0, 1]\nsubtasks = ["Look at the constant.", "Write the change."]\naccess_list = [[], ["all"]]';
const OTHER = 'model_id = [1]\nsubtasks = ["Write the change at once."]\naccess_list = [[]]';

let folder: string;
let server: ScriptedServer;
let script: (request: ScriptedRequest) => ScriptedAnswer;
let workers: WorkersFile;
const managers: { manager: RunManager; journal: Journal }[] = [];
const prices = await loadPrices();

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-review-'));
  script = ({ model, text }) => (model !== 'planner' ? `What ${model} says.` : text.includes('wants another one') ? OTHER : PLAN);
  server = await ScriptedServer.start((request) => script(request));
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, price: { inputPerMillion: 1, outputPerMillion: 1 }, maxOutputTokens: 1_000 };
  workers = workersFileSchema.parse({
    version: 1, conductor: 'planner',
    workers: [{ ...worker, id: 'first', model: 'first' }, { ...worker, id: 'second', model: 'second' }, { ...worker, id: 'planner', model: 'planner', enabled: false }],
  });
});

afterEach(async () => {
  for (const one of managers.splice(0)) {
    await one.manager.close();
    one.journal.close();
  }
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** A backend without its socket, on the journal of this test. */
function open(): { manager: RunManager; journal: Journal } {
  const journal = Journal.open(path.join(folder, 'journal.sqlite'));
  const manager = new RunManager({
    journal,
    clients: { secret: async () => 'key', confirm: async () => true, model: () => Promise.reject(new Error('no client')), changed: () => new Promise(() => {}) },
    caller: new WorkerCaller({ limits: new ProviderLimits(), prices, delay: async () => {} }),
    checker: NO_TESTS,
    supply: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
    gatherContext: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
    loadWorkers: async () => workers,
    priced: (worker) => worker,
    adapterVersion: NO_ADAPTER,
    holder: holderName(),
    log: (problem) => { throw new Error(problem); },
  });
  const one = { manager, journal };
  managers.push(one);
  return one;
}

/** The process ends; what a kill leaves is tried in crash-matrix.test.ts. */
async function end({ manager, journal }: (typeof managers)[0]): Promise<void> {
  managers.splice(managers.findIndex((one) => one.manager === manager), 1);
  await manager.close();
  journal.close();
}

const request = (input: Partial<RunRequestInput> = {}) =>
  runRequestSchema.parse({ question: 'The constant a is wrong, please mend it.', workspace: folder, rounds: 1, reviewPlan: 'always', ...input });

function when(runs: RunManager, runId: string, condition: (run: RunSnapshot) => boolean): Promise<RunSnapshot> {
  return new Promise((resolve) => {
    const look = (): void => {
      const run = runs.snapshot(runId);
      if (!condition(run)) return;
      stop();
      resolve(run);
    };
    const stop = runs.listen({ onEvent: () => queueMicrotask(look), onText: () => {}, onChanged: () => {}, onRemoved: () => {} });
    queueMicrotask(look);
  });
}
const held = (runs: RunManager, runId: string) => when(runs, runId, ({ state, rounds }) => state === 'waiting' && rounds.at(-1)?.review?.state === 'waiting');
const over = (runs: RunManager, runId: string) => when(runs, runId, ({ state }) => isOver(state));
const shown = (run: RunSnapshot) => ({ round: run.rounds.length - 1, attemptId: run.rounds.at(-1)?.planAttempt?.attemptId ?? '' });
const calls = (): string[] => server.requests.map(({ model }) => model);
const types = (runs: RunManager, runId: string): RunEvent['type'][] => runs.events(runId, 0).map(({ event }) => event.type);

describe('a plan that a person is to see', () => {
  it('waits before a worker is paid, and runs as it is once it is let', async () => {
    const { manager: runs } = open();
    const runId = await runs.start(request());
    const run = await held(runs, runId);
    expect(calls()).toEqual(['planner']);
    expect(runs.list({ limit: 1 })).toMatchObject([{ state: 'waiting' }]);
    // A run that waits is no reason for the backend to stay.
    expect(runs.activeRuns).toBe(0);
    expect(run.rounds[0]?.review?.estimate).toMatchObject({ usd: { low: expect.any(Number), high: expect.any(Number) }, steps: [{ from: 'limits' }, { from: 'limits' }] });

    runs.approvePlan(runId, { ...shown(run), forTraining: false });
    expect(await over(runs, runId)).toMatchObject({ state: 'completed', rounds: [{ plan: { modelIds: [0, 1] }, review: { state: 'approved' } }] });
    expect(calls()).toEqual(['planner', 'first', 'second']);
    expect(types(runs, runId)).not.toContain('plan.edited');
  });

  it('runs as the person changed it: who does a step, its words, what it may read, a step more, a step less', async () => {
    const { manager: runs } = open();
    const runId = await runs.start(request());
    const run = await held(runs, runId);
    const plan = { modelIds: [1, 1, 0], subtasks: ['Look at b, too.', 'Think.', ' Write it. '], accessList: [[], [], [1]] };
    runs.approvePlan(runId, { ...shown(run), plan, forTraining: false });
    const ended = await over(runs, runId);
    expect(ended.rounds[0]).toMatchObject({
      plan: { ...plan, subtasks: ['Look at b, too.', 'Think.', 'Write it.'] },
      planEdited: { planned: { modelIds: [0, 1] }, forTraining: false },
      planText: PLAN,
      steps: [{ worker: 1 }, { worker: 1 }, { worker: 0, reads: [1], output: 'What first says.' }],
    });
    const [last] = server.of('first');
    expect(last?.text).toContain('Your subtask: Write it.');
    expect(last?.text).toContain('<subtask>\nThink.');
    expect(last?.text).not.toContain('Look at b, too.');
    // Both plans are in the journal, and in what is exported.
    expect(types(runs, runId).filter((type) => type.startsWith('plan.'))).toEqual(['plan.proposed', 'plan.held', 'plan.edited', 'plan.approved']);
    const { text } = await runs.questions.export(runId, 'markdown');
    expect(text).toContain('A person changed this plan before it ran.');
    expect(text).toContain('Look at the constant.');
  });

  it('is written anew where the person wants another one, by what the person says of it', async () => {
    const { manager: runs } = open();
    const runId = await runs.start(request());
    const first = await held(runs, runId);
    runs.replan(runId, { ...shown(first), wish: 'One step is enough.' });
    const second = await when(runs, runId, ({ state, rounds }) => state === 'waiting' && rounds[0]?.plan?.modelIds.length === 1);
    expect(server.of('planner')[1]?.text).toContain('One step is enough.');
    expect(server.of('planner')[1]?.text).toContain('Look at the constant.');
    expect(second.rounds[0]).toMatchObject({ discarded: [{ text: PLAN, wish: 'One step is enough.' }], planSpent: { usd: expect.closeTo(240e-6) } });
    // What the Conductor was sent can be read afterwards.
    expect(runs.questions.prompt(runId, 0, undefined).map(({ content }) => content).join('\n')).toBe(server.of('planner')[1]?.text);
    // The plan before it cannot be let run any more.
    expect(() => runs.approvePlan(runId, { ...shown(first), forTraining: false })).toThrow('Another plan waits by now');
    runs.approvePlan(runId, { ...shown(second), forTraining: false });
    expect((await over(runs, runId)).rounds[0]?.steps).toMatchObject([{ worker: 1, output: 'What second says.' }]);
    expect(calls()).toEqual(['planner', 'planner', 'second']);
  });

  it('gives the Conductor all its tries again for another plan', async () => {
    const { manager: runs } = open();
    let invalid = 2;
    script = ({ model }) => (model !== 'planner' ? 'An answer.' : invalid-- > 0 ? 'no plan' : PLAN);
    const runId = await runs.start(request());
    const first = await held(runs, runId);
    expect(first.rounds[0]?.rejections).toHaveLength(2);
    invalid = 2;
    runs.replan(runId, shown(first));
    const second = await when(runs, runId, ({ state, rounds }) => state === 'waiting' && rounds[0]?.rejections.length === 4);
    // The first question after it is not told of a text that came before the plan.
    expect(server.of('planner')[3]?.text).not.toContain('That is not a valid plan');
    expect(second.rounds[0]?.plan).toBeDefined();
  });

  it('is not run where the person cancels, and waits again where the run is resumed', async () => {
    const { manager: runs } = open();
    const runId = await runs.start(request());
    const run = await held(runs, runId);
    runs.cancel(runId);
    expect(await over(runs, runId)).toMatchObject({ state: 'cancelled' });
    expect(() => runs.approvePlan(runId, { ...shown(run), forTraining: false })).toThrow('waits for you');
    await runs.resume(runId);
    const again = await held(runs, runId);
    expect(calls()).toEqual(['planner']);
    runs.approvePlan(runId, { ...shown(again), forTraining: false });
    expect(await over(runs, runId)).toMatchObject({ state: 'completed' });
  });

  it('waits in each round, and the next round is told what was carried out', async () => {
    const { manager: runs } = open();
    const runId = await runs.start(request({ rounds: 2 }));
    const run = await held(runs, runId);
    runs.approvePlan(runId, { ...shown(run), plan: { modelIds: [1], subtasks: ['Only this.'], accessList: [[]] }, forTraining: false });
    const next = await when(runs, runId, ({ state, rounds }) => state === 'waiting' && rounds.length === 2);
    const told = server.of('planner')[1]?.text ?? '';
    expect(told).toContain('subtasks = ["Only this."]');
    expect(told).toContain('changed your plan before it was carried out');
    const plan = { modelIds: [0], subtasks: ['Go on.'], accessList: ['all' as const] };
    runs.approvePlan(runId, { ...shown(next), plan, forTraining: false });
    expect((await over(runs, runId)).rounds[1]?.steps).toMatchObject([{ readsPreviousRound: true }]);
    expect(server.of('first').at(-1)?.text).toContain('<previous_round>');
  });

  const wrong: [name: string, plan: RawPlan, says: string][] = [
    ['without a step', { modelIds: [], subtasks: [], accessList: [] }, 'it has no step'],
    ['of six steps', { modelIds: Array(6).fill(0), subtasks: Array(6).fill('Do.'), accessList: Array(6).fill([]) }, 'more than 5 steps'],
    ['with a worker that is none', { modelIds: [7], subtasks: ['Do.'], accessList: [[]] }, 'does not take part'],
    ['with a step without words', { modelIds: [0], subtasks: ['  '], accessList: [[]] }, 'needs an instruction'],
    ['with a step that reads itself', { modelIds: [0], subtasks: ['Do.'], accessList: [[0]] }, 'may only read earlier steps'],
    ['of unequal lists', { modelIds: [0], subtasks: [], accessList: [[]] }, 'each step needs a worker'],
  ];
  it.each(wrong)('is refused where it was changed to one %s, in words for people, and goes on waiting', async (_name, plan, says) => {
    const { manager: runs } = open();
    const runId = await runs.start(request());
    const run = await held(runs, runId);
    expect(() => runs.approvePlan(runId, { ...shown(run), plan, forTraining: false })).toThrow(says);
    expect(() => runs.estimatePlan(runId, 0, plan)).toThrow(says);
    expect(runs.snapshot(runId)).toMatchObject({ state: 'waiting', seq: run.seq });
  });
});

describe('whether a plan waits', () => {
  it.each([
    ['never unless it is asked for', { reviewPlan: undefined }, false],
    ['where it may cost more than the amount', { reviewPlan: { aboveUsd: 0.001 } }, true],
    ['not where it costs less', { reviewPlan: { aboveUsd: 1 } }, false],
  ] as const)('%s', async (_name, input, waits) => {
    const { manager: runs } = open();
    const runId = await runs.start(request(input));
    const run = await when(runs, runId, ({ state }) => state !== 'running');
    expect(run.state).toBe(waits ? 'waiting' : 'completed');
  });

  it('also where the price of a worker is not known, but not where all cost nothing', async () => {
    const { manager: runs } = open();
    const withPrice = (price: object | undefined): void => {
      workers = { ...workers, workers: workers.workers.map(({ price: _price, ...worker }) => ({ ...worker, ...(price && { price: { inputPerMillion: 0, outputPerMillion: 0 } }) })) };
    };
    withPrice(undefined);
    const unknown = await held(runs, await runs.start(request({ reviewPlan: { aboveUsd: 1 } })));
    expect(unknown.rounds[0]?.review?.estimate).toMatchObject({ unpriced: ['first', 'second'] });
    expect(unknown.rounds[0]?.review?.estimate.usd).toBeUndefined();
    withPrice({});
    expect(await over(runs, await runs.start(request({ reviewPlan: { aboveUsd: 0 } })))).toMatchObject({ state: 'completed' });
  });

  it('not in a run that asks one step again: the plan was let run, as it was changed', async () => {
    const { manager: runs } = open();
    const runId = await runs.start(request());
    const run = await held(runs, runId);
    runs.replan(runId, shown(run));
    const second = await when(runs, runId, ({ state, rounds }) => state === 'waiting' && rounds[0]?.plan?.modelIds.length === 1);
    runs.approvePlan(runId, { ...shown(second), plan: { modelIds: [1, 0], subtasks: ['Look.', 'Write.'], accessList: [[], [0]] }, forTraining: false });
    await over(runs, runId);
    const retried = await runs.retry(runId, { round: 0, step: 1 });
    const ended = await over(runs, retried);
    expect(ended.rounds[0]).toMatchObject({ plan: { modelIds: [1, 0] }, planEdited: { forTraining: false }, steps: [{ keptFrom: runId }, { worker: 0, state: 'completed' }] });
    expect(calls()).toEqual(['planner', 'planner', 'second', 'first', 'first']);
  });
});

describe('a backend that ends while a plan waits', () => {
  it('leaves the plan waiting for the next one, which pays for nothing again', async () => {
    const before = open();
    const runId = await before.manager.start(request());
    const run = await held(before.manager, runId);
    await end(before);
    const { manager: runs } = open();
    runs.resumeUnfinished();
    const again = await held(runs, runId);
    expect(shown(again)).toEqual(shown(run));
    runs.approvePlan(runId, { ...shown(again), plan: { modelIds: [1], subtasks: ['Do it.'], accessList: [[]] }, forTraining: false });
    expect(await over(runs, runId)).toMatchObject({ state: 'completed', rounds: [{ plan: { modelIds: [1] } }] });
    expect(calls()).toEqual(['planner', 'second']);
  });

  it('refuses a decision in one sentence while nobody works on the run', async () => {
    const before = open();
    const runId = await before.manager.start(request());
    const run = await held(before.manager, runId);
    await end(before);
    const { manager: runs } = open();
    expect(() => runs.approvePlan(runId, { ...shown(run), forTraining: false })).toThrow('is being taken up again');
    expect(calls()).toEqual(['planner']);
  });

  it('goes on with the changed plan where it ended in the middle of it', async () => {
    const before = open();
    const asked = Promise.withResolvers<void>();
    let isStuck = true;
    script = ({ model }) => {
      if (model === 'planner') return PLAN;
      if (model !== 'second' || !isStuck) return `What ${model} says.`;
      asked.resolve();
      return { begin: 'I', rest: new Promise(() => {}) };
    };
    const runId = await before.manager.start(request());
    const run = await held(before.manager, runId);
    before.manager.approvePlan(runId, { ...shown(run), plan: { modelIds: [0, 0, 1], subtasks: ['One.', 'Two.', 'Three.'], accessList: [[], [0], [1]] }, forTraining: false });
    await asked.promise;
    await end(before);
    isStuck = false;
    const { manager: runs } = open();
    runs.resumeUnfinished();
    expect((await over(runs, runId)).rounds[0]).toMatchObject({ plan: { modelIds: [0, 0, 1] }, steps: [{ state: 'completed' }, { state: 'completed' }, { output: 'What second says.' }] });
    expect(calls()).toEqual(['planner', 'first', 'first', 'second', 'second']);
  });
});

describe('what Conductor learns from a changed plan', () => {
  /** A judged run whose plan a person changed. */
  async function judged(forTraining: boolean): Promise<Journal> {
    const one = open();
    const runId = await one.manager.start(request());
    const run = await held(one.manager, runId);
    one.manager.approvePlan(runId, { ...shown(run), plan: { modelIds: [1], subtasks: ['Do it.'], accessList: [[]] }, forTraining });
    await over(one.manager, runId);
    // The verdict comes from a real checker elsewhere; here it is written into the journal.
    one.journal.append(runId, [
      { type: 'verify.completed', round: 0, verdict: { verified: true, outcome: 'verified', score: 1, reason: 'All tests pass.', tests: [], notes: [], command: 'npm test', sandboxed: true, durationMs: 1 } },
      { type: 'run.completed', round: 0, outcome: 'verified', message: 'All tests pass.' },
    ]);
    return one.journal;
  }

  it('nothing, unless the person says so', async () => {
    expect(workerRecords(recordBook(await judged(false)), { project: folder }, workers.workers)).toEqual([]);
  });

  it('whom it was given to, where the person says so', async () => {
    expect(workerRecords(recordBook(await judged(true)), { project: folder }, workers.workers)).toMatchObject([{ worker: 'second', runs: 1, verified: 1 }]);
  });
});
