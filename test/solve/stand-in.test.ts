import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Journal } from '../../backend/journal/journal.ts';
import { holderName } from '../../backend/journal/leases.ts';
import type { RunEventOf, RunEventType } from '../../backend/protocol/run-events.ts';
import { runRequestSchema, type RunRequestInput } from '../../backend/protocol/run-request.ts';
import { answerOf } from '../../backend/protocol/run-facts.ts';
import { isOver, type RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { workersFileSchema, type WorkersFile } from '../../backend/protocol/worker-config.ts';
import { RunManager } from '../../backend/solve/run-manager.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { NO_ADAPTER } from '../support/no-adapter.ts';
import { ScriptedServer, type ScriptedAnswer, type ScriptedRequest } from '../support/scripted-server.ts';

/*
 * A worker fails at its step, on a real socket, and another one does it: what is asked of whom, what is journalled, what is paid.
 */

/** `ann` looks, `bob` reads it and answers. */
const PLAN = 'model_id = [0, 1]\nsubtasks = ["Look.", "Answer."]\naccess_list = [[], ["all"]]';
const prices = await loadPrices();

let folder: string;
let server: ScriptedServer;
let script: (request: ScriptedRequest) => ScriptedAnswer;
/** What each worker does but to answer. */
let fault: Record<string, ScriptedAnswer>;
let plan: string;
let workers: WorkersFile;
let calls: RunManager;
let journal: Journal;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-stand-in-'));
  fault = {};
  plan = PLAN;
  script = ({ model }) => fault[model] ?? (model === 'planner' ? plan : `What ${model} says.`);
  server = await ScriptedServer.start((request) => script(request));
  workers = poolOf({ ann: {}, bob: {}, cid: {} });
  [calls, journal] = backend();
});

afterEach(async () => {
  await calls.close();
  journal.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

function poolOf(pool: Record<string, object>, more: object = {}): WorkersFile {
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, maxOutputTokens: 500, price: { inputPerMillion: 1, outputPerMillion: 1 } };
  return workersFileSchema.parse({
    version: 1, conductor: 'planner', ...more,
    workers: [...Object.entries(pool).map(([id, other]) => ({ ...worker, id, model: id, ...other })), { ...worker, id: 'planner', model: 'planner', enabled: false }],
  });
}

function backend(): [RunManager, Journal] {
  const file = Journal.open(path.join(folder, 'journal.sqlite'));
  const manager = new RunManager({
    journal: file,
    clients: { secret: async () => 'key', confirm: async () => true, model: async () => Promise.reject(new Error('none')), changed: () => new Promise(() => {}) },
    caller: new WorkerCaller({ limits: new ProviderLimits(), prices, delay: async () => {} }),
    checker: {
      findTestCommands: async () => [],
      runnerOf: async () => undefined,
      sandboxAvailability: async () => ({ available: true }),
      parsePatch: async () => ({ edits: [], refused: [] }),
      verify: () => Promise.reject(new Error('nothing to verify')),
    },
    supply: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
    gatherContext: async () => ({ pieces: [], leftOut: [], tokens: 3, text: 'a = 1' }),
    loadWorkers: async () => workers,
    priced: (worker) => worker,
    adapterVersion: NO_ADAPTER,
    holder: holderName(),
    log: () => {},
  });
  return [manager, file];
}

const request = (input: Partial<RunRequestInput> = {}) => runRequestSchema.parse({ question: 'The constant a is wrong, please mend it.', workspace: folder, rounds: 1, ...input });

async function over(runId: string): Promise<RunSnapshot> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = (): void => queueMicrotask(() => isOver(calls.snapshot(runId).state) && resolve());
  const stop = calls.listen({ onEvent: look, onText: () => {}, onChanged: () => {}, onRemoved: () => {} });
  look();
  await promise.finally(stop);
  return calls.snapshot(runId);
}
const solve = async (input: Partial<RunRequestInput> = {}): Promise<RunSnapshot> => over(await calls.start(request(input)));

function eventsOf<T extends RunEventType>({ runId }: Pick<RunSnapshot, 'runId'>, type: T): RunEventOf<T>[] {
  return journal.read(runId).flatMap(({ event }) => (event.type === type ? [event as RunEventOf<T>] : []));
}
const asked = (): string[] => server.requests.splice(0).map(({ model }) => model);

describe('a worker that fails', () => {
  const faults: [what: string, answer: ScriptedAnswer, kind: string, attempts: number][] = [
    ['refuses the key', { status: 401 }, 'missing-key', 1],
    ['is out of credit', { status: 402 }, 'payment', 1],
    ['is over its quota', { status: 429, code: 'insufficient_quota' }, 'payment', 1],
    ['may not be used', { status: 403 }, 'permission', 1],
    ['is not there', { status: 404 }, 'not-found', 1],
    ['refuses the request', { status: 400 }, 'invalid-request', 1],
    ['is out of context', { status: 400, code: 'context_length_exceeded' }, 'context-overflow', 1],
    ['is over its rate, whatever is waited', { status: 429, retryAfter: 0 }, 'rate-limit', 4],
    ['asks to wait too long', { status: 429, retryAfter: 3_600 }, 'rate-limit', 1],
    ['is overloaded', { status: 503, retryAfter: 0 }, 'overloaded', 4],
    ['is broken', { status: 500 }, 'server', 4],
    ['hangs up', { hangsUp: true }, 'network', 4],
    ['begins and says nothing more', { begin: 'What', rest: new Promise(() => {}) }, 'idle-timeout', 2],
  ];
  it.each(faults)('%s: its step is done by another one, and the plan goes on', async (_what, answer, kind, attempts) => {
    workers = poolOf({ ann: { idleTimeoutMs: 100 }, bob: {}, cid: {} });
    fault = { ann: answer };
    const run = await solve();
    expect(run).toMatchObject({ state: 'completed', rounds: [{ steps: [
      { state: 'completed', worker: 1, output: 'What bob says.', handedOn: [{ worker: 0, failure: { kind } }] }, { worker: 1, output: 'What bob says.' },
    ] }] });
    expect(run.rounds[0]?.steps[1]).not.toHaveProperty('handedOn');
    expect(run.rounds[0]?.plan?.modelIds).toEqual([0, 1]);
    expect(asked()).toEqual(['planner', ...Array.from({ length: attempts }, () => 'ann'), 'bob', 'bob']);
    expect(eventsOf(run, 'step.reassigned')).toMatchObject([{ round: 0, step: 0, from: 0, to: 1, failure: { kind } }]);
    expect(eventsOf(run, 'step.failed')).toEqual([]);
    expect(journal.budget.reserved(`run:${run.runId}`)).toEqual({ usd: 0, tokens: 0 });
  });

  it('cannot be reached', async () => {
    workers = poolOf({ ann: { baseUrl: 'http://127.0.0.1:9/v1' }, bob: {} });
    const run = await solve();
    expect(run).toMatchObject({ state: 'completed', rounds: [{ steps: [{ worker: 1, handedOn: [{ failure: { kind: 'network' } }] }, {}] }] });
  });

  it('leaves what its step may read as it was, and is not said to have done it', async () => {
    fault = { bob: { status: 402 } };
    const run = await solve();
    expect(asked()).toEqual(['planner', 'ann', 'bob', 'ann']);
    expect(answerOf(run)?.text).toBe('What ann says.');
    const prompt = calls.questions.prompt(run.runId, 0, 1);
    expect(prompt.map(({ content }) => content).join()).toContain('What ann says.');
    plan = 'model_id = [0, 1]\nsubtasks = ["Look.", "Answer."]\naccess_list = [[], []]';
    await solve();
    expect(server.requests.at(-1)?.text).not.toContain('What ann says.');
    fault = { ann: { status: 402 } };
    plan = PLAN;
    await solve();
    expect(server.requests.at(-1)?.text).toContain('worker="1"');
    expect(server.requests.at(-1)?.text).not.toContain('worker="0"');
  });

  it('is not asked again in its run for what a person has to mend, and is for what passes', async () => {
    plan = 'model_id = [0, 0, 0]\nsubtasks = ["Look.", "Think.", "Answer."]\naccess_list = [[], [0], [1]]';
    fault = { ann: { status: 402 } };
    const run = await solve();
    expect(asked()).toEqual(['planner', 'ann', 'bob', 'bob', 'bob']);
    expect(eventsOf(run, 'step.reassigned').map(({ step, to }) => [step, to])).toEqual([[0, 1], [1, 1], [2, 1]]);
    fault = { ann: { status: 400 } };
    await solve();
    expect(asked()).toEqual(['planner', 'ann', 'bob', 'ann', 'bob', 'ann', 'bob']);
  });

  it('in two steps at once is replaced in both', async () => {
    plan = 'model_id = [0, 0, 1]\nsubtasks = ["Look.", "Think.", "Answer."]\naccess_list = [[], [], [0, 1]]';
    fault = { ann: { status: 402 } };
    const run = await solve();
    expect(run).toMatchObject({ state: 'completed', rounds: [{ steps: [{ worker: 1 }, { worker: 1 }, { worker: 1 }] }] });
  });

  it('costs what its attempts cost, beside what the other one costs', async () => {
    workers = poolOf({ ann: { idleTimeoutMs: 100 }, bob: {} });
    fault = { ann: { begin: 'What', rest: new Promise(() => {}) } };
    const run = await solve();
    const failed = eventsOf(run, 'attempt.failed').reduce((sum, { cost }) => sum + (cost.usd ?? 0), 0);
    expect(failed).toBeGreaterThan(0);
    expect(run.rounds[0]?.steps[0]?.spent.usd).toBeCloseTo(failed + 120e-6, 9);
    expect(journal.budget.spent(`run:${run.runId}`).usd).toBeCloseTo(run.spent.usd, 9);
  });
});

describe('where another one fails, too', () => {
  it('the next does it', async () => {
    fault = { ann: { status: 402 }, bob: { status: 400 } };
    const run = await solve();
    expect(asked()).toEqual(['planner', 'ann', 'bob', 'cid', 'bob', 'cid']);
    expect(run).toMatchObject({ state: 'completed', rounds: [{ steps: [{ worker: 2, handedOn: [{ worker: 0 }, { worker: 1 }] }, { worker: 2, handedOn: [{ worker: 1 }] }] }] });
  });

  it('and nobody is left, the run stops with a sentence and goes on from there when it is resumed', async () => {
    plan = 'model_id = [2, 0]\nsubtasks = ["Look.", "Answer."]\naccess_list = [[], ["all"]]';
    script = ({ model, text }) => (model === 'planner' ? plan : text.includes('Answer.') ? { status: 402 } : `What ${model} says.`);
    const run = await solve();
    expect(run).toMatchObject({ state: 'failed', failure: { kind: 'payment' }, rounds: [{ steps: [{ state: 'completed' }, { state: 'failed', failure: { kind: 'payment' } }] }] });
    expect(run.message).toMatch(/^Nobody is left for step 2: 3 workers failed, the last one so: Worker "cid"/);
    expect(asked()).toEqual(['planner', 'cid', 'ann', 'bob', 'cid']);
    script = ({ model }) => `What ${model} says at last.`;
    await calls.resume(run.runId);
    const resumed = await over(run.runId);
    expect(asked()).toEqual(['cid']);
    expect(resumed).toMatchObject({ state: 'completed', rounds: [{ steps: [{ output: 'What cid says.' }, { output: 'What cid says at last.' }] }] });
  });

  it('and is resumed, the plan\'s own worker is asked again before the others', async () => {
    plan = 'model_id = [1]\nsubtasks = ["Answer."]\naccess_list = [[]]';
    fault = { ann: { status: 402 }, bob: { status: 402 }, cid: { status: 402 } };
    const run = await solve();
    expect(asked()).toEqual(['planner', 'bob', 'ann', 'cid']);
    fault = { cid: { status: 402 } };
    await calls.resume(run.runId);
    expect(await over(run.runId)).toMatchObject({ state: 'completed', rounds: [{ steps: [{ output: 'What bob says.' }] }] });
    expect(asked()).toEqual(['cid', 'bob']);
  });
});

describe('a person\'s choice stands', () => {
  it('of a single worker: nobody else is asked, and the failure is told as it is', async () => {
    fault = { ann: { status: 402 } };
    plan = 'model_id = [0]\nsubtasks = ["Answer."]\naccess_list = [[]]';
    const run = await solve({ workers: ['ann'] });
    expect(run).toMatchObject({ state: 'failed', failure: { kind: 'payment' } });
    expect(run.message).toMatch(/^Worker "ann"/);
    expect(asked()).toEqual(['planner', 'ann']);
  });

  it('of some workers: only they are asked', async () => {
    fault = { ann: { status: 402 } };
    plan = 'model_id = [0]\nsubtasks = ["Answer."]\naccess_list = [[]]';
    expect(await solve({ workers: ['ann', 'cid'] })).toMatchObject({ rounds: [{ steps: [{ output: 'What cid says.' }] }] });
  });

  it('to retry a step asks the plan\'s worker anew, and keeps who did the others', async () => {
    fault = { ann: { status: 402 }, bob: { status: 402 } };
    const first = await solve();
    expect(first.rounds[0]?.steps.map(({ worker }) => worker)).toEqual([2, 2]);
    fault = {};
    asked();
    const retried = await over(await calls.retry(first.runId, { round: 0, step: 1 }));
    expect(asked()).toEqual(['bob']);
    expect(retried).toMatchObject({ state: 'completed', rounds: [{ steps: [
      { worker: 2, output: 'What cid says.', keptFrom: first.runId, handedOn: [{ worker: 0 }, { worker: 1 }] }, { worker: 1, output: 'What bob says.' },
    ] }] });
    const again = await over(await calls.retry(retried.runId, { round: 0, step: 1 }));
    expect(again.rounds[0]?.steps[0]).toMatchObject({ worker: 2, keptFrom: first.runId });
  });

  it('to cancel ends the run: nobody takes over', async () => {
    fault = { ann: { begin: 'What', rest: new Promise(() => {}) } };
    const runId = await calls.start(request());
    const { promise, resolve } = Promise.withResolvers<void>();
    calls.listen({ onEvent: () => {}, onText: ({ purpose }) => purpose.kind === 'step' && resolve(), onChanged: () => {}, onRemoved: () => {} });
    await promise;
    calls.cancel(runId);
    expect((await over(runId)).state).toBe('cancelled');
    expect(asked()).toEqual(['planner', 'ann']);
  });
});

it('a budget that holds no call of the other one stops the run, which goes on with more', async () => {
  workers = poolOf({ ann: {}, bob: { maxOutputTokens: 50_000 } }, { budget: { runTokens: 20_000 } });
  plan = 'model_id = [0]\nsubtasks = ["Answer."]\naccess_list = [[]]';
  fault = { ann: { status: 402 } };
  const run = await solve();
  expect(run).toMatchObject({ state: 'stopped', stoppedBy: 'runTokens', rounds: [{ steps: [{ worker: 1, state: 'pending', handedOn: [{ worker: 0 }] }] }] });
  expect(asked()).toEqual(['planner', 'ann']);
  await calls.resume(run.runId, { runTokens: 200_000 });
  expect(await over(run.runId)).toMatchObject({ state: 'completed', rounds: [{ steps: [{ output: 'What bob says.' }] }] });
  expect(asked()).toEqual(['bob']);
});

it('what another one said is told of it, not of the worker that failed', async () => {
  const done = { usage: { uncachedInput: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0, estimated: false }, cost: { usd: 0, estimated: false }, durationMs: 1 };
  fault = { ann: { status: 402 } };
  const run = await solve();
  const records = (): string[] => journal.judgedSteps(10).map(({ worker }) => worker);
  expect(records()).toEqual([]);
  journal.accept('judged', eventsOf(run, 'run.accepted')[0] as RunEventOf<'run.accepted'>);
  journal.append('judged', [
    ...eventsOf(run, 'plan.proposed'), ...eventsOf(run, 'step.reassigned'), ...eventsOf(run, 'step.completed').map((event) => ({ ...event, ...done })),
    { type: 'verify.completed', round: 0, verdict: { verified: true, score: 1, outcome: 'verified', reason: '', tests: [], notes: [], command: 'x', sandboxed: true, durationMs: 1 } },
    { type: 'run.completed', outcome: 'verified', round: 0, message: '' },
  ]);
  expect(records()).toEqual(['bob', 'bob']);
});
