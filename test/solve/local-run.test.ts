import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planRequest } from '../../backend/conductor/plan-request.ts';
import { Journal } from '../../backend/journal/journal.ts';
import { holderName } from '../../backend/journal/leases.ts';
import type { LanguageModel, TextRequest } from '../../backend/lm/language-model.ts';
import { LocalModels, type LocalModelState } from '../../backend/lm/process/local-models.ts';
import type { RunEvent, StoredEvent } from '../../backend/protocol/run-events.ts';
import { runRequestSchema } from '../../backend/protocol/run-request.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import { isOver, type RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { workersFileSchema, type WorkersFile, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import { RunManager } from '../../backend/solve/run-manager.ts';
import { LocalAdapter } from '../../backend/workers/adapters/local-adapter.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { modelFolder } from '../golden/golden.ts';
import { MODEL_PROCESS } from '../lm/process/model-process-script.ts';
import { quietStream } from '../support/quiet-stream.ts';

/*
 * Runs in which a model of this machine plans and answers, in its own process and with nothing else: no key, no server, no network.
 * Its weights are random: that its plans are valid is the grammar's doing, and its answers are gibberish.
 */

const MODEL = modelFolder('qwen2-tiny');
const prices = await loadPrices();

let home: string;
let models: LocalModels;
let states: LocalModelState[];
/** Settled once a model begins to load. */
let loading: PromiseWithResolvers<void>;
let journal: Journal;
let runs: RunManager;
let events: StoredEvent[];
let workers: WorkersFile;
/** Stands between the runs and the model, where a test wants to. */
let around: (model: LanguageModel) => LanguageModel;
const problems: string[] = [];

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'conductor-local-run-'));
  states = [];
  loading = Promise.withResolvers();
  events = [];
  around = (model) => model;
  workers = workersFileSchema.parse({
    version: 1, conductor: 'tiny', workers: [{ id: 'tiny', provider: 'local', model: MODEL, maxOutputTokens: 40 }],
  });
  models = new LocalModels({
    storage: home,
    script: MODEL_PROCESS,
    probe: {
      platform: 'linux', arch: 'x64', findDriver: async () => false, hasCard: async () => true, listGpus: async () => [],
      hasDisplay: async () => false, gpuDrivers: async () => undefined,
    },
    settings: async () => ({ device: 'auto', precision: 'auto', adapters: false }),
    confirmCuda: async () => undefined,
    onState: (state) => {
      states.push(state);
      if (state.state === 'loading') loading.resolve();
    },
    idleMs: 600_000,
    threads: 1,
  });
  const model = (name: string): LanguageModel => around(models.model(name));
  journal = Journal.open(path.join(home, 'journal.sqlite'));
  const limits = new ProviderLimits();
  runs = new RunManager({
    journal,
    clients: {
      secret: async () => undefined,
      confirm: async () => undefined,
      model: () => Promise.reject(new Error('no client')),
      changed: (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    },
    caller: new WorkerCaller({ limits, prices, localModel: (worker) => model(worker.model), delay: async () => {} }),
    checker: {
      findTestCommands: async () => [],
      runnerOf: async () => undefined,
      sandboxAvailability: async () => ({ available: true }),
      parsePatch: async () => ({ edits: [], refused: [] }),
      verify: () => Promise.reject(new Error('nothing to verify')),
    },
    supply: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
    gatherContext: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
    loadWorkers: async () => workers,
    priced: (worker) => ({ ...worker, price: prices.of(worker) }),
    adapterVersion: async () => undefined,
    holder: holderName(),
    log: (problem) => problems.push(problem),
  });
  runs.listen({ onEvent: (event) => events.push(event), onText: () => {}, onChanged: () => {}, onRemoved: () => {} });
});

afterEach(async () => {
  await runs.close();
  journal.close();
  await models.close();
  await rm(home, { recursive: true, force: true });
  expect(problems.splice(0)).toEqual([]);
});

/** Resolves with the run once it is over. */
async function ended(runId: string): Promise<RunSnapshot> {
  if (isOver(runs.snapshot(runId).state)) return runs.snapshot(runId);
  return new Promise((resolve) => {
    const stop = runs.listen({
      onEvent: (event) => {
        if (event.runId !== runId || !isOver(runs.snapshot(runId).state)) return;
        stop();
        resolve(runs.snapshot(runId));
      },
      onText: () => {},
      onChanged: () => {},
      onRemoved: () => {},
    });
  });
}

const solve = async (): Promise<RunSnapshot> => ended(await runs.start(runRequestSchema.parse({ question: 'Why?', rounds: 1 })));
const ofType = <T extends RunEvent['type']>(type: T): Extract<RunEvent, { type: T }>[] =>
  events.flatMap(({ event }) => (event.type === type ? [event as Extract<RunEvent, { type: T }>] : []));

/** The first call of `write` goes where `first` says, all others to the model. */
function firstWrite(first: (request: TextRequest, model: LanguageModel) => ReturnType<LanguageModel['write']>): typeof around {
  let calls = 0;
  return (model) => ({ ...model, write: (request) => ((calls += 1) === 1 ? first(request, model) : model.write(request)) });
}

describe('a run on this machine alone', () => {
  it('goes from question to answer, for nothing, and ends without claiming that anything was verified', async () => {
    const run = await solve();
    expect(run).toMatchObject({
      state: 'completed', outcome: 'unchecked', policy: { kind: 'local', model: MODEL, promptVersion: 'compact-3' },
      spent: { usd: 0, unpricedTokens: 0, estimated: false },
    });
    expect(run.spent.usage.output).toBeGreaterThan(0);
    expect(snapshotOf(journal.read(run.runId))).toEqual(run);
    const [plan] = ofType('plan.proposed');
    expect(plan).toMatchObject({ cost: { usd: 0, estimated: false }, sampled: { device: 'cpu', seed: expect.any(Number) } });
    expect(run.rounds[0]).toMatchObject({ sampled: plan?.sampled, hasTokens: true });
    expect(plan?.tokens).toMatchObject({ prompt: expect.stringMatching(/^[0-9a-f]{32}$/), temperature: 0.7 });
    expect([plan?.tokens?.ids.length, plan?.tokens?.logprobs.length]).toEqual([plan?.usage.output, plan?.usage.output]);
    for (const step of ofType('step.completed')) {
      expect(step).toMatchObject({ cost: { usd: 0 }, usage: { estimated: false }, sampled: { device: 'cpu' } });
      expect(step.usage.output).toBeLessThanOrEqual(40);
    }
    expect(states.at(-1)).toMatchObject({ model: MODEL, state: 'ready', loaded: { device: 'cpu', precision: 'full' } });
  });

  it('writes the same plan again from the seed in the journal', async () => {
    const run = await solve();
    const [plan] = ofType('plan.proposed');
    const worker = run.policy.worker as WorkerConfig;
    const input = { question: 'Why?', context: '', pool: run.pool.map(({ description }) => ({ description })), rounds: [] };
    const again = await new LocalAdapter(worker, models.model(MODEL)).stream(
      planRequest(worker, input, { seed: plan?.sampled?.seed }),
      quietStream(),
    );
    expect(again.text).toBe(plan?.text);
  });

  it('is told when the model dies while it plans, and goes on with a model that came back', async () => {
    around = firstWrite((request, model) => {
      const begun = Promise.withResolvers<void>();
      const written = model.write({ ...request, onText: (sample, text) => { request.onText?.(sample, text); begun.resolve(); } });
      void begun.promise.then(() => models.processIds.forEach((pid) => process.kill(pid, 'SIGKILL')));
      return written;
    });
    const run = await solve();
    expect(run.state).toBe('completed');
    const [failed, ...more] = ofType('attempt.failed');
    expect(failed).toMatchObject({ purpose: { kind: 'plan' }, failure: { kind: 'model-died', retryable: true }, retryInMs: expect.any(Number) });
    expect(failed?.failure.message).toContain('SIGKILL');
    expect(more).toEqual([]);
    expect(ofType('attempt.started').filter(({ purpose }) => purpose.kind === 'plan').map(({ number }) => number)).toEqual([1, 2]);
  });

  it('that is cancelled takes its question back from the model, which answers the next one', async () => {
    const asked = Promise.withResolvers<AbortSignal>();
    around = firstWrite((request, model) => {
      if (request.signal) asked.resolve(request.signal);
      return model.write(request);
    });
    const runId = await runs.start(runRequestSchema.parse({ question: 'Why?', rounds: 1 }));
    const signal = await asked.promise;
    runs.cancel(runId);
    expect((await ended(runId)).state).toBe('cancelled');
    expect(signal.aborted).toBe(true);
    const next = await solve();
    expect(next.state, next.message).toBe('completed');
  });

  it('whose question is longer than the model reads fails with a sentence, before anything is written', async () => {
    const question = 'word '.repeat(3_000);
    const run = await ended(await runs.start(runRequestSchema.parse({ question, rounds: 1 })));
    expect(run).toMatchObject({ state: 'failed', failure: { kind: 'context-overflow' }, spent: { usage: { output: 0 } } });
    expect(run.failure?.message).toMatch(/reads at most 2048/);
  });

  it('with a model that is not there says which, and how to get it', async () => {
    workers = { ...workers, workers: workers.workers.map((worker) => ({ ...worker, model: 'owner/gone' })) };
    const run = await solve();
    expect(run).toMatchObject({ state: 'failed', failure: { kind: 'not-found' } });
    expect(run.failure?.message).toContain('owner/gone');
    expect(states).toEqual([]);
  });

  it('whose model is unloaded while it loads fails, and can be resumed', async () => {
    const runId = await runs.start(runRequestSchema.parse({ question: 'Why?', rounds: 1 }));
    await loading.promise;
    await models.unload(MODEL);
    expect(await ended(runId)).toMatchObject({ state: 'failed', failure: { kind: 'model-unloaded' } });
    await runs.resume(runId);
    expect((await ended(runId)).state).toBe('completed');
  });
});
