import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ContextRequest, GatheredContext } from '../../backend/context/context.ts';
import { Journal } from '../../backend/journal/journal.ts';
import { holderName } from '../../backend/journal/leases.ts';
import { runRequestSchema, type RunRequestInput } from '../../backend/protocol/run-request.ts';
import { answerOf } from '../../backend/protocol/run-facts.ts';
import { isOver, type RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import type { FoundTests } from '../../backend/protocol/test-command.ts';
import type { Verdict } from '../../backend/protocol/verdict.ts';
import { workersFileSchema, type WorkersFile } from '../../backend/protocol/worker-config.ts';
import type { Checker } from '../../backend/solve/checker.ts';
import { RunNotFoundError } from '../../backend/solve/errors.ts';
import { RunManager } from '../../backend/solve/run-manager.ts';
import { chooseRunner } from '../../backend/verify/runners/choose-runner.ts';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';
import { NO_ADAPTER } from '../support/no-adapter.ts';
import { ScriptedServer, type ScriptedAnswer, type ScriptedRequest } from '../support/scripted-server.ts';
import { TestClients } from './test-clients.ts';

/*
 * Runs against real workers' wire, a real journal and real patches. Only the verdicts are scripted: what they are made of is tested in
 * test/verify, and here the question is what follows from them.
 */

const PLAN = 'model_id = [0, 1]\nsubtasks = ["Look.", "Mend it."]\naccess_list = [[], ["all"]]';
const ANSWER = 'Here:\n```js src/a.js\nexport const a = 2;\n```';

let folder: string;
let clients: TestClients;
let server: ScriptedServer;
let script: (request: ScriptedRequest) => ScriptedAnswer;
let verdicts: Partial<Verdict>[];
let found: FoundTests[];
/** What the tests were asked to judge. */
const judged: Parameters<Checker['verify']>[0][] = [];
let sandbox: Awaited<ReturnType<Checker['sandboxAvailability']>>;
let workers: WorkersFile;
/** The workers of a demonstration. */
let simulated: WorkersFile['workers'];
let awakened: string[];
let gatherContext: (request: ContextRequest) => Promise<GatheredContext>;
const managers: { manager: RunManager; journal: Journal }[] = [];
const problems: string[] = [];

beforeEach(async () => {
  awakened = [];
  folder = await mkdtemp(path.join(tmpdir(), 'conductor-solve-'));
  clients = new TestClients();
  script = ({ model }) => (model === 'planner' ? PLAN : model === 'first' ? 'It is the constant.' : ANSWER);
  server = await ScriptedServer.start((request) => script(request));
  verdicts = [{ verified: true, outcome: 'verified', score: 1, reason: 'All tests pass.' }];
  sandbox = { available: true };
  found = [{ command: 'node --test', runner: 'node-test', folder: '' }];
  judged.length = 0;
  gatherContext = async ({ files }) => ({
    pieces: [], leftOut: files.map((file) => ({ path: file.path, reason: 'it is not text' })), tokens: 3, text: 'src/a.js: a = 1',
  });
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, price: { inputPerMillion: 1, outputPerMillion: 1 } };
  workers = workersFileSchema.parse({
    version: 1,
    conductor: 'planner',
    workers: [
      { ...worker, id: 'first', model: 'first', maxOutputTokens: 1_000 },
      { ...worker, id: 'second', model: 'second', maxOutputTokens: 1_000 },
      { ...worker, id: 'planner', model: 'planner', maxOutputTokens: 1_000, enabled: false },
    ],
  });
});

afterEach(async () => {
  for (const { manager, journal } of managers.splice(0)) {
    await manager.close();
    journal.close();
  }
  await server.close();
  await rm(folder, { recursive: true, force: true });
  expect(problems.splice(0)).toEqual([]);
});

function manager({ now = Date.now } = {}): RunManager {
  const journal = Journal.open(path.join(folder, 'journal.sqlite'), { now });
  const made = new RunManager({
    journal,
    clients,
    caller: new WorkerCaller({ limits: new ProviderLimits(), prices, delay: async () => {} }),
    checker: {
      findTestCommands: async () => found,
      runnerOf: async (test, workspace) => (await chooseRunner(test, workspace))?.runner.name,
      sandboxAvailability: async () => sandbox,
      parsePatch: (answer, workspace, candidates) => parsePatch(answer, workspace, { candidates }),
      verify: async (asked) => {
        judged.push(asked);
        const { command, sandboxed } = asked;
        return {
          verified: false, score: 0, outcome: 'failed', reason: '', tests: [], notes: [], command, sandboxed, durationMs: 1, ...verdicts.shift(),
        };
      },
    },
    supply: async () => ({ pieces: [], leftOut: [], tokens: 0, text: '' }),
    gatherContext: (asked) => gatherContext(asked),
    loadWorkers: async () => workers,
    priced: (worker) => worker,
    adapterVersion: NO_ADAPTER,
    demonstration: async () => ({ request: request(), workers: simulated, conductor: simulated.find(({ enabled }) => !enabled)?.id }),
    awakenSimulated: async ({ id }) => void awakened.push(id),
    holder: holderName(),
    log: (problem) => problems.push(problem),
  });
  managers.push({ manager: made, journal });
  return made;
}
const prices = await loadPrices();

/** Gives the second worker a key, and the clients its value. */
function secondWorkerWants(value: string): void {
  clients.keys.set('SECOND_KEY', value);
  workers = { ...workers, workers: workers.workers.map((worker) => (worker.id === 'second' ? { ...worker, key: 'SECOND_KEY' } : worker)) };
}

/** Leaves nobody in workers.json but `left`; whom it had take part in the demonstration. */
function onlyDemonstrators(left: WorkersFile['workers'] = []): void {
  simulated = workers.workers.map((worker) => ({ ...worker, simulated: true }));
  const { conductor: _planner, ...file } = workers;
  workers = { ...file, workers: left };
}

const request = (input: Partial<RunRequestInput> = {}) => runRequestSchema.parse({ question: 'The constant a is wrong, please mend it.', workspace: folder, ...input });

/** The run's snapshot once it satisfies the condition; told by the run's own events. */
function when(runs: RunManager, runId: string, condition: (run: RunSnapshot) => boolean): Promise<RunSnapshot> {
  return new Promise((resolve) => {
    let done = false;
    const look = (): void => {
      if (done) return;
      const run = runs.snapshot(runId);
      if (!condition(run)) return;
      done = true;
      stop();
      resolve(run);
    };
    // After the event has reached the snapshot.
    const stop = runs.listen({ onEvent: () => queueMicrotask(look), onText: () => queueMicrotask(look), onChanged: () => {}, onRemoved: () => {} });
    look();
  });
}
const over = (runs: RunManager, runId: string) => when(runs, runId, ({ state }) => isOver(state));
const solve = async (input: Partial<RunRequestInput> = {}): Promise<RunSnapshot> => {
  const runs = manager();
  return over(runs, await runs.start(request(input)));
};

describe('a run', () => {
  it('goes from the question to a verified answer', async () => {
    const run = await solve();
    expect(run).toMatchObject({ state: 'completed', outcome: 'verified', message: 'All tests pass.', answerRound: 0 });
    expect(answerOf(run)?.text).toBe(ANSWER);
    expect(run.rounds[0]?.answer?.edits).toMatchObject([{ path: 'src/a.js', kind: 'create' }]);
    expect(server.of('second')[0]?.text).toContain('It is the constant.');
    expect(server.of('first')[0]?.text).toContain('src/a.js: a = 1');
    // Three calls of 120 tokens at a dollar a million.
    expect(run.spent.usd).toBeCloseTo(360e-6, 9);
  });

  it('shows the next round what the tests said, and its workers the round before', async () => {
    const tests = [{ id: 'a.test.js > is two', before: 'failed', after: 'failed' }] as const;
    verdicts = [{ tests, reason: '1 of 1 fails.' }, { verified: true, outcome: 'verified', score: 1, reason: 'All tests pass.' }];
    const run = await solve();
    expect(run).toMatchObject({ outcome: 'verified', answerRound: 1 });
    expect(server.of('planner')[1]?.text).toContain('a.test.js > is two: failed before, failed after');
    expect(server.of('second')[1]?.text).toContain('<previous_round>');
    expect(server.of('second')[1]?.text).toContain('a.test.js > is two');
    expect(server.of('first')[1]?.text).not.toContain('<previous_round>');
  });

  it('tells afterwards what each worker was sent, to the letter', async () => {
    const tests = [{ id: 'a.test.js > is two', before: 'failed', after: 'failed' }] as const;
    verdicts = [{ tests, reason: '1 of 1 fails.' }, { verified: true, outcome: 'verified', score: 1, reason: 'All tests pass.' }];
    const runs = manager();
    const { runId } = await over(runs, await runs.start(request()));
    for (const [step, name] of ['first', 'second'].entries()) {
      const told = [0, 1].map((round) => runs.questions.prompt(runId, round, step).map(({ content }) => content).join('\n'));
      expect(told).toEqual(server.of(name).map(({ text }) => text));
    }
    const plans = [0, 1].map((round) => runs.questions.prompt(runId, round, undefined).map(({ content }) => content).join('\n'));
    expect(plans).toEqual(server.of('planner').map(({ text }) => text));
    expect(() => runs.questions.prompt(runId, 2, undefined)).toThrow('has not been asked');
    expect(() => runs.questions.prompt(runId, 0, 2)).toThrow('has not been sent anything');
    expect(() => runs.questions.prompt(runId, 7, 0)).toThrow('has not been sent anything');
  });

  it('ends honestly when the last round is red', async () => {
    const tests = [{ id: 'a.test.js > is two', before: 'failed', after: 'failed' }] as const;
    verdicts = [{ tests, reason: 'red' }, { tests, reason: 'still red' }];
    expect(await solve()).toMatchObject({ state: 'completed', outcome: 'not-verified', message: 'still red', answerRound: 1 });
  });

  it('ends with the first answer in words where no change has to come, and pays for no other plan', async () => {
    const alone = 'model_id = [1]\nsubtasks = ["Say why a is wrong."]\naccess_list = [[]]';
    script = ({ model }) => (model === 'planner' ? alone : 'a is one, and should be two.');
    const run = await solve({ question: 'Why is a wrong?' });
    expect(run).toMatchObject({ state: 'completed', outcome: 'answered', answerRound: 0, asks: { kind: 'bug', wants: 'any' } });
    expect(run.rounds).toHaveLength(1);
    expect(server.of('planner')).toHaveLength(1);
  });

  it('says that a change was asked for and none came, and lets the Conductor keep such an answer', async () => {
    script = ({ model, text }) => {
      if (model !== 'planner') return 'No file needs to change.';
      return text.includes('TEST FEEDBACK') ? 'model_id = []\nsubtasks = []\naccess_list = []' : PLAN;
    };
    const run = await solve({ question: 'Fix the bug in a.' });
    expect(run).toMatchObject({
      state: 'completed', outcome: 'not-verified', answerRound: 0, message: 'The question asks for a change, but the answer changes no file.',
    });
    expect(run.rounds[1]?.kept).toBe(true);
    expect(server.of('planner')[1]?.text).toContain('The question asks for a change, but the answer changes no file.');
  });

  it('asks again for a plan that breaks a rule, says which, and pays no worker for it', async () => {
    script = ({ model, text }) =>
      model !== 'planner' ? ANSWER : text.includes('not a valid plan') ? PLAN : PLAN.replace('[0, 1]', '[0, 99]');
    const run = await solve();
    expect(run.outcome).toBe('verified');
    expect(run.rounds[0]?.rejections).toMatchObject([{ reason: 'unknown-worker' }]);
    expect(server.of('planner')[1]?.text).toContain('worker 99');
  });

  it('fails with a sentence when no text is a plan', async () => {
    script = () => 'I would ask somebody.';
    const run = await solve();
    expect(run).toMatchObject({ state: 'failed', failure: { kind: 'plan-rejected' } });
    expect(run.message).toContain('lacks model_id');
    expect(server.of('planner')).toHaveLength(3);
    expect(server.of('first')).toHaveLength(0);
  });
});

describe('the context', () => {
  it('may hold a part of a file that was named: the rest is listed, and the run goes on', async () => {
    gatherContext = async () => ({
      pieces: [{ path: 'src/a.js', startLine: 1, endLine: 60, reason: 'named by you', tokens: 3 }],
      leftOut: [{ path: 'src/a.js', reason: 'all but lines 1-60: over the token budget' }],
      tokens: 3,
      text: 'src/a.js: a = 1',
    });
    expect(await solve({ focus: { files: [{ path: 'src/a.js' }] } })).toMatchObject({ outcome: 'verified' });
  });
});

describe('what cannot work is told in one sentence, and the run is in the journal', () => {
  const cases: [name: string, kind: string, says: RegExp, prepare: () => Partial<RunRequestInput> | void][] = [
    ['an empty question', 'empty-question', /empty/, () => ({ question: ' ' })],
    ['an untrusted workspace', 'untrusted-workspace', /trust it/, () => ({ trusted: false })],
    ['a workspace that is no folder', 'workspace', /not a folder/, () => ({ workspace: path.join(folder, 'nowhere') })],
    ['no worker at all', 'no-worker', /Add Worker/, () => void (workers = { ...workers, conductor: undefined, workers: [] })],
    ['an unknown worker', 'unknown-worker', /"gtp"/, () => ({ workers: ['gtp'] })],
    ['a runner that nobody knows', 'test-command', /no test runner is called "pitest"/, () => ({ testCommand: 'make check', testRunner: 'pitest' })],
    ['JUnit files that are not named', 'test-command', /none are named/, () => ({ testCommand: 'make check', testRunner: 'custom' })],
    ['tests of a runner that the project does not use', 'test-command', /No tests that pytest runs/, () => ({ testRunner: 'pytest' })],
    ['a file that is not text', 'context', /logo\.png/, () => ({ focus: { files: [{ path: 'logo.png' }] } })],
    ['a wrong key', 'authentication', /key/, () => {
      clients.keys.set('PLANNER_KEY', 'wrong');
      workers = { ...workers, workers: workers.workers.map((worker) => ({ ...worker, key: 'PLANNER_KEY' })) };
      script = () => ({ status: 401 });
    }],
    ['a missing key', 'no-conductor', /PLANNER_KEY/, () => {
      workers = { ...workers, workers: workers.workers.map((worker) => ({ ...worker, key: 'PLANNER_KEY' })) };
      return { workers: ['first'] };
    }],
    ['a server that is down', 'network', /127\.0\.0\.1/, () => {
      workers = { ...workers, workers: workers.workers.map((worker) => ({ ...worker, baseUrl: 'http://127.0.0.1:9/v1' })) };
    }],
    ['a plan that names worker 99', 'plan-rejected', /worker 99/, () => void (script = () => PLAN.replace('[0, 1]', '[99, 1]'))],
    ['a ten megabyte answer', 'too-large', /.+/, () => {
      script = ({ model }) => (model === 'planner' ? PLAN : 'x'.repeat(10_000_000));
    }],
  ];
  it.each(cases)('%s', async (_name, kind, says, prepare) => {
    const run = await solve(prepare() ?? {});
    expect(run).toMatchObject({ state: 'failed', failure: { kind } });
    expect(run.message).toMatch(says);
    expect(run.message?.trim().split(/[.!?]\s+(?=[A-Z])/).length).toBeLessThanOrEqual(3);
    const { journal } = managers[0] as (typeof managers)[0];
    expect(journal.list({ limit: 10 })).toMatchObject([{ runId: run.runId, state: 'failed' }]);
  });
});

describe('money', () => {
  it('stops a run before a call that its budget does not hold, and goes on with a raised one without paying again', async () => {
    workers = {
      ...workers,
      budget: { ...workers.budget, runTokens: 4_000 },
      workers: workers.workers.map((worker) => (worker.id === 'second' ? { ...worker, maxOutputTokens: 5_000 } : worker)),
    };
    const runs = manager();
    const runId = await runs.start(request());
    const stopped = await over(runs, runId);
    expect(stopped).toMatchObject({ state: 'stopped', stoppedBy: 'runTokens', message: expect.stringMatching(/^The budget of this run \(4\.0k tokens\) does not hold the next call/) });
    // What is spent, and the call that was refused.
    expect(stopped.needed).toBeGreaterThan(5_000);
    expect(stopped.rounds[0]?.steps[0]?.state).toBe('completed');
    expect(server.of('second')).toHaveLength(0);

    workers = { ...workers, budget: { ...workers.budget, runTokens: 100_000 } };
    await runs.resume(runId);
    expect(await when(runs, runId, ({ state }) => state === 'completed')).toMatchObject({ outcome: 'verified' });
    expect(server.requests.map(({ model }) => model)).toEqual(['planner', 'first', 'second']);
  });

  it('tells once of each limit that is nearly spent, and goes on', async () => {
    workers = { ...workers, budget: { ...workers.budget, runTokens: 5_000, warnAtPercent: 2 } };
    const runs = manager();
    const first = await over(runs, await runs.start(request()));
    expect(first).toMatchObject({ outcome: 'verified', warnings: [{ limit: 'runTokens', of: 5_000 }] });
    expect(first.warnings?.[0]?.spent).toBeGreaterThanOrEqual(100);
    expect(first.warnings?.[0]?.spent).toBeLessThan(first.spent.usage.uncachedInput + first.spent.usage.output);

    // The next one has a budget of its own, and the day is everybody's.
    workers = { ...workers, budget: { ...workers.budget, runTokens: 400_000, dayTokens: 6_000, warnAtPercent: 10 } };
    verdicts = [{ verified: true, outcome: 'verified', score: 1, reason: 'All tests pass.' }];
    const second = await over(runs, await runs.start(request()));
    expect(second.warnings?.map(({ limit }) => limit)).toEqual(['dayTokens']);
  });

  it('tells of a limit no second time after a restart', async () => {
    workers = { ...workers, budget: { ...workers.budget, runTokens: 5_000, warnAtPercent: 2 } };
    script = ({ model }) => (model === 'planner' ? PLAN : { begin: 'Hm.', rest: new Promise(() => {}) });
    const before = manager();
    const runId = await before.start(request());
    await when(before, runId, (run) => run.rounds[0]?.steps[0]?.attempt?.text === 'Hm.');
    await before.close();
    script = ({ model }) => (model === 'first' ? 'It is the constant.' : ANSWER);
    const after = manager();
    after.resumeUnfinished();
    const run = await over(after, runId);
    expect(run).toMatchObject({ outcome: 'verified', warnings: [{ limit: 'runTokens' }] });
    expect(after.events(runId, 0).filter(({ event }) => event.type === 'budget.warned')).toHaveLength(1);
  });
});

it('a run that stopped at its limit says what its next call needs, and goes on with that much', async () => {
  const runs = manager();
  const runId = await runs.start(request({ budget: { runUsd: 0.000_001 } }));
  const { message, needed } = await over(runs, runId);
  expect(message).toMatch(/: \$0 are spent\. Resume the run with a higher limit\.$/);
  expect(needed).toBeGreaterThan(0.000_001);
  const runUsd = 10 * needed!;
  await runs.resume(runId, { runUsd });
  const completed = await when(runs, runId, ({ state }) => state === 'completed');
  expect(completed).toMatchObject({ outcome: 'verified', budget: { runUsd } });
  expect(completed).not.toHaveProperty('needed');
});

describe('keys', () => {
  it('are those that were there when the run began, whoever connects with others meanwhile', async () => {
    secondWorkerWants('mine');
    const runs = manager();
    const runId = await runs.start(request());
    clients.keys.set('SECOND_KEY', 'somebody else\'s');
    expect(await over(runs, runId)).toMatchObject({ outcome: 'verified' });
    expect(server.of('second')[0]?.authorization).toBe('Bearer mine');
    const next = await runs.start(request());
    await over(runs, next);
    expect(server.of('second')[1]?.authorization).toBe('Bearer somebody else\'s');
  });
});

describe('cancelling', () => {
  it('does not wait for a client that was asked for a key and says nothing', async () => {
    secondWorkerWants('one');
    let hold = true;
    script = ({ model }) => (model === 'planner' ? PLAN : hold ? { begin: 'It', rest: new Promise(() => {}) } : 'It is the constant.');
    const before = manager();
    const runId = await before.start(request());
    await when(before, runId, (run) => run.rounds[0]?.steps[0]?.attempt?.text === 'It');
    await before.close();

    hold = false;
    clients.silent = true;
    const asked = Promise.withResolvers<void>();
    const secret = clients.secret.bind(clients);
    clients.secret = (name) => {
      asked.resolve();
      return secret(name);
    };
    const runs = manager();
    runs.resumeUnfinished();
    await asked.promise;
    runs.cancel(runId);
    expect((await over(runs, runId)).state).toBe('cancelled');
  });

  it('reaches the socket, and the run ends as cancelled', async () => {
    script = ({ model }) => (model === 'planner' ? PLAN : { begin: 'It is', rest: new Promise(() => {}) });
    const runs = manager();
    const runId = await runs.start(request());
    await when(runs, runId, (run) => run.rounds[0]?.steps[0]?.attempt?.text === 'It is');
    runs.cancel(runId);
    const run = await over(runs, runId);
    expect(run.state).toBe('cancelled');
    await server.of('first')[0]?.abandoned;
    expect(run.spent.estimated).toBe(true);
  });

  it('can be taken back: the run resumes where it stood', async () => {
    let hold = true;
    script = ({ model }) => {
      if (model === 'planner') return PLAN;
      if (model === 'first') return 'It is the constant.';
      return hold ? { begin: 'Here', rest: new Promise(() => {}) } : ANSWER;
    };
    const runs = manager();
    const runId = await runs.start(request());
    await when(runs, runId, (run) => run.rounds[0]?.steps[1]?.attempt?.text === 'Here');
    runs.cancel(runId);
    await over(runs, runId);
    hold = false;
    await runs.resume(runId);
    expect(await when(runs, runId, ({ state }) => state === 'completed')).toMatchObject({ outcome: 'verified' });
    expect(server.of('planner')).toHaveLength(1);
    expect(server.of('first')).toHaveLength(1);
    expect(server.of('second')).toHaveLength(2);
  });
});

describe('resuming', () => {
  beforeEach(() => {
    script = ({ model }) => (model === 'planner' ? PLAN : { status: 403 });
  });

  it('twice at once goes on once', async () => {
    const runs = manager();
    const runId = await runs.start(request());
    expect((await over(runs, runId)).state).toBe('failed');
    script = () => ANSWER;
    server.requests.splice(0);
    await Promise.all([runs.resume(runId), runs.resume(runId)]);
    expect(await when(runs, runId, ({ state }) => state === 'completed')).toMatchObject({ outcome: 'verified' });
    expect(runs.events(runId, 0).filter(({ event }) => event.type === 'run.resumed')).toHaveLength(1);
    // Of the two steps, the first one was left to the second worker.
    expect(server.of('second')).toHaveLength(2);
  });

  it('of a run that is under way changes nothing', async () => {
    script = ({ model }) => (model === 'planner' ? { begin: 'model', rest: new Promise(() => {}) } : ANSWER);
    const runs = manager();
    const runId = await runs.start(request());
    await when(runs, runId, (run) => run.rounds[0]?.planAttempt?.text === 'model');
    await runs.resume(runId);
    expect(runs.events(runId, 0).map(({ event }) => event.type)).not.toContain('run.resumed');
  });

  it('gives the Conductor its tries at a plan anew, which a restart does not', async () => {
    script = () => 'I would ask somebody.';
    const before = manager();
    const runId = await before.start(request());
    await when(before, runId, (run) => run.rounds[0]?.rejections.length === 1);
    await before.close();
    const after = manager();
    after.resumeUnfinished();
    expect((await over(after, runId)).rounds[0]?.rejections).toHaveLength(3);
    await after.resume(runId);
    expect((await when(after, runId, (run) => run.rounds[0]?.rejections.length === 6 && isOver(run.state))).state).toBe('failed');
  });
});

it('logs what nobody foresaw, as its message says', async () => {
  gatherContext = () => Promise.reject(new TypeError('x is not a function'));
  expect(await solve()).toMatchObject({ state: 'failed', failure: { kind: 'internal' }, message: expect.stringContaining('the log has more') });
  expect(problems.splice(0).join()).toMatch(/TypeError: x is not a function\n\s+at /);
});

it('a journal that is busy when a lease is renewed ends neither the run nor the backend', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    let answer: (text: string) => void = () => {};
    script = ({ model }) => (model === 'planner' ? { begin: 'Hm.', rest: new Promise<string>((resolve) => (answer = resolve)) } : ANSWER);
    const runs = manager();
    const runId = await runs.start(request());
    await when(runs, runId, (run) => run.rounds[0]?.planAttempt?.text === 'Hm.');
    const { leases } = (managers[0] as (typeof managers)[0]).journal;
    const renew = vi.spyOn(leases, 'renew').mockImplementationOnce(() => {
      throw new Error('database is locked');
    });
    expect(() => vi.advanceTimersByTime(20_000)).not.toThrow();
    expect(renew).toHaveBeenCalledTimes(2);
    answer(PLAN);
    expect(await over(runs, runId)).toMatchObject({ outcome: 'verified' });
    expect(problems.splice(0).join()).toContain('database is locked');
  } finally {
    vi.useRealTimers();
  }
});

describe('a run that an ended backend left', () => {
  it('goes on by itself and pays for no finished step again', async () => {
    let hold = true;
    script = ({ model }) => {
      if (model === 'planner') return PLAN;
      if (model === 'first') return 'It is the constant.';
      return hold ? { begin: 'Here', rest: new Promise(() => {}) } : ANSWER;
    };
    const before = manager();
    const runId = await before.start(request());
    await when(before, runId, (run) => run.rounds[0]?.steps[1]?.attempt?.text === 'Here');
    await before.close();
    hold = false;
    const after = manager();
    after.resumeUnfinished();
    expect(await over(after, runId)).toMatchObject({ state: 'completed', outcome: 'verified' });
    expect(server.of('first')).toHaveLength(1);
  });

  it('waits for a client with its key, says so, and then goes on', async () => {
    secondWorkerWants('one');
    let hold = true;
    script = ({ model }) => (model === 'planner' ? PLAN : model === 'first' && hold ? { begin: 'It', rest: new Promise(() => {}) } : ANSWER);
    const before = manager();
    const runId = await before.start(request());
    await when(before, runId, (run) => run.rounds[0]?.steps[0]?.attempt?.text === 'It');
    await before.close();

    hold = false;
    clients.keys.clear();
    clients.connected = false;
    const after = manager();
    after.resumeUnfinished();
    const waiting = await when(after, runId, ({ state }) => state === 'waiting');
    expect(waiting.message).toContain('SECOND_KEY');
    expect(after.activeRuns).toBe(0);
    clients.keys.set('SECOND_KEY', 'one');
    clients.change();
    expect(await over(after, runId)).toMatchObject({ outcome: 'verified' });
    expect(server.of('second')[0]?.authorization).toBe('Bearer one');
    expect(clients.waiting).toBe(0);
  });

  it('says that it waits for a key until it has it, whatever other steps do meanwhile', async () => {
    secondWorkerWants('one');
    const independent = 'model_id = [0, 1, 0]\nsubtasks = ["Look.", "Think.", "Mend it."]\naccess_list = [[], [], ["all"]]';
    let hold = true;
    let finish: (text: string) => void = () => {};
    script = ({ model }) => {
      if (model === 'planner') return independent;
      if (hold) return { begin: 'It', rest: new Promise(() => {}) };
      return model === 'first' && server.of('first').length === 2 ? { begin: 'It', rest: new Promise((resolve) => (finish = resolve)) } : ANSWER;
    };
    const before = manager();
    const runId = await before.start(request());
    await when(before, runId, (run) => run.rounds[0]?.steps.filter(({ attempt }) => attempt?.text === 'It').length === 2);
    await before.close();

    hold = false;
    clients.keys.clear();
    clients.connected = false;
    const after = manager();
    after.resumeUnfinished();
    await when(after, runId, (run) => run.rounds[0]?.steps[0]?.attempt?.text === 'It');
    finish(' is.');
    await when(after, runId, (run) => run.rounds[0]?.steps[0]?.state === 'completed');
    const waiting = await when(after, runId, ({ state }) => state === 'waiting');
    expect(waiting.message).toContain('SECOND_KEY');
    clients.keys.set('SECOND_KEY', 'one');
    clients.change();
    expect(await over(after, runId)).toMatchObject({ outcome: 'verified' });
  });

  it('is taken up later where its holder seemed to live', async () => {
    let hold = true;
    script = ({ model }) => (model !== 'planner' ? ANSWER : hold ? { begin: 'model', rest: new Promise(() => {}) } : PLAN);
    const before = manager();
    const runId = await before.start(request());
    await when(before, runId, (run) => run.rounds[0]?.planAttempt?.text === 'model');
    const after = manager();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      after.resumeUnfinished();
      expect(problems.splice(0).join()).toContain('another process');
      hold = false;
      await before.close();
      vi.advanceTimersByTime(30_000);
    } finally {
      vi.useRealTimers();
    }
    expect(await over(after, runId)).toMatchObject({ outcome: 'verified' });
  });

  it('is left alone by a process that does not hold it', async () => {
    script = ({ model }) => (model === 'planner' ? { begin: 'model', rest: new Promise(() => {}) } : ANSWER);
    const holder = manager();
    const runId = await holder.start(request());
    await when(holder, runId, (run) => run.rounds[0]?.planAttempt?.text === 'model');
    const other = manager();
    await expect(other.resume(runId)).rejects.toThrow('another process');
    other.resumeUnfinished();
    expect(problems.splice(0)).toHaveLength(1);
    expect(other.activeRuns).toBe(0);
  });
});

describe('the command that judges', () => {
  it('is the likeliest of those found, and the runner whose report was read stands in the verdict', async () => {
    const run = await solve();
    expect(judged).toMatchObject([{ command: 'node --test', runner: 'node-test', sandboxed: true }]);
    expect(run.rounds[0]?.verdict?.runner).toBe('node-test');
  });

  it('is the likeliest of the runner that was named', async () => {
    found = [...found, { command: 'cd api && pytest', runner: 'pytest', folder: 'api' }];
    await solve({ testRunner: 'pytest' });
    expect(judged).toMatchObject([{ command: 'cd api && pytest', runner: 'pytest' }]);
  });

  it('may be any, where the JUnit files that it writes are named', async () => {
    const run = await solve({ testCommand: 'make check', testReports: 'reports/*.xml' });
    expect(judged).toMatchObject([{ command: 'make check', runner: 'custom', reports: 'reports/*.xml' }]);
    expect(run).toMatchObject({ outcome: 'verified' });
  });

  it('may be any whose runner is named', async () => {
    await solve({ testCommand: 'make check', testRunner: 'pytest' });
    expect(judged).toMatchObject([{ command: 'make check', runner: 'pytest' }]);
  });

  it('is told before a question is sent, and so is one that could not judge', async () => {
    const runs = manager();
    const preview = (change: Partial<RunRequestInput>) => runs.questions.previewContext(request(change), new AbortController().signal);
    expect(await preview({})).toMatchObject({ testCommand: 'node --test', testRunner: 'node-test' });
    expect(await preview({ testCommand: null })).toMatchObject({ testCommand: null, testRunner: undefined });
    expect(await preview({ testCommand: 'make check' })).toMatchObject({ testCommand: 'make check', testRunner: 'exit-code' });
    await expect(preview({ testCommand: 'make check', testRunner: 'pitest' })).rejects.toThrow(/pitest/);
  });
});

describe('without a sandbox', () => {
  beforeEach(() => void (sandbox = { available: false, reason: 'bubblewrap is missing', remedy: 'apt-get install bubblewrap' }));

  it('the tests run only after somebody agreed', async () => {
    const run = await solve();
    expect(run).toMatchObject({ outcome: 'verified' });
    expect(clients.questions[0]).toContain('bubblewrap is missing');
    expect(clients.questions[0]).toContain('node --test');
    expect(clients.remedies).toEqual(['apt-get install bubblewrap']);
    expect(clients.asking).toEqual([run.runId]);
  });

  it('a refusal leaves the answer unchecked, never verified', async () => {
    clients.agrees = false;
    const run = await solve();
    expect(run).toMatchObject({ state: 'completed', outcome: 'unchecked' });
    expect(run.rounds[0]?.verdict).toMatchObject({
      outcome: 'infrastructure', sandboxed: false, remedy: 'apt-get install bubblewrap', runner: 'node-test',
    });
    expect(judged).toEqual([]);
  });

  it('the run waits when nobody is there to ask', async () => {
    clients.connected = false;
    const runs = manager();
    const runId = await runs.start(request());
    await when(runs, runId, ({ state }) => state === 'waiting');
    clients.connected = true;
    clients.change();
    expect(await over(runs, runId)).toMatchObject({ outcome: 'verified' });
  });
});

it('writes nothing into the workspace', async () => {
  await writeFile(path.join(folder, 'keep.txt'), 'as it was');
  await solve();
  const { readdir } = await import('node:fs/promises');
  expect((await readdir(folder)).filter((name) => !name.startsWith('journal.sqlite'))).toEqual(['keep.txt']);
});

describe('who would try first', () => {
  const free = { inputPerMillion: 0, outputPerMillion: 0 };
  const priced = (...ids: string[]): void => {
    workers = { ...workers, workers: workers.workers.map((worker) => ({ ...worker, price: ids.includes(worker.id) ? { inputPerMillion: 1, outputPerMillion: 1 } : free })) };
  };

  it('is told where the Conductor alone costs money, and not where nobody does', async () => {
    const { questions } = manager();
    priced('planner');
    expect(await questions.localFirst(folder)).toMatchObject({ worker: 'first', record: { tried: 0 } });
    priced();
    expect(await questions.localFirst(folder)).toEqual({});
  });

  it('counts nobody whose key is missing, as the run does', async () => {
    const { questions } = manager();
    priced('second');
    expect(await questions.localFirst(folder)).toMatchObject({ worker: 'first' });
    workers = { ...workers, workers: workers.workers.map((worker) => (worker.id === 'second' ? { ...worker, key: 'SECOND_KEY' } : worker)) };
    expect(await questions.localFirst(folder)).toEqual({});
  });
});

describe('a demonstration', () => {
  it('runs with simulated workers while nobody has one, and says so in the journal', async () => {
    onlyDemonstrators();
    const runs = manager();
    const runId = await runs.demonstrate();
    const run = await when(runs, runId, ({ state }) => isOver(state));
    expect(run).toMatchObject({ state: 'completed', outcome: 'verified', policy: { worker: { id: 'planner', simulated: true } } });
    expect(run.pool.map(({ id, simulated: is }) => [id, is])).toEqual([['first', true], ['second', true]]);
    expect(runs.list({ limit: 10 })).toMatchObject([{ runId, simulated: true }]);
  });

  it('awakens its simulated workers before it asks them, and nobody else\'s', async () => {
    const runs = manager();
    await over(runs, await runs.start(request()));
    expect(awakened).toEqual([]);
    onlyDemonstrators();
    await over(runs, await runs.demonstrate());
    expect(new Set(awakened)).toEqual(new Set(['planner', 'first', 'second']));
  });

  it('goes on being there where the only worker is switched off', async () => {
    const [first] = workers.workers;
    onlyDemonstrators(first ? [{ ...first, id: 'off', enabled: false }] : []);
    const runs = manager();
    const run = await when(runs, await runs.demonstrate(), ({ state }) => isOver(state));
    expect(run.pool.map(({ id }) => id)).toEqual(['first', 'second']);
  });

  it('is not planned by whom the person named for their own questions, because that could cost something', async () => {
    const [paid] = workers.workers;
    onlyDemonstrators(paid ? [{ ...paid, id: 'paid', enabled: false }] : []);
    workers = { ...workers, conductor: 'paid' };
    simulated = simulated.filter(({ enabled }) => enabled);
    const runs = manager();
    const run = await when(runs, await runs.demonstrate(), ({ state }) => isOver(state));
    expect(run.policy.worker).toMatchObject({ id: 'first', simulated: true });
  });

  it('is over with the first worker', async () => {
    await expect(manager().demonstrate()).rejects.toMatchObject({ message: expect.stringContaining('nothing is simulated any more') });
  });

  it('changes nothing for a question of the person\'s own, which needs a worker', async () => {
    onlyDemonstrators();
    const runs = manager();
    const run = await when(runs, await runs.start(request()), ({ state }) => isOver(state));
    expect(run).toMatchObject({ state: 'failed', failure: { kind: 'no-worker' } });
  });
});

describe('a run that is removed', () => {
  it('is in no list and no journal any more, and everybody who listens is told', async () => {
    const runs = manager();
    const { runId } = await over(runs, await runs.start(request()));
    const told: string[] = [];
    runs.listen({ onEvent: () => {}, onText: () => {}, onChanged: () => {}, onRemoved: (removed) => void told.push(removed) });
    await runs.remove(runId);
    expect(told).toEqual([runId]);
    expect(runs.list({ limit: 10 })).toEqual([]);
    expect(() => runs.snapshot(runId)).toThrow(RunNotFoundError);
    await expect(runs.remove(runId)).rejects.toThrow(RunNotFoundError);
  });

  it('has to be over', async () => {
    const runs = manager();
    const runId = await runs.start(request());
    await expect(runs.remove(runId)).rejects.toThrow('is under way');
    expect((await over(runs, runId)).state).toBe('completed');
  });
});
